/*
 * How many workers a run had
 *
 * Workers come and go: those of a batch system take turns, one that was killed
 * is replaced. What a run had is the most at a time, not all that ever were.
 */

#include <stdlib.h>

#include "analyze/model.h"
#include "util/cleanup.h"

/* A worker comes, or goes: then both are negative. */
struct mark {
        double time_s;
        double workers;
        double threads; /* that ran chunks */
};

/* Who goes makes room for who comes at the same time. */
static int model_by_time(const void *a, const void *b)
{
        const struct mark *x = a, *y = b;

        if (x->time_s != y->time_s)
                return x->time_s < y->time_s ? -1 : 1;
        return x->workers == y->workers ? 0 : x->workers < y->workers ? -1 : 1;
}

static size_t model_mark_all(struct mark *marks, const struct study *study)
{
        size_t n = 0;

        for (size_t i = 0; i < study->texts.n; i++) {
                const struct study_worker *worker = &study->workers[i];
                /* one that was restarted ran chunks on more threads than it has */
                double threads = fmin(worker->slots, fmax(worker->threads, 1));

                if (!worker->known)
                        continue;
                marks[n++] = (struct mark){ worker->came_s, 1, threads };
                marks[n++] = (struct mark){ worker->left_s, -1, -threads };
        }
        return n;
}

static void model_find_most(struct model *model, struct mark *marks, size_t n)
{
        struct mark now = { 0 };

        qsort(marks, n, sizeof(*marks), model_by_time);
        for (size_t i = 0; i < n; i++) {
                now.workers += marks[i].workers;
                now.threads += marks[i].threads;
                model->workers = fmax(model->workers, now.workers);
                model->threads = fmax(model->threads, now.threads);
        }
}

static int model_by_number(const void *a, const void *b)
{
        float x = *(const float *)a, y = *(const float *)b;

        return x == y ? 0 : x < y ? -1 : 1;
}

/* Threads that came when others had gone are not late. */
static void model_add_arrivals(struct model *model, const struct study *study)
{
        for (size_t i = 0; i < study->n_slots; i++)
                model->arrivals[i] = (float)(study->slots[i].first_s - study->first_s);
        qsort(model->arrivals, study->n_slots, sizeof(*model->arrivals), model_by_number);
        model->n_arrivals = (size_t)fmin(model->threads, (double)study->n_slots);
}

int model_add_workers(struct model *model, const struct study *study)
{
        ROAST_CLEANUP(cleanup_free)
        struct mark *marks = calloc(2 * study->texts.n + 1, sizeof(*marks));

        model->arrivals = malloc((study->n_slots + 1) * sizeof(*model->arrivals));
        if (!marks || !model->arrivals)
                return ROAST_E_NOMEM;
        model_find_most(model, marks, model_mark_all(marks, study));
        /* of threads whose worker is not known to come or go all count */
        model->threads = fmax(model->threads + study->strays, 1);
        if (model->workers == 0)
                model->workers = model->threads;
        model_add_arrivals(model, study);
        return 0;
}
