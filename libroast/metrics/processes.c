/*
 * Which workers live in one process, and how many threads it had
 *
 * What is read of a process is the same for all of its workers. One of them
 * stands for it, whether it is still there or not.
 */

#include <stdlib.h>

#include "metrics/collect.h"
#include "util/cleanup.h"

/* A worker whose process is known; those of one process stand together once they are sorted. */
struct sharer {
        struct collect_worker *worker;
        size_t place;
};

static int processes_compare_sharers(const void *a, const void *b)
{
        const struct sharer *x = a, *y = b;

        if (x->worker->host_text != y->worker->host_text)
                return x->worker->host_text < y->worker->host_text ? -1 : 1;
        if (x->worker->pid != y->worker->pid)
                return x->worker->pid < y->worker->pid ? -1 : 1;
        return x->place < y->place ? -1 : 1;
}

static bool processes_share(const struct collect_worker *a, const struct collect_worker *b)
{
        return a->host_text == b->host_text && a->pid == b->pid;
}

static int processes_find(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct sharer *sharers = NULL;
        size_t n = 0;

        sharers = calloc(collect->texts.n + 1, sizeof(*sharers));
        if (!sharers)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < collect->texts.n; i++) {
                collect->workers[i].process = i;
                if (collect->workers[i].pid > 0)
                        sharers[n++] = (struct sharer){ &collect->workers[i], i };
        }
        qsort(sharers, n, sizeof(*sharers), processes_compare_sharers);
        for (size_t i = 0, first = 0; i < n; i++) {
                if (!processes_share(sharers[first].worker, sharers[i].worker))
                        first = i;
                sharers[i].worker->process = sharers[first].place;
        }
        return 0;
}

/* Threads that are there: of a worker, and of the process that it stands for */
struct presence {
        double worker;
        double process;
};

static void processes_apply(struct collect *collect, struct presence *now,
                            const struct run_value *values)
{
        size_t len, worker, process;
        double threads = 0;

        if (!collect_text(collect, &values[WORKER_EVENT_WORKER], &len) ||
            values[WORKER_EVENT_KIND].type != RUN_INT)
                return;
        worker = (size_t)values[WORKER_EVENT_WORKER].integer - 1;
        process = collect->workers[worker].process;
        if (values[WORKER_EVENT_KIND].integer != ROAST_WORKER_WENT &&
            values[WORKER_EVENT_THREADS].type == RUN_INT)
                threads = (double)values[WORKER_EVENT_THREADS].integer;
        now[process].process += threads - now[worker].worker;
        now[worker].worker = threads;
        if (now[process].process > collect->workers[process].process_threads)
                collect->workers[process].process_threads = now[process].process;
}

int collect_processes(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct presence *now = NULL;
        struct run_scan scan;
        int r;

        now = calloc(collect->texts.n + 1, sizeof(*now));
        if (!now)
                return roast_fail_nomem(error);
        r = processes_find(collect, error);
        if (r < 0)
                return r;
        r = run_scan_begin(&scan, collect->run, RUN_WORKER_EVENT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                processes_apply(collect, now, scan.values);
        run_scan_end(&scan);
        return r;
}
