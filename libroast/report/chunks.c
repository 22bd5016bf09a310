/* The chunks of the page: every attempt, by worker and start */

#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "report/report.h"
#include "run/schema.h"
#include "util/array.h"
#include "util/cleanup.h"

/* Places in time are kept to a tenth of a millisecond. */
#define START_UNIT_NS 100000
/* Durations are kept to a power of ten of which the mean one has at least this many. */
#define MEAN_UNITS 1e6
#define LANES_MAX  255

/*
 * The page shows all durations, sizes and counts that are not left out here: each takes room, and
 * most of these say the same of most chunks.
 */
static const bool chunks_left_out[CHUNK_N_FIELDS] = {
        [CHUNK_ENTRY_START] = true, /* apart from the others, */
        [CHUNK_ENTRY_STOP] = true,  /* and so this one */
        [CHUNK_RUNQUEUE_NS] = true,     [CHUNK_THROTTLED_NS] = true,
        [CHUNK_BLOCK_IO_NS] = true,     [CHUNK_GIL_NS] = true,
        [CHUNK_OTHER_NS] = true,        [CHUNK_SPLIT_SAMPLES] = true,
        [CHUNK_RSS_START_BYTES] = true, [CHUNK_RSS_END_BYTES] = true,
        [CHUNK_MAJOR_FAULTS] = true,    [CHUNK_READ_BYTES] = true,
        [CHUNK_WRITE_BYTES] = true,     [CHUNK_RCHAR_BYTES] = true,
        [CHUNK_WCHAR_BYTES] = true,     [CHUNK_PROBE_NS] = true,
        [CHUNK_TREE_BRANCHES] = true,   [CHUNK_TREE_BYTES] = true,
        [CHUNK_SELECTED_BYTES] = true,  [CHUNK_SELECTED_UNCOMPRESSED_BYTES] = true,
        [CHUNK_CUT_BYTES] = true,       [CHUNK_AHEAD_BYTES] = true,
        [CHUNK_UNUSED_BYTES] = true,
};

static const struct roast_column_info *chunks_info(size_t field)
{
        return &run_tables[RUN_CHUNK].infos[field];
}

static bool chunks_is_duration(size_t field)
{
        return !strcmp(chunks_info(field)->unit, "ns");
}

/* Which fields are the amounts; returns how many. */
static size_t chunks_amounts(enum chunk_field fields[CHUNK_N_FIELDS])
{
        size_t n = 0;

        for (size_t i = 0; i < CHUNK_N_FIELDS; i++) {
                const char *unit = chunks_info(i)->unit;

                if (!chunks_left_out[i] &&
                    (chunks_is_duration(i) || !strcmp(unit, "bytes") || !strcmp(unit, "count")))
                        fields[n++] = (enum chunk_field)i;
        }
        return n;
}

void report_chunks_deinit(struct report_chunks *chunks)
{
        free(chunks->amounts);
        free(chunks->rows);
        free(chunks->dataset_of);
        *chunks = (struct report_chunks){ 0 };
}

static int64_t chunks_int_of(const struct run_attempt *attempt, enum chunk_field field)
{
        const struct run_value *value = &attempt->chunk[field];

        return value->type == RUN_INT ? value->integer : INT64_MIN;
}

/* Durations and sizes that are below zero are damaged, and so not known. */
static int64_t chunks_amount_of(const struct run_attempt *attempt, enum chunk_field field)
{
        int64_t value = chunks_int_of(attempt, field);

        return value < 0 ? INT64_MIN : value;
}

static int64_t chunks_text_id(const struct run_attempt *attempt, enum chunk_field field)
{
        int64_t id = chunks_int_of(attempt, field);

        return id < 1 ? 0 : id;
}

static int chunks_add_amounts(struct report_chunks *chunks, const struct run_attempt *attempt)
{
        enum chunk_field fields[CHUNK_N_FIELDS];
        size_t n = chunks_amounts(fields), first = chunks->n * n;

        for (size_t i = 0; i < n; i++) {
                if (ARRAY_ROOM(chunks->amounts, first + i, chunks->amounts_cap) < 0)
                        return ROAST_E_NOMEM;
                chunks->amounts[first + i] = chunks_amount_of(attempt, fields[i]);
        }
        return 0;
}

