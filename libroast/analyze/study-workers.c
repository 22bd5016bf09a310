/* The workers of a run: how long they were there, what their samples say. See study.h. */

#include <stdlib.h>

#include "analyze/study.h"
#include "run/series.h"

/* Dask pauses a worker that has this share of its memory limit. */
#define PAUSE_SHARE 0.8

static double study_clamp(const struct study *study, double time_s)
{
        time_s = fmax(time_s, 0);
        return isnan(study->elapsed_s) ? time_s : fmin(time_s, study->elapsed_s);
}

static void study_leave(struct study *study, struct study_worker *worker, double time_s)
{
        if (!worker->here)
                return;
        worker->here = false;
        worker->left_s = time_s;
        worker->here_s += time_s - worker->since_s;
        study->capacity_s += (time_s - worker->since_s) * worker->threads;
}

static void study_apply(struct study *study, const struct run_value *values)
{
        uint32_t number = study_number(study, &values[WORKER_EVENT_WORKER]);
        double time_s = study_clamp(
                study,
                ((double)values[WORKER_EVENT_UTC_NS].integer - (double)study->start_utc_ns) / 1e9);
        struct study_worker *worker;

        if (number == STUDY_NONE || values[WORKER_EVENT_KIND].type != RUN_INT)
                return;
        worker = &study->workers[number];
        study_leave(study, worker, time_s);
        if (values[WORKER_EVENT_KIND].integer == ROAST_WORKER_WENT)
                return;
        if (!worker->known)
                worker->came_s = time_s;
        worker->known = worker->here = true;
        worker->since_s = time_s;
        worker->threads = values[WORKER_EVENT_THREADS].type == RUN_INT
                                  ? (double)values[WORKER_EVENT_THREADS].integer
                                  : 1;
        worker->host = study_number(study, &values[WORKER_EVENT_HOST]);
        if (values[WORKER_EVENT_MEMORY_LIMIT_BYTES].type == RUN_INT)
                worker->limit_bytes = (double)values[WORKER_EVENT_MEMORY_LIMIT_BYTES].integer;
}

static int study_read_events(struct study *study, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        if (study->start_utc_ns == INT64_MIN)
                return 0;
        r = run_scan_begin(&scan, run, RUN_WORKER_EVENT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                study_apply(study, scan.values);
                study->has_workers = true;
        }
        run_scan_end(&scan);
        return r;
}

/* What Dask knows: columns of one block */
struct dask_columns {
        const int64_t *executing;
        const int64_t *spilled;
        const int64_t *lag_us;
};

static void study_add_sample(struct study_worker *worker, const struct dask_columns *columns,
                             size_t i, double time_s)
{
        double step_s = worker->sampled_s > 0 ? time_s - worker->sampled_s : 0;

        worker->sampled_s = time_s;
        if (columns->spilled && columns->spilled[i] > 0)
                worker->spilled_bytes = fmax(worker->spilled_bytes, (double)columns->spilled[i]);
        if (columns->lag_us && columns->lag_us[i] >= 0) {
                double lag_s = (double)columns->lag_us[i] / 1e6;

                worker->lag_s += lag_s;
                worker->lag_worst_s = fmax(worker->lag_worst_s, lag_s);
                worker->lag_n++;
        }
        if (columns->executing && columns->executing[i] == 0 && worker->limit_bytes > 0 &&
            worker->rss_bytes > PAUSE_SHARE * worker->limit_bytes && step_s > 0 && step_s < 60)
                worker->paused_s += step_s;
}

static void study_add_block(struct study *study, const struct series_walk *walk)
{
        struct study_worker *worker = &study->workers[walk->worker_text - 1];
        int64_t unit, ignored;
        const int64_t *rss = series_walk_column(walk, "rss_bytes", &unit);
        struct dask_columns columns = {
                series_walk_column(walk, "dask_executing", &ignored),
                series_walk_column(walk, "dask_spilled_bytes", &ignored),
                series_walk_column(walk, "dask_loop_lag_us", &ignored),
        };

        for (size_t i = 0; i < walk->block.n; i++) {
                int64_t utc_ns = series_ns(walk->block.times[i]);
                double time_s = ((double)utc_ns - (double)study->start_utc_ns) / 1e9;

                if (rss && rss[i] >= 0) {
                        worker->rss_bytes = (double)rss[i] * (double)unit;
                        worker->peak_bytes = fmax(worker->peak_bytes, worker->rss_bytes);
                }
                if (columns.executing || columns.spilled || columns.lag_us)
                        study_add_sample(worker, &columns, i, time_s);
        }
        study->has_samples = true;
}

static int study_read_series(struct study *study, struct roast_run *run, struct roast_error *error)
{
        struct series_walk walk;
        int r;

        r = series_walk_begin(&walk, run, &study->texts, error);
        while (r >= 0 && (r = series_walk_next(&walk, error)) > 0)
                study_add_block(study, &walk);
        series_walk_end(&walk);
        return r;
}

static void study_count_slots(struct study *study)
{
        for (size_t i = 0; i < study->n_slots; i++) {
                uint32_t worker = study->slots[i].worker;

                if (worker != STUDY_NONE && study->workers[worker].known)
                        study->workers[worker].slots++;
                else
                        study->strays++;
        }
}

/* Without comings and goings: the threads that ran chunks, for the whole time */
static void study_settle(struct study *study)
{
        double end_s = study->elapsed_s;

        study->unfinished = isnan(end_s);
        if (study->unfinished) /* until the last chunk */
                end_s = study->elapsed_s = study->last_s;
        for (size_t i = 0; i < study->texts.n; i++)
                study_leave(study, &study->workers[i], fmax(end_s, study->workers[i].since_s));
        study_count_slots(study);
        if (!study->has_workers && study->n_slots)
                study->capacity_s = (double)study->n_slots * end_s;
        study->threads = end_s > 0 ? study->capacity_s / end_s : 0;
}

int study_workers(struct study *study, struct roast_run *run, struct roast_error *error)
{
        int r;

        study->workers = calloc(study->texts.n + 1, sizeof(*study->workers));
        if (!study->workers)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < study->texts.n; i++)
                study->workers[i].host = STUDY_NONE;
        r = study_read_events(study, run, error);
        if (r >= 0)
                r = study_read_series(study, run, error);
        if (r >= 0)
                study_settle(study);
        return r;
}
