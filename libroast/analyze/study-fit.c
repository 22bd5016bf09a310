/* What a chunk should take: see study.h. */

#include <stdlib.h>

#include "analyze/study.h"
#include "util/cleanup.h"

/* Least spread of the numbers of events, against their mean, from which a fixed part is told. */
#define SPREAD_LEAST 0.1

static size_t study_fit_slot_of(const struct study *study, const struct study_chunk *chunk)
{
        return chunk->dataset == STUDY_NONE ? study->texts.n : chunk->dataset;
}

/* Least squares; the events' spread decides whether a slope can be told. */
static void study_solve(struct study_fit *fit)
{
        double mean_x = fit->x / fit->n, mean_y = fit->y / fit->n;
        double var_x = fit->xx / fit->n - mean_x * mean_x;
        double cov = fit->xy / fit->n - mean_x * mean_y;

        fit->fixed_s = 0;
        fit->per_event_s = mean_x > 0 ? mean_y / mean_x : 0;
        if (fit->n < 3 || !(var_x > SPREAD_LEAST * SPREAD_LEAST * mean_x * mean_x))
                return;
        fit->separated = true;
        fit->per_event_s = fmin(fmax(cov / var_x, 0), fit->per_event_s);
        fit->fixed_s = mean_y - fit->per_event_s * mean_x;
}

/* Mean residuals follow the slow chunks; their median does not. */
static void study_center(const struct study *study, struct study_fit *fits, float *ratios,
                         uint32_t *counts)
{
        size_t n_fits = study->texts.n + 1, at = 0;

        /* where the ratios of each dataset begin */
        for (size_t i = 0; i < n_fits; i++) {
                counts[i] = (uint32_t)at;
                at += (size_t)fits[i].n;
        }
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                size_t slot = study_fit_slot_of(study, chunk);
                double expected = study_expected(&fits[slot], chunk->events);
                double ratio = study_own_s(chunk) / expected;

                ratios[counts[slot]++] = isfinite(ratio) ? (float)ratio : 1;
        }
        for (size_t i = 0; i < n_fits; i++) {
                size_t n = (size_t)fits[i].n;
                double median = n ? study_median(ratios + counts[i] - n, n) : 1;

                if (!(median > 0))
                        continue;
                fits[i].fixed_s *= median;
                fits[i].per_event_s *= median;
        }
}

int study_fits(const struct study *study, struct study_fit **ret, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct study_fit *fits = NULL;
        ROAST_CLEANUP(cleanup_free) uint32_t *counts = NULL;
        ROAST_CLEANUP(cleanup_free) float *ratios = NULL;

        fits = calloc(study->texts.n + 1, sizeof(*fits));
        counts = calloc(study->texts.n + 1, sizeof(*counts));
        ratios = malloc((study->n_chunks + 1) * sizeof(*ratios));
        if (!fits || !counts || !ratios)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                struct study_fit *fit = &fits[study_fit_slot_of(study, chunk)];
                double x = chunk->events, y = study_own_s(chunk);

                fit->n++;
                fit->x += x;
                fit->y += y;
                fit->xx += x * x;
                fit->xy += x * y;
        }
        for (size_t i = 0; i <= study->texts.n; i++)
                if (fits[i].n > 0)
                        study_solve(&fits[i]);
        study_center(study, fits, ratios, counts);
        *ret = fits;
        fits = NULL;
        return 0;
}
