/* The documented series of the workers, on one grid of instants: see documented.h. */

#include <stdlib.h>

#include "run/run.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "v1/documented.h"

/* More instants than this are too many for a grid: they are spread out. */
#define TICKS_MAX 100000

typedef int (*put_resampler)(struct roast_run *, const char *, const struct roast_grid *,
                             roast_series_visitor, void *, struct roast_error *);

static const struct put_series {
        const char *key;
        const char *value; /* the name of a value, where samples have names */
        put_resampler resample;
        const char *column;
        int unit; /* what integers of the run are divided by; 1: they are what they are */
} series[] = {
        { "worker_counts", "worker_count", roast_run_resample_workers, "kind", 1 },
        { "worker_cores", "cores", roast_run_resample_workers, "threads", 1 },
        { "worker_memory_limit", "memory_limit_bytes", roast_run_resample_workers,
          "memory_limit_bytes", 1 },
        { "worker_memory", "memory_bytes", roast_run_resample, "rss_bytes", 1 },
        { "worker_active_tasks", "active_tasks", roast_run_resample, "dask_active_tasks", 1 },
        { "worker_nbytes", "nbytes", roast_run_resample, "dask_managed_bytes", 1 },
        { "worker_executing", "executing", roast_run_resample, "dask_executing", 1 },
        { "worker_spilled_bytes", "spilled_bytes", roast_run_resample, "dask_spilled_bytes", 1 },
        { "worker_occupancy", "occupancy", roast_run_resample, "dask_occupancy_ms", 1000 },
        { "worker_last_seen", "last_seen", roast_run_resample, "dask_seen_ms", 1000 },
        { "worker_cpu", "cpu", roast_run_resample, "dask_cpu_millipercent", 1000 },
        { "worker_gil_contention", "gil_contention", roast_run_resample, "dask_gil_millipercent",
          1000 },
        { "worker_event_loop_lag", "event_loop_lag", roast_run_resample, "dask_loop_lag_us",
          1000000 },
        { "worker_host_net_read", "bytes_per_second", roast_run_resample_rate,
          "host_net_recv_bytes", 1 },
        { "worker_host_net_write", "bytes_per_second", roast_run_resample_rate,
          "host_net_sent_bytes", 1 },
        { "worker_host_disk_read", "bytes_per_second", roast_run_resample_rate,
          "host_disk_read_bytes", 1 },
        { "worker_host_disk_write", "bytes_per_second", roast_run_resample_rate,
          "host_disk_write_bytes", 1 },
};

struct put_context {
        const struct roast_grid *grid;
        const struct put_series *series;
        bool named;
        struct emit *emit;
        int64_t *counts; /* of worker_counts: how many are there at each instant */
        struct roast_error *error;
        int r;
};

/* ---- the grid ---- */

struct put_times {
        int64_t start_utc_ns; /* INT64_MIN: not known; and the end */
        int64_t end_utc_ns;
        double interval_s;
};

static int put_note_times(const struct roast_fact *fact, void *context)
{
        struct put_times *times = context;

        if (!strcmp(fact->name, "run.start_utc_ns") && fact->type == ROAST_FACT_INT)
                times->start_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "run.end_utc_ns") && fact->type == ROAST_FACT_INT)
                times->end_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "backend.interval_s") && fact->real > 0)
                times->interval_s = fact->real;
        return 0;
}

/* The last time in a table; INT64_MIN: it has no rows. Of a finished run only whether it has. */
static int put_last_of(struct roast_run *run, enum run_table table, size_t column, bool any,
                       int64_t *last, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, table, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                if (scan.values[column].type == RUN_INT && scan.values[column].integer > *last)
                        *last = scan.values[column].integer;
                if (any)
                        break;
        }
        run_scan_end(&scan);
        return r;
}

int v1_grid_of_run(struct roast_grid *grid, struct roast_run *run, struct roast_error *error)
{
        struct put_times times = { INT64_MIN, INT64_MIN, 1 };
        int64_t last = INT64_MIN;
        bool finished;
        double span_ns;
        int r;

        *grid = (struct roast_grid){ .step_ns = 1000000000 };
        r = roast_run_facts(run, put_note_times, &times, error);
        finished = times.end_utc_ns != INT64_MIN;
        if (r >= 0)
                r = put_last_of(run, RUN_WORKER_EVENT, 0, finished, &last, error);
        if (r < 0 || last == INT64_MIN || times.start_utc_ns == INT64_MIN)
                return r < 0 ? r : 0;
        if (!finished)
                r = put_last_of(run, RUN_SERIES, 3, false, &last, error);
        span_ns = (double)(finished ? times.end_utc_ns : last) - (double)times.start_utc_ns;
        grid->start_utc_ns = times.start_utc_ns;
        grid->step_ns =
                (int64_t)fmin(fmax(fmax(times.interval_s * 1e9, span_ns / TICKS_MAX), 1e6), 1e18);
        grid->n = span_ns > 0 ? (size_t)(span_ns / (double)grid->step_ns) + 1 : 1;
        return r < 0 ? r : 0;
}

