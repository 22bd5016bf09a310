/* The documented series of the workers: see tracking.h. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/tracking.h"
#include "run/series.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/size.h"

/* More instants than this are too many to tell the number of workers at: they are spread out. */
#define TICKS_MAX 100000

static const struct {
        const char *key;
        const char *column;
        const char *value; /* the key of a value */
        double unit;
} sampled[] = {
        { "worker_memory", "rss_bytes", "memory_bytes", 1 },
        { "worker_active_tasks", "dask_active_tasks", "active_tasks", 1 },
        { "worker_nbytes", "dask_managed_bytes", "nbytes", 1 },
        { "worker_occupancy", "dask_occupancy_ms", "occupancy", 1000 },
        { "worker_executing", "dask_executing", "executing", 1 },
        { "worker_last_seen", "dask_seen_ms", "last_seen", 1000 },
        { "worker_cpu", "dask_cpu_millipercent", "cpu", 1000 },
        { "worker_spilled_bytes", "dask_spilled_bytes", "spilled_bytes", 1 },
};

/* Of the workers' comings and goings; numbers of columns of worker_event */
static const struct {
        const char *key;
        size_t column;
        const char *value;
} of_events[] = {
        { "worker_memory_limit", WORKER_EVENT_MEMORY_LIMIT_BYTES, "memory_limit_bytes" },
        { "worker_cores", WORKER_EVENT_THREADS, "cores" },
};

struct tracking_event {
        int64_t worker_text;
        int64_t id;
        int64_t utc_ns;
        int64_t kind;
        struct run_value values[2]; /* threads, memory_limit_bytes */
};

struct tracking {
        struct roast_run *run;
        enum tracking_form form;
        struct out *out;
        struct intern texts;
        int64_t start_utc_ns; /* of the run; INT64_MIN: not known */
        int64_t end_utc_ns;
        double interval_s;
        struct series_block *blocks; /* by worker */
        size_t n_blocks;
        struct tracking_event *events; /* by worker */
        size_t n_events;
};

void tracking_time(char text[32], int64_t utc_ns)
{
        time_t seconds = (time_t)(utc_ns / 1000000000);
        int64_t ns = utc_ns % 1000000000;
        struct tm tm;
        size_t n;

        if (ns < 0) {
                ns += 1000000000;
                seconds--;
        }
        gmtime_r(&seconds, &tm);
        n = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm);
        if (ns / 1000)
                snprintf(text + n, 32 - n, ".%06d", (int)(ns / 1000));
}

/* One sample, inside a list */
static void tracking_put_sample(const struct tracking *tracking, int64_t utc_ns, const char *key,
                                double value)
{
        struct json *json = &tracking->out->json;
        bool whole = value == floor(value) && fabs(value) < 9e15;
        char time[32];

        tracking_time(time, utc_ns);
        if (tracking->form == TRACKING_OBJECTS) {
                json_object(json);
                json_pair(json, "timestamp", time);
                json_key(json, key);
        } else {
                json_array(json);
                json_string(json, time);
        }
        if (whole)
                json_int(json, (int64_t)value);
        else
                json_double(json, value);
        json_end(json);
}

/* A list for each worker, opened and closed as they come one after the other */
struct lists {
        const struct tracking *tracking;
        int64_t worker; /* whose list is open; 0: none */
};

static void tracking_lists_worker(struct lists *lists, int64_t worker)
{
        const struct tracking *tracking = lists->tracking;
        struct json *json = &tracking->out->json;
        const char *name;
        size_t len;

        if (worker == lists->worker)
                return;
        if (lists->worker)
                json_end(json);
        lists->worker = worker;
        if (!worker)
                return;
        name = intern_get(&tracking->texts, (size_t)worker - 1, &len);
        json_key_n(json, name, len);
        json_array(json);
}

static bool tracking_is_text(const struct tracking *tracking, int64_t number)
{
        return number >= 1 && (uint64_t)number <= tracking->texts.n;
}

/* The blocks by worker. Each is compared with its seal before, by tracking_check_series(). */
static int tracking_put_sampled(const struct tracking *tracking, size_t which,
                                struct roast_error *error)
{
        struct lists lists = { .tracking = tracking };
        struct series_walk walk;
        int r;

        json_key(&tracking->out->json, sampled[which].key);
        json_object(&tracking->out->json);
        r = series_walk_begin_any(&walk, tracking->run, &tracking->texts, error);
        for (size_t b = 0; b < tracking->n_blocks && r >= 0; b++) {
                const int64_t *values = NULL;
                int64_t resolution;

                r = series_walk_read(&walk, tracking->blocks[b].id, error);
                if (r > 0)
                        values = series_walk_column(&walk, sampled[which].column, &resolution);
                for (size_t i = 0; values && i < walk.block.n; i++) {
                        if (values[i] < 0)
                                continue;
                        tracking_lists_worker(&lists, walk.worker_text);
                        tracking_put_sample(
                                tracking, series_ns(walk.block.times[i]), sampled[which].value,
                                (double)values[i] * (double)resolution / sampled[which].unit);
                }
                if (r >= 0)
                        r = out_step(tracking->out, error);
        }
        tracking_lists_worker(&lists, 0);
        json_end(&tracking->out->json);
        series_walk_end(&walk);
        return r;
}

