#pragma once
/* The inside of a run, shared by the files of this folder */

#include <math.h>

#include "roast-run.h"
#include "run/schema.h"
#include "run/seal.h"
#include "util/intern.h"

struct run_writer_table {
        int64_t last_id;
        int64_t sealed_id; /* the last row of the last commit */
        /* of a file */
        struct sqlite3_stmt *insert;
        struct seal *seal;
        uint64_t hash; /* of the last seal */
};

/* Attempts that are in the run already, by a hash of who ran them and when they began */
struct run_seen {
        uint64_t *keys; /* in the order they came */
        size_t n;
        size_t n_committed;
        size_t *slots;  /* open addressing: index + 1, 0 is free */
        size_t n_slots; /* a power of two, or 0 */
};

/* What is added to the stamps of workers whose clocks go differently */
struct run_clocks {
        struct intern names;
        int64_t *offsets_ns; /* n, by number of the name */
        size_t n;
};

struct roast_run {
        struct sqlite3 *db;    /* of a file (file.h) */
        struct memory *memory; /* of a run in memory (memory.h) */
        char *path;            /* NULL: in memory */
        char *source;          /* what a run in memory was imported from; NULL: nothing */
        bool writable;
        bool in_transaction;  /* of the writer: rows were added since the last commit */
        bool sealing;         /* of the writer: a commit that failed may have left seals */
        unsigned int n_views; /* of the reader, one inside the other */
        struct run_writer_table tables[RUN_N_TABLES]; /* the writer's side */
        struct run_seen seen;
        struct run_clocks clocks;
        struct intern texts; /* row `id` of text is number id - 1 */
        /* what roast_run_about() hands out */
        char *about_id;
        char *about_name;
        char *about_outcome;
        char *about_error;
};

/* The name for messages: the path, the source, or "this run". */
const char *run_label(const struct roast_run *run);

/* Appends a row (without its id) and returns 0; its id is tables[table].last_id. */
int run_insert(struct roast_run *run, enum run_table table, const struct run_value *values,
               size_t n, struct roast_error *error);
/* Whether the key is new; from now on it is not. 1 new, 0 seen before, or ROAST_E_NOMEM. */
int run_seen_add(struct run_seen *seen, uint64_t key);
bool run_seen_has(const struct run_seen *seen, uint64_t key);
/* Forgets all but the first n keys. */
void run_seen_truncate(struct run_seen *seen, size_t n);
void run_seen_deinit(struct run_seen *seen);
/* What is added to a worker's stamps; worker may be NULL. */
int64_t run_clock_offset(const struct roast_run *run, const char *worker, size_t len);
int64_t run_clock_correct(int64_t utc_ns, int64_t offset_ns);
void run_clocks_deinit(struct run_clocks *clocks);
/* The id of a string in the text table; 0 for NULL. */
int64_t run_text(struct roast_run *run, const char *string, size_t len, struct roast_error *error);

/* The same as a column: NULL for no string */
int run_text_value(struct roast_run *run, const char *string, size_t len, struct run_value *value,
                   struct roast_error *error);

static inline struct run_value run_int(int64_t value)
{
        return (struct run_value){ .type = RUN_INT, .integer = value };
}

/* Of a column that may hold none */
static inline int64_t run_int_or(const struct run_value *value, int64_t other)
{
        return value->type == RUN_INT ? value->integer : other;
}

/* A number as a real one; NaN: the column holds none */
static inline double run_number(const struct run_value *value)
{
        if (value->type == RUN_INT)
                return (double)value->integer;
        return value->type == RUN_REAL ? value->real : (double)NAN;
}

/* NaN is null: SQLite keeps it so, and the seal must be over what is kept. */
static inline struct run_value run_real(double value)
{
        return (struct run_value){ .type = isnan(value) ? RUN_NULL : RUN_REAL, .real = value };
}

static inline struct run_value run_string(const char *string, size_t len)
{
        return (struct run_value){ .type = string ? RUN_STRING : RUN_NULL,
                                   .data = string,
                                   .len = len };
}

/*
 * A verified walk over a table in the order of its ids
 *
 *     struct run_scan scan;
 *     r = run_scan_begin(&scan, run, RUN_SPAN, error);
 *     while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
 *             use(scan.values[SPAN_KIND]);
 *     run_scan_end(&scan);
 *
 * values are the columns without id, valid until the next step; those that a
 * file of an older minor version does not have are null, and a table that it
 * does not have is empty. Strings of small tables end in a NUL. Rows come before
 * their seal is checked: what was made of them counts only if the walk ends with
 * 0. The writer's own walk ends where its last commit did.
 */
#define RUN_COLUMNS_MAX 64

struct run_scan {
        struct roast_run *run;
        enum run_table table;
        int64_t id;
        int64_t sealed_id;      /* the last row: of a file's current seal, or of the last commit */
        size_t n;               /* columns that the file has, or that were asked for */
        struct scan_file *file; /* NULL: in memory */
        struct run_value values[RUN_COLUMNS_MAX];
};

int run_scan_begin(struct run_scan *scan, struct roast_run *run, enum run_table table,
                   struct roast_error *error);
/* Only the first n columns, and not compared with the seals: a walk over all of them has to be in
 * the same view, before or after. */
int run_scan_skim(struct run_scan *scan, struct roast_run *run, enum run_table table, size_t n,
                  struct roast_error *error);
/* The next row of a skim is the one with this id, and after it those behind. */
void run_scan_seek(struct run_scan *scan, int64_t id);
int run_scan_next(struct run_scan *scan, struct roast_error *error);
void run_scan_end(struct run_scan *scan);

/* One consistent view over several scans; views nest. */
int run_view_begin(struct roast_run *run, struct roast_error *error);
void run_view_end(struct roast_run *run);
