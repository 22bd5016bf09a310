#pragma once
/*
 * Sums of Dask's fine metrics, by the processor's tasks and all others
 *
 * Dask tells tasks apart by the prefix of their names, which is the class of
 * the processor, cut at 50 characters. Where coffea wraps it otherwise
 * (DaskExecutor(compression=None)) no task has that prefix, and the tasks named
 * "automatic_retries" are the processor's, with the reading of file metadata
 * among them, if they took most of the time: then the split is estimated.
 *
 * Where the tasks themselves were followed, none of that has to be guessed: they
 * tell how much of a prefix's time was about chunks (task-times.h).
 */

#include "roast-metrics.h"

enum fine_owner { FINE_PROCESSOR, FINE_RETRIES, FINE_OTHER, FINE_N_OWNERS };

struct fine_sums {
        const char *processor; /* class name; NULL or empty: every task is the processor's */
        double sums[FINE_N_OWNERS][ROAST_N_METRICS];
        bool seen[FINE_N_OWNERS]; /* a figure counted */
        bool shared;              /* a prefix is the processor's in part */
        const char *estimated;    /* why the figures are not exact; NULL: they are */
};

/* A string that need not end in 0; data NULL: not known */
struct fine_name {
        const char *data;
        size_t len;
};

bool fine_equal(struct fine_name name, const char *string);
/*
 * One figure; a unit that is not known is taken for seconds. False if it does not count: another
 * activity, or not finite.
 */
bool fine_add(struct fine_sums *sums, struct fine_name prefix, struct fine_name activity,
              struct fine_name unit, double value);
/* The same, where it is known which share of the prefix is the processor's */
bool fine_add_share(struct fine_sums *sums, double share, struct fine_name activity,
                    struct fine_name unit, double value);
/* Time of the processor's tasks, on a core or not */
double fine_processor_s(const struct fine_sums *sums);
/* Sets the base facts of the group; 0 or ROAST_E_NOMEM. */
int fine_set(struct roast_metric_set *set, const struct fine_sums *sums);
/* Says of all of them why they are not known; 0 or ROAST_E_NOMEM. */
int fine_set_absent(struct roast_metric_set *set, const char *reason);
