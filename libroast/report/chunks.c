/* The chunks of the page: every attempt, by worker and start */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "report/report.h"
#include "util/cleanup.h"

/* Places in time are kept to a tenth of a millisecond, which is enough for 119 hours. */
#define TIME_UNIT_NS 100000
#define LANES_MAX    255
/* Of more chunks than this, durations are kept to five digits and other figures to four. */
#define EXACT_MAX (1u << 18)

void report_chunks_deinit(struct report_chunks *chunks)
{
        free(chunks->rows);
        free(chunks->dataset_of);
        *chunks = (struct report_chunks){ 0 };
}

static int64_t int_of(const struct run_attempt *attempt, enum chunk_field field)
{
        const struct run_value *value = &attempt->chunk[field];

        return value->type == RUN_INT ? value->integer : INT64_MIN;
}

/* Durations and sizes that are below zero are damaged, and so not known. */
static int64_t amount_of(const struct run_attempt *attempt, enum chunk_field field)
{
        int64_t value = int_of(attempt, field);

        return value < 0 ? INT64_MIN : value;
}

static int64_t text_of(const struct run_attempt *attempt, enum chunk_field field)
{
        int64_t id = int_of(attempt, field);

        return id < 1 ? 0 : id;
}

static int grow(struct report_chunks *chunks, int64_t id)
{
        if (chunks->n == chunks->cap) {
                size_t cap = chunks->cap ? chunks->cap * 2 : 1024;
                struct report_chunk *rows = realloc(chunks->rows, cap * sizeof(*rows));

                if (!rows)
                        return ROAST_E_NOMEM;
                chunks->rows = rows;
                chunks->cap = cap;
        }
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
        if (grow(chunks, id) < 0)
                return ROAST_E_NOMEM;
        worker = report_name(report, &report->workers, text_of(attempt, CHUNK_WORKER));
        dataset = report_name(report, &report->datasets, text_of(attempt, CHUNK_DATASET));
        file = report_name(report, &report->files, text_of(attempt, CHUNK_FILE));
        if (worker < 0 || dataset < 0 || file < 0)
                return ROAST_E_NOMEM;
        row = &chunks->rows[chunks->n];
        *row = (struct report_chunk){
                .order = chunks->n++,
                .start_utc_ns = int_of(attempt, CHUNK_START_UTC_NS),
                .wall_ns = amount_of(attempt, CHUNK_WALL_NS),
                .cpu_ns = amount_of(attempt, CHUNK_CPU_NS),
                .peak_bytes = amount_of(attempt, CHUNK_RSS_PEAK_BYTES),
                .bytes = amount_of(attempt, CHUNK_REQUESTED_BYTES),
                .events = amount_of(attempt, CHUNK_NUM_EVENTS),
                .entry_start = amount_of(attempt, CHUNK_ENTRY_START),
                .entry_stop = amount_of(attempt, CHUNK_ENTRY_STOP),
                .error_type = text_of(attempt, CHUNK_ERROR_TYPE),
                .error_message = text_of(attempt, CHUNK_ERROR_MESSAGE),
                .attempt = amount_of(attempt, CHUNK_ATTEMPT),
                .worker = (uint32_t)worker,
                .dataset = (uint32_t)dataset,
                .file = (uint32_t)file,
                .outcome = (uint8_t)attempt->outcome,
        };
        if (id)
                chunks->dataset_of[id] = row->dataset + 1;
        return 0;
}

