#pragma once
/*
 * What differs between runs, and what can be said about it
 *
 * Runs stand in groups; each later group is held against the first. docs/compare.md
 * tells the method and what it assumes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-metrics.h"
#include "roast-run.h"

enum roast_verdict {
        ROAST_VERDICT_NONE, /* nothing can be said */
        ROAST_VERDICT_BETTER,
        ROAST_VERDICT_WORSE,
        ROAST_VERDICT_CHANGED, /* different, and neither direction is better */
};

enum roast_compare_unit {
        ROAST_COMPARE_SECONDS, /* per event */
        ROAST_COMPARE_BYTES,   /* per event */
        ROAST_COMPARE_METRIC,  /* a metric of the registry, in its unit */
};

/* One figure of two groups. What is not known is NaN. */
struct roast_compare_row {
        size_t against;    /* the later group's number, from 1 on */
        const char *group; /* "run", "chunk", "part", "dataset", "section" */
        char *key;
        char *title;
        enum roast_compare_unit unit;
        enum roast_metric metric; /* where the unit says so */
        enum roast_better better;
        double a, a_low, a_high;
        double b, b_low, b_high;
        double change, change_low, change_high; /* a share: 0.05 is 5 %; of a, for parts of wall */
        double noise;                           /* a change below it is not called one */
        double p, p_adjusted;
        const char *test; /* "signed-rank", "mann-whitney", "t", or "" */
        size_t n;         /* units (chunks, files, runs) that it rests on */
        enum roast_verdict verdict;
        const char *why; /* why nothing can be said; "" where something is said */
};

/* Something about the conditions that differs; a value for each group */
struct roast_compare_difference {
        char *name;
        char **values;
};

struct roast_compare_run {
        char *id; /* NULL: not known */
        char *path;
        char *name;
        size_t group;
        size_t chunks;
        double waiting; /* share of the chunks' time that they waited for a core; NaN: not known */
        int64_t start_utc_ns; /* INT64_MIN: not known */
        struct roast_summary summary;
};

struct roast_comparison {
        struct roast_compare_run *runs;
        size_t n_runs;
        size_t n_groups;
        struct roast_compare_difference *differences;
        size_t n_differences;
        struct roast_compare_row *rows;
        size_t n_rows;
        const char **matched_by; /* by group from 1 on: "chunk", "file", "" (not at all) */
};

#define ROAST_COMPARE_GROUPS_MAX 26 /* they are called A to Z */

/* group_of[i] is the group of run i; groups are 0 to n_groups - 1, none is empty. */
int roast_compare(struct roast_comparison *comparison, struct roast_run *const *runs,
                  const size_t *group_of, size_t n_runs, struct roast_error *error);
void roast_comparison_deinit(struct roast_comparison *comparison);

/* The worst regression that is larger than a share (0.05 is 5 %) and significant; NULL: none */
const struct roast_compare_row *
roast_comparison_regression(const struct roast_comparison *comparison, double share);

extern const char *const roast_verdict_names[];

/* What the groups are called, A first */
extern const char *const roast_group_letters[ROAST_COMPARE_GROUPS_MAX];

struct roast_tables;
/* Tables: what differs in the conditions, then a table for each later group. */
int roast_comparison_tables(struct roast_tables *tables, const struct roast_comparison *comparison,
                            struct roast_error *error);
/*
 * What the tables cannot say by themselves, in sentences: each ends in a line feed. The caller
 * frees it; NULL: no memory.
 */
char *roast_comparison_notes(const struct roast_comparison *comparison);
int roast_comparison_to_json(char **ret, const struct roast_comparison *comparison,
                             struct roast_error *error);
