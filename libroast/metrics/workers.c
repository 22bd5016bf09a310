/*
 * Base facts about the workers: how many, how many cores, over time
 *
 * The number of workers and of their threads is a step function of time, known
 * exactly from their comings and goings; its integral is divided by the time
 * the run took, so that adaptive clusters and workers of different size come
 * out right.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/collect.h"
#include "util/cleanup.h"
#include "util/size.h"

struct worker_state {
        double threads; /* 0: not here, or not known */
        bool here;
};

struct integral {
        int64_t start_utc_ns;
        double interval_ns; /* between two samples */
        int64_t last_utc_ns;
        int64_t workers;
        double threads;
        int64_t peak_workers;
        double worker_ns; /* the integrals */
        double thread_ns;
        double samples; /* how many there are, and the sum of the workers at them */
        double sampled_workers;
};

/* From an instant to a later one, however far apart */
static double workers_duration_ns(int64_t from_utc_ns, int64_t to_utc_ns)
{
        return (double)((uint64_t)to_utc_ns - (uint64_t)from_utc_ns);
}

/* How many samples there are before an instant, the first at the start */
static double workers_samples_before(const struct integral *integral, int64_t utc_ns)
{
        return ceil(workers_duration_ns(integral->start_utc_ns, utc_ns) / integral->interval_ns);
}

static void workers_advance(struct integral *integral, int64_t utc_ns)
{
        double dt, n;

        if (utc_ns <= integral->last_utc_ns)
                return;
        n = workers_samples_before(integral, utc_ns) -
            workers_samples_before(integral, integral->last_utc_ns);
        integral->samples += n;
        integral->sampled_workers += n * (double)integral->workers;
        dt = workers_duration_ns(integral->last_utc_ns, utc_ns);
        integral->worker_ns += dt * (double)integral->workers;
        integral->thread_ns += dt * integral->threads;
        integral->last_utc_ns = utc_ns;
}

static void workers_come(struct integral *integral, struct worker_state *worker, double threads)
{
        if (!worker->here)
                integral->workers++;
        integral->threads += threads - worker->threads;
        worker->here = true;
        worker->threads = threads;
        if (integral->workers > integral->peak_workers)
                integral->peak_workers = integral->workers;
}

static void workers_go(struct integral *integral, struct worker_state *worker)
{
        if (!worker->here)
                return;
        integral->workers--;
        integral->threads -= worker->threads;
        worker->here = false;
        worker->threads = 0;
}

static void workers_note_size(struct collect_worker *worker, const struct run_value *values)
{
        if (values[WORKER_EVENT_THREADS].type == RUN_INT)
                worker->threads = (double)values[WORKER_EVENT_THREADS].integer;
        if (values[WORKER_EVENT_MEMORY_LIMIT_BYTES].type == RUN_INT)
                worker->memory_limit_bytes =
                        (double)values[WORKER_EVENT_MEMORY_LIMIT_BYTES].integer;
        worker->host_text =
                values[WORKER_EVENT_HOST].type == RUN_INT ? values[WORKER_EVENT_HOST].integer : 0;
        worker->pid =
                values[WORKER_EVENT_PID].type == RUN_INT ? values[WORKER_EVENT_PID].integer : 0;
}

static void workers_apply(const struct collect *collect, struct integral *integral,
                          struct worker_state *states, const struct run_value *values)
{
        int64_t utc_ns = values[WORKER_EVENT_UTC_NS].integer;
        struct worker_state *worker;
        size_t len;

        if (!collect_text(collect, &values[WORKER_EVENT_WORKER], &len) ||
            values[WORKER_EVENT_KIND].type != RUN_INT)
                return;
        worker = &states[values[WORKER_EVENT_WORKER].integer - 1];
        if (utc_ns > collect->end_utc_ns)
                utc_ns = collect->end_utc_ns;
        workers_advance(integral, utc_ns);
        if (values[WORKER_EVENT_KIND].integer == ROAST_WORKER_WENT) {
                workers_go(integral, worker);
                return;
        }
        workers_note_size(&collect->workers[values[WORKER_EVENT_WORKER].integer - 1], values);
        workers_come(integral, worker,
                     values[WORKER_EVENT_THREADS].type == RUN_INT
                             ? (double)values[WORKER_EVENT_THREADS].integer
                             : 0);
}