static int tracking_compare(int64_t a, int64_t b)
{
        return (a > b) - (a < b);
}

static int tracking_blocks_by_worker(const void *a, const void *b)
{
        const struct series_block *x = a, *y = b;
        int r = tracking_compare(x->worker_text, y->worker_text);

        return r ? r : tracking_compare(x->id, y->id);
}

static int tracking_events_by_worker(const void *a, const void *b)
{
        const struct tracking_event *x = a, *y = b;
        int r = tracking_compare(x->worker_text, y->worker_text);

        return r ? r : tracking_compare(x->id, y->id);
}

static int tracking_read_events(struct tracking *tracking, struct roast_error *error)
{
        struct run_scan scan;
        size_t cap = 0;
        int r;

        r = run_scan_begin(&scan, tracking->run, RUN_WORKER_EVENT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                if (!tracking_is_text(tracking, scan.values[WORKER_EVENT_WORKER].integer))
                        continue;
                if (ARRAY_ROOM(tracking->events, tracking->n_events, cap) < 0) {
                        r = roast_fail_nomem(error);
                        break;
                }
                tracking->events[tracking->n_events++] = (struct tracking_event){
                        .worker_text = scan.values[WORKER_EVENT_WORKER].integer,
                        .id = scan.id,
                        .utc_ns = scan.values[WORKER_EVENT_UTC_NS].integer,
                        .kind = scan.values[WORKER_EVENT_KIND].integer,
                        .values = { scan.values[WORKER_EVENT_THREADS],
                                    scan.values[WORKER_EVENT_MEMORY_LIMIT_BYTES] }
                };
        }
        run_scan_end(&scan);
        return r;
}

static int tracking_sort(struct tracking *tracking, struct roast_error *error)
{
        int r;

        r = series_list(tracking->run, 0, &tracking->blocks, &tracking->n_blocks, error);
        if (r >= 0)
                r = tracking_read_events(tracking, error);
        if (r >= 0 && tracking->n_blocks)
                qsort(tracking->blocks, tracking->n_blocks, sizeof(*tracking->blocks),
                      tracking_blocks_by_worker);
        if (r >= 0 && tracking->n_events)
                qsort(tracking->events, tracking->n_events, sizeof(*tracking->events),
                      tracking_events_by_worker);
        return r;
}

/* What a worker has, from when it came to when it went, or to the end */
static int tracking_put_of_events(const struct tracking *tracking, size_t which,
                                  struct roast_error *error)
{
        struct lists lists = { .tracking = tracking };
        int64_t worker = 0, value = -1, last_utc_ns = INT64_MIN;

        json_key(&tracking->out->json, of_events[which].key);
        json_object(&tracking->out->json);
        for (size_t i = 0; i <= tracking->n_events; i++) {
                const struct tracking_event *event = &tracking->events[i];
                bool row = i < tracking->n_events;
                int64_t next = row ? event->worker_text : 0;
                const struct run_value *now =
                        row ? &event->values[of_events[which].column - WORKER_EVENT_THREADS] : NULL;

                if (next != worker && value >= 0 && tracking->end_utc_ns > last_utc_ns)
                        tracking_put_sample(tracking, tracking->end_utc_ns, of_events[which].value,
                                            (double)value);
                if (!row)
                        break;
                if (next != worker)
                        value = -1;
                worker = next;
                if (event->kind == ROAST_WORKER_WENT) {
                        if (value >= 0)
                                tracking_put_sample(tracking, event->utc_ns, of_events[which].value,
                                                    (double)value);
                        value = -1;
                } else if (now->type == RUN_INT) {
                        tracking_lists_worker(&lists, worker);
                        value = now->integer;
                        tracking_put_sample(tracking, event->utc_ns, of_events[which].value,
                                            (double)value);
                }
                last_utc_ns = event->utc_ns;
        }
        tracking_lists_worker(&lists, 0);
        json_end(&tracking->out->json);
        return out_step(tracking->out, error);
}

/* The number of workers over time */
struct counting {
        const struct tracking *tracking;
        bool *here; /* by the number of the name */
        int64_t n;
        int64_t step_ns;
        int64_t next_utc_ns; /* the next instant to tell it at */
        bool done;
};

static int tracking_count_until(struct counting *counting, int64_t utc_ns,
                                struct roast_error *error)
{
        const struct tracking *tracking = counting->tracking;
        struct json *json = &tracking->out->json;
        int r = 0;

        while (!counting->done && counting->next_utc_ns < utc_ns && r >= 0) {
                char time[32];

                tracking_time(time, counting->next_utc_ns);
                if (tracking->form == TRACKING_OBJECTS) {
                        tracking_put_sample(tracking, counting->next_utc_ns, "worker_count",
                                            (double)counting->n);
                } else {
                        json_pair_int(json, time, counting->n);
                }
                counting->done = __builtin_add_overflow(counting->next_utc_ns, counting->step_ns,
                                                        &counting->next_utc_ns);
                r = out_step(tracking->out, error);
        }
        return r;
}

