/*
 * What a chunk takes: a part of its own, and one for each of its events
 *
 * own = fixed + per_event(dataset) x events. The code of a chunk is that of all
 * datasets, so the fixed part is one number, which the chunks of all of them
 * tell together; what an event takes is each dataset's own. Times scatter in
 * proportion to themselves, and a few are far off: least squares of relative
 * residuals, weighted again and again after P. J. Huber, "Robust estimation of
 * a location parameter", Ann. Math. Statist. 35 (1964).
 *
 * The fixed part lies between nothing and all that the shortest kind of chunk
 * takes. What the run tells about it is a normal distribution, cut there; where
 * all chunks are equally large it tells nothing, and each value is as likely.
 */

#include <stdlib.h>

#include "analyze/model.h"
#include "analyze/statistics.h"
#include "util/cleanup.h"

#define ROUNDS 8
/* Of a dataset with more chunks, every so many-th is looked at: the rest would tell the same. */
#define CHUNKS_MOST 10000
/* Residuals beyond so many deviations count less. */
#define HUBER 1.5
/* A median of absolute residuals as a deviation, for a normal distribution */
#define MAD 1.4826
/* An error of more than so much of the range is as good as no knowledge; up to so much, it is
 * known. Each value as likely has 0.29. */
#define ERROR_MOST  100.0
#define ERROR_KNOWN 0.2

/* Weighted sums of a dataset */
struct sums {
        double w, x, y, xx, xy;
};

struct fitting {
        struct model *model;
        const struct study *study;
        struct sums *sums; /* by dataset */
        uint32_t *picked;  /* the chunks that are looked at */
        float *residuals;
        size_t n;         /* of these */
        double deviation; /* of the relative residuals */
};

/* The first chunk of a thread is slower than others, if there are others to learn from. */
bool model_is_cold(const struct study *study, const struct study_chunk *chunk)
{
        return chunk->order == 0 && study->n_chunks > 2 * study->n_slots;
}

double model_per_event(const struct model_dataset *dataset, double fixed_s)
{
        return fmax(dataset->alone_s - fixed_s * dataset->instead, 0);
}

double model_expected(const struct model_dataset *dataset, double fixed_s, double events)
{
        return fixed_s + model_per_event(dataset, fixed_s) * events;
}

static double model_residual(const struct fitting *fitting, size_t i, double *expected_s)
{
        const struct model *model = fitting->model;
        const struct model_chunk *chunk = &model->chunks[i];

        *expected_s =
                model_expected(&model->datasets[chunk->dataset], model->fixed_s, chunk->events);
        return *expected_s > 0 ? study_own_s(&fitting->study->chunks[i]) / *expected_s - 1 : 0;
}

/* How far chunks are from what is expected now */
static void model_measure(struct fitting *fitting)
{
        double expected_s;

        for (size_t i = 0; i < fitting->n; i++)
                fitting->residuals[i] =
                        (float)fabs(model_residual(fitting, fitting->picked[i], &expected_s));
        fitting->deviation = fitting->n ? MAD * study_median(fitting->residuals, fitting->n) : 0;
}

static void model_sum_up(struct fitting *fitting)
{
        for (size_t i = 0; i < fitting->model->n_datasets; i++)
                fitting->sums[i] = (struct sums){ 0 };
        for (size_t i = 0; i < fitting->n; i++) {
                const struct study_chunk *chunk = &fitting->study->chunks[fitting->picked[i]];
                struct sums *sums =
                        &fitting->sums[fitting->model->chunks[fitting->picked[i]].dataset];
                double x = chunk->events, y = study_own_s(chunk), expected_s, far, w;

                far = fabs(model_residual(fitting, fitting->picked[i], &expected_s));
                w = expected_s > 0 ? 1 / (expected_s * expected_s) : 1;
                if (far > HUBER * fitting->deviation && fitting->deviation > 0)
                        w *= HUBER * fitting->deviation / far;
                sums->w += w;
                sums->x += w * x;
                sums->y += w * y;
                sums->xx += w * x * x;
                sums->xy += w * x * y;
        }
}

