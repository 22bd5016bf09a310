#pragma once
/*
 * A run: everything known about one execution
 *
 * It is a SQLite database (docs/format.md), or the same rows in memory. The
 * writer adds rows and commits them; a reader, in the same or another process,
 * sees what was committed. What is read of a file is checked against the seals of
 * the commits: a damaged run is refused, never misread. A call that fails may take back what
 * was added since the last commit, but never what was committed; the writer can
 * go on. One thread at a time uses a run.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"
#include "roast-metrics.h"

struct roast_run;

enum roast_worker_event { ROAST_WORKER_PRESENT = 1, ROAST_WORKER_CAME = 2, ROAST_WORKER_WENT = 3 };

struct roast_worker {
        const char *name; /* address */
        const char *host; /* NULL: not known */
        int64_t pid;      /* negative: not known, and so the others */
        int64_t threads;
        int64_t memory_limit_bytes;
};

/*
 * Creates a run file with mode 0600, or a run in memory when path is NULL.
 * An existing file is never touched: that is ROAST_E_STATE.
 */
int roast_run_create(struct roast_run **ret, const char *path, struct roast_error *error);
/* Opens a run file for reading. */
int roast_run_open(struct roast_run **ret, const char *path, struct roast_error *error);
/*
 * Opens whatever holds a run, recognised by content: a run file, a measurement directory, with a
 * run.roast in it or without, a folder of TaskVine's logs, or Parsl's monitoring.db. What is no run
 * file is read into a run in memory.
 */
int roast_run_open_any(struct roast_run **ret, const char *path, struct roast_error *error);
void roast_run_free(struct roast_run *run);

/* The path it was opened with, or imported from; NULL for a run that was made in memory. */
const char *roast_run_path(const struct roast_run *run);

/* A fact: a named value; the last one of a name counts. Absent facts carry their reason. */
int roast_run_fact_int(struct roast_run *run, const char *name, int64_t value,
                       struct roast_error *error);
int roast_run_fact_real(struct roast_run *run, const char *name, double value,
                        struct roast_error *error);
int roast_run_fact_text(struct roast_run *run, const char *name, const char *value,
                        struct roast_error *error);
int roast_run_fact_absent(struct roast_run *run, const char *name, const char *reason,
                          struct roast_error *error);

/*
 * The clock of a worker is behind that of the run by offset_ns, give or take error_ns: what is
 * added of this worker from now on, chunks, tasks and series, gets stamps of the run's clock.
 */
int roast_run_set_clock(struct roast_run *run, const char *worker, int64_t offset_ns,
                        int64_t error_ns, struct roast_error *error);

/* Chunk records as chunk_table_encode() made them; returns how many of them were new. */
int roast_run_add_chunks(struct roast_run *run, const void *data, size_t len,
                         struct roast_error *error);
/*
 * One attempt at one task, of whatever kind: docs/format.md. A task about a chunk says which.
 * Numbers that are negative are not known, and strings that are NULL: ROAST_TASK_INIT is nothing
 * known. One that was there already (same key, worker, start, outcome) is left out: returns 0, and
 * 1 for a new one.
 */
struct roast_task {
#define ROAST_TASK_STRING         const char *
#define ROAST_TASK_TEXT           const char *
#define ROAST_TASK_INT            int64_t
#define TASK(id, name, type, ...) ROAST_TASK_##type name;
#include "run/task.def"
#undef TASK
};

extern const struct roast_task roast_task_unknown;
#define ROAST_TASK_INIT roast_task_unknown

int roast_run_add_task(struct roast_run *run, const struct roast_task *task,
                       struct roast_error *error);
/*
 * The tasks that an executor's own log tells of (whatever roast_run_open_any() opens), without
 * those that ended before an instant; returns how many of them were new.
 */
int roast_run_add_tasks_of(struct roast_run *run, const char *path, int64_t from_utc_ns,
                           struct roast_error *error);
int roast_run_add_worker_event(struct roast_run *run, int64_t utc_ns, enum roast_worker_event kind,
                               const struct roast_worker *worker, struct roast_error *error);
/*
 * A block of samples of one worker (timeline/block.h; times in ms UTC). `columns` names its
 * series, separated by commas: "rss_bytes/4096,cpu_user_ns/1000000": values are in units of the
 * number behind the slash. Only its times are looked at now.
 */
int roast_run_add_series(struct roast_run *run, const char *worker, const char *columns,
                         const void *block, size_t len, struct roast_error *error);
/* One value of a worker that somebody else has seen, by whose clock the instant is. */
int roast_run_add_value(struct roast_run *run, const char *worker, const char *column,
                        const char *clock, int64_t utc_ms, int64_t value,
                        struct roast_error *error);
/* One of Dask's fine metrics; unit may be NULL. */
int roast_run_add_span(struct roast_run *run, const char *kind, const char *prefix,
                       const char *activity, const char *unit, double value,
                       struct roast_error *error);

/* The same of one worker alone; prefix and unit may be NULL. */
int roast_run_add_activity(struct roast_run *run, const char *worker, const char *kind,
                           const char *prefix, const char *activity, const char *unit, double value,
                           struct roast_error *error);

/* Makes everything added so far durable. */
int roast_run_commit(struct roast_run *run, struct roast_error *error);
/* Commits and turns the file into its resting form: one file, readable everywhere. */
int roast_run_finish(struct roast_run *run, struct roast_error *error);
/*
 * A copy of what is committed, under another name, complete or not at all; replaces that file,
 * unless it is a run that is being written, or the run itself: that is ROAST_E_STATE.
 */
