/* Base facts from the chunk records: their statistics, by dataset and by section */

#include <stdlib.h>
#include <string.h>

#include "metrics/chunk-stats.h"
#include "metrics/collect.h"
#include "metrics/failures.h"
#include "metrics/files.h"
#include "metrics/split.h"
#include "run/attempts.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "util/text.h"

/*
 * Datasets and sections are found by the id of their name: `slots` has, for
 * each string of the run, the index + 1 in the summary's array, or 0 if it has
 * not appeared yet; slots[0] stands for "no name".
 */

/* Makes room for element n of an array, zeroed. */
static void *chunks_grow_array(void *array, size_t n, size_t size)
{
        char *grown = realloc(array, (n + 1) * size);

        if (grown)
                memset(grown + n * size, 0, size);
        return grown;
}

static struct roast_dataset *chunks_dataset_of(struct collect *collect, size_t *slots,
                                               const struct run_value *text)
{
        struct roast_summary *summary = collect->summary;
        struct roast_dataset *grown;
        size_t len, *slot;
        const char *name = collect_text(collect, text, &len);

        slot = &slots[name ? text->integer : 0];
        if (*slot)
                return &summary->datasets[*slot - 1];
        grown = chunks_grow_array(summary->datasets, summary->n_datasets, sizeof(*grown));
        if (!grown)
                return NULL;
        summary->datasets = grown;
        grown += summary->n_datasets;
        if (name && !(grown->name = text_copy(name, len)))
                return NULL;
        *slot = ++summary->n_datasets;
        return grown;
}

static struct roast_section *chunks_section_of(struct roast_summary *summary, size_t *slot,
                                               const char *name, size_t len)
{
        struct roast_section *grown;

        if (*slot)
                return &summary->sections[*slot - 1];
        grown = chunks_grow_array(summary->sections, summary->n_sections, sizeof(*grown));
        if (!grown)
                return NULL;
        summary->sections = grown;
        grown += summary->n_sections;
        if (!(grown->name = text_copy(name, len)))
                return NULL;
        *slot = ++summary->n_sections;
        return grown;
}

static double chunks_seconds_of(const struct run_value *ns)
{
        return run_number(ns) / 1e9;
}

static struct chunk_figures chunks_figures_of(const struct run_value *values)
{
        const struct run_value *delta = &values[CHUNK_RSS_DELTA_BYTES];

        return (struct chunk_figures){
                .wall_s = chunks_seconds_of(&values[CHUNK_WALL_NS]),
                .cpu_s = chunks_seconds_of(&values[CHUNK_CPU_NS]),
                .rss_delta_mib = (delta->type != RUN_NULL
                                          ? run_number(delta)
                                          : run_number(&values[CHUNK_RSS_END_BYTES]) -
                                                    run_number(&values[CHUNK_RSS_START_BYTES])) /
                                 CHUNK_MIB,
                .has_events = values[CHUNK_NUM_EVENTS].type != RUN_NULL,
                .events = stat_whole(run_number(&values[CHUNK_NUM_EVENTS])),
                .requested_bytes = run_number(&values[CHUNK_REQUESTED_BYTES]),
        };
}

/* Branches follow each other in the order of their chunks: the walk over them stays a row ahead. */
struct branch_walk {
        struct run_scan scan;
        int r; /* of the last step: 1 there is a row, 0 there are no more, or an error */
};

static void chunks_branch_step(struct branch_walk *walk, struct roast_error *error)
{
        walk->r = run_scan_next(&walk->scan, error);
}

static int chunks_add_branches(struct branch_walk *walk, struct files *files, int64_t chunk_id,
                               struct roast_error *error)
{
        int r = 0;

        for (; walk->r > 0 && r >= 0 && walk->scan.values[PART_CHUNK_ID].integer <= chunk_id;
             chunks_branch_step(walk, error))
                if (walk->scan.values[PART_CHUNK_ID].integer == chunk_id)
                        r = files_branch(files, walk->scan.values, error);
        return walk->r < 0 ? walk->r : r;
}

