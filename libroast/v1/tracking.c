/*
 * Tracking data in the documented shape: samples of the workers
 *
 * A worker's series share their times, so that its samples become blocks with
 * one time column. Its cores and its memory limit are no series: they say that
 * the worker came, and the end of its samples that it went.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/block.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "util/text.h"
#include "v1/v1.h"

enum { CORES, MEMORY_LIMIT, N_OF_WORKER }; /* not sampled, but of the worker itself */

static const struct {
        const char *key;
        const char *column; /* NULL: of the worker */
        double unit;
} series_keys[] = {
        [CORES] = { "worker_cores", NULL, 1 },
        [MEMORY_LIMIT] = { "worker_memory_limit", NULL, 1 },
        { "worker_memory", "rss_bytes", 1 },
        { "worker_active_tasks", "dask_active_tasks", 1 },
        { "worker_nbytes", "dask_managed_bytes", 1 },
        { "worker_executing", "dask_executing", 1 },
        { "worker_spilled_bytes", "dask_spilled_bytes", 1 },
        { "worker_cpu", "dask_cpu_millipercent", 1000 },
        { "worker_last_seen", "dask_seen_ms", 1000 },
        { "worker_occupancy", "dask_occupancy_ms", 1000 },
};

#define N_KEYS    ROAST_ARRAY_SIZE(series_keys)
#define N_COLUMNS (N_KEYS - N_OF_WORKER)
#define ROWS      120 /* of a block: timeline/block.h */

void v1_series_deinit(struct v1_series *series)
{
        free(series->samples);
        intern_deinit(&series->workers);
        *series = (struct v1_series){ 0 };
}

static bool tracking_add_sample(struct v1_series *series, struct source *in,
                                const struct v1_sample *sample)
{
        if (ARRAY_ROOM(series->samples, series->n, series->cap) < 0)
                return source_nomem(in);
        if (series->n == 0 || sample->utc_ns < series->first_utc_ns)
                series->first_utc_ns = sample->utc_ns;
        if (series->n == 0 || sample->utc_ns > series->last_utc_ns)
                series->last_utc_ns = sample->utc_ns;
        series->samples[series->n] = *sample;
        series->samples[series->n].order = series->n;
        series->n++;
        return true;
}

/* [time, value]; one that is not so is passed over */
static bool tracking_read_sample(struct v1_series *series, struct source *in,
                                 struct v1_sample *sample)
{
        struct json_number time = { .real = (double)NAN }, value = { .real = (double)NAN };

        if (!source_enter_if(in, JSON_ARRAY))
                return !in->bad;
        for (size_t i = 0; source_element(in); i++)
                if (i == 0   ? !source_instant(in, &time)
                    : i == 1 ? !source_number_or_nan(in, &value)
                             : !source_skip(in))
                        return false;
        sample->utc_ns = time.integer;
        sample->value = v1_scaled(&value, series_keys[sample->column].unit);
        if (in->bad || !time.whole || sample->value < 0)
                return !in->bad;
        return tracking_add_sample(series, in, sample);
}

/* {worker: [[time, value], ...]} */
static bool tracking_read_workers(struct v1_series *series, struct source *in, uint32_t column)
{
        struct json_text key;

        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                struct v1_sample sample = { .column = column };
                int64_t worker;

                if (!source_key_text(in, &key))
                        return false;
                worker = intern_put(&series->workers, key.data, key.len);
                if (worker < 0)
                        return source_nomem(in);
                sample.worker = (uint32_t)worker;
                if (!source_enter_if(in, JSON_ARRAY))
                        continue;
                while (source_element(in))
                        if (!tracking_read_sample(series, in, &sample))
                                return false;
        }
        return !in->bad;
}

/* {time: number}: how often the workers were counted */
static bool tracking_read_ticks(struct v1_series *series, struct source *in)
{
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                struct json_number time;

                if (!source_key_instant(in, &time) || !source_skip(in))
                        return false;
                if (!time.whole)
                        continue;
                if (series->n_ticks == 0 || time.integer < series->first_tick_utc_ns)
                        series->first_tick_utc_ns = time.integer;
                if (series->n_ticks == 0 || time.integer > series->last_tick_utc_ns)
                        series->last_tick_utc_ns = time.integer;
                series->n_ticks++;
        }
        return !in->bad;
}

