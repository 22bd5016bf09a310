#pragma once
/*
 * A run in other formats
 *
 * What is written goes through a function of the caller's, piece by piece: the
 * memory that an export takes does not grow with the run. What has been written
 * counts only if the export returns 0: a run may turn out to be damaged further
 * down.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"
#include "roast-run.h"

enum roast_export_format {
        ROAST_EXPORT_JSON,
        ROAST_EXPORT_JSONL,
        ROAST_EXPORT_CSV,
        ROAST_EXPORT_MARKDOWN,
        ROAST_EXPORT_OPENMETRICS,
        ROAST_EXPORT_CHROME_TRACE,
        ROAST_EXPORT_V1, /* a directory: roast_export_v1() */
};

enum roast_export_what {
        ROAST_EXPORT_DEFAULT, /* what suits the format */
        ROAST_EXPORT_METRICS,
        ROAST_EXPORT_CHUNKS,
        ROAST_EXPORT_SECTIONS,
        ROAST_EXPORT_FILES,
        ROAST_EXPORT_TASKS,
        ROAST_EXPORT_SERIES,
};

/* Their names in that order, NULL-terminated; the first "what" has none. */
extern const char *const roast_export_formats[];
extern const char *const roast_export_whats[];

struct roast_export_options {
        enum roast_export_format format;
        enum roast_export_what what;
        bool per_worker; /* OpenMetrics: a label for each worker */
        /* Chunks alone: those of one dataset, from a number on, so many at most */
        const char *dataset; /* NULL: all */
        int64_t first;
        int64_t limit; /* 0: no limit */
        int64_t *next; /* the number of the one behind the last that was written, or -1; or NULL */
};

/* Takes `len` bytes; returns 0, or a negative error that ends the export. */
typedef int (*roast_export_writer)(const void *data, size_t len, void *context,
                                   struct roast_error *error);

/* ROAST_E_INVALID: the options do not go together; nothing has been written. */
int roast_export(struct roast_run *run, const struct roast_export_options *options,
                 roast_export_writer write, void *context, struct roast_error *error);

/*
 * Whether a file of this name may be replaced by what is made of a source, the path of a run, which
 * may be NULL. ROAST_E_STATE: it is a run, finished or not, or the source itself.
 */
int roast_export_check_target(const char *path, const char *source, struct roast_error *error);
/*
 * The file that a name leads to, which the caller frees: it is replaced, not a link to it. A link
 * that leads to nothing yet says where it will be.
 */
int roast_export_resolve(char **ret, const char *path, struct roast_error *error);

/* A key of metrics.json with its value, or without one: it is left out */
struct roast_v1_pair {
        const char *key;
        const char *json; /* NULL: none */
};

struct roast_summary;

/* All-zero is the default: the run as it is. */
struct roast_v1_options {
        bool replace; /* a measurement of that name, but not the files of others in it */
        const struct roast_summary *summary; /* of the run; NULL: it is computed */
        bool has_times;
        double start_s; /* since 1970 */
        double end_s;
        const char *config;                /* JSON; NULL: that of an imported run, or none */
        const struct roast_v1_pair *pairs; /* they replace the run's, */
        size_t n_pairs;
        bool only_pairs; /* or are all that there is */
};

/*
 * A measurement directory of format v1, complete or not at all. Raw data beyond 10 MB are in its
 * run.roast alone. Without a run it has the pairs alone. ROAST_E_STATE: the name is taken.
 */
int roast_export_v1(struct roast_run *run, const char *directory,
                    const struct roast_v1_options *options, struct roast_error *error);