static int chunks_grow_rows(struct report_chunks *chunks, int64_t id)
{
        if (ARRAY_ROOM(chunks->rows, chunks->n, chunks->cap) < 0)
                return ROAST_E_NOMEM;
        if ((size_t)id >= chunks->n_ids) {
                size_t n = chunks->cap + (size_t)id + 1;
                uint32_t *grown = realloc(chunks->dataset_of, n * sizeof(*grown));

                if (!grown)
                        return ROAST_E_NOMEM;
                memset(grown + chunks->n_ids, 0, (n - chunks->n_ids) * sizeof(*grown));
                chunks->dataset_of = grown;
                chunks->n_ids = n;
        }
        return 0;
}

int report_chunks_add(struct report_chunks *chunks, struct report *report,
                      const struct run_attempt *attempt)
{
        int64_t worker, dataset, file, id = attempt->chunk_id;
        struct report_chunk *row;

        if (attempt->outcome == CHUNK_GRAPH)
                return 0;
        if (chunks_grow_rows(chunks, id) < 0)
                return ROAST_E_NOMEM;
        worker = report_name(report, &report->workers, chunks_text_id(attempt, CHUNK_WORKER));
        dataset = report_name(report, &report->datasets, chunks_text_id(attempt, CHUNK_DATASET));
        file = report_name(report, &report->files, chunks_text_id(attempt, CHUNK_FILE));
        if (worker < 0 || dataset < 0 || file < 0 || chunks_add_amounts(chunks, attempt) < 0)
                return ROAST_E_NOMEM;
        row = &chunks->rows[chunks->n];
        *row = (struct report_chunk){
                .order = chunks->n++,
                .start_utc_ns = chunks_int_of(attempt, CHUNK_START_UTC_NS),
                .wall_ns = chunks_amount_of(attempt, CHUNK_WALL_NS),
                .events = chunks_amount_of(attempt, CHUNK_NUM_EVENTS),
                .entry_start = chunks_amount_of(attempt, CHUNK_ENTRY_START),
                .entry_stop = chunks_amount_of(attempt, CHUNK_ENTRY_STOP),
                .error_type = chunks_text_id(attempt, CHUNK_ERROR_TYPE),
                .error_message = chunks_text_id(attempt, CHUNK_ERROR_MESSAGE),
                .attempt = chunks_amount_of(attempt, CHUNK_ATTEMPT),
                .worker = (uint32_t)worker,
                .dataset = (uint32_t)dataset,
                .file = (uint32_t)file,
                .outcome = (uint8_t)attempt->outcome,
        };
        if (id)
                chunks->dataset_of[id] = row->dataset + 1;
        return 0;
}