static int tracking_count_event(struct counting *counting, const struct run_value *values,
                                struct roast_error *error)
{
        bool here = values[WORKER_EVENT_KIND].integer != ROAST_WORKER_WENT;
        bool *was_here;
        int r;

        if (values[WORKER_EVENT_UTC_NS].type != RUN_INT ||
            !tracking_is_text(counting->tracking, values[WORKER_EVENT_WORKER].integer))
                return 0;
        r = tracking_count_until(counting,
                                 values[WORKER_EVENT_UTC_NS].integer <
                                                 counting->tracking->end_utc_ns
                                         ? values[WORKER_EVENT_UTC_NS].integer
                                         : counting->tracking->end_utc_ns,
                                 error);
        was_here = &counting->here[values[WORKER_EVENT_WORKER].integer - 1];
        counting->n += here - *was_here;
        *was_here = here;
        return r;
}

static int tracking_put_counts(const struct tracking *tracking, struct roast_error *error)
{
        struct json *json = &tracking->out->json;
        ROAST_CLEANUP(cleanup_free) bool *here = calloc(tracking->texts.n + 1, sizeof(*here));
        double span_ns = (double)tracking->end_utc_ns - (double)tracking->start_utc_ns;
        double step_ns = fmax(tracking->interval_s * 1e9, span_ns / TICKS_MAX);
        struct counting counting = { .tracking = tracking,
                                     .here = here,
                                     .step_ns = (int64_t)fmin(fmax(step_ns, 1e6), 1e18),
                                     .next_utc_ns = tracking->start_utc_ns };
        struct run_scan scan;
        int r;

        if (!here)
                return roast_fail_nomem(error);
        json_key(json, "worker_counts");
        if (tracking->form == TRACKING_OBJECTS)
                json_array(json);
        else
                json_object(json);
        r = run_scan_begin(&scan, tracking->run, RUN_WORKER_EVENT, error);
        if (tracking->start_utc_ns != INT64_MIN) {
                while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                        r = tracking_count_event(&counting, scan.values, error);
                if (r >= 0)
                        r = tracking_count_until(&counting, tracking->end_utc_ns, error);
        }
        run_scan_end(&scan);
        json_end(json);
        return r;
}

static int tracking_note(const struct roast_fact *fact, void *context)
{
        struct tracking *tracking = context;

        if (!strcmp(fact->name, "run.start_utc_ns") && fact->type == ROAST_FACT_INT)
                tracking->start_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "run.end_utc_ns") && fact->type == ROAST_FACT_INT)
                tracking->end_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "backend.interval_s") && fact->real > 0)
                tracking->interval_s = fact->real;
        return 0;
}

/* Every row against its seal, and when the last of them was, for a run that has no end yet */
static int tracking_check_series(struct tracking *tracking, struct roast_error *error)
{
        static const struct {
                enum run_table table;
                size_t time;
        } tables[] = { { RUN_SERIES, 3 }, { RUN_WORKER_EVENT, 0 } };
        int64_t last = INT64_MIN;
        int r = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(tables) && r >= 0; i++) {
                struct run_scan scan;

                r = run_scan_begin(&scan, tracking->run, tables[i].table, error);
                while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                        if (scan.values[tables[i].time].type == RUN_INT &&
                            scan.values[tables[i].time].integer > last)
                                last = scan.values[tables[i].time].integer;
                run_scan_end(&scan);
        }
        if (tracking->end_utc_ns == INT64_MIN)
                tracking->end_utc_ns = last;
        return r;
}

static int tracking_put_all(struct tracking *tracking, struct roast_error *error)
{
        int r;

        r = roast_run_facts(tracking->run, tracking_note, tracking, error);
        if (r >= 0)
                r = run_read_texts(tracking->run, &tracking->texts, error);
        if (r >= 0)
                r = tracking_check_series(tracking, error);
        if (r >= 0)
                r = tracking_sort(tracking, error);
        json_object(&tracking->out->json);
        if (r >= 0)
                r = tracking_put_counts(tracking, error);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(of_events) && r >= 0; i++)
                r = tracking_put_of_events(tracking, i, error);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(sampled) && r >= 0; i++)
                r = tracking_put_sampled(tracking, i, error);
        json_end(&tracking->out->json);
        return r;
}

int tracking_put(struct roast_run *run, enum tracking_form form, struct out *out,
                 struct roast_error *error)
{
        struct tracking tracking = { .run = run,
                                     .form = form,
                                     .out = out,
                                     .start_utc_ns = INT64_MIN,
                                     .end_utc_ns = INT64_MIN,
                                     .interval_s = 1 };
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = tracking_put_all(&tracking, error);
        run_view_end(run);
        intern_deinit(&tracking.texts);
        free(tracking.blocks);
        free(tracking.events);
        return r;
}
