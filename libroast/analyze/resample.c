/* Random numbers, the bootstrap, and tests of few values: see statistics.h. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/statistics.h"
#include "roast-error.h"
#include "util/cleanup.h"

uint64_t stat_random(uint64_t *state)
{
        uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

uint32_t stat_random_below(uint64_t *state, uint32_t limit)
{
        uint64_t product = (stat_random(state) >> 32) * limit;

        if ((uint32_t)product < limit) {
                uint32_t least = -limit % limit;

                while ((uint32_t)product < least)
                        product = (stat_random(state) >> 32) * limit;
        }
        return (uint32_t)(product >> 32);
}

void stat_mean(const double *x, size_t n, double *mean, double *variance)
{
        double m2 = 0;

        *mean = 0;
        for (size_t i = 0; i < n; i++) {
                double d = x[i] - *mean;

                *mean += d / (double)(i + 1);
                m2 += d * (x[i] - *mean);
        }
        *variance = n > 1 ? m2 / (double)(n - 1) : (double)NAN;
}

struct stat_welch stat_welch(const double *a, size_t n_a, const double *b, size_t n_b)
{
        double mean_a, mean_b, var_a, var_b, share_a, share_b;
        struct stat_welch test = { .error = (double)NAN, .df = (double)NAN, .p = (double)NAN };

        stat_mean(a, n_a, &mean_a, &var_a);
        stat_mean(b, n_b, &mean_b, &var_b);
        test.difference = mean_b - mean_a;
        if (n_a < 1 || n_b < 1 || n_a + n_b < 3)
                return test;
        if (n_a == 1 || n_b == 1) {
                double variance = n_a == 1 ? var_b : var_a;

                test.error = sqrt(variance * (1 / (double)n_a + 1 / (double)n_b));
                test.df = (double)(n_a + n_b - 2);
        } else {
                share_a = var_a / (double)n_a;
                share_b = var_b / (double)n_b;
                test.error = sqrt(share_a + share_b);
                test.df = (share_a + share_b) * (share_a + share_b) /
                          (share_a * share_a / (double)(n_a - 1) +
                           share_b * share_b / (double)(n_b - 1));
        }
        if (test.error > 0)
                test.p = stat_t_two_sided(test.difference / test.error, test.df);
        return test;
}

struct ranked {
        double p;
        size_t at;
};

static int resample_by_p(const void *x, const void *y)
{
        const struct ranked *a = x, *b = y;

        return (a->p > b->p) - (a->p < b->p);
}

int stat_holm(double *p, size_t n)
{
        ROAST_CLEANUP(cleanup_free) struct ranked *ranked = calloc(n + 1, sizeof(*ranked));
        double least = 0;
        size_t m = 0;

        if (!ranked)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n; i++)
                if (!isnan(p[i]))
                        ranked[m++] = (struct ranked){ p[i], i };
        qsort(ranked, m, sizeof(*ranked), resample_by_p);
        for (size_t i = 0; i < m; i++) {
                double adjusted = fmin(1, ranked[i].p * (double)(m - i));

                least = fmax(least, adjusted);
                p[ranked[i].at] = least;
        }
        return 0;
}

#define DRAWS 1000
#define BINS  256

/*
 * The sorted values in up to BINS groups of neighbours. A draw of clusters is a
 * weight for each cluster; how much weight is below a bin is a sum over the
 * clusters, so that the median is found by bisection.
 */
struct bins {
        size_t n; /* of bins */
        size_t n_clusters;
        float *below; /* [bin][cluster], up to bin n: how many values of the cluster */
        const double *sorted;
        size_t n_values;
};

/* Where the bin begins among the values */
static size_t resample_bin_begin(const struct bins *bins, size_t bin)
{
        return bin * bins->n_values / bins->n;
}

static void resample_fill_bins(struct bins *bins, const uint16_t *cluster)
{
        for (size_t bin = 0; bin < bins->n; bin++) {
                const float *at = bins->below + bin * bins->n_clusters;
                float *next = bins->below + (bin + 1) * bins->n_clusters;

                memcpy(next, at, bins->n_clusters * sizeof(*next));
                for (size_t i = resample_bin_begin(bins, bin);
                     i < resample_bin_begin(bins, bin + 1); i++)
                        next[cluster[i]]++;
        }
}

static double resample_weight_below(const struct bins *bins, const float *drawn, size_t bin)
{
        const float *below = bins->below + bin * bins->n_clusters;
        double sum = 0;

        for (size_t i = 0; i < bins->n_clusters; i++)
                sum += (double)(drawn[i] * below[i]);
        return sum;
}

/* The value at which the weight `half` is reached, or (`beyond`) exceeded */
static double resample_value_at(const struct bins *bins, const float *drawn, double half,
                                bool beyond)
{
        size_t low = 0, high = bins->n - 1;
        double below, here;
        const double *begin, *last;

        while (low < high) {
                size_t middle = (low + high) / 2;
                double weight = resample_weight_below(bins, drawn, middle + 1);

                if (beyond ? weight > half : weight >= half)
                        high = middle;
                else
                        low = middle + 1;
        }
        below = resample_weight_below(bins, drawn, low);
        here = resample_weight_below(bins, drawn, low + 1) - below;
        begin = bins->sorted + resample_bin_begin(bins, low);
        last = bins->sorted + resample_bin_begin(bins, low + 1) - 1;
        return *begin + (here > 0 ? fmax(0, half - below) / here : 0) * (*last - *begin);
}

static int resample_draw(double *medians, const struct bins *bins, uint64_t seed)
{
        ROAST_CLEANUP(cleanup_free) float *drawn = malloc(bins->n_clusters * sizeof(*drawn));

        if (!drawn)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < DRAWS; i++) {
                double half;

                memset(drawn, 0, bins->n_clusters * sizeof(*drawn));
                for (size_t j = 0; j < bins->n_clusters; j++)
                        drawn[stat_random_below(&seed, (uint32_t)bins->n_clusters)]++;
                half = resample_weight_below(bins, drawn, bins->n) / 2;
                medians[i] = (resample_value_at(bins, drawn, half, false) +
                              resample_value_at(bins, drawn, half, true)) /
                             2;
        }
        return 0;
}

int stat_median_interval(struct stat_interval *ret, const double *sorted, const uint16_t *cluster,
                         size_t n, size_t n_clusters, double level, uint64_t seed)
{
        ROAST_CLEANUP(cleanup_free) float *below = NULL;
        ROAST_CLEANUP(cleanup_free) double *medians = NULL;
        ROAST_CLEANUP(cleanup_free) void *scratch = NULL;
        struct bins bins = {
                .n = n < BINS ? n : BINS, .n_clusters = n_clusters, .sorted = sorted, .n_values = n
        };

        *ret = (struct stat_interval){ (double)NAN, (double)NAN };
        if (n == 0 || n_clusters == 0)
                return 0;
        below = calloc(n_clusters * (bins.n + 1), sizeof(*below));
        medians = malloc(DRAWS * sizeof(*medians));
        scratch = malloc(stat_sort_scratch(DRAWS));
        if (!below || !medians || !scratch)
                return ROAST_E_NOMEM;
        bins.below = below;
        resample_fill_bins(&bins, cluster);
        if (resample_draw(medians, &bins, seed) < 0)
                return ROAST_E_NOMEM;
        stat_sort(medians, NULL, DRAWS, scratch);
        ret->low = stat_quantile_sorted(medians, DRAWS, (1 - level) / 2);
        ret->high = stat_quantile_sorted(medians, DRAWS, (1 + level) / 2);
        return 0;
}