/* The latest stamp in columns `first` to `last` of a table */
static int workers_last_stamp(struct collect *collect, enum run_table table, size_t first,
                              size_t last, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_skim(&scan, collect->run, table, last + 1, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                for (size_t i = first; i <= last; i++)
                        if (scan.values[i].type == RUN_INT &&
                            scan.values[i].integer > collect->end_utc_ns)
                                collect->end_utc_ns = scan.values[i].integer;
        run_scan_end(&scan);
        return r;
}

/* An unfinished run is known until workers and tasks were last heard of. */
static int workers_find_end(struct collect *collect, struct roast_error *error)
{
        int r = workers_last_stamp(collect, RUN_WORKER_EVENT, WORKER_EVENT_UTC_NS,
                                   WORKER_EVENT_UTC_NS, error);

        return r < 0 ? r
                     : workers_last_stamp(collect, RUN_TASK, TASK_START_UTC_NS, TASK_STOP_UTC_NS,
                                          error);
}

/* There were workers, but no time to average them over. */
static int workers_set_no_time(struct roast_metric_set *set, const char *reason)
{
        static const enum roast_metric averages[] = { ROAST_AVG_WORKERS, ROAST_MEAN_WORKERS,
                                                      ROAST_TOTAL_CORES };
        int r = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(averages) && r >= 0; i++)
                r = roast_metric_set_absent(set, averages[i], "%s", reason);
        return r;
}

int collect_workers(struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        ROAST_CLEANUP(cleanup_free) struct worker_state *states = NULL;
        struct integral integral = { .start_utc_ns = collect->start_utc_ns,
                                     .interval_ns = collect->interval_s * 1e9,
                                     .last_utc_ns = collect->start_utc_ns };
        struct run_scan scan;
        bool any = false;
        double ns;
        int r;

        states = calloc(collect->texts.n + 1, sizeof(*states));
        collect->workers = calloc(collect->texts.n + 1, sizeof(*collect->workers));
        if (!states || !collect->workers)
                return roast_fail_nomem(error);
        if (collect->end_utc_ns == INT64_MIN) {
                r = workers_find_end(collect, error);
                if (r < 0)
                        return r;
        }
        r = run_scan_begin(&scan, collect->run, RUN_WORKER_EVENT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                workers_apply(collect, &integral, states, scan.values);
                any = true;
        }
        run_scan_end(&scan);
        if (r >= 0)
                r = collect_processes(collect, error);
        if (r < 0 || !any || collect->start_utc_ns == INT64_MIN)
                return r;
        workers_advance(&integral, collect->end_utc_ns);
        roast_metric_set_count(set, ROAST_PEAK_WORKERS, integral.peak_workers);
        if (collect->end_utc_ns <= collect->start_utc_ns) {
                r = workers_set_no_time(set, collect->end_utc_ns == collect->start_utc_ns
                                                     ? "the run took no time"
                                                     : "the run ends before it begins");
                return r < 0 ? roast_fail_nomem(error) : 0;
        }
        ns = workers_duration_ns(collect->start_utc_ns, collect->end_utc_ns);
        roast_metric_set_real(set, ROAST_AVG_WORKERS, integral.worker_ns / ns);
        if (integral.samples > 0 && isfinite(integral.samples))
                roast_metric_set_real(set, ROAST_MEAN_WORKERS,
                                      integral.sampled_workers / integral.samples);
        roast_metric_set_real(set, ROAST_TOTAL_CORES, integral.thread_ns / ns);
        return 0;
}
