#pragma once
/* The parts of a comparison, shared by the files that make it */

#include "analyze/costs.h"
#include "analyze/match.h"
#include "roast-compare.h"

/* All that is read of a run */
struct compare_run {
        struct roast_run *run;
        struct costs chunks;
        struct costs files; /* made where chunks do not match */
        struct roast_summary summary;
        size_t group;
        double waiting; /* share of wall time in the run queue, or throttled; NaN: not known */
};

/* Runs of two groups, those of the first before those of the other */
struct compare_pair {
        struct compare_run **runs;
        size_t n_a;
        size_t n_b;
        bool by_file; /* units are files */
        bool matched; /* `match` holds the units that all have */
        struct match match;
};

/* All that follows when the runs are read; n_groups is set. 0 or ROAST_E_NOMEM */
int compare_read_runs(struct roast_comparison *comparison, struct compare_run *runs, size_t n_runs);
/* The rows of a pair, behind those that are there. 0 or ROAST_E_NOMEM */
int compare_rows(struct roast_comparison *comparison, const struct compare_pair *pair,
                 size_t against);
/* What differs in the conditions */
int compare_conditions(struct roast_comparison *comparison, struct compare_run *runs, size_t n_runs,
                       struct roast_error *error);

static inline const struct costs *compare_costs(const struct compare_pair *pair, size_t run)
{
        return pair->by_file ? &pair->runs[run]->files : &pair->runs[run]->chunks;
}