/* What the walk over the attempts finds */
struct found {
        struct collect *collect;
        size_t *slots; /* of the datasets */
        struct chunk_stats stats;
        struct split_sum split;
        struct files files;
        struct failures failures;
        struct branch_walk branches;
        bool ambiguous;         /* which record belongs to which task is assumed for some */
        bool has_tasks;         /* of chunks: they tell of attempts without a record, too */
        struct run_seen others; /* ids of records that are no chunks: graphs, and what was lost */
};

static void chunks_found_deinit(struct found *found)
{
        chunk_stats_deinit(&found->stats);
        files_deinit(&found->files);
        failures_deinit(&found->failures);
        run_seen_deinit(&found->others);
        free(found->slots);
}

static int chunks_note_failure(struct found *found, const struct run_attempt *attempt)
{
        return failures_add(&found->failures, attempt->chunk, attempt->outcome,
                            bytes_key(&found->files.bytes, attempt->chunk));
}

static int chunks_add_one(struct found *found, const struct run_attempt *attempt,
                          struct roast_error *error)
{
        struct roast_dataset *dataset;
        struct chunk_figures figures;
        size_t number;

        dataset = chunks_dataset_of(found->collect, found->slots, &attempt->chunk[CHUNK_DATASET]);
        if (!dataset)
                return roast_fail_nomem(error);
        number = (size_t)(dataset - found->collect->summary->datasets);
        if (attempt->outcome != CHUNK_FINISHED) {
                found->stats.skipped += attempt->outcome == CHUNK_SKIPPED;
                chunk_stats_failed(&found->stats, dataset);
                if (chunks_note_failure(found, attempt) < 0)
                        return roast_fail_nomem(error);
                return files_chunk(&found->files, attempt->chunk, number, error);
        }
        figures = chunks_figures_of(attempt->chunk);
        found->stats.from_tasks += attempt->chunk_id == 0;
        if (chunk_stats_finished(&found->stats, dataset, &figures) < 0)
                return roast_fail_nomem(error);
        if (attempt->chunk_id)
                split_add(&found->split, attempt->chunk);
        return files_chunk(&found->files, attempt->chunk, number, error);
}

static int chunks_note_attempt(const struct run_attempt *attempt, void *context,
                               struct roast_error *error)
{
        struct found *found = context;
        const struct collect_watch *watch = found->collect->watch;
        int r = watch ? watch->attempt(attempt, watch->context, error) : 0;

        if (r >= 0)
                r = chunks_add_branches(&found->branches, &found->files, attempt->chunk_id, error);

        if (r < 0)
                return r;
        found->has_tasks |= attempt->task_id != 0;
        found->ambiguous |= attempt->ambiguous;
        found->stats.lost += attempt->outcome == CHUNK_LOST;
        found->stats.retried += attempt->outcome != CHUNK_GRAPH &&
                                run_int_or(&attempt->chunk[CHUNK_ATTEMPT], 0) == 2;
        if (attempt->outcome != CHUNK_GRAPH && attempt->outcome != CHUNK_LOST &&
            attempt->outcome != CHUNK_CANCELLED && attempt->outcome != CHUNK_RUNNING)
                return chunks_add_one(found, attempt, error);
        files_pass(&found->files);
        if (attempt->outcome == CHUNK_LOST && chunks_note_failure(found, attempt) < 0)
                return roast_fail_nomem(error);
        if (attempt->chunk_id && run_seen_add(&found->others, (uint64_t)attempt->chunk_id) < 0)
                return roast_fail_nomem(error);
        return 0;
}

static int chunks_scan(struct collect *collect, struct found *found, struct roast_error *error)
{
        int r;

        r = run_scan_begin(&found->branches.scan, collect->run, RUN_BRANCH, error);
        if (r >= 0) {
                chunks_branch_step(&found->branches, error);
                r = roast_run_attempts(collect->run, chunks_note_attempt, found, error);
        }
        if (r >= 0) /* rows of no chunk, if there are any: their seals count too */
                r = chunks_add_branches(&found->branches, &found->files, INT64_MAX, error);
        run_scan_end(&found->branches.scan);
        return r;
}