/* ---- the series ---- */

static void put_sample(const struct put_context *context, size_t tick, int64_t value)
{
        struct emit *emit = context->emit;

        if (context->named) {
                emit_object(emit);
                emit_key(emit, "timestamp");
        } else {
                emit_tuple(emit, 2);
        }
        emit_time(emit, context->grid->start_utc_ns + (int64_t)tick * context->grid->step_ns);
        if (context->named)
                emit_key(emit, context->series->value);
        if (context->series->unit > 1)
                emit_real(emit, (double)value / context->series->unit);
        else
                emit_int(emit, value);
        emit_end(emit);
}

static int put_worker(const char *worker, const int64_t *values, void *data)
{
        struct put_context *context = data;

        emit_name(context->emit, worker);
        emit_array(context->emit);
        for (size_t i = 0; i < context->grid->n && context->r >= 0; i++) {
                if (values[i] == INT64_MIN)
                        continue;
                put_sample(context, i, values[i]);
                context->r = emit_step(context->emit, context->error);
        }
        emit_end(context->emit);
        return context->r < 0;
}

static int put_count_worker(const char *worker, const int64_t *values, void *data)
{
        struct put_context *context = data;

        (void)worker;
        for (size_t i = 0; i < context->grid->n; i++)
                context->counts[i] += values[i] != INT64_MIN;
        return 0;
}

static void put_counts(struct put_context *context)
{
        const struct roast_grid *grid = context->grid;

        if (context->named)
                emit_array(context->emit);
        else
                emit_object(context->emit);
        for (size_t i = 0; i < grid->n && context->r >= 0; i++) {
                if (context->named) {
                        put_sample(context, i, context->counts[i]);
                } else {
                        emit_next_is_key(context->emit);
                        emit_time(context->emit, grid->start_utc_ns + (int64_t)i * grid->step_ns);
                        emit_int(context->emit, context->counts[i]);
                }
                context->r = emit_step(context->emit, context->error);
        }
        emit_end(context->emit);
}

static int put_one(struct roast_run *run, struct put_context *context, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) int64_t *counts = NULL;
        const struct put_series *one = context->series;
        int r;

        if (one == &series[0]) {
                counts = calloc(context->grid->n + 1, sizeof(*counts));
                if (!counts)
                        return roast_fail_nomem(error);
                context->counts = counts;
                r = one->resample(run, one->column, context->grid, put_count_worker, context,
                                  error);
                if (r >= 0)
                        put_counts(context);
        } else {
                emit_object(context->emit);
                r = one->resample(run, one->column, context->grid, put_worker, context, error);
                emit_end(context->emit);
        }
        return r < 0 ? r : context->r;
}

static int put_add_counts(const char *worker, const int64_t *values, void *data)
{
        const struct put_context *context = data;

        (void)worker;
        for (size_t i = 0; i < context->grid->n; i++)
                *context->counts += values[i] != INT64_MIN;
        return 0;
}

int v1_count_samples(struct roast_run *run, const struct roast_grid *grid, int64_t *n,
                     struct roast_error *error)
{
        struct put_context context = { .grid = grid, .counts = n };

        *n = 0;
        return series[0].resample(run, series[0].column, grid, put_add_counts, &context, error);
}

int v1_put_series(struct roast_run *run, const struct roast_grid *grid, const char *key, bool named,
                  struct emit *emit, struct roast_error *error)
{
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(series); i++)
                if (!strcmp(series[i].key, key))
                        return put_one(run,
                                       &(struct put_context){ .grid = grid,
                                                              .series = &series[i],
                                                              .named = named,
                                                              .emit = emit,
                                                              .error = error },
                                       error);
        return roast_fail(error, ROAST_E_NOENT, "there is no series '%s'", key);
}

const char *v1_series_key(size_t i)
{
        return i < ROAST_ARRAY_SIZE(series) ? series[i].key : NULL;
}

int v1_put_tracking(struct roast_run *run, const struct roast_grid *grid, bool named,
                    struct emit *emit, struct roast_error *error)
{
        int r = 0;

        emit_object(emit);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(series) && r >= 0; i++) {
                emit_key(emit, series[i].key);
                r = v1_put_series(run, grid, series[i].key, named, emit, error);
        }
        emit_end(emit);
        return r;
}
