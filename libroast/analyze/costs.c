/* What the finished chunks of a run cost: see costs.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/clusters.h"
#include "analyze/costs.h"
#include "analyze/statistics.h"
#include "metrics/collect.h"
#include "run/attempts.h"
#include "run/series.h"
#include "util/array.h"
#include "util/cleanup.h"

/* A section of a chunk as it comes: which of them are kept is known at the end. */
struct timed {
        uint32_t unit;
        uint32_t name;
        int kind;
        float seconds;
};

struct reading {
        struct costs *costs;
        struct intern texts; /* of the run: id - 1 */
        size_t cap;
        int64_t *start_utc_ns; /* by unit */
        uint32_t *worker;      /* by unit: id of the text; 0: not known */
        uint32_t *unit_of;     /* by chunk id: unit + 1 */
        size_t n_ids;
        uint32_t *file_slots; /* by id of the file's text: index + 1 */
        struct timed *timed;
        size_t n_timed;
        size_t cap_timed;
};

static int costs_grow_array(void *array, size_t n, size_t size)
{
        void **at = array, *grown = realloc(*at, n * size);

        if (!grown)
                return ROAST_E_NOMEM;
        *at = grown;
        return 0;
}

static int costs_grow_units(struct reading *reading)
{
        struct costs *costs = reading->costs;
        size_t cap = reading->cap ? 2 * reading->cap : 256;

        if (costs_grow_array(&costs->file, cap, sizeof(*costs->file)) < 0 ||
            costs_grow_array(&costs->dataset, cap, sizeof(*costs->dataset)) < 0 ||
            costs_grow_array(&costs->events, cap, sizeof(*costs->events)) < 0 ||
            costs_grow_array(&costs->entry_start, cap, sizeof(*costs->entry_start)) < 0 ||
            costs_grow_array(&costs->entry_stop, cap, sizeof(*costs->entry_stop)) < 0 ||
            costs_grow_array(&reading->start_utc_ns, cap, sizeof(*reading->start_utc_ns)) < 0 ||
            costs_grow_array(&reading->worker, cap, sizeof(*reading->worker)) < 0)
                return ROAST_E_NOMEM;
        for (int i = 0; i < COST_N_MEASURES; i++)
                if (costs_grow_array(&costs->measures[i], cap, sizeof(*costs->measures[i])) < 0)
                        return ROAST_E_NOMEM;
        reading->cap = cap;
        return 0;
}

static const char *costs_text_of(const struct reading *reading, const struct run_value *text,
                                 size_t *len)
{
        if (text->type != RUN_INT || text->integer < 1 ||
            (uint64_t)text->integer > reading->texts.n)
                return NULL;
        return intern_get(&reading->texts, (size_t)text->integer - 1, len);
}

/* Names of the run by their number among ours */
static int64_t costs_name_of(struct reading *reading, const struct run_value *text)
{
        size_t len;
        const char *name = costs_text_of(reading, text, &len);

        return name ? intern_put(&reading->costs->names, name, len) : (int64_t)COST_NO_NAME;
}

static uint64_t costs_text_hash(const struct reading *reading, const struct run_value *text,
                                uint64_t seed)
{
        size_t len;
        const char *string = costs_text_of(reading, text, &len);

        return string ? run_hash(seed, string, len) : 0;
}

