#pragma once
/*
 * A run of any size, as a cluster would have made it: workers that come one
 * after the other and of which some go, two threads each, datasets that differ
 * in time per event, a few slow and a few failing chunks, sections, branches,
 * sampled memory, CPU and network. The same on every machine.
 */

#include "roast-run.h"

struct large_size {
        size_t n_chunks;
        size_t n_workers;
        size_t seconds; /* how long it took, and samples per worker */
};

int large_fill(struct roast_run *run, const struct large_size *size, struct roast_error *error);
