#pragma once
/*
 * Where the wall time of chunks went, summed over chunks
 *
 * Time on a core, in its queue and throttled is measured and added. How time
 * asleep divides is estimated in each chunk from the looks that met it asleep;
 * adding those estimates would count chunks that were never looked at as "other
 * waits". So the looks of all chunks are pooled, and all time asleep is divided
 * by them.
 */

#include "roast-metrics.h"
#include "run/run.h"

struct split_sum {
        int64_t chunks; /* whose wall and CPU times are known, and of these: */
        int64_t queued; /* that tell what they waited for a core */
        double wall_ns;
        double cpu_ns;
        double runqueue_ns;
        double throttled_ns;
        double asleep_ns;
        double samples; /* and of these: */
        double block_io_samples;
        double gil_samples;
        int64_t probed;  /* chunks of any kind that tell */
        double probe_ns; /* what measuring took, beside the wall time */
};

/* Adds a row of table chunk. */
void split_add(struct split_sum *sum, const struct run_value *values);
/* Sets the metrics; 0 or ROAST_E_NOMEM. */
int split_set(struct roast_metric_set *set, const struct split_sum *sum);