/* What an event takes follows from the fixed part: alone_s - fixed_s x instead. */
static void model_solve(struct fitting *fitting)
{
        struct model *model = fitting->model;
        double known = 0, seen = 0;

        model->fixed_most_s = (double)NAN;
        for (size_t i = 0; i < model->n_datasets; i++) {
                const struct sums *sums = &fitting->sums[i];
                struct model_dataset *dataset = &model->datasets[i];

                if (!(sums->w > 0))
                        continue;
                model->fixed_most_s = fmin(model->fixed_most_s, sums->y / sums->w);
                if (!(sums->xx > 0))
                        continue;
                dataset->alone_s = sums->xy / sums->xx;
                dataset->instead = sums->x / sums->xx;
                known += sums->w - sums->x * sums->x / sums->xx;
                seen += sums->y - sums->x * sums->xy / sums->xx;
        }
        if (isnan(model->fixed_most_s))
                model->fixed_most_s = 0;
        /* of chunks that are equally large only roundings are left */
        model->fixed_error_s = known > 0 ? fitting->deviation / sqrt(known) : (double)INFINITY;
        model->fixed_mean_s = seen / known;
        if (!(known > 0) || !isfinite(model->fixed_mean_s) ||
            known * model->fixed_most_s * model->fixed_most_s < 1e-6)
                model->fixed_error_s = (double)INFINITY;
        model->fixed_s = model_fixed(model, 0.5);
}

double model_fixed(const struct model *model, double quantile)
{
        double mean_s = model->fixed_mean_s, error_s = model->fixed_error_s;
        double below, above, fixed_s;

        if (!(error_s < ERROR_MOST * model->fixed_most_s))
                return quantile * model->fixed_most_s;
        fixed_s = mean_s;
        if (error_s > 0) {
                below = stat_normal_cdf((0 - mean_s) / error_s);
                above = stat_normal_cdf((model->fixed_most_s - mean_s) / error_s);
                if (above - below > 1e-9)
                        fixed_s = mean_s + error_s * stat_normal_quantile(
                                                             below + quantile * (above - below));
        }
        return fmin(fmax(fixed_s, 0), model->fixed_most_s);
}

bool model_is_separated(const struct model *model)
{
        return model->fixed_error_s < ERROR_KNOWN * model->fixed_most_s;
}

/* Datasets of which only first chunks are known have the fit of all others. */
static void model_fill_gaps(struct fitting *fitting)
{
        struct model *model = fitting->model;
        struct sums all = { 0 };

        for (size_t i = 0; i < model->n_datasets; i++) {
                all.x += fitting->sums[i].x;
                all.xx += fitting->sums[i].xx;
                all.xy += fitting->sums[i].xy;
        }
        for (size_t i = 0; i < model->n_datasets; i++)
                if (!(fitting->sums[i].xx > 0) && all.xx > 0) {
                        model->datasets[i].alone_s = all.xy / all.xx;
                        model->datasets[i].instead = all.x / all.xx;
                }
}

/* `seen` has room for a number for each dataset. */
static void model_pick(struct fitting *fitting, size_t *seen)
{
        const struct study *study = fitting->study;

        for (size_t i = 0; i < study->n_chunks; i++) {
                uint32_t number = fitting->model->chunks[i].dataset;
                size_t stride = fitting->model->datasets[number].chunks / CHUNKS_MOST + 1;

                if (!model_is_cold(study, &study->chunks[i]) && seen[number]++ % stride == 0)
                        fitting->picked[fitting->n++] = (uint32_t)i;
        }
}

int model_fit(struct model *model, const struct study *study)
{
        ROAST_CLEANUP(cleanup_free) struct sums *sums = NULL;
        ROAST_CLEANUP(cleanup_free) uint32_t *picked = NULL;
        ROAST_CLEANUP(cleanup_free) float *residuals = NULL;
        ROAST_CLEANUP(cleanup_free) size_t *seen = NULL;
        struct fitting fitting = { .model = model, .study = study };

        sums = calloc(model->n_datasets + 1, sizeof(*sums));
        seen = calloc(model->n_datasets + 1, sizeof(*seen));
        picked = malloc((study->n_chunks + 1) * sizeof(*picked));
        residuals = malloc((study->n_chunks + 1) * sizeof(*residuals));
        if (!sums || !seen || !picked || !residuals)
                return ROAST_E_NOMEM;
        fitting.sums = sums;
        fitting.picked = picked;
        fitting.residuals = residuals;
        model_pick(&fitting, seen);
        for (int i = 0; i < ROUNDS; i++) {
                model_sum_up(&fitting);
                model_solve(&fitting);
                model_measure(&fitting);
        }
        model_fill_gaps(&fitting);
        return 0;
}
