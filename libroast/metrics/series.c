/*
 * Base facts from the samples: memory of the workers
 *
 * Each worker's average is over time, by the trapezoidal rule; the workers'
 * averages are then averaged.
 */

#include <stdlib.h>

#include "metrics/collect.h"
#include "metrics/stat.h"
#include "run/series.h"
#include "util/cleanup.h"

static void set_memory(struct roast_metric_set *set, const struct stat_average *workers, size_t n,
                       double peak)
{
        struct stat_sum workers_mean = { 0 };

        for (size_t i = 0; i < n; i++) {
                if (workers[i].n)
                        stat_add(&workers_mean, stat_average_mean(&workers[i]));
        }
        if (workers_mean.n == 0)
                return;
        roast_metric_set_real(set, ROAST_PEAK_MEMORY_BYTES, peak);
        roast_metric_set_real(set, ROAST_AVG_MEMORY_PER_WORKER_BYTES, workers_mean.mean);
}

int collect_series(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct stat_average *workers = NULL;
        struct series_walk walk;
        double peak = 0;
        int r;

        workers = calloc(collect->texts.n + 1, sizeof(*workers));
        if (!workers)
                return roast_fail_nomem(error);
        r = series_walk_begin(&walk, collect->run, error);
        while (r >= 0 && (r = series_walk_next(&walk, error)) > 0) {
                int64_t resolution;
                const int64_t *rss = series_walk_column(&walk, "rss_bytes", &resolution);

                for (size_t i = 0; rss && i < walk.block.n; i++) {
                        double bytes = (double)rss[i] * (double)resolution;

                        if (rss[i] < 0)
                                continue;
                        stat_average_add(&workers[walk.worker_text - 1],
                                         (double)walk.block.times[i], bytes);
                        if (bytes > peak)
                                peak = bytes;
                }
        }
        series_walk_end(&walk);
        if (r >= 0)
                set_memory(&collect->summary->metrics, workers, collect->texts.n, peak);
        return r;
}