static int by_start(const void *a, const void *b)
{
        const struct report_chunk *x = a, *y = b;

        if (x->start_utc_ns != y->start_utc_ns)
                return x->start_utc_ns < y->start_utc_ns ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_sorted(const struct report_chunk *rows, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (by_start(&rows[i - 1], &rows[i]) > 0)
                        return false;
        return true;
}

/* Chunks that a worker has at the same time go into lanes, each into the first that is free. */
static void set_lanes(struct report_chunk *rows, size_t n)
{
        int64_t free_ns[LANES_MAX];
        size_t n_lanes = 0;

        for (size_t i = 0; i < n; i++) {
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

                if (!is_sorted(rows, n))
                        qsort(rows, n, sizeof(*rows), by_start);
                set_lanes(rows, n);
        }
        free(chunks->rows);
        chunks->rows = sorted;
        return 0;
}

/* One scratch column at a time: a value of each chunk as a number for the page */
struct columns {
        const struct report_chunks *chunks;
        struct report *report;
        uint32_t *u32;
        float *f32;
};

static float scaled(int64_t value, float unit)
{
        return value == INT64_MIN ? NAN : (float)value / unit;
}

static void put_reals(const struct columns *c, const char *key, size_t offset, float unit,
                      unsigned int bits)
{
        for (size_t i = 0; i < c->chunks->n; i++) {
                int64_t value;

                memcpy(&value, (const char *)&c->chunks->rows[i] + offset, sizeof(value));
                c->f32[i] = scaled(value, unit);
        }
        pack_f32(c->report->pack, key, c->f32, c->chunks->n,
                 c->chunks->n <= EXACT_MAX ? PACK_EXACT : bits);
}

static void put_numbers(const struct columns *c, const char *key, size_t offset)
{
        for (size_t i = 0; i < c->chunks->n; i++) {
                int64_t value;

                memcpy(&value, (const char *)&c->chunks->rows[i] + offset, sizeof(value));
                c->u32[i] = value < 0 || value >= UINT32_MAX ? PACK_ABSENT_U32 : (uint32_t)value;
        }
        pack_u32(c->report->pack, key, c->u32, c->chunks->n, false);
}

/* How many entries a chunk has beyond its events: nearly always none, which takes no room. */
static void put_beyond(const struct columns *c)
{
        for (size_t i = 0; i < c->chunks->n; i++) {
                const struct report_chunk *row = &c->chunks->rows[i];
                int64_t entries, beyond;

                if (row->entry_start < 0 || row->entry_stop < row->entry_start || row->events < 0) {
                        c->u32[i] = PACK_ABSENT_U32;
                        continue;
                }
                entries = row->entry_stop - row->entry_start;
                if (__builtin_sub_overflow(entries, row->events, &beyond) || beyond < INT32_MIN ||
                    beyond > INT32_MAX)
                        c->u32[i] = PACK_ABSENT_U32;
                else
                        c->u32[i] = (uint32_t)beyond << 1 ^ (uint32_t)(beyond >> 63); /* zigzag */
        }
        pack_u32(c->report->pack, "beyond", c->u32, c->chunks->n, false);
}

static void put_starts(const struct columns *c)
{
        int64_t zero = c->report->zero_utc_ns, after;

        for (size_t i = 0; i < c->chunks->n; i++) {
                int64_t start = c->chunks->rows[i].start_utc_ns;

                if (start == INT64_MIN || __builtin_sub_overflow(start, zero, &after) ||
                    after < 0 || after / TIME_UNIT_NS >= UINT32_MAX)
                        c->u32[i] = PACK_ABSENT_U32;
                else
                        c->u32[i] = (uint32_t)(after / TIME_UNIT_NS);
        }
        pack_u32(c->report->pack, "start", c->u32, c->chunks->n, true);
}

static void put_names(const struct columns *c)
{
        const struct report_chunk *rows = c->chunks->rows;
        size_t n = c->chunks->n;
        uint8_t *bytes = (uint8_t *)c->u32;

        for (size_t i = 0; i < n; i++)
                c->u32[i] = rows[i].worker;
        pack_u32(c->report->pack, "worker", c->u32, n, true);
        for (size_t i = 0; i < n; i++)
                c->u32[i] = rows[i].dataset;
        pack_u32(c->report->pack, "dataset", c->u32, n, false);
        for (size_t i = 0; i < n; i++)
                c->u32[i] = rows[i].file;
        pack_u32(c->report->pack, "file", c->u32, n, false);
        for (size_t i = 0; i < n; i++)
                bytes[i] = rows[i].outcome;
        pack_u8(c->report->pack, "outcome", bytes, n);
        for (size_t i = 0; i < n; i++)
                bytes[i] = rows[i].lane;
        pack_u8(c->report->pack, "lane", bytes, n);
}

/* Those that did not finish: which chunk, and what was said */
static void put_errors(const struct columns *c)
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
        ROAST_CLEANUP(cleanup_free) uint32_t *scratch = malloc((chunks->n + 1) * sizeof(*scratch));
        ROAST_CLEANUP(cleanup_free) float *reals = malloc((chunks->n + 1) * sizeof(*reals));
        struct columns c = { chunks, report, scratch, reals };
        struct json *json = &report->pack->json;

        if (!scratch || !reals)
                return roast_fail_nomem(error);
        json_key(json, "chunks");
        json_object(json);
        json_key(json, "n");
        json_int(json, (int64_t)chunks->n);
        json_key(json, "time_unit_s");
        json_double(json, TIME_UNIT_NS / 1e9);
        json_key(json, "outcomes");
        json_array(json);
        for (size_t i = 0; i < CHUNK_N_OUTCOMES; i++)
                json_string(json, chunk_outcomes[i]);
        json_end(json);
        put_starts(&c);
        put_reals(&c, "wall", offsetof(struct report_chunk, wall_ns), 1e9f, PACK_FIVE_DIGITS);
        put_reals(&c, "cpu", offsetof(struct report_chunk, cpu_ns), 1e9f, PACK_FOUR_DIGITS);
        put_reals(&c, "memory", offsetof(struct report_chunk, peak_bytes), 1, PACK_FOUR_DIGITS);
        put_reals(&c, "bytes", offsetof(struct report_chunk, bytes), 1, PACK_FOUR_DIGITS);
        put_numbers(&c, "events", offsetof(struct report_chunk, events));
        put_numbers(&c, "entry_start", offsetof(struct report_chunk, entry_start));
        put_beyond(&c);
        put_numbers(&c, "attempt", offsetof(struct report_chunk, attempt));
        put_names(&c);
        put_errors(&c);
        json_end(json);
        return 0;
}