static int chunks_by_start(const void *a, const void *b)
{
        const struct report_chunk *x = a, *y = b;

        if (x->start_utc_ns != y->start_utc_ns)
                return x->start_utc_ns < y->start_utc_ns ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

static bool chunks_is_sorted(const struct report_chunk *rows, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (chunks_by_start(&rows[i - 1], &rows[i]) > 0)
                        return false;
        return true;
}

/* Chunks that a worker has at the same time go into lanes, each into the first that is free. */
static void chunks_set_lanes(struct report_chunk *rows, size_t n)
{
        int64_t free_ns[LANES_MAX];
        size_t n_lanes = 0;

        for (size_t i = 0; i < n; i++) {
                /* rows were all filled: NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
                int64_t end, start = rows[i].start_utc_ns;
                size_t lane = 0;

                if (start == INT64_MIN || rows[i].wall_ns < 0 ||
                    __builtin_add_overflow(start, rows[i].wall_ns, &end))
                        continue;
                while (lane < n_lanes && free_ns[lane] > start)
                        lane++;
                if (lane == LANES_MAX)
                        lane--;
                if (lane == n_lanes)
                        n_lanes++;
                free_ns[lane] = end;
                rows[i].lane = (uint8_t)lane;
        }
}

/* By worker, with one counting pass; within a worker they nearly always come in order. */
int report_chunks_sort(struct report_chunks *chunks, const struct report *report)
{
        size_t n_workers = report->workers.n;
        ROAST_CLEANUP(cleanup_free) size_t *first = calloc(n_workers + 2, sizeof(*first));
        struct report_chunk *sorted = malloc((chunks->n + 1) * sizeof(*sorted));

        if (!first || !sorted) {
                free(sorted);
                return ROAST_E_NOMEM;
        }
        for (size_t i = 0; i < chunks->n; i++)
                first[chunks->rows[i].worker + 2]++;
        for (size_t i = 2; i < n_workers + 2; i++)
                first[i] += first[i - 1];
        for (size_t i = 0; i < chunks->n; i++)
                sorted[first[chunks->rows[i].worker + 1]++] = chunks->rows[i];
        for (size_t i = 0; i < n_workers; i++) {
                struct report_chunk *rows = sorted + first[i];
                size_t n = first[i + 1] - first[i];

                if (!chunks_is_sorted(rows, n))
                        qsort(rows, n, sizeof(*rows), chunks_by_start);
                chunks_set_lanes(rows, n);
        }
        free(chunks->rows);
        chunks->rows = sorted;
        return 0;
}

/* One scratch column at a time: a value of each chunk as a number for the page */
struct columns {
        const struct report_chunks *chunks;
        struct report *report;
        uint64_t *numbers;
};

static void chunks_put_column(const struct columns *c, const char *key, uint64_t unit, bool delta)
{
        pack_numbers(c->report->pack, key, c->numbers, c->chunks->n, unit, delta);
}

/*
 * The last digits of a nanosecond are noise, which takes as much room as the
 * first ones. How many are kept depends on the mean and not on the longest: of
 * one that hung for hours the others lose nothing.
 */
static uint64_t chunks_duration_unit_ns(const struct columns *c)
{
        double sum_ns = 0, n = 0;
        uint64_t unit_ns = 1;

        for (size_t i = 0; i < c->chunks->n; i++) {
                if (c->numbers[i] == PACK_ABSENT)
                        continue;
                sum_ns += (double)c->numbers[i];
                n++;
        }
        while (n > 0 && sum_ns / n >= MEAN_UNITS * 10 * (double)unit_ns)
                unit_ns *= 10;
        return unit_ns;
}

static void chunks_put_durations(const struct columns *c, const char *key)
{
        uint64_t unit_ns = chunks_duration_unit_ns(c);

        for (size_t i = 0; i < c->chunks->n; i++)
                if (c->numbers[i] != PACK_ABSENT)
                        c->numbers[i] = (c->numbers[i] + unit_ns / 2) / unit_ns;
        chunks_put_column(c, key, unit_ns, false);
}

/* {"wall_ns": column, ...} */
static void chunks_put_amounts(const struct columns *c)
{
        struct json *json = &c->report->pack->json;
        enum chunk_field fields[CHUNK_N_FIELDS];
        size_t n = chunks_amounts(fields);

        json_key(json, "amounts");
        json_object(json);
        for (size_t k = 0; k < n; k++) {
                for (size_t i = 0; i < c->chunks->n; i++) {
                        int64_t value = c->chunks->amounts[c->chunks->rows[i].order * n + k];

                        c->numbers[i] = value < 0 ? PACK_ABSENT : (uint64_t)value;
                }
                if (chunks_is_duration(fields[k]))
                        chunks_put_durations(c, chunk_fields[fields[k]].name);
                else
                        chunks_put_column(c, chunk_fields[fields[k]].name, 1, false);
        }
        json_end(json);
}

/* What the columns are called, and how chunks end: the page has no list of its own. */
static void chunks_put_words(struct json *json)
{
        static const char *const meanings[CHUNK_N_OUTCOMES] = {
#define OUTCOME(id, number, name, meaning) [number] = (meaning),
#include "record/outcomes.def"
#undef OUTCOME
        };

        json_key(json, "outcomes");
        json_array(json);
        for (size_t i = 0; i < CHUNK_N_OUTCOMES; i++) {
                json_object(json);
                json_pair(json, "name", chunk_outcomes[i]);
                json_pair(json, "meaning", meanings[i]);
                json_end(json);
        }
        json_end(json);
        json_key(json, "columns");
        json_array(json);
        for (size_t i = 0; i < CHUNK_N_FIELDS; i++) {
                if (chunks_left_out[i] || chunks_info(i)->type == ROAST_COLUMN_BLOB)
                        continue;
                json_object(json);
                json_pair(json, "name", chunks_info(i)->name);
                json_pair(json, "title", chunks_info(i)->title);
                json_pair(json, "unit", chunks_info(i)->unit);
                json_pair(json, "meaning", chunks_info(i)->meaning);
                json_end(json);
        }
        json_end(json);
}

static void chunks_put_places(const struct columns *c)
{
        for (size_t i = 0; i < c->chunks->n; i++) {
                int64_t entry = c->chunks->rows[i].entry_start;

                c->numbers[i] = entry < 0 ? PACK_ABSENT : (uint64_t)entry;
        }
        chunks_put_column(c, "entry_start", 1, false);
        for (size_t i = 0; i < c->chunks->n; i++) {
                int64_t attempt = c->chunks->rows[i].attempt;

                c->numbers[i] = attempt < 0 ? PACK_ABSENT : (uint64_t)attempt;
        }
        chunks_put_column(c, "attempt", 1, false);
}

/* How many entries a chunk has beyond its events: nearly always none, which takes no room. */
static void chunks_put_beyond(const struct columns *c)
{
        for (size_t i = 0; i < c->chunks->n; i++) {
                const struct report_chunk *row = &c->chunks->rows[i];
                int64_t beyond;

                if (row->entry_start < 0 || row->entry_stop < row->entry_start || row->events < 0) {
                        c->numbers[i] = PACK_ABSENT;
                        continue;
                }
                beyond = row->entry_stop - row->entry_start - row->events;
                c->numbers[i] = (uint64_t)beyond << 1 ^ (uint64_t)(beyond >> 63); /* zigzag */
        }
        chunks_put_column(c, "beyond", 1, false);
}

static void chunks_put_starts(const struct columns *c)
{
        int64_t zero = c->report->zero_utc_ns, after;

        for (size_t i = 0; i < c->chunks->n; i++) {
                int64_t start = c->chunks->rows[i].start_utc_ns;

                if (start == INT64_MIN || __builtin_sub_overflow(start, zero, &after) || after < 0)
                        c->numbers[i] = PACK_ABSENT;
                else
                        c->numbers[i] = (uint64_t)after / START_UNIT_NS;
        }
        chunks_put_column(c, "start", START_UNIT_NS, true);
}

static void chunks_put_names(const struct columns *c)
{
        const struct report_chunk *rows = c->chunks->rows;
        size_t n = c->chunks->n;

        for (size_t i = 0; i < n; i++)
                c->numbers[i] = rows[i].worker;
        chunks_put_column(c, "worker", 1, true);
        for (size_t i = 0; i < n; i++)
                c->numbers[i] = rows[i].file;
        chunks_put_column(c, "file", 1, false);
        for (size_t i = 0; i < n; i++)
                c->numbers[i] = rows[i].outcome;
        chunks_put_column(c, "outcome", 1, false);
        for (size_t i = 0; i < n; i++)
                c->numbers[i] = rows[i].lane;
        chunks_put_column(c, "lane", 1, false);
}

/*
 * A file nearly always has one dataset: that of its first chunk is kept for the
 * file, and of each chunk by how much it differs, which takes no room.
 */
static int chunks_put_datasets(const struct columns *c)
{
        size_t n_files = c->report->files.n, n_datasets = c->report->datasets.n;
        ROAST_CLEANUP(cleanup_free) uint64_t *of_file = malloc((n_files + 1) * sizeof(*of_file));

        if (!of_file)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n_files; i++)
                of_file[i] = PACK_ABSENT;
        for (size_t i = 0; i < c->chunks->n; i++) {
                const struct report_chunk *row = &c->chunks->rows[i];
                uint64_t *first = &of_file[row->file];

                if (*first == PACK_ABSENT)
                        *first = row->dataset;
                c->numbers[i] = (row->dataset + n_datasets - *first) % n_datasets;
        }
        chunks_put_column(c, "other_dataset", 1, false);
        pack_numbers(c->report->pack, "file_dataset", of_file, n_files, 1, false);
        return 0;
}

/* Those that did not finish: which chunk, and what was said */
static void chunks_put_errors(const struct columns *c)
{
        struct json *json = &c->report->pack->json;

        json_key(json, "errors");
        json_array(json);
        for (size_t i = 0; i < c->chunks->n; i++) {
                const struct report_chunk *row = &c->chunks->rows[i];

                if (row->outcome == CHUNK_FINISHED)
                        continue;
                json_array(json);
                json_int(json, (int64_t)i);
                report_put_text(c->report, row->error_type);
                report_put_text(c->report, row->error_message);
                json_end(json);
        }
        json_end(json);
}

int report_chunks_put(const struct report_chunks *chunks, struct report *report,
                      struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint64_t *numbers = malloc((chunks->n + 1) * sizeof(*numbers));
        struct columns c = { chunks, report, numbers };
        struct json *json = &report->pack->json;

        if (!numbers)
                return roast_fail_nomem(error);
        json_key(json, "chunks");
        json_object(json);
        json_pair_int(json, "n", (int64_t)chunks->n);
        chunks_put_words(json);
        chunks_put_starts(&c);
        chunks_put_amounts(&c);
        chunks_put_places(&c);
        chunks_put_beyond(&c);
        chunks_put_names(&c);
        chunks_put_errors(&c);
        if (chunks_put_datasets(&c) < 0)
                return roast_fail_nomem(error);
        json_end(json);
        return 0;
}
