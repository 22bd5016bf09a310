/* Statistics of chunks, datasets and sections: see chunk-stats.h. */

#include <stdlib.h>
#include <string.h>

#include "metrics/chunk-stats.h"
#include "record/chunk.h"
#include "util/size.h"

static void chunk_add_known(struct stat_sum *stat, double value)
{
        if (isfinite(value))
                stat_add(stat, value);
}

void chunk_stats_deinit(struct chunk_stats *stats)
{
        quantile_deinit(&stats->walls_s);
}

/* A sum of what is known, and of how many chunks that is */
static void chunk_sum_known(double *sum, int64_t *n, double value)
{
        if (!isfinite(value))
                return;
        *sum += value;
        (*n)++;
}

int chunk_stats_finished(struct chunk_stats *stats, struct roast_dataset *dataset,
                         const struct chunk_figures *figures)
{
        int64_t events = figures->has_events ? figures->events : 0;

        stats->n++;
        chunk_add_known(&stats->wall_s, figures->wall_s);
        chunk_add_known(&stats->rss_delta_mib, figures->rss_delta_mib);
        if (figures->has_events)
                stat_add(&stats->events, (double)events);
        if (events > 0) {
                chunk_add_known(&stats->s_per_event, figures->wall_s / (double)events);
                chunk_add_known(&stats->bytes_per_event,
                                figures->rss_delta_mib * CHUNK_MIB / (double)events);
        }
        stats->total_events = stat_sum_int(stats->total_events, events);
        dataset->finished++;
        dataset->events = stat_sum_int(dataset->events, events);
        chunk_sum_known(&dataset->wall_s, &dataset->wall_chunks, figures->wall_s);
        chunk_sum_known(&dataset->cpu_s, &dataset->cpu_chunks, figures->cpu_s);
        chunk_sum_known(&dataset->rss_delta_bytes, &dataset->rss_chunks,
                        figures->rss_delta_mib * CHUNK_MIB);
        if (isfinite(figures->wall_s))
                dataset->wall_events = stat_sum_int(dataset->wall_events, events);
        if (isfinite(figures->rss_delta_mib))
                dataset->rss_events = stat_sum_int(dataset->rss_events, events);
        chunk_sum_known(&dataset->requested_bytes, &dataset->bytes_chunks,
                        figures->requested_bytes);
        return isfinite(figures->wall_s) ? quantile_add(&stats->walls_s, figures->wall_s) : 0;
}

void chunk_stats_failed(struct chunk_stats *stats, struct roast_dataset *dataset)
{
        stats->n++;
        stats->failed++;
        dataset->failed++;
}

/* Where a task had to stand for a record a figure is estimated, for the task's time is longer. */
static int chunk_set_wall(struct roast_metric_set *set, enum roast_metric metric, double value,
                          int64_t from_tasks)
{
        if (from_tasks)
                return roast_metric_set_estimated(
                        set, metric, value,
                        "wall time of the task for %lld chunks without a record",
                        (long long)from_tasks);
        roast_metric_set_real(set, metric, value);
        return 0;
}

/* The metrics from `mean` on, which stand in this order in the registry: mean, min, max, deviation
 */
static int chunk_set_statistics(struct roast_metric_set *set, enum roast_metric mean,
                                const struct stat_sum *stat, int64_t from_tasks)
{
        const double values[] = { stat->mean, stat->min, stat->max, stat_deviation(stat) };

        for (unsigned int i = 0; i < 4 && stat->n; i++)
                if (chunk_set_wall(set, mean + i, values[i], from_tasks) < 0)
                        return ROAST_E_NOMEM;
        return 0;
}

static int chunk_set_told(struct roast_metric_set *set, enum roast_metric metric, int64_t count,
                          bool has_tasks)
{
        if (!has_tasks && count == 0)
                return roast_metric_set_absent(set, metric, "no tasks were followed");
        roast_metric_set_count(set, metric, count);
        return 0;
}

int chunk_stats_set_ledger(struct roast_metric_set *set, const struct chunk_stats *stats,
                           bool has_tasks)
{
        roast_metric_set_count(set, ROAST_NUM_RETRIED_CHUNKS, stats->retried);
        if (chunk_set_told(set, ROAST_NUM_LOST_CHUNKS, stats->lost, has_tasks) < 0)
                return ROAST_E_NOMEM;
        return chunk_set_told(set, ROAST_NUM_SKIPPED_CHUNKS, stats->skipped, has_tasks);
}