/* A file of one tree; files are told apart by the id of their name, trees of one are not. */
static int64_t costs_file_of(struct reading *reading, const struct run_value *values)
{
        struct costs *costs = reading->costs;
        int64_t id = run_int_or(&values[CHUNK_FILE], 0);
        uint64_t tree = costs_text_hash(reading, &values[CHUNK_TREE], 1), name, uuid;
        size_t n = costs->n_files;

        if (id < 0 || (uint64_t)id > reading->texts.n)
                id = 0;
        if (reading->file_slots[id])
                return reading->file_slots[id] - 1;
        name = costs_text_hash(reading, &values[CHUNK_FILE], tree);
        uuid = costs_text_hash(reading, &values[CHUNK_UUID], tree);
        if ((n & (n - 1)) == 0) {
                size_t cap = n ? 2 * n : 1;

                if (costs_grow_array(&costs->file_name, cap, sizeof(uint64_t)) < 0 ||
                    costs_grow_array(&costs->file_uuid, cap, sizeof(uint64_t)) < 0)
                        return ROAST_E_NOMEM;
        }
        costs->file_name[n] = name;
        costs->file_uuid[n] = uuid;
        reading->file_slots[id] = (uint32_t)++costs->n_files;
        return (int64_t)n;
}

static int costs_note_id(struct reading *reading, int64_t id, size_t unit)
{
        if ((size_t)id >= reading->n_ids) {
                size_t n = reading->n_ids ? 2 * reading->n_ids : 256;

                while (n <= (size_t)id)
                        n *= 2;
                if (costs_grow_array(&reading->unit_of, n, sizeof(uint32_t)) < 0)
                        return ROAST_E_NOMEM;
                memset(reading->unit_of + reading->n_ids, 0,
                       (n - reading->n_ids) * sizeof(uint32_t));
                reading->n_ids = n;
        }
        reading->unit_of[id] = (uint32_t)unit + 1;
        return 0;
}

static void costs_set_measures(struct costs *costs, const struct run_value *values)
{
        static const enum chunk_field fields[COST_N_MEASURES] = {
                [COST_WALL] = CHUNK_WALL_NS,         [COST_CPU] = CHUNK_CPU_NS,
                [COST_RUNQUEUE] = CHUNK_RUNQUEUE_NS, [COST_THROTTLED] = CHUNK_THROTTLED_NS,
                [COST_BLOCK_IO] = CHUNK_BLOCK_IO_NS, [COST_GIL] = CHUNK_GIL_NS,
                [COST_OTHER] = CHUNK_OTHER_NS,       [COST_REQUESTED] = CHUNK_REQUESTED_BYTES,
        };

        for (int i = 0; i < COST_N_MEASURES; i++) {
                const struct run_value *value = &values[fields[i]];
                double scale = i == COST_REQUESTED ? 1 : 1e-9;

                costs->measures[i][costs->n] = value->type == RUN_INT && value->integer >= 0
                                                       ? (float)((double)value->integer * scale)
                                                       : NAN;
        }
}

/* A task without record knows its entries only. */
static int64_t costs_events_of(const struct run_value *values)
{
        int64_t start = run_int_or(&values[CHUNK_ENTRY_START], 0), events;

        if (values[CHUNK_NUM_EVENTS].type == RUN_INT)
                return values[CHUNK_NUM_EVENTS].integer;
        if (__builtin_sub_overflow(run_int_or(&values[CHUNK_ENTRY_STOP], 0), start, &events))
                return 0;
        return events;
}

/* A chunk without events has no cost of an event. */
static int costs_on_chunk(const struct run_attempt *attempt, void *context,
                          struct roast_error *error)
{
        struct reading *reading = context;
        struct costs *costs = reading->costs;
        const struct run_value *values = attempt->chunk;
        int64_t events = costs_events_of(values), file, dataset;
        size_t n = costs->n;

