/* Fits of the scaling laws: see laws.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/laws.h"
#include "analyze/statistics.h"
#include "util/cleanup.h"

#define N_TERMS 3
#define DRAWS   1000
#define LEVEL   0.95

static void laws_terms_of(double terms[N_TERMS], double cores)
{
        terms[0] = 1;
        terms[1] = cores - 1;
        terms[2] = cores * (cores - 1);
}

double law_at(const struct law *law, double cores)
{
        return law->lambda * cores /
               (1 + law->sigma * (cores - 1) + law->kappa * cores * (cores - 1));
}

/* Gauss with the largest pivot; false: the columns do not tell the coefficients apart */
static bool laws_solve(double m[N_TERMS][N_TERMS + 1], size_t n, double *x)
{
        for (size_t i = 0; i < n; i++) {
                size_t best = i;

                for (size_t j = i + 1; j < n; j++)
                        if (fabs(m[j][i]) > fabs(m[best][i]))
                                best = j;
                if (!(fabs(m[best][i]) > 1e-12))
                        return false;
                for (size_t k = 0; k <= n; k++) {
                        double swap = m[i][k];

                        m[i][k] = m[best][k];
                        m[best][k] = swap;
                }
                for (size_t j = i + 1; j < n; j++) {
                        double factor = m[j][i] / m[i][i];

                        for (size_t k = i; k <= n; k++)
                                m[j][k] -= factor * m[i][k];
                }
        }
        for (size_t i = n; i-- > 0;) {
                x[i] = m[i][n];
                for (size_t k = i + 1; k < n; k++)
                        x[i] -= m[i][k] * x[k];
                x[i] /= m[i][i];
        }
        return true;
}

/*
 * Least squares over the terms of a set (bits). Each term is measured in its
 * largest value, so that the matrix is well conditioned whatever the cores are.
 */
static bool laws_fit_set(double found[N_TERMS], const double *cores, const double *rates, size_t n,
                         unsigned int set)
{
        double m[N_TERMS][N_TERMS + 1] = { 0 }, scale[N_TERMS] = { 0 }, x[N_TERMS];
        size_t used[N_TERMS], n_used = 0;

        for (size_t t = 0; t < N_TERMS; t++)
                if (set >> t & 1)
                        used[n_used++] = t;
        for (size_t i = 0; i < n; i++) {
                double terms[N_TERMS];

                laws_terms_of(terms, cores[i]);
                for (size_t t = 0; t < N_TERMS; t++)
                        scale[t] = fmax(scale[t], fabs(terms[t]) * rates[i] / cores[i]);
        }
        for (size_t t = 0; t < n_used; t++)
                if (!(scale[used[t]] > 0))
                        return false;
        for (size_t i = 0; i < n; i++) {
                double terms[N_TERMS], relative = rates[i] / cores[i];

                laws_terms_of(terms, cores[i]);
                for (size_t j = 0; j < n_used; j++) {
                        double at = terms[used[j]] * relative / scale[used[j]];

                        for (size_t k = 0; k < n_used; k++)
                                m[j][k] += at * terms[used[k]] * relative / scale[used[k]];
                        m[j][n_used] += at;
                }
        }
        memset(found, 0, N_TERMS * sizeof(*found));
        if (!laws_solve(m, n_used, x))
                return false;
        for (size_t j = 0; j < n_used; j++) {
                found[used[j]] = x[j] / scale[used[j]];
                if (found[used[j]] < 0)
                        return false;
        }
        return found[0] > 0;
}

double law_fit(struct law *law, const double *cores, const double *rates, size_t n, bool usl)
{
        double least = (double)INFINITY;

        for (unsigned int set = 1; set < (usl ? 8u : 4u); set += 2) {
                double found[N_TERMS], sum = 0;
                struct law tried;

                if (!laws_fit_set(found, cores, rates, n, set))
                        continue;
                tried = (struct law){ 1 / found[0], found[1] / found[0], found[2] / found[0] };
                for (size_t i = 0; i < n; i++) {
                        double deviation = rates[i] / law_at(&tried, cores[i]) - 1;

                        sum += deviation * deviation;
                }
                /* a further coefficient must earn its place */
                if (sum < least * (1 - 1e-9)) {
                        least = sum;
                        *law = tried;
                }
        }
        return sqrt(least / (double)n);
}

