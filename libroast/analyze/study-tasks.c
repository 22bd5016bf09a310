/*
 * What threads did in gaps that are too long: see study.h
 *
 * A thread that runs another task, or opens the file of its next chunk for long,
 * has no chunk and yet is not idle. Tasks do not tell their thread. But of the
 * tasks that a worker has at a time, one is for each thread that is not in such
 * a gap; those beyond are on threads that are, on each as likely as on another.
 */

#include <stdlib.h>

#include "analyze/study.h"
#include "run/schema.h"
#include "util/array.h"
#include "util/cleanup.h"

/* What changes on a worker at a time */
struct mark {
        double time_s;
        uint32_t worker;
        uint32_t gap; /* that begins or ends, if one does */
        int gaps, busy, tasks;
};

struct gap {
        uint32_t chunk; /* before which it is */
        double taken_s; /* what tasks had taken as it began */
};

/* All that is too long of a worker lies between these. */
struct hull {
        double from_s, until_s;
        bool known;
};

struct marks {
        struct mark *marks;
        size_t n, cap;
        struct gap *gaps;
        size_t cap_gaps;
        struct hull *hulls; /* by the number of the worker's name */
};

static void marks_deinit(struct marks *marks)
{
        free(marks->marks);
        free(marks->gaps);
        free(marks->hulls);
}

static int add(struct marks *marks, struct mark mark)
{
        if (ARRAY_ROOM(marks->marks, marks->n, marks->cap) < 0)
                return ROAST_E_NOMEM;
        marks->marks[marks->n++] = mark;
        return 0;
}

static int add_gaps(struct marks *marks, const struct study *study)
{
        uint32_t n = 0;

        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                uint32_t worker = study->slots[chunk->slot].worker;
                double from_s = chunk->start_s - (double)chunk->gap_s;
                struct hull *hull;

                if (!(chunk->starved_s > 0) || worker == STUDY_NONE)
                        continue;
                hull = &marks->hulls[worker];
                hull->from_s = hull->known ? fmin(hull->from_s, from_s) : from_s;
                hull->until_s = hull->known ? fmax(hull->until_s, chunk->start_s) : chunk->start_s;
                hull->known = true;
                if (ARRAY_ROOM(marks->gaps, n, marks->cap_gaps) < 0 ||
                    add(marks, (struct mark){ from_s, worker, n, 1, -1, 0 }) < 0 ||
                    add(marks, (struct mark){ chunk->start_s, worker, n, -1, 1, 0 }) < 0)
                        return ROAST_E_NOMEM;
                marks->gaps[n++] = (struct gap){ .chunk = (uint32_t)i };
        }
        return 0;
}

static int add_slots(struct marks *marks, const struct study *study)
{
        for (size_t i = 0; i < study->n_slots; i++) {
                const struct study_slot *slot = &study->slots[i];

                if (slot->worker == STUDY_NONE || !marks->hulls[slot->worker].known)
                        continue;
                if (add(marks, (struct mark){ slot->first_s, slot->worker, 0, 0, 1, 0 }) < 0 ||
                    add(marks, (struct mark){ slot->last_s, slot->worker, 0, 0, -1, 0 }) < 0)
                        return ROAST_E_NOMEM;
        }
        return 0;
}

/* A thread is taken from the begin of an attempt at a task to its end. */
static int add_task(struct marks *marks, const struct study *study, const struct run_value *values)
{
        uint32_t worker = study_number(study, &values[TASK_WORKER]);
        double begin_s = (double)study->start_utc_ns / 1e9;
        double from_s = study_seconds(&values[TASK_START_UTC_NS]) - begin_s;
        double until_s = study_seconds(&values[TASK_STOP_UTC_NS]) - begin_s;
        const struct hull *hull;

        if (worker == STUDY_NONE || !(from_s < until_s))
                return 0;
        hull = &marks->hulls[worker];
        if (!hull->known || !(until_s > hull->from_s && from_s < hull->until_s))
                return 0;
        if (add(marks, (struct mark){ from_s, worker, 0, 0, 0, 1 }) < 0)
                return ROAST_E_NOMEM;
        return add(marks, (struct mark){ until_s, worker, 0, 0, 0, -1 });
}

static int add_tasks(struct marks *marks, const struct study *study, struct roast_run *run,
                     struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_TASK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (add_task(marks, study, scan.values) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        return r;
}

static int by_worker_and_time(const void *a, const void *b)
{
        const struct mark *x = a, *y = b;

        if (x->worker != y->worker)
                return x->worker < y->worker ? -1 : 1;
        return x->time_s == y->time_s ? 0 : x->time_s < y->time_s ? -1 : 1;
}

/* The chance that a thread in a gap has a task */
static double taken(const struct mark *now)
{
        int others = now->tasks - now->busy;

        if (others <= 0 || now->gaps <= 0)
                return 0;
        return others < now->gaps ? (double)others / now->gaps : 1;
}

static void end_gap(struct study *study, const struct gap *gap, double taken_s)
{
        struct study_chunk *chunk = &study->chunks[gap->chunk];
        double idle_s = fmax((double)chunk->gap_s - (taken_s - gap->taken_s), 0);
        double less_s = fmax((double)chunk->starved_s - idle_s, 0);

        chunk->starved_s -= (float)less_s;
        study->starved_s -= less_s;
        study->tasked_s += less_s;
}

/* What a gap has of the time that tasks took is what passed of it from its begin to its end. */
static void sweep(struct study *study, struct marks *marks)
{
        struct mark now = { .worker = STUDY_NONE };
        double taken_s = 0;

        for (size_t i = 0; i < marks->n; i++) {
                const struct mark *mark = &marks->marks[i];

                if (mark->worker != now.worker)
                        now = (struct mark){ .worker = mark->worker };
                else
                        taken_s += taken(&now) * (mark->time_s - now.time_s);
                now.time_s = mark->time_s;
                now.gaps += mark->gaps;
                now.busy += mark->busy;
                now.tasks += mark->tasks;
                if (mark->gaps > 0)
                        marks->gaps[mark->gap].taken_s = taken_s;
                else if (mark->gaps < 0)
                        end_gap(study, &marks->gaps[mark->gap], taken_s);
        }
}

int study_tasks(struct study *study, struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(marks_deinit) struct marks marks = { 0 };
        int r;

        if (!(study->starved_s > 0))
                return 0;
        marks.hulls = calloc(study->texts.n + 1, sizeof(*marks.hulls));
        if (!marks.hulls)
                return roast_fail_nomem(error);
        if (add_gaps(&marks, study) < 0 || add_slots(&marks, study) < 0)
                return roast_fail_nomem(error);
        r = add_tasks(&marks, study, run, error);
        if (r < 0 || marks.n == 0)
                return r;
        qsort(marks.marks, marks.n, sizeof(*marks.marks), by_worker_and_time);
        sweep(study, &marks);
        return 0;
}
