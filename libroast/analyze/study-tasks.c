/*
 * What threads did in gaps that are too long: see study.h
 *
 * A thread that runs another task, or opens the file of its next chunk for long,
 * has no chunk and yet is not idle. Tasks do not tell their thread. But of the
 * tasks that a worker has at a time, one is for each thread that is not in such
 * a gap; those beyond are on threads that are, on each as likely as on another.
 */

#include <stdlib.h>

#include "analyze/statistics.h"
#include "analyze/study.h"
#include "run/schema.h"
#include "util/array.h"
#include "util/cleanup.h"

/* Columns of a task up to the last that is needed */
#define TASK_COLUMNS (TASK_STOP_UTC_NS + 1)

/* What changes on a worker */
struct mark {
        uint32_t worker;
        uint32_t gap;             /* that begins or ends, if one does */
        int8_t gaps, busy, tasks; /* more of them, or fewer */
};

struct gap {
        uint32_t chunk; /* before which it is */
        double taken_s; /* what tasks had taken as it began */
};

/* A worker, as the marks up to a time leave it */
struct place {
        bool starved; /* it has gaps that are too long; all of them lie between these */
        double from_s, until_s;
        double time_s;
        double taken_s; /* what a thread that was always in a gap would have had of tasks */
        int gaps, busy, tasks;
};

struct marks {
        double *times;
        struct mark *marks;
        size_t n, cap_times, cap;
        struct gap *gaps;
        size_t cap_gaps;
        struct place *places; /* by the number of the worker's name */
};

static void study_marks_deinit(struct marks *marks)
{
        free(marks->times);
        free(marks->marks);
        free(marks->gaps);
        free(marks->places);
}

static int study_tasks_add(struct marks *marks, double time_s, struct mark mark)
{
        if (ARRAY_ROOM(marks->times, marks->n, marks->cap_times) < 0 ||
            ARRAY_ROOM(marks->marks, marks->n, marks->cap) < 0)
                return ROAST_E_NOMEM;
        marks->times[marks->n] = time_s;
        marks->marks[marks->n++] = mark;
        return 0;
}

static int study_add_gaps(struct marks *marks, const struct study *study)
{
        uint32_t n = 0;

        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                uint32_t worker = study->slots[chunk->slot].worker;
                double from_s = chunk->start_s - (double)chunk->gap_s;
                struct place *place;

                if (!(chunk->starved_s > 0) || worker == STUDY_NONE)
                        continue;
                place = &marks->places[worker];
                place->from_s = place->starved ? fmin(place->from_s, from_s) : from_s;
                place->until_s =
                        place->starved ? fmax(place->until_s, chunk->start_s) : chunk->start_s;
                place->starved = true;
                if (ARRAY_ROOM(marks->gaps, n, marks->cap_gaps) < 0 ||
                    study_tasks_add(marks, from_s, (struct mark){ worker, n, 1, -1, 0 }) < 0 ||
                    study_tasks_add(marks, chunk->start_s, (struct mark){ worker, n, -1, 1, 0 }) <
                            0)
                        return ROAST_E_NOMEM;
                marks->gaps[n++] = (struct gap){ .chunk = (uint32_t)i };
        }
        return 0;
}

static int study_add_slots(struct marks *marks, const struct study *study)
{
        for (size_t i = 0; i < study->n_slots; i++) {
                const struct study_slot *slot = &study->slots[i];

                if (slot->worker == STUDY_NONE || !marks->places[slot->worker].starved)
                        continue;
                if (study_tasks_add(marks, slot->first_s,
                                    (struct mark){ slot->worker, 0, 0, 1, 0 }) < 0 ||
                    study_tasks_add(marks, slot->last_s,
                                    (struct mark){ slot->worker, 0, 0, -1, 0 }) < 0)
                        return ROAST_E_NOMEM;
        }
        return 0;
}

/* A thread is taken from the begin of an attempt at a task to its end. */
static int study_add_task(struct marks *marks, const struct study *study,
                          const struct run_value *values)
{
        uint32_t worker = study_number(study, &values[TASK_WORKER]);
        double begin_s = (double)study->start_utc_ns / 1e9;
        double from_s = study_seconds(&values[TASK_START_UTC_NS]) - begin_s;
        double until_s = study_seconds(&values[TASK_STOP_UTC_NS]) - begin_s;
        const struct place *place;

        if (worker == STUDY_NONE || !(from_s < until_s))
                return 0;
        place = &marks->places[worker];
        if (!place->starved || !(until_s > place->from_s && from_s < place->until_s))
                return 0;
        if (study_tasks_add(marks, from_s, (struct mark){ worker, 0, 0, 0, 1 }) < 0)
                return ROAST_E_NOMEM;
        return study_tasks_add(marks, until_s, (struct mark){ worker, 0, 0, 0, -1 });
}

/* The attempts at chunks were read before, in the same view: all rows are as they were written. */
static int study_add_tasks(struct marks *marks, const struct study *study, struct roast_run *run,
                           struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_skim(&scan, run, RUN_TASK, TASK_COLUMNS, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (study_add_task(marks, study, scan.values) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        return r;
}

/* The chance that a thread in a gap has a task */
static double study_taken(const struct place *place)
{
        int others = place->tasks - place->busy;

        if (others <= 0 || place->gaps <= 0)
                return 0;
        return others < place->gaps ? (double)others / place->gaps : 1;
}

static void study_end_gap(struct study *study, const struct gap *gap, double taken_s)
{
        struct study_chunk *chunk = &study->chunks[gap->chunk];
        double idle_s = fmax((double)chunk->gap_s - (taken_s - gap->taken_s), 0);
        double less_s = fmax((double)chunk->starved_s - idle_s, 0);

        chunk->starved_s -= (float)less_s;
        study->starved_s -= less_s;
        study->tasked_s += less_s;
}

static void study_pass(struct study *study, struct marks *marks, const struct mark *mark,
                       double time_s)
{
        struct place *place = &marks->places[mark->worker];

        place->taken_s += study_taken(place) * (time_s - place->time_s);
        place->time_s = time_s;
        place->gaps += mark->gaps;
        place->busy += mark->busy;
        place->tasks += mark->tasks;
        if (mark->gaps > 0)
                marks->gaps[mark->gap].taken_s = place->taken_s;
        else if (mark->gaps < 0)
                study_end_gap(study, &marks->gaps[mark->gap], place->taken_s);
}

/* What a gap has of the time that tasks took is what passed of it from its begin to its end. */
static int study_sweep(struct study *study, struct marks *marks)
{
        ROAST_CLEANUP(cleanup_free) uint32_t *order = malloc((marks->n + 1) * sizeof(*order));
        ROAST_CLEANUP(cleanup_free) void *scratch = malloc(stat_sort_scratch(marks->n + 1));

        if (!order || !scratch)
                return ROAST_E_NOMEM;
        stat_sort(marks->times, order, marks->n, scratch);
        for (size_t i = 0; i < marks->n; i++)
                study_pass(study, marks, &marks->marks[order[i]], marks->times[i]);
        return 0;
}

int study_tasks(struct study *study, struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(study_marks_deinit) struct marks marks = { 0 };
        int r;

        if (!(study->starved_s > 0))
                return 0;
        marks.places = calloc(study->texts.n + 1, sizeof(*marks.places));
        if (!marks.places || study_add_gaps(&marks, study) < 0 ||
            study_add_slots(&marks, study) < 0)
                return roast_fail_nomem(error);
        r = study_add_tasks(&marks, study, run, error);
        if (r < 0)
                return r;
        return study_sweep(study, &marks) < 0 ? roast_fail_nomem(error) : 0;
}
