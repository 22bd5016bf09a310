/* Base facts from the chunk records: their statistics, by dataset and by section */

#include <stdlib.h>
#include <string.h>

#include "metrics/collect.h"
#include "metrics/lost.h"
#include "metrics/stat.h"
#include "record/chunk.h"
#include "util/cleanup.h"
#include "util/text.h"

#define MIB (1024.0 * 1024.0)

struct chunk_stats {
        int64_t n;
        int64_t failed;
        int64_t lost;
        struct stat_sum wall_s;
        struct stat_sum rss_delta_mib;
        struct stat_sum events;
        int64_t total_events;
};

static int64_t int_or_0(const struct run_value *value)
{
        return value->type == RUN_INT ? value->integer : 0;
}

/*
 * Datasets and sections are found by the id of their name: `slots` has, for
 * each string of the run, the index + 1 in the summary's array, or 0 if it has
 * not appeared yet; slots[0] stands for "no name".
 */

/* Makes room for element n of an array, zeroed. */
static void *grow(void *array, size_t n, size_t size)
{
        char *grown = realloc(array, (n + 1) * size);

        if (grown)
                memset(grown + n * size, 0, size);
        return grown;
}

static struct roast_dataset *dataset_of(struct collect *collect, size_t *slots,
                                        const struct run_value *text)
{
        struct roast_summary *summary = collect->summary;
        struct roast_dataset *grown;
        size_t len, *slot;
        const char *name = collect_text(collect, text, &len);

        slot = &slots[name ? text->integer : 0];
        if (*slot)
                return &summary->datasets[*slot - 1];
        grown = grow(summary->datasets, summary->n_datasets, sizeof(*grown));
        if (!grown)
                return NULL;
        summary->datasets = grown;
        grown += summary->n_datasets;
        if (name && !(grown->name = text_copy(name, len)))
                return NULL;
        *slot = ++summary->n_datasets;
        return grown;
}

static struct roast_section *section_of(struct roast_summary *summary, size_t *slot,
                                        const char *name, size_t len)
{
        struct roast_section *grown;

        if (*slot)
                return &summary->sections[*slot - 1];
        grown = grow(summary->sections, summary->n_sections, sizeof(*grown));
        if (!grown)
                return NULL;
        summary->sections = grown;
        grown += summary->n_sections;
        if (!(grown->name = text_copy(name, len)))
                return NULL;
        *slot = ++summary->n_sections;
        return grown;
}

static void add_finished(struct chunk_stats *stats, struct roast_dataset *dataset,
                         const struct run_value *values)
{
        const struct run_value *start = &values[CHUNK_RSS_START_BYTES];
        const struct run_value *end = &values[CHUNK_RSS_END_BYTES];

        if (values[CHUNK_WALL_NS].type == RUN_INT)
                stat_add(&stats->wall_s, (double)values[CHUNK_WALL_NS].integer / 1e9);
        if (start->type == RUN_INT && end->type == RUN_INT)
                stat_add(&stats->rss_delta_mib,
                         ((double)end->integer - (double)start->integer) / MIB);
        if (values[CHUNK_NUM_EVENTS].type == RUN_INT) {
                stat_add(&stats->events, (double)values[CHUNK_NUM_EVENTS].integer);
                stats->total_events =
                        stat_sum_int(stats->total_events, values[CHUNK_NUM_EVENTS].integer);
        }
        dataset->finished++;
        dataset->events = stat_sum_int(dataset->events, int_or_0(&values[CHUNK_NUM_EVENTS]));
        dataset->wall_s += (double)int_or_0(&values[CHUNK_WALL_NS]) / 1e9;
        dataset->cpu_s += (double)int_or_0(&values[CHUNK_CPU_NS]) / 1e9;
        dataset->requested_bytes =
                stat_sum_int(dataset->requested_bytes, int_or_0(&values[CHUNK_REQUESTED_BYTES]));
}

static int scan_chunks(struct collect *collect, struct chunk_stats *stats, size_t *slots,
                       struct roast_error *error)
{
        ROAST_CLEANUP(run_seen_deinit) struct run_seen lost = { 0 };
        struct run_scan scan;
        int r;

        r = lost_collect(&lost, collect->run, error);
        if (r < 0)
                return r;
        r = run_scan_begin(&scan, collect->run, RUN_CHUNK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                int64_t outcome = int_or_0(&scan.values[CHUNK_OUTCOME]);
                struct roast_dataset *dataset;

                if (outcome == CHUNK_GRAPH)
                        continue;
                if (outcome == CHUNK_LOST) {
                        stats->lost++;
                        continue;
                }
                if (lost_has(&lost, scan.values))
                        continue;
                dataset = dataset_of(collect, slots, &scan.values[CHUNK_DATASET]);
                if (!dataset) {
                        r = roast_fail_nomem(error);
                        break;
                }
                stats->n++;
                if (outcome == CHUNK_FINISHED) {
                        add_finished(stats, dataset, scan.values);
                } else {
                        stats->failed++;
                        dataset->failed++;
                }
        }
        run_scan_end(&scan);
        return r;
}

static void add_time(struct roast_section *section, const struct run_value *fields)
{
        double min_s = (double)int_or_0(&fields[SECTION_MIN_NS]) / 1e9;
        double max_s = (double)int_or_0(&fields[SECTION_MAX_NS]) / 1e9;

        if (section->chunks == 0 || min_s < section->min_s)
                section->min_s = min_s;
        if (section->chunks == 0 || max_s > section->max_s)
                section->max_s = max_s;
        section->chunks++;
        section->count = stat_sum_int(section->count, int_or_0(&fields[SECTION_COUNT]));
        section->total_s += (double)int_or_0(&fields[SECTION_TOTAL_NS]) / 1e9;
        section->self_s += (double)int_or_0(&fields[SECTION_SELF_NS]) / 1e9;
}