        if (attempt->outcome != CHUNK_FINISHED || events <= 0 ||
            values[CHUNK_WALL_NS].type != RUN_INT || n >= UINT32_MAX - 1)
                return 0;
        if (n == reading->cap && costs_grow_units(reading) < 0)
                return roast_fail_nomem(error);
        file = costs_file_of(reading, values);
        dataset = costs_name_of(reading, &values[CHUNK_DATASET]);
        if (file < 0 || dataset < 0 ||
            (attempt->chunk_id && costs_note_id(reading, attempt->chunk_id, n) < 0))
                return roast_fail_nomem(error);
        costs->file[n] = (uint32_t)file;
        costs->dataset[n] = (uint32_t)dataset;
        costs->events[n] = (float)events;
        costs->entry_start[n] = run_int_or(&values[CHUNK_ENTRY_START], INT64_MIN);
        costs->entry_stop[n] = run_int_or(&values[CHUNK_ENTRY_STOP], INT64_MIN);
        reading->start_utc_ns[n] = run_int_or(&values[CHUNK_START_UTC_NS], 0);
        reading->worker[n] = (uint32_t)run_int_or(&values[CHUNK_WORKER], 0);
        costs_set_measures(costs, values);
        costs->events_total += (double)events;
        costs->from_tasks += attempt->chunk_id == 0;
        costs->n++;
        return 0;
}

static int costs_on_section(const struct run_value *values, void *context,
                            struct roast_error *error)
{
        struct reading *reading = context;
        const struct run_value *fields = values + 2;
        int64_t chunk = run_int_or(&values[PART_CHUNK_ID], -1), name, ns;
        struct timed *timed;

        if (chunk < 0 || (size_t)chunk >= reading->n_ids || !reading->unit_of[chunk])
                return 0;
        ns = run_int_or(&fields[SECTION_TOTAL_NS], -1);
        name = costs_name_of(reading, &values[PART_NAME]);
        if (name < 0)
                return roast_fail_nomem(error);
        if (ns < 0 || name == COST_NO_NAME)
                return 0;
        if (ARRAY_ROOM(reading->timed, reading->n_timed, reading->cap_timed) < 0)
                return roast_fail_nomem(error);
        timed = &reading->timed[reading->n_timed++];
        timed->unit = reading->unit_of[chunk] - 1;
        timed->name = (uint32_t)name;
        timed->kind = (int)(run_int_or(&fields[SECTION_KIND], 0) & 7);
        timed->seconds = (float)((double)ns / 1e9);
        return 0;
}

static int costs_by_total(const void *x, const void *y)
{
        const struct cost_section *a = x, *b = y;

        if (a->total_s != b->total_s)
                return a->total_s < b->total_s ? 1 : -1;
        return a->name < b->name ? -1 : a->name > b->name;
}

/* Where the same lines are tracked for several things, the kind with the lowest bit has the time */
static int costs_lowest_bit(int kind)
{
        return kind & -kind;
}

/* Totals by name, of the kind that counts; returns how many names there are. */
static size_t costs_total_sections(struct cost_section *totals, int *kinds,
                                   const struct reading *reading)
{
        size_t n = 0;

        for (size_t i = 0; i < reading->n_timed; i++) {
                const struct timed *timed = &reading->timed[i];
                int bit = costs_lowest_bit(timed->kind);

                if (!kinds[timed->name] || bit < kinds[timed->name])
                        kinds[timed->name] = bit;
        }
        for (size_t i = 0; i < reading->n_timed; i++) {
                const struct timed *timed = &reading->timed[i];

                totals[timed->name].name = timed->name;
                if (costs_lowest_bit(timed->kind) == kinds[timed->name])
                        totals[timed->name].total_s += (double)timed->seconds;
        }
        for (size_t i = 0; i < reading->costs->names.n; i++)
                if (totals[i].total_s > 0)
                        totals[n++] = totals[i];
        return n;
}

static int costs_fill_sections(struct reading *reading, const int *kinds)
{
        struct costs *costs = reading->costs;
        ROAST_CLEANUP(cleanup_free) uint8_t *slots = calloc(costs->names.n + 1, 1);

        if (!slots)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < costs->n_sections; i++) {
                struct cost_section *section = &costs->sections[i];

                section->seconds = malloc((costs->n + 1) * sizeof(float));
                if (!section->seconds)
                        return ROAST_E_NOMEM;
                for (size_t j = 0; j < costs->n; j++)
                        section->seconds[j] = NAN;
                slots[section->name] = (uint8_t)(i + 1);
        }
        for (size_t i = 0; i < reading->n_timed; i++) {
                const struct timed *timed = &reading->timed[i];
                float *at;

                if (!slots[timed->name] || costs_lowest_bit(timed->kind) != kinds[timed->name])
                        continue;
                at = &costs->sections[slots[timed->name] - 1].seconds[timed->unit];
                *at = (isnan(*at) ? 0 : *at) + timed->seconds;
        }
        return 0;
}