int roast_run_copy(struct roast_run *run, const char *path, struct roast_error *error);
/* The same, but a file that is there is never replaced: ROAST_E_STATE. */
int roast_run_copy_new(struct roast_run *run, const char *path, struct roast_error *error);
/*
 * A copy in memory to which rows can be added, without those of some tables: a list of names that
 * ends in NULL, or NULL. Chunks, sections and branches belong together.
 */
int roast_run_copy_in_memory(struct roast_run **ret, struct roast_run *run,
                             const char *const *without, struct roast_error *error);

/*
 * Series on a common grid of n instants: start + i * step. A value holds until the worker's next
 * one; INT64_MIN stands for "not known" (before its first sample, after its last). The visitor is
 * called once for each worker and stops the walk by returning non-zero.
 */
struct roast_grid {
        int64_t start_utc_ns;
        int64_t step_ns;
        size_t n;
};

typedef int (*roast_series_visitor)(const char *worker, const int64_t *values, void *context);

/* A sampled column by its name, in the unit that its name tells. */
int roast_run_resample(struct roast_run *run, const char *column, const struct roast_grid *grid,
                       roast_series_visitor visit, void *context, struct roast_error *error);
/* The same of a counter: what it grew by per second since the instant before. */
int roast_run_resample_rate(struct roast_run *run, const char *column,
                            const struct roast_grid *grid, roast_series_visitor visit,
                            void *context, struct roast_error *error);
/* From the workers' comings and goings: "threads" or "memory_limit_bytes". */
int roast_run_resample_workers(struct roast_run *run, const char *column,
                               const struct roast_grid *grid, roast_series_visitor visit,
                               void *context, struct roast_error *error);

/*
 * Whole columns of a table of docs/format.md, read in one pass. Integers are as they are, and
 * numbers of strings (columns that end in _text) too; INT64_MIN stands for null and for what is no
 * integer. The caller frees the values. ROAST_E_NOENT: no such table or column.
 */
struct roast_run_column {
        const char *name; /* set by the caller */
        int64_t *values;
        size_t n;
};

int roast_run_read_columns(struct roast_run *run, const char *table,
                           struct roast_run_column *columns, size_t n, struct roast_error *error);

/* What is known of a column: docs/format.md is made from it. */
enum roast_column_type {
        ROAST_COLUMN_INT,
        ROAST_COLUMN_REAL,
        ROAST_COLUMN_TEXT, /* stored as the number of a string */
        ROAST_COLUMN_STRING,
        ROAST_COLUMN_BLOB,
        ROAST_COLUMN_ANY,
};

struct roast_column_info {
        const char *name;
        const char *stored; /* its name in the table */
        enum roast_column_type type;
        const char *unit; /* ns, utc_ns, bytes, count, number, text, cbor, block */
        int since;        /* minor version of the format */
        const char *title;
        const char *meaning;
};

struct roast_table_info {
        const char *name;
        const char *row; /* what a row is */
        int since;
        const struct roast_column_info *columns; /* without id */
        size_t n_columns;
};

/* The tables of a run file by their numbers, from 1; false: there is no such table. */
bool roast_run_table(int number, struct roast_table_info *table);
/* The strings, number 1 first; those have no end of their own. Visitors stop by non-zero. */
int roast_run_texts(struct roast_run *run,
                    int (*visit)(const char *text, size_t len, void *context), void *context,
                    struct roast_error *error);

struct roast_span {
        const char *kind;
        const char *prefix;
        const char *activity;
        const char *unit; /* NULL: none; so may the others be in a strange file */
        double value;
};

int roast_run_spans(struct roast_run *run, int (*visit)(const struct roast_span *span, void *),
                    void *context, struct roast_error *error);

/* Which series there are: each worker with each list of columns that it has sent. */
int roast_run_series_names(struct roast_run *run,
                           int (*visit)(const char *worker, const char *columns, void *context),
                           void *context, struct roast_error *error);
/* All samples of one worker's series, in the order they came; times in ns UTC. */
int roast_run_read_series(struct roast_run *run, const char *worker, const char *name,
                          struct roast_run_column *times, struct roast_run_column *values,
                          struct roast_error *error);

/*
 * Every attempt at a chunk, encoded as roast_run_add_chunks() takes them; the caller frees. Those
 * that have no record, but a task, have what the task tells.
 */
int roast_run_encode_chunks(struct roast_run *run, void **data, size_t *len,
                            struct roast_error *error);

/*
 * Reads every row of every table against its seals. The visitor, which may be NULL, gets each
 * table's name and how many rows are whole. ROAST_E_CORRUPT: the message says what is damaged.
 */
int roast_run_check(struct roast_run *run, void (*visit)(const char *table, int64_t rows, void *),
                    void *context, struct roast_error *error);

/* What is known about the run itself, for headings and lists. Strings are owned by the run. */
struct roast_run_about {
        const char *id;
        const char *name;
        const char *outcome; /* NULL: unfinished */
        const char *error;
        int64_t start_utc_ns; /* INT64_MIN: not known, and so the others */
        int64_t end_utc_ns;
};

int roast_run_about(struct roast_run *run, struct roast_run_about *about,
                    struct roast_error *error);

/* Walks over the last value of every fact; stops when the visitor returns non-zero. */
struct roast_fact {
        const char *name;
        enum { ROAST_FACT_ABSENT, ROAST_FACT_INT, ROAST_FACT_REAL, ROAST_FACT_TEXT } type;
        int64_t integer;
        double real;
        const char *text; /* the text, or the reason when absent */
};

int roast_run_facts(struct roast_run *run,
                    int (*visit)(const struct roast_fact *fact, void *context), void *context,
                    struct roast_error *error);
