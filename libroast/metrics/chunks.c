/* Base facts from the chunk records: their statistics, by dataset and by section */

#include <stdlib.h>
#include <string.h>

#include "metrics/chunk-stats.h"
#include "metrics/collect.h"
#include "metrics/files.h"
#include "metrics/lost.h"
#include "metrics/split.h"
#include "record/chunk.h"
#include "util/cleanup.h"
#include "util/text.h"

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

static double seconds_of(const struct run_value *ns)
{
        return ns->type == RUN_INT ? (double)ns->integer / 1e9 : (double)NAN;
}

static struct chunk_figures figures_of(const struct run_value *values)
{
        const struct run_value *start = &values[CHUNK_RSS_START_BYTES];
        const struct run_value *end = &values[CHUNK_RSS_END_BYTES];
        bool has_rss = start->type == RUN_INT && end->type == RUN_INT;

        return (struct chunk_figures){
                .wall_s = seconds_of(&values[CHUNK_WALL_NS]),
                .cpu_s = seconds_of(&values[CHUNK_CPU_NS]),
                .rss_delta_mib =
                        has_rss ? ((double)end->integer - (double)start->integer) / CHUNK_MIB
                                : (double)NAN,
                .has_events = values[CHUNK_NUM_EVENTS].type == RUN_INT,
                .events = int_or_0(&values[CHUNK_NUM_EVENTS]),
                .requested_bytes = values[CHUNK_REQUESTED_BYTES].type == RUN_INT
                                           ? (double)values[CHUNK_REQUESTED_BYTES].integer
                                           : (double)NAN,
        };
}

/* What the walk over the chunks finds */
struct found {
        struct chunk_stats stats;
        struct split_sum split;
        struct files files;
        struct run_seen others; /* ids of those that are no chunks: graphs, and what was lost */
        size_t *slots;          /* of the datasets */
};

static void found_deinit(struct found *found)
{
        chunk_stats_deinit(&found->stats);
        files_deinit(&found->files);
        run_seen_deinit(&found->others);
        free(found->slots);
}

static int add_chunk(struct collect *collect, struct found *found, const struct run_value *values,
                     struct roast_error *error)
{
        struct roast_dataset *dataset =
                dataset_of(collect, found->slots, &values[CHUNK_DATASET]);

        if (!dataset)
                return roast_fail_nomem(error);
        if (int_or_0(&values[CHUNK_OUTCOME]) == CHUNK_FINISHED) {
                struct chunk_figures figures = figures_of(values);

                if (chunk_stats_finished(&found->stats, dataset, &figures) < 0)
                        return roast_fail_nomem(error);
                split_add(&found->split, values);
        } else {
                chunk_stats_failed(&found->stats, dataset);
        }
        return files_chunk(&found->files, values, error);
}

/* Branches follow each other in the order of their chunks: the walk over them stays a row ahead. */
struct branch_walk {
        struct run_scan scan;
        int r; /* of the last step: 1 there is a row, 0 there are no more, or an error */
};

static void branch_step(struct branch_walk *walk, struct roast_error *error)
{
        walk->r = run_scan_next(&walk->scan, error);
}

static int add_branches(struct branch_walk *walk, struct files *files, int64_t chunk_id,
                        struct roast_error *error)
{
        int r = 0;

        for (; walk->r > 0 && r >= 0 && walk->scan.values[0].integer <= chunk_id;
             branch_step(walk, error))
                if (walk->scan.values[0].integer == chunk_id)
                        r = files_branch(files, walk->scan.values, error);
        return walk->r < 0 ? walk->r : r;
}