/* From the throughput of one core to half of it: the positive root of a quadratic equation */
static double laws_half_of(const struct law *law)
{
        double k = law->kappa, s = law->sigma;

        if (k > 0) {
                double b = (s - k) / k;

                return (-b + sqrt(b * b + 4 * (1 + s) / k)) / 2;
        }
        return s > 0 ? 1 + 1 / s : (double)INFINITY;
}

static double laws_knee_of(const struct law *law)
{
        return law->kappa > 0 ? fmax(1, sqrt(fmax(0, 1 - law->sigma) / law->kappa))
                              : (double)INFINITY;
}

enum figure { LAMBDA, SIGMA, KAPPA, HALF, KNEE, N_FIGURES };

static void laws_figures_of(double figures[N_FIGURES], const struct law *law)
{
        figures[LAMBDA] = law->lambda;
        figures[SIGMA] = law->sigma;
        figures[KAPPA] = law->kappa;
        figures[HALF] = laws_half_of(law);
        figures[KNEE] = laws_knee_of(law);
}

static struct roast_scaling_figure laws_figure_of(double value, const double *sorted)
{
        const double none = (double)NAN;

        if (!sorted)
                return (struct roast_scaling_figure){ value, none, none };
        /* quantiles that exist: between a number and infinity there is nothing */
        return (struct roast_scaling_figure){ value, sorted[(size_t)(DRAWS * (1 - LEVEL) / 2)],
                                              sorted[(size_t)(DRAWS * (1 + LEVEL) / 2)] };
}

/* drawn[figure][draw], sorted */
static int laws_draw(double drawn[N_FIGURES][DRAWS], const struct law *law, const double *cores,
                     const double *rates, size_t n, bool usl, uint64_t seed)
{
        ROAST_CLEANUP(cleanup_free) double *made = malloc(n * sizeof(*made));
        ROAST_CLEANUP(cleanup_free) void *scratch = malloc(stat_sort_scratch(DRAWS));
        double parameters = usl ? 3 : 2, widen = sqrt((double)n / ((double)n - parameters));

        if (!made || !scratch)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < DRAWS; i++) {
                double figures[N_FIGURES];
                struct law again = *law;

                for (size_t j = 0; j < n; j++) {
                        size_t from = stat_random_below(&seed, (uint32_t)n);
                        double deviation = rates[from] / law_at(law, cores[from]) - 1;

                        made[j] = law_at(law, cores[j]) * fmax(0.05, 1 + widen * deviation);
                }
                law_fit(&again, cores, made, n, usl);
                laws_figures_of(figures, &again);
                for (size_t j = 0; j < N_FIGURES; j++)
                        drawn[j][i] = figures[j];
        }
        for (size_t j = 0; j < N_FIGURES; j++)
                stat_sort(drawn[j], NULL, DRAWS, scratch);
        return 0;
}

int law_fit_with_intervals(struct roast_scaling_fit *fit, const double *cores, const double *rates,
                           size_t n, bool usl, uint64_t seed)
{
        ROAST_CLEANUP(cleanup_free) double(*drawn)[DRAWS] = NULL;
        double figures[N_FIGURES];
        struct law law = { 0 };

        fit->deviation = law_fit(&law, cores, rates, n, usl);
        laws_figures_of(figures, &law);
        /* with as many runs as parameters nothing is left to tell how sure they are */
        if (n > (usl ? 3 : 2)) {
                drawn = malloc(N_FIGURES * sizeof(*drawn));
                if (!drawn || laws_draw(drawn, &law, cores, rates, n, usl, seed) < 0)
                        return ROAST_E_NOMEM;
        }
        fit->lambda = laws_figure_of(figures[LAMBDA], drawn ? drawn[LAMBDA] : NULL);
        fit->sigma = laws_figure_of(figures[SIGMA], drawn ? drawn[SIGMA] : NULL);
        fit->kappa = laws_figure_of(figures[KAPPA], drawn ? drawn[KAPPA] : NULL);
        fit->half = laws_figure_of(figures[HALF], drawn ? drawn[HALF] : NULL);
        fit->knee = laws_figure_of(figures[KNEE], drawn ? drawn[KNEE] : NULL);
        return 0;
}