static int chunk_set_percentiles(struct roast_metric_set *set, struct quantile *walls_s,
                                 int64_t from_tasks)
{
        static const struct {
                enum roast_metric metric;
                double share;
        } percentiles[] = {
                { ROAST_CHUNK_DURATION_P50, 0.50 },
                { ROAST_CHUNK_DURATION_P90, 0.90 },
                { ROAST_CHUNK_DURATION_P95, 0.95 },
                { ROAST_CHUNK_DURATION_P99, 0.99 },
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(percentiles) && walls_s->n; i++)
                if (chunk_set_wall(set, percentiles[i].metric,
                                   quantile_of(walls_s, percentiles[i].share), from_tasks) < 0)
                        return ROAST_E_NOMEM;
        return 0;
}

int chunk_stats_set(struct roast_metric_set *set, struct chunk_stats *stats)
{
        roast_metric_set_count(set, ROAST_NUM_CHUNKS, stats->n);
        roast_metric_set_count(set, ROAST_NUM_SUCCESSFUL_CHUNKS, stats->n - stats->failed);
        roast_metric_set_count(set, ROAST_NUM_FAILED_CHUNKS, stats->failed);
        if (chunk_set_statistics(set, ROAST_CHUNK_DURATION_MEAN, &stats->wall_s,
                                 stats->from_tasks) < 0 ||
            chunk_set_percentiles(set, &stats->walls_s, stats->from_tasks) < 0 ||
            chunk_set_statistics(set, ROAST_CHUNK_MEM_DELTA_MEAN_MB, &stats->rss_delta_mib, 0) <
                    0 ||
            chunk_set_statistics(set, ROAST_TIME_PER_EVENT_MEAN, &stats->s_per_event,
                                 stats->from_tasks) < 0 ||
            chunk_set_statistics(set, ROAST_MEMORY_PER_EVENT_MEAN, &stats->bytes_per_event, 0) < 0)
                return ROAST_E_NOMEM;
        if (stats->events.n) {
                roast_metric_set_count(set, ROAST_TOTAL_EVENTS_FROM_CHUNKS, stats->total_events);
                roast_metric_set_real(set, ROAST_CHUNK_EVENTS_MEAN, stats->events.mean);
                roast_metric_set_real(set, ROAST_CHUNK_EVENTS_MIN, stats->events.min);
                roast_metric_set_real(set, ROAST_CHUNK_EVENTS_MAX, stats->events.max);
        }
        if (stats->events.n && set->values[ROAST_TOTAL_EVENTS].state == ROAST_ABSENT)
                return roast_metric_set_estimated(set, ROAST_TOTAL_EVENTS,
                                                  (double)stats->total_events,
                                                  "from the chunk records: no report");
        return 0;
}

static void chunk_add_time(struct roast_section *section, const struct section_figures *figures)
{
        if (section->chunks == 0 || figures->min_s < section->min_s)
                section->min_s = figures->min_s;
        if (section->chunks == 0 || figures->max_s > section->max_s)
                section->max_s = figures->max_s;
        section->chunks++;
        section->count = stat_sum_int(section->count, figures->count);
        section->total_s += figures->total_s;
        section->self_s += figures->self_s;
}

static void chunk_add_memory(struct roast_section *section, double delta)
{
        if (section->memory_chunks == 0 || delta < section->rss_delta_min_bytes)
                section->rss_delta_min_bytes = delta;
        if (section->memory_chunks == 0 || delta > section->rss_delta_max_bytes)
                section->rss_delta_max_bytes = delta;
        section->memory_chunks++;
        section->rss_delta_bytes += delta;
}

/*
 * The same lines are often tracked for time, memory and bytes at once, each on
 * its own: their time counts once, from the kind with the lowest bit.
 */
void section_add(struct roast_section *section, const struct section_figures *figures)
{
        int timed = section->kind & -section->kind, lowest = figures->kind & -figures->kind;

        if (!timed || lowest < timed) {
                section->chunks = section->count = 0;
                section->total_s = section->self_s = 0;
                timed = lowest;
        }
        if (lowest == timed)
                chunk_add_time(section, figures);
        if (figures->kind & SECTION_MEMORY && isfinite(figures->rss_delta_bytes))
                chunk_add_memory(section, figures->rss_delta_bytes);
        if (figures->kind & SECTION_BYTES_READ && figures->has_bytes) {
                section->bytes_chunks++;
                section->bytes = stat_sum_int(section->bytes, figures->bytes);
        }
        section->kind |= figures->kind;
}

bool section_has_time(const struct roast_section *section)
{
        return section->kind & SECTION_TIME || section->total_s > 0;
}

static int chunk_by_total(const void *a, const void *b)
{
        const struct roast_section *x = a, *y = b;

        if (x->total_s != y->total_s)
                return x->total_s < y->total_s ? 1 : -1;
        return strcmp(x->name, y->name);
}

void section_sort(struct roast_section *sections, size_t n)
{
        if (n)
                qsort(sections, n, sizeof(*sections), chunk_by_total);
}
