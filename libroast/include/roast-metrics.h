#pragma once
/*
 * Metrics: the registry, and a set of values
 *
 * A metric is known, estimated, or absent; an estimated or absent one says why.
 * Absent is not zero: a formula over an absent input is absent for the same
 * reason.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"

enum roast_metric {
#define METRIC(id, ...) ROAST_##id,
#define ALIAS(key, id)
#include "metrics/metrics.def"
#undef METRIC
#undef ALIAS
        ROAST_N_METRICS
};

enum roast_group {
        ROAST_GROUP_WORKFLOW,
        ROAST_GROUP_WORKER,
        ROAST_GROUP_FINE,
        ROAST_GROUP_EFFICIENCY,
        ROAST_GROUP_CHUNK,
        ROAST_GROUP_COVERAGE,
        ROAST_N_GROUPS
};

enum roast_type { ROAST_TYPE_COUNT, ROAST_TYPE_REAL };

enum roast_unit {
        ROAST_UNIT_SECONDS,
        ROAST_UNIT_BYTES,
        ROAST_UNIT_MIB, /* 2^20 bytes: the documented unit of memory differences */
        ROAST_UNIT_COUNT,
        ROAST_UNIT_WORKERS,
        ROAST_UNIT_CORES,
        ROAST_UNIT_GBPS, /* 1e9 bit/s */
        ROAST_UNIT_MB_PER_S,
        ROAST_UNIT_KHZ,
        ROAST_UNIT_KHZ_PER_CORE,
        ROAST_UNIT_HZ_PER_CORE,
        ROAST_UNIT_FRACTION,
        ROAST_UNIT_PERCENT,
        ROAST_UNIT_FACTOR,
        ROAST_N_UNITS
};

enum roast_better { ROAST_BETTER_NEUTRAL, ROAST_BETTER_MORE, ROAST_BETTER_LESS };

enum roast_fallback { ROAST_FALLBACK_OMIT, ROAST_FALLBACK_ZERO, ROAST_FALLBACK_NONE };

struct roast_metric_info {
        const char *key;
        enum roast_group group;
        enum roast_type type;
        enum roast_unit unit;
        enum roast_better better;
        enum roast_fallback fallback;
        const char *title;
        const char *formula;
};

struct roast_alias {
        const char *key;
        enum roast_metric metric;
};

extern const struct roast_metric_info roast_metrics[ROAST_N_METRICS];
extern const struct roast_alias roast_aliases[];
extern const size_t roast_n_aliases;
extern const char *const roast_unit_names[ROAST_N_UNITS];
extern const char *const roast_group_names[ROAST_N_GROUPS];

/* The metric with that key or alias, or ROAST_E_NOENT. */
int roast_metric_find(const char *key);

enum roast_state { ROAST_ABSENT, ROAST_KNOWN, ROAST_ESTIMATED };

struct roast_value {
        enum roast_state state;
        double real;   /* the value, whatever the type */
        int64_t count; /* exact, for ROAST_TYPE_COUNT */
        char *reason;  /* why it is absent or estimated; owned by the set */
};

struct roast_metric_set {
        struct roast_value values[ROAST_N_METRICS];
};

