/*
 * Base facts from the samples: memory and CPU time of the workers, cost of sampling
 *
 * Each worker's average is over time, by the trapezoidal rule; the workers'
 * averages are then averaged. A counter counts from its first sample on; one that
 * falls belongs to another process of that name, and begins anew.
 */

#include <stdbool.h>
#include <stdlib.h>

#include "metrics/collect.h"
#include "metrics/stat.h"
#include "run/series.h"
#include "util/cleanup.h"

struct counter {
        const char *column;
        bool from_zero; /* what it shows at first counts, too */
};

enum { CPU_USER, CPU_SYSTEM, MONITOR_CPU, N_COUNTERS };

static const struct counter counters[N_COUNTERS] = {
        [CPU_USER] = { "cpu_user_ns", false },
        [CPU_SYSTEM] = { "cpu_system_ns", false },
        [MONITOR_CPU] = { "monitor_cpu_us", true },
};

/* Of one worker */
struct sampled {
        struct stat_average rss_bytes;
        double last[N_COUNTERS];
        bool seen[N_COUNTERS];
};

/* Of all workers together */
struct totals {
        double peak_bytes;
        double grown[N_COUNTERS];
        bool known[N_COUNTERS];
};

static void add_memory(struct series_walk *walk, struct sampled *worker, struct totals *totals)
{
        int64_t resolution;
        const int64_t *rss = series_walk_column(walk, "rss_bytes", &resolution);

        for (size_t i = 0; rss && i < walk->block.n; i++) {
                double bytes = (double)rss[i] * (double)resolution;

                if (rss[i] < 0)
                        continue;
                stat_average_add(&worker->rss_bytes, (double)walk->block.times[i], bytes);
                if (bytes > totals->peak_bytes)
                        totals->peak_bytes = bytes;
        }
}

static void add_counter(struct series_walk *walk, struct sampled *worker, struct totals *totals,
                        size_t index)
{
        int64_t resolution;
        const int64_t *values = series_walk_column(walk, counters[index].column, &resolution);

        for (size_t i = 0; values && i < walk->block.n; i++) {
                double value = (double)values[i] * (double)resolution;

                if (values[i] < 0)
                        continue;
                if (worker->seen[index] && value >= worker->last[index])
                        totals->grown[index] += value - worker->last[index];
                else if (counters[index].from_zero)
                        totals->grown[index] += value;
                worker->last[index] = value;
                worker->seen[index] = totals->known[index] = true;
        }
}

static void set_metrics(struct roast_metric_set *set, const struct sampled *workers, size_t n,
                        const struct totals *totals)
{
        struct stat_sum workers_mean = { 0 };

        for (size_t i = 0; i < n; i++) {
                if (workers[i].rss_bytes.n)
                        stat_add(&workers_mean, stat_average_mean(&workers[i].rss_bytes));
        }
        if (workers_mean.n > 0) {
                roast_metric_set_real(set, ROAST_PEAK_MEMORY_BYTES, totals->peak_bytes);
                roast_metric_set_real(set, ROAST_AVG_MEMORY_PER_WORKER_BYTES, workers_mean.mean);
        }
        if (totals->known[CPU_USER] && totals->known[CPU_SYSTEM])
                roast_metric_set_real(set, ROAST_WORKER_CPU_SECONDS,
                                      (totals->grown[CPU_USER] + totals->grown[CPU_SYSTEM]) / 1e9);
        if (totals->known[MONITOR_CPU])
                roast_metric_set_real(set, ROAST_MONITORING_SAMPLER_SECONDS,
                                      totals->grown[MONITOR_CPU] / 1e6);
}

int collect_series(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct sampled *workers = NULL;
        struct totals totals = { 0 };
        struct series_walk walk;
        int r;

        workers = calloc(collect->texts.n + 1, sizeof(*workers));
        if (!workers)
                return roast_fail_nomem(error);
        r = series_walk_begin(&walk, collect->run, error);
        while (r >= 0 && (r = series_walk_next(&walk, error)) > 0) {
                struct sampled *worker = &workers[walk.worker_text - 1];

                add_memory(&walk, worker, &totals);
                for (size_t i = 0; i < N_COUNTERS; i++)
                        add_counter(&walk, worker, &totals, i);
        }
        series_walk_end(&walk);
        if (r >= 0)
                set_metrics(&collect->summary->metrics, workers, collect->texts.n, &totals);
        return r;
}
