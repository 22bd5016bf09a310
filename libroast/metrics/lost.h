#pragma once
/*
 * Attempts that were lost with their worker
 *
 * The scheduler reports them as records with outcome CHUNK_LOST. What was lost
 * may have finished before, and its own record be here too: then its result
 * was lost, the chunk was done again elsewhere, and that record does not count.
 */

#include "run/run.h"

/* The keys of all lost attempts of a run */
int lost_collect(struct run_seen *lost, struct roast_run *run, struct roast_error *error);
/* Whether this row of table chunk is an attempt whose result was lost. */
bool lost_has(const struct run_seen *lost, const struct run_value *values);