/* An all-zero set is empty: every metric is absent without a stated reason. */
void roast_metric_set_deinit(struct roast_metric_set *set);
void roast_metric_set_count(struct roast_metric_set *set, enum roast_metric metric, int64_t count);
void roast_metric_set_real(struct roast_metric_set *set, enum roast_metric metric, double real);
int roast_metric_set_absent(struct roast_metric_set *set, enum roast_metric metric,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));
int roast_metric_set_estimated(struct roast_metric_set *set, enum roast_metric metric, double value,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The reason of an absent or estimated metric: its own, or its group's ordinary one. */
const char *roast_metric_reason(const struct roast_metric_set *set, enum roast_metric metric);

/* Computes every metric that has a formula and is not set yet. */
int roast_metric_set_derive(struct roast_metric_set *set, struct roast_error *error);

/* A sum over those chunks that tell it */
struct roast_byte_sum {
        int64_t bytes;
        int64_t chunks;
};

/*
 * Compressed bytes of chunks that finished, by source, and of the trees they read from. A tree
 * counts once, however many chunks it has.
 */
struct roast_bytes {
        int64_t chunks;
        struct roast_byte_sum needed;    /* of the baskets that the chunk's branches need */
        struct roast_byte_sum requested; /* by uproot */
        struct roast_byte_sum kernel;    /* by the process through read(2), cache included */
        struct roast_byte_sum storage;   /* by the process, from storage */
        int64_t cut_chunks;              /* that begin within baskets of the chunk before, */
        int64_t again;                   /* and the bytes of these baskets */
        int64_t trees;                   /* of which the rest is known */
        int64_t tree_branches;
        int64_t tree_bytes;
        int64_t touched_branches;
        int64_t touched_bytes;
        bool beside;            /* kernel, storage: some ran side by side in a process */
        bool mixed;             /* again: chunks of a tree touched different branches */
        bool touched_estimated; /* touched_bytes */
};

/* Chunks of one dataset together */
struct roast_dataset {
        char *name; /* NULL: the chunks named none */
        int64_t finished;
        int64_t failed;
        int64_t events; /* of the finished ones, and so the rest */
        double wall_s;
        double cpu_s;
        double rss_delta_bytes;
        double requested_bytes;
        int64_t wall_chunks; /* of how many chunks each of these is known; 0: not known */
        int64_t cpu_chunks;
        int64_t rss_chunks;
        int64_t bytes_chunks;
        int64_t wall_events; /* of the chunks whose wall time is known; and of memory */
        int64_t rss_events;
        struct roast_bytes sums;
};

/*
 * Chunks of one file together. What was read of it is the union over its chunks; totals are of
 * its tree.
 */
struct roast_file {
        char *name;
        int64_t finished;
        int64_t failed;
        int64_t events;
        double wall_s;
        double requested_bytes;
        int64_t wall_chunks; /* as in a dataset */
        int64_t bytes_chunks;
        bool has_coverage; /* some chunk told what was read: the next six */
        int64_t branches;  /* of the tree; 0: not known */
        double bytes;      /* compressed, of all branches; 0: not known */
        int64_t branches_read;
        double bytes_read; /* compressed, of the branches that were read */
        double branches_read_percent;
        double bytes_read_percent;
        bool estimated;           /* bytes_read: chunks read overlapping sets of branches */
        double compression_ratio; /* compressed / uncompressed, of the tree; NaN: not known */
        void *metadata;           /* the tree's totals as CBOR; NULL: none */
        size_t metadata_len;
        size_t dataset; /* of its first chunk */
        struct roast_bytes sums;
};

/* A branch over all chunks that finished and touched it */
struct roast_branch {
        char *name;
        int64_t chunks;
        struct roast_byte_sum needed;
};

/* Attempts that ended alike without a result: the same error, but for numbers in it */
struct roast_failure {
        int outcome;         /* enum chunk_outcome of record/chunk.h */
        char *error_type;    /* NULL: none was told, and so the rest */
        char *error_message; /* of the first */
        char *file;          /* of the first */
        int64_t attempts;
        int64_t recovered; /* of these: another attempt at the same chunk finished */
        double wall_s;     /* spent in them, as far as it was measured */
};

/* A metric that the user registered */
struct roast_custom {
        char *key;
        char *title; /* NULL: none was given, and so the unit */
        char *unit;
        enum roast_better better;
        struct roast_value value;
};

/* A named section over all chunks, failed ones included */
struct roast_section {
        char *name;
        char *type;  /* as somebody called it who gave it; NULL: what was measured tells it */
        bool listed; /* it was given by itself, and not by chunks */
        int kind;    /* SECTION_* bits of record/chunk.h */
        int64_t chunks;
        int64_t count;
        double total_s;
        double self_s; /* known where time was tracked: kind has SECTION_TIME */
        double min_s;
        double max_s;
        int64_t memory_chunks;  /* those in which memory was followed */
        double rss_delta_bytes; /* over them: sum, min and max */
        double rss_delta_min_bytes;
        double rss_delta_max_bytes;
        int64_t bytes_chunks; /* those that tell what was read */
        int64_t bytes;
};

/* Where the time of worker threads went */
enum roast_ledger_part {
        ROAST_LEDGER_PROCESSOR_CPU,
        ROAST_LEDGER_PROCESSOR_WAIT,
        ROAST_LEDGER_PROCESSOR, /* on a core or waiting: not told apart */
        ROAST_LEDGER_TASKS_CPU, /* the processor's and others: not told apart */
        ROAST_LEDGER_TASKS_WAIT,
        ROAST_LEDGER_TASKS,
        ROAST_LEDGER_OVERHEAD, /* tasks that are about no chunk, and the executor's own work */
        ROAST_LEDGER_SERIALIZE,
        ROAST_LEDGER_COMPRESS,
        ROAST_LEDGER_TRANSFER,
        ROAST_LEDGER_SPILL,
        ROAST_LEDGER_IDLE,
        ROAST_LEDGER_GONE, /* the worker was not there, or not yet */
        ROAST_LEDGER_N_PARTS
};

struct roast_ledger_info {
        const char *key;
        const char *title;
};

extern const struct roast_ledger_info roast_ledger_parts[ROAST_LEDGER_N_PARTS];

struct roast_ledger_row {
        char *worker;
        double threads;                       /* the most it had */
        double seconds[ROAST_LEDGER_N_PARTS]; /* they sum to threads x wall time of the run */
        unsigned int estimated;               /* 1 << part */
        unsigned int known;                   /* 1 << part; of the others 0 s says nothing */
};

/* Tasks of one kind */
struct roast_task_group {
        char *prefix; /* NULL: they have none */
        int64_t tasks;
        int64_t attempts;
        int64_t failed;
        int64_t lost;
        int64_t measured; /* attempts whose CPU time is known */
        double busy_s;
        double cpu_s; /* of those */
};

/* Everything that is computed from a run */
struct roast_summary {
        struct roast_metric_set metrics;
        struct roast_dataset *datasets;
        size_t n_datasets;
        struct roast_section *sections; /* by total time, longest first */
        size_t n_sections;
        struct roast_ledger_row *ledger; /* by worker; empty where tasks were not followed */
        size_t n_ledger;
        struct roast_task_group *tasks; /* by time, longest first */
        size_t n_tasks;
        struct roast_file *files; /* in the order of their first chunks */
        size_t n_files;
        struct roast_bytes bytes;
        struct roast_branch *branches; /* by bytes, most first */
        size_t n_branches;
        struct roast_failure *failures; /* by attempts, most first */
        size_t n_failures;
        struct roast_custom *customs; /* by key */
        size_t n_customs;
};

struct roast_run;

int roast_summary_of_run(struct roast_summary *summary, struct roast_run *run,
                         struct roast_error *error);
void roast_summary_deinit(struct roast_summary *summary);

/*
 * The workers as they are now, for those who watch a run: an update reads what came since the last
 * one. Numbers that are negative are not known. Rows are not compared with their seals: that is
 * what the summary does.
 */
struct roast_worker_now {
        char *name;
        bool here;
        int64_t threads;
        int64_t memory_limit_bytes;
        int64_t rss_bytes;      /* of the last sample */
        int64_t sampled_utc_ns; /* when that was; INT64_MIN: there is none */
};

struct roast_workers;

/* NULL: no memory */
struct roast_workers *roast_workers_new(void);
void roast_workers_free(struct roast_workers *workers);
int roast_workers_update(struct roast_workers *workers, struct roast_run *run,
                         struct roast_error *error);
/* In the order in which they came; theirs until the next update. */
const struct roast_worker_now *roast_workers_all(const struct roast_workers *workers, size_t *n);