static int scan_chunks(struct collect *collect, struct found *found, struct roast_error *error)
{
        ROAST_CLEANUP(run_seen_deinit) struct run_seen lost = { 0 };
        struct branch_walk branches = { 0 };
        struct run_scan scan = { 0 };
        int r;

        r = lost_collect(&lost, collect->run, error);
        if (r < 0)
                return r;
        r = run_scan_begin(&branches.scan, collect->run, RUN_BRANCH, error);
        if (r >= 0)
                branch_step(&branches, error);
        if (r >= 0)
                r = run_scan_begin(&scan, collect->run, RUN_CHUNK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                int64_t outcome = int_or_0(&scan.values[CHUNK_OUTCOME]);

                r = add_branches(&branches, &found->files, scan.id, error);
                if (r < 0)
                        break;
                found->stats.lost += outcome == CHUNK_LOST;
                if (outcome != CHUNK_GRAPH && outcome != CHUNK_LOST &&
                    !lost_has(&lost, scan.values)) {
                        r = add_chunk(collect, found, scan.values, error);
                        continue;
                }
                files_pass(&found->files);
                if (run_seen_add(&found->others, (uint64_t)scan.id) < 0)
                        r = roast_fail_nomem(error);
        }
        if (r >= 0) /* rows of no chunk, if there are any: their seals count too */
                r = add_branches(&branches, &found->files, INT64_MAX, error);
        run_scan_end(&scan);
        run_scan_end(&branches.scan);
        return r;
}

/* values: chunk_id, name_text, then the section fields */
static struct section_figures section_figures_of(const struct run_value *values)
{
        const struct run_value *fields = values + 2;

        return (struct section_figures){
                .kind = (int)(int_or_0(&fields[SECTION_KIND]) & 7),
                .count = int_or_0(&fields[SECTION_COUNT]),
                .total_s = (double)int_or_0(&fields[SECTION_TOTAL_NS]) / 1e9,
                .self_s = (double)int_or_0(&fields[SECTION_SELF_NS]) / 1e9,
                .min_s = (double)int_or_0(&fields[SECTION_MIN_NS]) / 1e9,
                .max_s = (double)int_or_0(&fields[SECTION_MAX_NS]) / 1e9,
                .rss_delta_bytes = (double)int_or_0(&fields[SECTION_RSS_DELTA_BYTES]),
                .bytes = int_or_0(&fields[SECTION_BYTES]),
        };
}

static int scan_sections(struct collect *collect, size_t *slots, const struct run_seen *others,
                         struct roast_error *error)
{
        struct roast_summary *summary = collect->summary;
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_SECTION, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                struct section_figures figures;
                struct roast_section *section;
                size_t len;
                const char *name = collect_text(collect, &scan.values[1], &len);

                if (run_seen_has(others, (uint64_t)scan.values[0].integer))
                        continue;
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
                figures = section_figures_of(scan.values);
                section_add(section, &figures);
        }
        run_scan_end(&scan);
        if (r >= 0)
                section_sort(summary->sections, summary->n_sections);
        return r;
}

static int set_metrics(struct roast_metric_set *set, struct found *found,
                       struct roast_error *error)
{
        if (found->stats.n || found->stats.lost)
                roast_metric_set_count(set, ROAST_NUM_LOST_CHUNKS, found->stats.lost);
        if (found->stats.n == 0)
                return 0;
        if (chunk_stats_set(set, &found->stats) < 0 || split_set(set, &found->split) < 0)
                return roast_fail_nomem(error);
        return files_set(&found->files, error);
}

int collect_chunks(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) size_t *sections = NULL;
        ROAST_CLEANUP(found_deinit) struct found found = { 0 };
        int r;

        found.slots = calloc(collect->texts.n + 1, sizeof(*found.slots));
        sections = calloc(collect->texts.n + 1, sizeof(*sections));
        r = files_init(&found.files, collect, error);
        if (!found.slots || !sections)
                return roast_fail_nomem(error);
        if (r >= 0)
                r = scan_chunks(collect, &found, error);
        if (r >= 0)
                r = scan_sections(collect, sections, &found.others, error);
        return r < 0 ? r : set_metrics(&collect->summary->metrics, &found, error);
}