/* values: chunk_id, name_text, then the section fields */
static double chunks_seconds_or_0(const struct run_value *ns)
{
        return ns->type == RUN_NULL ? 0 : chunks_seconds_of(ns);
}

static struct section_figures chunks_section_figures_of(const struct run_value *values)
{
        const struct run_value *fields = values + 2;

        return (struct section_figures){
                .kind = (int)(run_int_or(&fields[SECTION_KIND], 0) & 7),
                .count = run_int_or(&fields[SECTION_COUNT], 0),
                .total_s = chunks_seconds_or_0(&fields[SECTION_TOTAL_NS]),
                .self_s = chunks_seconds_or_0(&fields[SECTION_SELF_NS]),
                .min_s = chunks_seconds_or_0(&fields[SECTION_MIN_NS]),
                .max_s = chunks_seconds_or_0(&fields[SECTION_MAX_NS]),
                .rss_delta_bytes = run_number(&fields[SECTION_RSS_DELTA_BYTES]),
                .has_bytes = fields[SECTION_BYTES].type != RUN_NULL,
                .bytes = stat_whole(run_number(&fields[SECTION_BYTES])),
        };
}

/* Section records that were given by themselves count in the place of those of the chunks. */
static bool chunks_counts_section(struct roast_section *section, const struct run_value *chunk_id)
{
        char *name = section->name, *type = section->type;

        if (chunk_id->type != RUN_NULL)
                return !section->listed;
        if (!section->listed)
                *section = (struct roast_section){ .name = name, .type = type, .listed = true };
        return true;
}

/* section.type.NAME */
static int chunks_note_type(const struct roast_fact *fact, void *context)
{
        static const char prefix[] = "section.type.";
        const size_t len = sizeof(prefix) - 1;
        struct collect *collect = context;

        if (strncmp(fact->name, prefix, len) || fact->type != ROAST_FACT_TEXT)
                return 0;
        for (size_t i = 0; i < collect->summary->n_sections; i++) {
                struct roast_section *section = &collect->summary->sections[i];

                if (!section->listed || section->type || strcmp(section->name, fact->name + len))
                        continue;
                section->type = strdup(fact->text);
                if (!section->type)
                        return collect->r = ROAST_E_NOMEM;
        }
        return 0;
}

/* What those that were given by themselves are called */
static int chunks_name_types(struct collect *collect, struct roast_error *error)
{
        bool any = false;
        int r;

        for (size_t i = 0; i < collect->summary->n_sections; i++)
                any |= collect->summary->sections[i].listed;
        if (!any)
                return 0;
        r = roast_run_facts(collect->run, chunks_note_type, collect, error);
        return r >= 0 && collect->r < 0 ? roast_fail_nomem(error) : r;
}

static int chunks_scan_sections(struct collect *collect, size_t *slots,
                                const struct run_seen *others, struct roast_error *error)
{
        const struct collect_watch *watch = collect->watch;
        struct roast_summary *summary = collect->summary;
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_SECTION, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                struct section_figures figures;
                struct roast_section *section;
                size_t len;
                const char *name = collect_text(collect, &scan.values[PART_NAME], &len);

                if (run_seen_has(others, (uint64_t)scan.values[PART_CHUNK_ID].integer))
                        continue;
                if (!name) {
                        r = roast_fail(error, ROAST_E_CORRUPT,
                                       "%s: is damaged (a section without a name)",
                                       run_label(collect->run));
                        break;
                }
                section = chunks_section_of(summary, &slots[scan.values[PART_NAME].integer], name,
                                            len);
                if (!section) {
                        r = roast_fail_nomem(error);
                        break;
                }
                if (!chunks_counts_section(section, &scan.values[0]))
                        continue;
                figures = chunks_section_figures_of(scan.values);
                section_add(section, &figures);
                if (watch && scan.values[0].type != RUN_NULL &&
                    watch->section(scan.values, watch->context, error) < 0) {
                        r = ROAST_E_NOMEM;
                        break;
                }
        }
        run_scan_end(&scan);
        if (r >= 0)
                r = chunks_name_types(collect, error);
        if (r >= 0)
                section_sort(summary->sections, summary->n_sections);
        return r;
}

