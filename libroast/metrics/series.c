/*
 * Base facts from the samples: memory and CPU of the workers
 *
 * Each worker's average is over time, by the trapezoidal rule for what is a
 * level, and from the first reading to the last for what counts up; the workers'
 * averages are then averaged. Utilisation is relative to the worker's own memory
 * limit and threads, which may differ from worker to worker.
 */

#include <math.h>
#include <stdlib.h>

#include "metrics/collect.h"
#include "metrics/stat.h"
#include "run/series.h"
#include "util/cleanup.h"

/* Readings that follow each other faster tell of no utilisation: they are in steps of 1 ms. */
#define SPAN_MIN_MS 50

struct worker_use {
        struct stat_average rss_bytes;
        struct stat_average memory_percent;
        bool has_cpu;
        int64_t last_ms; /* the last reading of CPU time */
        double last_cpu_ns;
        double cpu_ns; /* between readings, and the time between them */
        double time_ns;
};

/* Over all workers */
struct use {
        struct worker_use *workers;
        struct stat_sum rss_bytes; /* of samples */
        struct stat_sum memory_percent;
        struct stat_sum cpu_percent; /* of spans between two readings */
};

static void add_memory(struct use *use, struct worker_use *worker,
                       const struct collect_worker *size, double ms, double bytes)
{
        double percent = bytes / size->memory_limit_bytes * 100;

        stat_average_add(&worker->rss_bytes, ms, bytes);
        stat_add(&use->rss_bytes, bytes);
        if (!(size->memory_limit_bytes > 0))
                return;
        stat_average_add(&worker->memory_percent, ms, percent);
        stat_add(&use->memory_percent, percent);
}

static void add_cpu(struct use *use, struct worker_use *worker, const struct collect_worker *size,
                    int64_t ms, double cpu_ns)
{
        double span_ms = (double)ms - (double)worker->last_ms, span_ns = span_ms * SERIES_MS;
        double spent_ns = cpu_ns - worker->last_cpu_ns;

        if (worker->has_cpu && span_ms < SPAN_MIN_MS)
                return;
        /* a count that goes back is another process under the same name */
        if (worker->has_cpu && spent_ns >= 0) {
                worker->cpu_ns += spent_ns;
                worker->time_ns += span_ns;
                if (size->threads > 0)
                        stat_add(&use->cpu_percent, spent_ns / span_ns / size->threads * 100);
        }
        worker->has_cpu = true;
        worker->last_ms = ms;
        worker->last_cpu_ns = cpu_ns;
}

/* Values below 0 are not known. */
static void add_block(struct use *use, const struct collect *collect,
                      const struct series_walk *walk)
{
        size_t at = (size_t)walk->worker_text - 1;
        struct worker_use *worker = &use->workers[at];
        const struct collect_worker *size = &collect->workers[at];
        int64_t rss_unit, user_unit, system_unit;
        const int64_t *rss = series_walk_column(walk, "rss_bytes", &rss_unit);
        const int64_t *user = series_walk_column(walk, "cpu_user_ns", &user_unit);
        const int64_t *system = series_walk_column(walk, "cpu_system_ns", &system_unit);

        for (size_t i = 0; rss && i < walk->block.n; i++)
                if (rss[i] >= 0)
                        add_memory(use, worker, size, (double)walk->block.times[i],
                                   (double)rss[i] * (double)rss_unit);
        for (size_t i = 0; user && system && i < walk->block.n; i++)
                if (user[i] >= 0 && system[i] >= 0)
                        add_cpu(use, worker, size, walk->block.times[i],
                                (double)user[i] * (double)user_unit +
                                        (double)system[i] * (double)system_unit);
}

static void set_range(struct roast_metric_set *set, enum roast_metric min, enum roast_metric peak,
                      const struct stat_sum *range)
{
        if (!range->n)
                return;
        roast_metric_set_real(set, min, range->min);
        roast_metric_set_real(set, peak, range->max);
}

static void set_mean(struct roast_metric_set *set, enum roast_metric metric,
                     const struct stat_sum *workers)
{
        if (workers->n)
                roast_metric_set_real(set, metric, workers->mean);
}

static void set_metrics(struct collect *collect, const struct use *use)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        struct stat_sum rss_bytes = { 0 }, memory_percent = { 0 }, cpu_percent = { 0 };

        for (size_t i = 0; i < collect->texts.n; i++) {
                const struct worker_use *worker = &use->workers[i];
                double threads = collect->workers[i].threads;

                if (worker->rss_bytes.n)
                        stat_add(&rss_bytes, stat_average_mean(&worker->rss_bytes));
                if (worker->memory_percent.n)
                        stat_add(&memory_percent, stat_average_mean(&worker->memory_percent));
                if (worker->time_ns > 0 && threads > 0)
                        stat_add(&cpu_percent, worker->cpu_ns / worker->time_ns / threads * 100);
        }
        if (use->rss_bytes.n)
                roast_metric_set_real(set, ROAST_PEAK_MEMORY_BYTES, use->rss_bytes.max);
        set_mean(set, ROAST_AVG_MEMORY_PER_WORKER_BYTES, &rss_bytes);
        set_mean(set, ROAST_AVG_MEMORY_UTILIZATION_PERCENT, &memory_percent);
        set_range(set, ROAST_MIN_MEMORY_UTILIZATION_PERCENT, ROAST_PEAK_MEMORY_UTILIZATION_PERCENT,
                  &use->memory_percent);
        set_mean(set, ROAST_AVG_CPU_UTILIZATION_PERCENT, &cpu_percent);
        set_range(set, ROAST_MIN_CPU_UTILIZATION_PERCENT, ROAST_PEAK_CPU_UTILIZATION_PERCENT,
                  &use->cpu_percent);
}

int collect_series(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct worker_use *workers = NULL;
        struct use use = { 0 };
        struct series_walk walk;
        int r;

        workers = calloc(collect->texts.n + 1, sizeof(*workers));
        if (!workers)
                return roast_fail_nomem(error);
        use.workers = workers;
        r = series_walk_begin(&walk, collect->run, error);
        while (r >= 0 && (r = series_walk_next(&walk, error)) > 0)
                add_block(&use, collect, &walk);
        series_walk_end(&walk);
        if (r >= 0)
                set_metrics(collect, &use);
        return r;
}
