/*
 * A run as a trace of events, for Perfetto and chrome://tracing
 *
 * A worker is a process, its threads are threads. An attempt at a chunk is a
 * slice of its thread; what its sections took stands in its arguments, for when
 * they ran is not known. Attempts of which no thread is known are put on lanes,
 * so that no two overlap. Times are in microseconds since the run began.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "v1/emit-json.h"
#include "v1/put-record.h"

#define BATCH 256

/* Of one worker. With more of them slices do overlap, but no worker runs as many. */
#define LANES_MAX 1024

struct lane {
        int64_t end_utc_ns;
        size_t next; /* of its process; 0: none */
        int64_t number;
};

struct trace {
        struct out *out;
        bool any;
        int64_t start_utc_ns;  /* INT64_MIN: not known yet */
        struct intern workers; /* number + 1 is the process */
        struct intern threads; /* process and thread, as bytes */
        struct lane *lanes;
        size_t n_lanes;
        size_t *firsts; /* by process */
        size_t n_firsts;
        int64_t chunk_id;
};

static void trace_deinit(struct trace *trace)
{
        intern_deinit(&trace->workers);
        intern_deinit(&trace->threads);
        free(trace->lanes);
        free(trace->firsts);
}

/* The head that all events share */
static struct json *trace_begin_event(struct trace *trace, const char *phase, int64_t process,
                                      int64_t thread)
{
        struct json *json = &trace->out->json;

        out_puts(trace->out, trace->any ? ",\n" : "\n");
        trace->any = true;
        json_object(json);
        json_pair(json, "ph", phase);
        json_pair_int(json, "pid", process);
        json_pair_int(json, "tid", thread);
        return json;
}

static void trace_put_name(struct trace *trace, const char *kind, int64_t process, int64_t thread,
                           const char *name, size_t len)
{
        struct json *json = trace_begin_event(trace, "M", process, thread);

        json_pair(json, "name", kind);
        json_key(json, "args");
        json_object(json);
        json_key(json, "name");
        json_string_n(json, name, len);
        json_end(json);
        json_end(json);
}

/* The process of a row's worker, named when it first comes; negative: no memory */
static int64_t trace_process_of(struct trace *trace, const struct chunk_table *table, size_t row)
{
        size_t len, n = trace->workers.n;
        const char *name = chunk_table_text(table, row, CHUNK_WORKER, &len);
        int64_t number;

        if (!name)
                name = chunk_table_text(table, row, CHUNK_HOST, &len);
        if (!name) {
                name = "worker not known";
                len = strlen(name);
        }
        number = intern_put(&trace->workers, name, len);
        if (number >= 0 && trace->workers.n > n)
                trace_put_name(trace, "process_name", number + 1, 0, name, len);
        return number < 0 ? number : number + 1;
}

/* The lanes of a process hang on its first one; 0: it has none. They count from 1. */
static size_t *trace_first_lane(struct trace *trace, int64_t process)
{
        if ((size_t)process > trace->n_firsts) {
                size_t n = 2 * (size_t)process;
                size_t *grown = realloc(trace->firsts, n * sizeof(*grown));

                if (!grown)
                        return NULL;
                memset(grown + trace->n_firsts, 0, (n - trace->n_firsts) * sizeof(*grown));
                trace->firsts = grown;
                trace->n_firsts = n;
        }
        return &trace->firsts[process - 1];
}

/* A lane on which nothing runs any more: the one that ended last, so that few are used */
static int64_t trace_lane_of(struct trace *trace, int64_t process, int64_t start, int64_t end)
{
        size_t *link = trace_first_lane(trace, process);
        struct lane *best = NULL, *first = NULL, *grown;
        int64_t n = 0;

        if (!link)
                return ROAST_E_NOMEM;
        for (size_t i = *link; i; i = trace->lanes[i - 1].next, n++) {
                struct lane *lane = &trace->lanes[i - 1];

                if (lane->end_utc_ns <= start && (!best || lane->end_utc_ns > best->end_utc_ns))
                        best = lane;
                if (!first || lane->end_utc_ns < first->end_utc_ns)
                        first = lane;
        }
        if (!best && n == LANES_MAX)
                best = first;
        if (best) {
                best->end_utc_ns = end;
                return best->number;
        }
        if ((trace->n_lanes & (trace->n_lanes - 1)) == 0) { /* a power of two, or 0 */
                grown = realloc(trace->lanes,
                                (trace->n_lanes ? 2 * trace->n_lanes : 1) * sizeof(*grown));
                if (!grown)
                        return ROAST_E_NOMEM;
                trace->lanes = grown;
        }
        trace->lanes[trace->n_lanes] = (struct lane){ end, *link, n + 1 };
        *link = ++trace->n_lanes;
        return n + 1;
}

/*
 * A thread is known here by a small number, its own stands in its name: readers of traces keep 32
 * bits of it. Negative: no memory
 */
static int64_t trace_thread_of(struct trace *trace, const struct chunk_table *table, size_t row,
                               int64_t process, int64_t start, int64_t end)
{
        int64_t thread = chunk_table_get(table, row, CHUNK_THREAD), number;
        bool known = thread != CHUNK_ABSENT;
        size_t n = trace->threads.n;
        char name[48];

        if (!known)
                thread = trace_lane_of(trace, process, start, end);
        if (!known && thread < 0)
                return thread;
        number = intern_put(&trace->threads, (int64_t[]){ process, known, thread },
                            3 * sizeof(int64_t));
        if (number >= 0 && trace->threads.n > n) {
                snprintf(name, sizeof(name), known ? "thread %lld" : "lane %lld (thread not known)",
                         (long long)thread);
                trace_put_name(trace, "thread_name", process, number + 1, name, strlen(name));
        }
        return number < 0 ? number : number + 1;
}