/*
 * Attempts that failed leave nothing in the output, where no task tells of them either; and of
 * those that ran on one worker at the same time, none may be known to be another's.
 */
static int chunks_mark_counts(const struct found *found, struct roast_metric_set *set)
{
        static const enum roast_metric metrics[] = {
                ROAST_NUM_CHUNKS,      ROAST_NUM_FAILED_CHUNKS,     ROAST_NUM_RETRIED_CHUNKS,
                ROAST_NUM_LOST_CHUNKS, ROAST_NUM_SUCCESSFUL_CHUNKS, ROAST_TOTAL_EVENTS_FROM_CHUNKS,
        };
        const char *few = found->has_tasks ? "" : found->collect->few_records;
        size_t n = found->ambiguous ? ROAST_ARRAY_SIZE(metrics) : *few ? 3 : 0;
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++)
                if (set->values[metrics[i]].state == ROAST_KNOWN)
                        r = roast_metric_set_estimated(
                                set, metrics[i], (double)set->values[metrics[i]].count, "%s",
                                *few ? few
                                     : "attempts at the same chunk overlap on one worker, and "
                                       "their "
                                       "records do not say which task they belong to");
        return r;
}

/* What a derived report lacks, the records have: the chunks' time, and the bytes they read */
static int chunks_complete_report(const struct found *found, struct roast_metric_set *set)
{
        static const char reason[] = "from the chunk records: the Runner saved no metrics";
        const struct stat_sum *wall_s = &found->stats.wall_s;
        const struct roast_value *requested = &set->values[ROAST_BYTES_REQUESTED];
        int r = 0;

        if (!found->collect->derived[0])
                return 0;
        if (wall_s->n && set->values[ROAST_TOTAL_CPU_TIME].state == ROAST_ABSENT) {
                r = roast_metric_set_estimated(set, ROAST_TOTAL_CPU_TIME, wall_s->sum, reason);
                if (r >= 0)
                        r = roast_metric_set_estimated(set, ROAST_AVG_CPU_TIME_PER_CHUNK,
                                                       wall_s->mean, reason);
        }
        if (r >= 0 && requested->state != ROAST_ABSENT &&
            set->values[ROAST_TOTAL_BYTES_READ].state == ROAST_ABSENT)
                r = roast_metric_set_estimated(set, ROAST_TOTAL_BYTES_READ, requested->real,
                                               reason);
        return r;
}

static int chunks_set_metrics(struct roast_metric_set *set, struct found *found,
                              struct roast_error *error)
{
        int r;

        failures_end(&found->failures, &found->files.bytes);
        if ((found->stats.n || found->stats.lost) &&
            chunk_stats_set_ledger(set, &found->stats, found->has_tasks) < 0)
                return roast_fail_nomem(error);
        if (found->stats.n == 0)
                return 0;
        if (chunk_stats_set(set, &found->stats) < 0 || chunks_mark_counts(found, set) < 0 ||
            split_set(set, &found->split) < 0)
                return roast_fail_nomem(error);
        r = files_set(&found->files, error);
        if (r < 0)
                return r;
        return chunks_complete_report(found, set) < 0 ? roast_fail_nomem(error) : 0;
}

int collect_chunks(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) size_t *sections = NULL;
        ROAST_CLEANUP(chunks_found_deinit)
        struct found found = { .collect = collect, .failures.collect = collect };
        int r;

        found.slots = calloc(collect->texts.n + 1, sizeof(*found.slots));
        sections = calloc(collect->texts.n + 1, sizeof(*sections));
        r = files_init(&found.files, collect, error);
        if (!found.slots || !sections)
                return roast_fail_nomem(error);
        if (r >= 0)
                r = chunks_scan(collect, &found, error);
        if (r >= 0)
                r = chunks_scan_sections(collect, sections, &found.others, error);
        return r < 0 ? r : chunks_set_metrics(&collect->summary->metrics, &found, error);
}