bool v1_series_read(struct v1_series *series, struct source *in)
{
        uint32_t seen = 0;

        series->first_utc_ns = series->last_utc_ns = INT64_MIN;
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                uint32_t i = 0;

                while (i < N_KEYS && !source_key_is(in, series_keys[i].key))
                        i++;
                if (i < N_KEYS && seen & 1u << i)
                        return source_fail(in, "tracking_data has a key twice");
                seen |= i < N_KEYS ? 1u << i : 0;
                if (i < N_KEYS                           ? !tracking_read_workers(series, in, i)
                    : source_key_is(in, "worker_counts") ? !tracking_read_ticks(series, in)
                                                         : !source_skip(in))
                        return false;
        }
        return !in->bad;
}

/* By worker, then by time; the last of an instant counts, and stays last. */
static int tracking_by_worker(const void *a, const void *b)
{
        const struct v1_sample *x = a, *y = b;

        if (x->worker != y->worker)
                return x->worker < y->worker ? -1 : 1;
        if (x->utc_ns != y->utc_ns)
                return x->utc_ns < y->utc_ns ? -1 : 1;
        if (x->column != y->column)
                return x->column < y->column ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

/* A block of one worker that is being filled */
struct rows {
        int64_t times[ROWS];
        int64_t values[N_COLUMNS][ROWS];
        size_t n;
};

static int tracking_series_flush(struct rows *rows, struct roast_run *run, const char *worker,
                                 struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf names = BUF_INIT;
        const int64_t *columns[N_COLUMNS];
        size_t k = 0;
        int r = 0;

        for (size_t i = 0; i < N_COLUMNS && r >= 0; i++) {
                bool any = false;

                for (size_t row = 0; row < rows->n; row++)
                        any |= rows->values[i][row] >= 0;
                if (!any)
                        continue;
                r = buf_printf(&names, "%s%s", k ? "," : "", series_keys[N_OF_WORKER + i].column);
                columns[k++] = rows->values[i];
        }
        if (r >= 0 && k)
                r = buf_put_u8(&names, 0);
        if (r < 0)
                return roast_fail_nomem(error);
        if (k)
                r = block_encode(&block, rows->times, columns, rows->n, k, error);
        rows->n = 0;
        if (r < 0 || !k)
                return r;
        return roast_run_add_series(run, worker, (const char *)names.data, block.data, block.len,
                                    error);
}

/* Comings and goings, to be added in the order of time */
struct event {
        int64_t utc_ns;
        enum roast_worker_event kind;
        struct roast_worker worker;
        size_t order;
};

struct events {
        struct event *events;
        size_t n;
        size_t cap;
};

static void tracking_events_deinit(struct events *events)
{
        free(events->events);
}

static int tracking_add_event(struct events *events, int64_t utc_ns, enum roast_worker_event kind,
                              const struct roast_worker *worker)
{
        if (ARRAY_ROOM(events->events, events->n, events->cap) < 0)
                return ROAST_E_NOMEM;
        events->events[events->n] = (struct event){ utc_ns, kind, *worker, events->n };
        events->n++;
        return 0;
}

static int tracking_by_time(const void *a, const void *b)
{
        const struct event *x = a, *y = b;

        if (x->utc_ns != y->utc_ns)
                return x->utc_ns < y->utc_ns ? -1 : 1;
        return x->order < y->order ? -1 : 1;
}

/* The samples of one worker, from first to end: its blocks, and when it was there */
static int tracking_end_worker(const struct v1_series *series, const struct v1_sample *first,
                               const struct v1_sample *end, struct roast_run *run,
                               struct events *events, struct roast_worker *worker,
                               int64_t offset_ns, struct roast_error *error)
{
        struct rows rows = { .n = 0 };
        int64_t last_utc_ns = end[-1].utc_ns;
        int r = 0;

        while (first < end && r >= 0) {
                int64_t utc_ns = first->utc_ns, threads = worker->threads;
                int64_t limit = worker->memory_limit_bytes;
                bool begins = rows.n == 0 && worker->pid == -1;

                if (rows.n == ROWS &&
                    (r = tracking_series_flush(&rows, run, worker->name, error)) < 0)
                        return r;
                rows.times[rows.n] = (utc_ns + offset_ns) / 1000000;
                for (size_t i = 0; i < N_COLUMNS; i++)
                        rows.values[i][rows.n] = -1;
                for (; first < end && first->utc_ns == utc_ns; first++) {
                        if (first->column == CORES)
                                worker->threads = first->value;
                        else if (first->column == MEMORY_LIMIT)
                                worker->memory_limit_bytes = first->value;
                        else
                                rows.values[first->column - N_OF_WORKER][rows.n] = first->value;
                }
                rows.n++;
                if (begins || worker->threads != threads || worker->memory_limit_bytes != limit)
                        r = tracking_add_event(events, utc_ns,
                                               begins && utc_ns == series->first_utc_ns
                                                       ? ROAST_WORKER_PRESENT
                                                       : ROAST_WORKER_CAME,
                                               worker);
                worker->pid = -2; /* not known either: it has come */
        }
        if (r >= 0 && last_utc_ns < series->last_utc_ns)
                r = tracking_add_event(events, last_utc_ns, ROAST_WORKER_WENT, worker);
        if (r < 0)
                return roast_fail_nomem(error);
        return tracking_series_flush(&rows, run, worker->name, error);
}

static int tracking_add_events(struct events *events, struct roast_run *run, int64_t offset_ns,
                               struct roast_error *error)
{
        int r = 0;

        if (events->n)
                qsort(events->events, events->n, sizeof(*events->events), tracking_by_time);
        for (size_t i = 0; i < events->n && r >= 0; i++)
                r = roast_run_add_worker_event(run, events->events[i].utc_ns + offset_ns,
                                               events->events[i].kind, &events->events[i].worker,
                                               error);
        return r;
}

static void tracking_names_free(char ***names)
{
        for (size_t i = 0; *names && (*names)[i]; i++)
                free((*names)[i]);
        free(*names);
}

/* The workers' names as C strings, NULL behind the last */
static char **tracking_names_of(const struct v1_series *series)
{
        ROAST_CLEANUP(tracking_names_free)
        char **names = calloc(series->workers.n + 1, sizeof(*names));
        char **result;

        for (size_t i = 0; names && i < series->workers.n; i++) {
                size_t len;
                const char *name = intern_get(&series->workers, i, &len);

                names[i] = text_copy(name, len);
                if (!names[i])
                        return NULL;
        }
        result = names;
        names = NULL;
        return result;
}

int v1_series_end(struct v1_series *series, struct roast_run *run, int64_t offset_ns,
                  struct roast_error *error)
{
        ROAST_CLEANUP(tracking_events_deinit) struct events events = { 0 };
        ROAST_CLEANUP(tracking_names_free) char **names = tracking_names_of(series);
        const struct v1_sample *samples = series->samples;
        size_t first = 0;
        int r = 0;

        if (!names)
                return roast_fail_nomem(error);
        if (series->n)
                qsort(series->samples, series->n, sizeof(*series->samples), tracking_by_worker);
        while (first < series->n && r >= 0) {
                struct roast_worker worker = { .name = names[samples[first].worker],
                                               .pid = -1,
                                               .threads = -1,
                                               .memory_limit_bytes = -1 };
                size_t next = first;

                while (next < series->n && samples[next].worker == samples[first].worker)
                        next++;
                r = tracking_end_worker(series, samples + first, samples + next, run, &events,
                                        &worker, offset_ns, error);
                first = next;
        }
        return r < 0 ? r : tracking_add_events(&events, run, offset_ns, error);
}
