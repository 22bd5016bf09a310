/*
 * Base facts from the samples: memory and CPU time of the workers, cost of sampling
 *
 * Each worker's average is over time, by the trapezoidal rule; the workers'
 * averages are then averaged. Utilisation is relative to the worker's own memory
 * limit and threads, which may differ from worker to worker. A counter counts from its first sample
 * on; one that falls belongs to another process of that name, and begins anew. The CPU time of a
 * process that has several workers counts once, whichever of them told it, and is used by the
 * threads of them all.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "metrics/collect.h"
#include "metrics/stat.h"
#include "run/series.h"
#include "util/cleanup.h"

/* Readings that follow each other faster tell of no utilisation: they are in steps of 1 ms. */
#define SPAN_MIN_MS 50

struct counter {
        const char *column;
        bool from_zero;  /* what it shows at first counts, too */
        bool of_process; /* all workers of a process show the same */
};

enum { CPU_USER, CPU_SYSTEM, MONITOR_CPU, N_COUNTERS };

static const struct counter counters[N_COUNTERS] = {
        [CPU_USER] = { "cpu_user_ns", false, true },
        [CPU_SYSTEM] = { "cpu_system_ns", false, true },
        [MONITOR_CPU] = { "monitor_cpu_us", true, false },
};

/* The use that a worker made of its cores, between readings of its CPU time */
struct cores_use {
        bool seen;
        int64_t last_ms;
        double last_ns;
        double cpu_ns;
        double time_ns;
};

/* What a counter showed first and last; samples of several workers come in any order */
struct shown {
        bool seen;
        int64_t first_ms;
        int64_t last_ms;
        double first;
        double last;
};

/* Of one worker; cores and the counters of a process are with the worker that stands for it. */
struct sampled {
        struct stat_average rss_bytes;
        struct stat_average memory_percent;
        struct cores_use cores;
        struct shown shown[N_COUNTERS];
};

/* Of all workers together */
struct totals {
        double peak_bytes;
        struct stat_sum memory_percent; /* of all samples */
        struct stat_sum cpu_percent;    /* of all spans between two readings */
        double grown[N_COUNTERS];
        bool known[N_COUNTERS];
};

static void series_add_memory(struct series_walk *walk, struct sampled *worker, double limit_bytes,
                              struct totals *totals)
{
        int64_t resolution;
        const int64_t *rss = series_walk_column(walk, "rss_bytes", &resolution);

        for (size_t i = 0; rss && i < walk->block.n; i++) {
                double bytes = (double)rss[i] * (double)resolution;
                double percent = bytes / limit_bytes * 100;

                if (rss[i] < 0)
                        continue;
                stat_average_add(&worker->rss_bytes, (double)walk->block.times[i], bytes);
                if (bytes > totals->peak_bytes)
                        totals->peak_bytes = bytes;
                if (!(limit_bytes > 0))
                        continue;
                stat_average_add(&worker->memory_percent, (double)walk->block.times[i], percent);
                stat_add(&totals->memory_percent, percent);
        }
}

static void series_note_cores(struct cores_use *cores, double threads, struct stat_sum *percent,
                              int64_t ms, double cpu_ns)
{
        double span_ns = ((double)ms - (double)cores->last_ms) * SERIES_MS;
        double spent_ns = cpu_ns - cores->last_ns;

        if (cores->seen && span_ns < SPAN_MIN_MS * (double)SERIES_MS)
                return;
        if (cores->seen && spent_ns >= 0) {
                cores->cpu_ns += spent_ns;
                cores->time_ns += span_ns;
                if (threads > 0)
                        stat_add(percent, spent_ns / span_ns / threads * 100);
        }
        cores->seen = true;
        cores->last_ms = ms;
        cores->last_ns = cpu_ns;
}

static void series_add_cores(struct series_walk *walk, struct sampled *process, double threads,
                             struct totals *totals)
{
        int64_t user_unit, system_unit;
        const int64_t *user = series_walk_column(walk, counters[CPU_USER].column, &user_unit);
        const int64_t *system = series_walk_column(walk, counters[CPU_SYSTEM].column, &system_unit);

        for (size_t i = 0; user && system && i < walk->block.n; i++)
                if (user[i] >= 0 && system[i] >= 0)
                        series_note_cores(&process->cores, threads, &totals->cpu_percent,
                                          walk->block.times[i],
                                          (double)user[i] * (double)user_unit +
                                                  (double)system[i] * (double)system_unit);
}

/* By how much more the counter is known to have grown, with this sample */
static double series_grow(struct shown *shown, bool from_zero, int64_t ms, double value)
{
        struct shown before = *shown;

        if (!before.seen) {
                *shown = (struct shown){ true, ms, ms, value, value };
                return from_zero ? value : 0;
        }
        if (ms < before.first_ms) {
                shown->first_ms = ms;
                shown->first = value;
                return from_zero ? 0 : fmax(before.first - value, 0);
        }
        if (ms <= before.last_ms)
                return 0; /* what lies between is counted */
        shown->last_ms = ms;
        shown->last = value;
        if (value < before.last)
                return from_zero ? value : 0;
        return value - before.last;
}