static void add_memory(struct roast_section *section, const struct run_value *fields)
{
        double delta = (double)int_or_0(&fields[SECTION_RSS_DELTA_BYTES]);
        bool first = !(section->kind & SECTION_MEMORY);

        if (first || delta < section->rss_delta_min_bytes)
                section->rss_delta_min_bytes = delta;
        if (first || delta > section->rss_delta_max_bytes)
                section->rss_delta_max_bytes = delta;
        section->rss_delta_bytes += delta;
}

/*
 * The same lines are often tracked for time, memory and bytes at once, each a
 * row of its own: their time counts once, from the kind with the lowest bit.
 *
 * values: chunk_id, name_text, then the section fields
 */
static void add_section(struct roast_section *section, const struct run_value *values)
{
        const struct run_value *fields = values + 2;
        int kind = (int)(int_or_0(&fields[SECTION_KIND]) & 7);
        int timed = section->kind & -section->kind, lowest = kind & -kind;

        if (!timed || lowest < timed) {
                section->chunks = section->count = 0;
                section->total_s = section->self_s = 0;
                timed = lowest;
        }
        if (lowest == timed)
                add_time(section, fields);
        if (kind & SECTION_MEMORY)
                add_memory(section, fields);
        section->bytes = stat_sum_int(section->bytes, int_or_0(&fields[SECTION_BYTES]));
        section->kind |= kind;
}

static int by_total(const void *a, const void *b)
{
        const struct roast_section *x = a, *y = b;

        if (x->total_s != y->total_s)
                return x->total_s < y->total_s ? 1 : -1;
        return strcmp(x->name, y->name);
}

static int scan_sections(struct collect *collect, size_t *slots, struct roast_error *error)
{
        struct roast_summary *summary = collect->summary;
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_SECTION, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                struct roast_section *section;
                size_t len;
                const char *name = collect_text(collect, &scan.values[1], &len);

                if (!name) {
                        r = roast_fail(error, ROAST_E_CORRUPT,
                                       "%s: is damaged (a section without a name)",
                                       run_label(collect->run));
                        break;
                }
                section = section_of(summary, &slots[scan.values[1].integer], name, len);
                if (!section) {
                        r = roast_fail_nomem(error);
                        break;
                }
                add_section(section, scan.values);
        }
        run_scan_end(&scan);
        if (r >= 0 && summary->n_sections)
                qsort(summary->sections, summary->n_sections, sizeof(*summary->sections), by_total);
        return r;
}

static void set_range(struct roast_metric_set *set, enum roast_metric mean, enum roast_metric min,
                      enum roast_metric max, const struct stat_sum *stat)
{
        if (stat->n == 0)
                return;
        roast_metric_set_real(set, mean, stat->mean);
        roast_metric_set_real(set, min, stat->min);
        roast_metric_set_real(set, max, stat->max);
}

static int set_metrics(struct roast_metric_set *set, const struct chunk_stats *stats)
{
        roast_metric_set_count(set, ROAST_NUM_CHUNKS, stats->n);
        roast_metric_set_count(set, ROAST_NUM_SUCCESSFUL_CHUNKS, stats->n - stats->failed);
        roast_metric_set_count(set, ROAST_NUM_FAILED_CHUNKS, stats->failed);
        roast_metric_set_count(set, ROAST_NUM_LOST_CHUNKS, stats->lost);
        set_range(set, ROAST_CHUNK_DURATION_MEAN, ROAST_CHUNK_DURATION_MIN,
                  ROAST_CHUNK_DURATION_MAX, &stats->wall_s);
        if (stats->wall_s.n)
                roast_metric_set_real(set, ROAST_CHUNK_DURATION_STD,
                                      stat_deviation(&stats->wall_s));
        set_range(set, ROAST_CHUNK_MEM_DELTA_MEAN_MB, ROAST_CHUNK_MEM_DELTA_MIN_MB,
                  ROAST_CHUNK_MEM_DELTA_MAX_MB, &stats->rss_delta_mib);
        if (stats->rss_delta_mib.n)
                roast_metric_set_real(set, ROAST_CHUNK_MEM_DELTA_STD_MB,
                                      stat_deviation(&stats->rss_delta_mib));
        set_range(set, ROAST_CHUNK_EVENTS_MEAN, ROAST_CHUNK_EVENTS_MIN, ROAST_CHUNK_EVENTS_MAX,
                  &stats->events);
        if (stats->events.n)
                roast_metric_set_count(set, ROAST_TOTAL_EVENTS_FROM_CHUNKS, stats->total_events);
        if (stats->events.n && set->values[ROAST_TOTAL_EVENTS].state == ROAST_ABSENT)
                return roast_metric_set_estimated(set, ROAST_TOTAL_EVENTS,
                                                  (double)stats->total_events,
                                                  "from the chunk records: no report");
        return 0;
}

int collect_chunks(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) size_t *datasets = NULL;
        ROAST_CLEANUP(cleanup_free) size_t *sections = NULL;
        struct chunk_stats stats = { 0 };
        int r;

        datasets = calloc(collect->texts.n + 1, sizeof(*datasets));
        sections = calloc(collect->texts.n + 1, sizeof(*sections));
        if (!datasets || !sections)
                return roast_fail_nomem(error);
        r = scan_chunks(collect, &stats, datasets, error);
        if (r >= 0)
                r = scan_sections(collect, sections, error);
        if (r >= 0 && stats.n && set_metrics(&collect->summary->metrics, &stats) < 0)
                return roast_fail_nomem(error);
        return r;
}
