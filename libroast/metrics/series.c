/*
 * Base facts from the samples: memory of the workers
 *
 * Each worker's average is over time, by the trapezoidal rule; the workers'
 * averages are then averaged.
 */

#include <stdlib.h>

#include "metrics/collect.h"
#include "run/series.h"
#include "util/cleanup.h"

struct memory {
        int64_t n;
        int64_t last_ms;
        double last_bytes;
        double sum; /* bytes x ms */
        double ms;
};

static void add_sample(struct memory *memory, int64_t ms, double bytes)
{
        if (memory->n && ms > memory->last_ms) {
                double dt = (double)((uint64_t)ms - (uint64_t)memory->last_ms);

                memory->sum += dt * (bytes + memory->last_bytes) / 2;
                memory->ms += dt;
        }
        memory->n++;
        memory->last_ms = ms;
        memory->last_bytes = bytes;
}

static void set_memory(struct roast_metric_set *set, const struct memory *workers, size_t n,
                       double peak)
{
        double sum = 0;
        size_t n_workers = 0;

        for (size_t i = 0; i < n; i++) {
                if (workers[i].n == 0)
                        continue;
                sum += workers[i].ms > 0 ? workers[i].sum / workers[i].ms : workers[i].last_bytes;
                n_workers++;
        }
        if (n_workers == 0)
                return;
        roast_metric_set_real(set, ROAST_PEAK_MEMORY_BYTES, peak);
        roast_metric_set_real(set, ROAST_AVG_MEMORY_PER_WORKER_BYTES, sum / (double)n_workers);
}

int collect_series(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct memory *workers = NULL;
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
                        add_sample(&workers[walk.worker_text - 1], walk.block.times[i], bytes);
                        if (bytes > peak)
                                peak = bytes;
                }
        }
        series_walk_end(&walk);
        if (r >= 0)
                set_memory(&collect->summary->metrics, workers, collect->texts.n, peak);
        return r;
}