static void series_add_counter(struct series_walk *walk, struct shown *shown, struct totals *totals,
                               size_t index)
{
        int64_t resolution;
        const int64_t *values = series_walk_column(walk, counters[index].column, &resolution);

        for (size_t i = 0; values && i < walk->block.n; i++) {
                if (values[i] < 0)
                        continue;
                totals->grown[index] +=
                        series_grow(shown, counters[index].from_zero, walk->block.times[i],
                                    (double)values[i] * (double)resolution);
                totals->known[index] = true;
        }
}

/* The mean over workers, the smallest and the largest: three metrics in this order */
static void series_set_use(struct roast_metric_set *set, enum roast_metric mean,
                           const struct stat_sum *workers, const struct stat_sum *samples)
{
        if (!workers->n)
                return;
        roast_metric_set_real(set, mean, workers->mean);
        roast_metric_set_real(set, mean + 1, samples->min);
        roast_metric_set_real(set, mean + 2, samples->max);
}

static void series_set_workers(struct roast_metric_set *set, const struct sampled *workers,
                               const struct collect *collect, const struct totals *totals)
{
        struct stat_sum bytes = { 0 }, memory_percent = { 0 }, cpu_percent = { 0 };

        for (size_t i = 0; i < collect->texts.n; i++) {
                const struct cores_use *cores = &workers[i].cores;
                double threads = collect->workers[i].process_threads;

                if (workers[i].rss_bytes.n)
                        stat_add(&bytes, stat_average_mean(&workers[i].rss_bytes));
                if (workers[i].memory_percent.n)
                        stat_add(&memory_percent, stat_average_mean(&workers[i].memory_percent));
                if (cores->time_ns > 0 && threads > 0)
                        stat_add(&cpu_percent, cores->cpu_ns / cores->time_ns / threads * 100);
        }
        if (bytes.n) {
                roast_metric_set_real(set, ROAST_PEAK_MEMORY_BYTES, totals->peak_bytes);
                roast_metric_set_real(set, ROAST_AVG_MEMORY_PER_WORKER_BYTES, bytes.mean);
        }
        series_set_use(set, ROAST_AVG_MEMORY_UTILIZATION_PERCENT, &memory_percent,
                       &totals->memory_percent);
        series_set_use(set, ROAST_AVG_CPU_UTILIZATION_PERCENT, &cpu_percent, &totals->cpu_percent);
}

static void series_set_counters(struct roast_metric_set *set, const struct totals *totals)
{
        if (totals->known[CPU_USER] && totals->known[CPU_SYSTEM])
                roast_metric_set_real(set, ROAST_WORKER_CPU_SECONDS,
                                      (totals->grown[CPU_USER] + totals->grown[CPU_SYSTEM]) / 1e9);
        if (totals->known[MONITOR_CPU])
                roast_metric_set_real(set, ROAST_MONITORING_SAMPLER_SECONDS,
                                      totals->grown[MONITOR_CPU] / 1e6);
}

/* What could not be used, beside what the run itself counted, if it has ended */
static void series_add_faults(struct roast_metric_set *set, size_t n)
{
        const struct roast_value *before = &set->values[ROAST_MONITORING_FAULTS];

        if (before->state == ROAST_KNOWN)
                roast_metric_set_count(set, ROAST_MONITORING_FAULTS,
                                       stat_sum_int(before->count, (int64_t)n));
}

int collect_series(struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        ROAST_CLEANUP(cleanup_free) struct sampled *workers = NULL;
        struct totals totals = { 0 };
        struct series_walk walk;
        int r;

        workers = calloc(collect->texts.n + 1, sizeof(*workers));
        if (!workers)
                return roast_fail_nomem(error);
        r = series_walk_begin(&walk, collect->run, &collect->texts, error);
        while (r >= 0 && (r = series_walk_next(&walk, error)) > 0) {
                const struct collect_worker *about = &collect->workers[walk.worker_text - 1];
                struct sampled *worker = &workers[walk.worker_text - 1];
                struct sampled *process = &workers[about->process];

                series_add_memory(&walk, worker, about->memory_limit_bytes, &totals);
                series_add_cores(&walk, process, collect->workers[about->process].process_threads,
                                 &totals);
                for (size_t i = 0; i < N_COUNTERS; i++) {
                        struct sampled *of = counters[i].of_process ? process : worker;

                        series_add_counter(&walk, &of->shown[i], &totals, i);
                }
        }
        series_walk_end(&walk);
        if (r < 0)
                return r;
        series_set_workers(set, workers, collect, &totals);
        series_set_counters(set, &totals);
        if (walk.n_damaged)
                series_add_faults(set, walk.n_damaged);
        return 0;
}
