#pragma once
/*
 * The documented metrics dict, made from a run
 *
 * Single figures come from the registry; the rest are parts, each a row of one table. A large part
 * grows with the chunks or samples of the run: Python makes it when somebody asks for it, and a
 * measurement keeps it in its run file alone beyond 10 MB.
 */

#include <stddef.h>

#include "roast-metrics.h"
#include "roast-run.h"
#include "util/emit.h"

/* What the dict is made from; the run and the summary are the caller's. */
struct v1_source {
        struct roast_run *run;
        const struct roast_summary *summary;
        bool always;       /* true */
        bool has_chunks;   /* the summary counts attempts at chunks, */
        bool has_records;  /* and the run has them */
        bool has_datasets; /* some chunk has finished */
        bool has_sections;
        bool has_branches; /* those of the report count */
        bool has_spans;
        bool with_workers;      /* workers were followed: their figures have a fallback */
        struct roast_grid grid; /* of tracking_data; n == 0: there are none */
        bool has_given_sums;    /* the user has replaced those of the report */
        char *columns;          /* of the report, in which the names of branches stand, or NULL */
        char **branches;        /* what the report says was read, in order; */
        size_t n_branches;      /* 0: nothing, or the chunks themselves say it */
};

int v1_source_init(struct v1_source *source, struct roast_run *run,
                   const struct roast_summary *summary, struct roast_error *error);
void v1_source_deinit(struct v1_source *source);

/* Things of a summary: an array in it, and what puts one of them, with its key if it has one */
struct v1_things {
        size_t array;
        size_t n;
        size_t size;
        void (*put)(struct emit *emit, const void *thing);
};

#define V1_THINGS(name, put)                                                                       \
        {                                                                                          \
                offsetof(struct roast_summary, name), offsetof(struct roast_summary, n_##name),    \
                        sizeof(*((struct roast_summary *)NULL)->name), put                         \
        }

int v1_put_things(const struct v1_things *things, bool is_list, const struct roast_summary *summary,
                  struct emit *emit, struct roast_error *error);

/* A part is made by `put`, or of things of the summary. */
struct v1_part {
        const char *key;
        bool large;
        bool is_list;
        size_t is_there; /* the bool of a source that says so; 0: there are such things */
        struct v1_things things;
        int (*put)(const struct v1_source *source, struct emit *emit, struct roast_error *error);
};

/* Ends with a key that is NULL. */
extern const struct v1_part v1_parts[];

bool v1_part_is_there(const struct v1_part *part, const struct v1_source *source);
int v1_put_part(const struct v1_part *part, const struct v1_source *source, struct emit *emit,
                struct roast_error *error);

/* The pairs of all single figures: what is absent is 0, null, or not there, by the registry. */
void v1_put_figures(const struct v1_source *source, struct emit *emit);

/* put-summary.c: things of a summary, as struct v1_things has it */
void v1_put_dataset(struct emit *emit, const void *thing);
void v1_put_section(struct emit *emit, const void *thing);
void v1_put_file(struct emit *emit, const void *thing);
void v1_put_branch(struct emit *emit, const void *thing);
void v1_put_failure(struct emit *emit, const void *thing);
void v1_put_bytes(struct emit *emit, const struct roast_bytes *bytes);
void v1_put_custom(struct emit *emit, const struct roast_custom *custom);
/* Their documented dicts; of a dataset, one of which a chunk has finished */
void v1_put_documented_dataset(struct emit *emit, const struct roast_dataset *dataset);
void v1_put_documented_section(struct emit *emit, const struct roast_section *section);
/* The same with their names as keys, and of the others what a part has of one */
void v1_put_named_dataset(struct emit *emit, const void *thing);
void v1_put_named_section(struct emit *emit, const void *thing);
void v1_put_named_bytes(struct emit *emit, const void *thing);
void v1_put_named_ledger(struct emit *emit, const void *thing);
void v1_put_named_metadata(struct emit *emit, const void *thing);
void v1_put_ratio(struct emit *emit, const void *thing);
void v1_put_percent(struct emit *emit, const void *thing);

/* put-chunks.c */
int v1_put_chunk_info(const struct v1_source *source, struct emit *emit, struct roast_error *error);
int v1_put_records(const struct v1_source *source, struct emit *emit, struct roast_error *error);
int v1_put_read_metrics(const struct v1_source *source, struct emit *emit,
                        struct roast_error *error);

/* put-tracking.c: the documented series, by key: worker_counts, worker_memory, ... */
const char *v1_series_key(size_t i); /* NULL: there are no more */
/* The grid of a run with n == 0 if it has no start, or no worker is known */
int v1_grid_of_run(struct roast_grid *grid, struct roast_run *run, struct roast_error *error);
/* How many there are of a worker at an instant, without making any */
int v1_count_samples(struct roast_run *run, const struct roast_grid *grid, int64_t *n,
                     struct roast_error *error);
/* `named`: samples are objects with names, and not tuples. ROAST_E_NOENT: there is no such key. */
int v1_put_series(struct roast_run *run, const struct roast_grid *grid, const char *key, bool named,
                  struct emit *emit, struct roast_error *error);
int v1_put_tracking(struct roast_run *run, const struct roast_grid *grid, bool named,
                    struct emit *emit, struct roast_error *error);