static int costs_keep_sections(struct reading *reading)
{
        struct costs *costs = reading->costs;
        ROAST_CLEANUP(cleanup_free) int *kinds = calloc(costs->names.n + 1, sizeof(*kinds));

        costs->sections = calloc(costs->names.n + 1, sizeof(*costs->sections));
        if (!kinds || !costs->sections)
                return ROAST_E_NOMEM;
        costs->n_sections = costs_total_sections(costs->sections, kinds, reading);
        qsort(costs->sections, costs->n_sections, sizeof(*costs->sections), costs_by_total);
        if (costs->n_sections > COST_SECTIONS_MAX)
                costs->n_sections = COST_SECTIONS_MAX;
        return costs_fill_sections(reading, kinds);
}

static int costs_median_events(struct costs *costs)
{
        ROAST_CLEANUP(cleanup_free) double *events = malloc((costs->n + 1) * sizeof(*events));
        ROAST_CLEANUP(cleanup_free) void *scratch = malloc(stat_sort_scratch(costs->n + 1));

        if (!events || !scratch)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < costs->n; i++)
                events[i] = (double)costs->events[i];
        stat_sort(events, NULL, costs->n, scratch);
        costs->chunk_events = stat_quantile_sorted(events, costs->n, 0.5);
        return 0;
}

static int costs_finish_reading(struct reading *reading)
{
        struct costs *costs = reading->costs;
        int r = costs_keep_sections(reading);

        free(reading->timed);
        reading->timed = NULL;
        if (r >= 0)
                r = clusters_make(&costs->cluster, &costs->n_clusters, reading->worker,
                                  reading->start_utc_ns, costs->n);
        return r < 0 ? r : costs_median_events(costs);
}

int costs_read(struct costs *costs, struct roast_summary *summary, struct roast_run *run,
               struct roast_error *error)
{
        struct reading reading = { .costs = costs };
        const struct collect_watch watch = { costs_on_chunk, costs_on_section, &reading };
        int r;

        *costs = (struct costs){ 0 };
        *summary = (struct roast_summary){ 0 };
        r = run_view_begin(run, error); /* so that the texts are those of the rows */
        if (r < 0)
                return r;
        r = run_read_texts(run, &reading.texts, error);
        reading.file_slots = calloc(reading.texts.n + 1, sizeof(uint32_t));
        if (r >= 0 && !reading.file_slots)
                r = roast_fail_nomem(error);
        if (r >= 0)
                r = collect_summary(summary, run, &watch, error);
        run_view_end(run);
        if (r >= 0 && costs_finish_reading(&reading) < 0) {
                roast_summary_deinit(summary);
                r = roast_fail_nomem(error);
        }
        intern_deinit(&reading.texts);
        free(reading.start_utc_ns);
        free(reading.worker);
        free(reading.unit_of);
        free(reading.file_slots);
        free(reading.timed);
        if (r < 0)
                costs_deinit(costs);
        return r;
}

void costs_deinit(struct costs *costs)
{
        free(costs->file);
        free(costs->dataset);
        free(costs->cluster);
        free(costs->events);
        free(costs->entry_start);
        free(costs->entry_stop);
        for (int i = 0; i < COST_N_MEASURES; i++)
                free(costs->measures[i]);
        for (size_t i = 0; costs->sections && i < costs->n_sections; i++)
                free(costs->sections[i].seconds);
        free(costs->sections);
        free(costs->file_name);
        free(costs->file_uuid);
        intern_deinit(&costs->names);
        *costs = (struct costs){ 0 };
}