static void trace_put_text(struct json *json, const char *key, const struct chunk_table *table,
                           size_t row, enum chunk_field field)
{
        size_t len;
        const char *text = chunk_table_text(table, row, field, &len);

        if (!text)
                return;
        json_key(json, key);
        json_string_n(json, text, len);
}

static void trace_put_int(struct json *json, const char *key, const struct chunk_table *table,
                          size_t row, enum chunk_field field)
{
        int64_t value = chunk_table_get(table, row, field);

        if (value == CHUNK_ABSENT)
                return;
        json_pair_int(json, key, value);
}

static void trace_put_args(struct json *json, const struct chunk_table *table, size_t row,
                           int64_t chunk_id)
{
        struct emit_json times;

        json_key(json, "args");
        json_object(json);
        json_pair_int(json, "chunk_id", chunk_id);
        trace_put_text(json, "dataset", table, row, CHUNK_DATASET);
        trace_put_text(json, "file", table, row, CHUNK_FILE);
        trace_put_int(json, "entry_start", table, row, CHUNK_ENTRY_START);
        trace_put_int(json, "entry_stop", table, row, CHUNK_ENTRY_STOP);
        trace_put_int(json, "num_events", table, row, CHUNK_NUM_EVENTS);
        trace_put_int(json, "attempt", table, row, CHUNK_ATTEMPT);
        trace_put_int(json, "bytes_read", table, row, CHUNK_REQUESTED_BYTES);
        json_pair(json, "outcome", v1_record_outcome(table, row));
        trace_put_text(json, "error_type", table, row, CHUNK_ERROR_TYPE);
        trace_put_text(json, "error_message", table, row, CHUNK_ERROR_MESSAGE);
        if (!isnan(v1_record_real(table, row, CHUNK_CPU_NS, 1e9)))
                json_pair_double(json, "cpu_seconds",
                                 v1_record_real(table, row, CHUNK_CPU_NS, 1e9));
        json_key(json, "sections");
        emit_json_init(&times, json);
        v1_put_section_times(&times.emit, &(struct v1_record){ .table = table, .row = row });
        emit_json_deinit(&times);
        json_end(json);
}

/* A slice is called after its dataset, so that datasets have colours of their own. */
static int trace_put_chunk(struct trace *trace, const struct chunk_table *table, size_t row,
                           struct roast_error *error)
{
        static const char *const colors[CHUNK_N_OUTCOMES] = {
                [CHUNK_FAILED] = "terrible", [CHUNK_LOST] = "bad", [CHUNK_SKIPPED] = "grey"
        };
        int64_t start = chunk_table_get(table, row, CHUNK_START_UTC_NS);
        int64_t wall = chunk_table_get(table, row, CHUNK_WALL_NS);
        int64_t outcome = chunk_table_get(table, row, CHUNK_OUTCOME);
        bool slice = wall != CHUNK_ABSENT && wall >= 0;
        int64_t process, thread, end, offset;
        struct json *json;

        if (start == CHUNK_ABSENT)
                return 0; /* nobody knows when it was */
        if (trace->start_utc_ns == INT64_MIN)
                trace->start_utc_ns = start;
        if (__builtin_add_overflow(start, slice ? wall : 0, &end) ||
            __builtin_sub_overflow(start, trace->start_utc_ns, &offset))
                return 0;
        process = trace_process_of(trace, table, row);
        if (process < 0)
                return roast_fail_nomem(error);
        thread = trace_thread_of(trace, table, row, process, start, end);
        if (thread < 0)
                return roast_fail_nomem(error);
        json = trace_begin_event(trace, slice ? "X" : "i", process, thread);
        json_pair_double(json, "ts", (double)offset / 1000);
        json_key(json, slice ? "dur" : "s");
        if (slice)
                json_double(json, (double)wall / 1000);
        else
                json_string(json, "t");
        json_pair(json, "cat", v1_record_outcome(table, row));
        if (chunk_table_get(table, row, CHUNK_DATASET) == CHUNK_ABSENT)
                json_pair(json, "name", "chunk");
        trace_put_text(json, "name", table, row, CHUNK_DATASET);
        if (outcome > 0 && outcome < CHUNK_N_OUTCOMES && colors[outcome])
                json_pair(json, "cname", colors[outcome]);
        trace_put_args(json, table, row, trace->chunk_id);
        json_end(json);
        return out_step(trace->out, error);
}

static int trace_put_chunks(const struct chunk_table *table, void *context,
                            struct roast_error *error)
{
        struct trace *trace = context;
        int r = 0;

        for (size_t row = 0; row < table->n && r >= 0; row++, trace->chunk_id++)
                if (chunk_table_get(table, row, CHUNK_OUTCOME) != CHUNK_GRAPH)
                        r = trace_put_chunk(trace, table, row, error);
        return r;
}

int export_trace(struct roast_run *run, const struct roast_export_options *options, struct out *out,
                 struct roast_error *error)
{
        ROAST_CLEANUP(trace_deinit) struct trace trace = { .out = out };
        struct roast_run_about about;
        int r;

        (void)options;
        r = roast_run_about(run, &about, error);
        if (r < 0)
                return r;
        trace.start_utc_ns = about.start_utc_ns;
        out_puts(out, "{\"displayTimeUnit\":\"ms\",\"otherData\":");
        json_object(&out->json);
        if (about.name)
                json_pair(&out->json, "run", about.name);
        if (about.id)
                json_pair(&out->json, "id", about.id);
        json_end(&out->json);
        out_puts(out, ",\"traceEvents\":[");
        r = run_records(run, BATCH, trace_put_chunks, &trace, error);
        out_puts(out, "\n]}\n");
        return r;
}
