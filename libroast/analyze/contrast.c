/* One figure of two runs, or of two groups of runs: see contrast.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/clusters.h"
#include "analyze/contrast.h"
#include "analyze/statistics.h"
#include "roast-error.h"
#include "util/cleanup.h"

#define LEVEL 0.95
/* Fewer units than this say nothing, whatever they are. */
#define UNITS_MIN 4

/* The values of a side, sorted, each with its cluster */
struct sorted {
        double *values;
        uint16_t *cluster;
        size_t n;
        size_t n_clusters;
};

static void contrast_sorted_deinit(struct sorted *sorted)
{
        free(sorted->values);
        free(sorted->cluster);
}

static int contrast_sort_side(struct sorted *sorted, const struct contrast_side *side)
{
        ROAST_CLEANUP(cleanup_free) uint32_t *order = malloc((side->n + 1) * sizeof(*order));
        ROAST_CLEANUP(cleanup_free) void *scratch = malloc(stat_sort_scratch(side->n + 1));

        sorted->n = side->n;
        sorted->n_clusters = side->n_clusters;
        sorted->values = malloc((side->n + 1) * sizeof(*sorted->values));
        sorted->cluster = malloc((side->n + 1) * sizeof(*sorted->cluster));
        if (!order || !scratch || !sorted->values || !sorted->cluster)
                return ROAST_E_NOMEM;
        memcpy(sorted->values, side->values, side->n * sizeof(*sorted->values));
        stat_sort(sorted->values, order, side->n, scratch);
        for (size_t i = 0; i < side->n; i++)
                sorted->cluster[i] = side->cluster[order[i]];
        return 0;
}

static int contrast_median(double *median, double *low, double *high, const struct sorted *sorted,
                           uint64_t seed)
{
        struct stat_interval interval;
        int r = stat_median_interval(&interval, sorted->values, sorted->cluster, sorted->n,
                                     sorted->n_clusters, LEVEL, seed);

        *median = stat_quantile_sorted(sorted->values, sorted->n, 0.5);
        *low = interval.low;
        *high = interval.high;
        return r;
}

/* How many clusters have a unit at all */
static size_t contrast_used_clusters(const uint16_t *cluster, size_t n)
{
        bool used[CLUSTERS_MAX] = { false };
        size_t count = 0;

        for (size_t i = 0; i < n; i++) {
                count += !used[cluster[i]];
                used[cluster[i]] = true;
        }
        return count;
}

/*
 * The variance of a sum of scores whose clusters are independent, and as if
 * their units were; their quotient is Kish's design effect (L. Kish, Survey
 * Sampling, 1965).
 */
struct variance {
        double clustered;
        double independent;
};

static struct variance contrast_variance_of(const double *scores, const uint16_t *cluster, size_t n)
{
        double sums[CLUSTERS_MAX] = { 0 }, mean = 0, g = (double)contrast_used_clusters(cluster, n);
        struct variance variance = { 0 };

        for (size_t i = 0; i < n; i++)
                mean += scores[i] / (double)n;
        for (size_t i = 0; i < n; i++) {
                sums[cluster[i]] += scores[i] - mean;
                variance.independent += (scores[i] - mean) * (scores[i] - mean);
        }
        for (size_t i = 0; i < CLUSTERS_MAX; i++)
                variance.clustered += sums[i] * sums[i];
        if (g > 1)
                variance.clustered *= g / (g - 1);
        if (n > 1)
                variance.independent *= (double)n / (double)(n - 1);
        return variance;
}

static double contrast_effect_of(double clustered, double independent)
{
        return independent > 0 ? fmax(1, clustered / independent) : 1;
}

/*
 * A rank test's z, made smaller by the design effect; where there is one, it was estimated from
 * the clusters, and Student's distribution stands for the normal one. p is never below `least`,
 * the share of all ways to deal the clusters out that are as one-sided as can be: four stretches
 * of time that were all slower are no proof, however many chunks they hold.
 */
static void contrast_judge(struct contrast *contrast, const struct stat_test *test, double effect,
                           double df, double least)
{
        double p = effect > 1 ? stat_t_two_sided(test->z / sqrt(effect), df) : test->p;

        contrast->p = fmin(1, fmax(p, least));
        contrast->why = "";
        if (least > 1 - LEVEL)
                contrast->change_low = contrast->change_high = (double)NAN;
}

/* The |z| below which a test sees nothing at LEVEL */
static double contrast_critical(double effect, double df)
{
        return effect > 1 ? stat_t_quantile((1 + LEVEL) / 2, df) * sqrt(effect)
                          : stat_normal_quantile((1 + LEVEL) / 2);
}

static void contrast_as_change(struct contrast *contrast, struct stat_shift shift, bool logs,
                               double reference)
{
        contrast->change = logs ? expm1(shift.estimate) : shift.estimate / reference;
        contrast->change_low = logs ? expm1(shift.low) : shift.low / reference;
        contrast->change_high = logs ? expm1(shift.high) : shift.high / reference;
}

/*
 * Differences of pairs are in a cluster of either run. Their variance, after
 * A. C. Cameron, J. B. Gelbach and D. L. Miller, J. Bus. Econ. Stat. 29 (2011):
 * that of the one clusters, plus that of the other, less what is in both.
 */
static int contrast_paired(struct contrast *contrast, const struct contrast_side *a,
                           const struct contrast_side *b, bool logs, double reference)
{
        ROAST_CLEANUP(cleanup_free) double *scores = malloc((a->n + 1) * sizeof(*scores));
        ROAST_CLEANUP(cleanup_free) uint16_t *other = malloc((a->n + 1) * sizeof(*other));
        ROAST_CLEANUP(cleanup_free) uint32_t *order = malloc((a->n + 1) * sizeof(*order));
        ROAST_CLEANUP(cleanup_free) double *shifts = malloc((a->n + 1) * sizeof(*shifts));
        ROAST_CLEANUP(cleanup_free) uint16_t *own = malloc((a->n + 1) * sizeof(*own));
        ROAST_CLEANUP(cleanup_free) void *scratch = malloc(stat_sort_scratch(a->n + 1));
        struct variance by_a, by_b;
        struct stat_test test;
        double effect, df;

        if (!scores || !other || !order || !shifts || !own || !scratch)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < a->n; i++)
                shifts[i] = logs ? log(b->values[i] / a->values[i]) : b->values[i] - a->values[i];
        stat_sort(shifts, order, a->n, scratch);
        for (size_t i = 0; i < a->n; i++) {
                own[i] = a->cluster[order[i]];
                other[i] = b->cluster[order[i]];
        }
        stat_signed_ranks(scores, shifts, a->n);
        by_a = contrast_variance_of(scores, own, a->n);
        by_b = contrast_variance_of(scores, other, a->n);
        effect = contrast_effect_of(by_a.clustered + by_b.clustered - by_a.independent,
                                    by_a.independent);
        df = fmin((double)contrast_used_clusters(own, a->n),
                  (double)contrast_used_clusters(other, a->n)) -
             1;
        test = stat_signed_rank(shifts, a->n);
        contrast->test = "signed-rank";
        contrast_as_change(contrast, stat_shift_paired(shifts, a->n, contrast_critical(effect, df)),
                           logs, reference);
        contrast_judge(contrast, &test, effect, df,
                       exp2(-df)); /* of 2^clusters signs, all the same */
        return 0;
}

static void contrast_take_logs(struct sorted *sorted)
{
        for (size_t i = 0; i < sorted->n; i++)
                sorted->values[i] = log(sorted->values[i]);
}

/* N. A. Obuchowski, Biometrics 53 (1997): the rank sum of clustered data by its placements */
static int contrast_unpaired(struct contrast *contrast, struct sorted *a, struct sorted *b,
                             bool logs, double reference)
{
        ROAST_CLEANUP(cleanup_free) double *scores_a = malloc((a->n + 1) * sizeof(*scores_a));
        ROAST_CLEANUP(cleanup_free) double *scores_b = malloc((b->n + 1) * sizeof(*scores_b));
        double square_a = (double)a->n * (double)a->n, square_b = (double)b->n * (double)b->n;
        struct variance of_a, of_b;
        struct stat_test test;
        double effect, df, n_a, n_b;

        if (!scores_a || !scores_b)
                return ROAST_E_NOMEM;
        if (logs) {
                contrast_take_logs(a);
                contrast_take_logs(b);
        }
        stat_placements(scores_a, a->values, a->n, b->values, b->n);
        stat_placements(scores_b, b->values, b->n, a->values, a->n);
        of_a = contrast_variance_of(scores_a, a->cluster, a->n);
        of_b = contrast_variance_of(scores_b, b->cluster, b->n);
        effect = contrast_effect_of(of_a.clustered / square_a + of_b.clustered / square_b,
                                    of_a.independent / square_a + of_b.independent / square_b);
        n_a = (double)contrast_used_clusters(a->cluster, a->n);
        n_b = (double)contrast_used_clusters(b->cluster, b->n);
        df = n_a + n_b - 2;
        test = stat_mann_whitney(a->values, a->n, b->values, b->n);
        contrast->test = "mann-whitney";
        contrast_as_change(contrast,
                           stat_shift_unpaired(a->values, a->n, b->values, b->n,
                                               contrast_critical(effect, df)),
                           logs, reference);
        /* of the ways to choose n_a clusters of all, those that part them by size */
        contrast_judge(contrast, &test, effect, df,
                       2 * exp(lgamma(n_a + 1) + lgamma(n_b + 1) - lgamma(n_a + n_b + 1)));
        return 0;
}

/* Only then they have logarithms. */
static bool contrast_all_positive(const double *values, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!(values[i] > 0))
                        return false;
        return true;
}

static struct contrast contrast_nothing(const char *why)
{
        const double none = (double)NAN;

        return (struct contrast){ none, none, none, none, none, none, none,
                                  none, none, none, "",   0,    why };
}

int contrast_runs(struct contrast *contrast, const struct contrast_side *a,
                  const struct contrast_side *b, bool is_paired, enum contrast_scale scale,
                  double reference, uint64_t seed)
{
        ROAST_CLEANUP(contrast_sorted_deinit) struct sorted sorted_a = { 0 };
        ROAST_CLEANUP(contrast_sorted_deinit) struct sorted sorted_b = { 0 };
        bool logs = scale == CONTRAST_RATIO && contrast_all_positive(a->values, a->n) &&
                    contrast_all_positive(b->values, b->n);

        *contrast = contrast_nothing("too few chunks");
        contrast->n = a->n < b->n ? a->n : b->n;
        if (contrast_sort_side(&sorted_a, a) < 0 || contrast_sort_side(&sorted_b, b) < 0 ||
            contrast_median(&contrast->a, &contrast->a_low, &contrast->a_high, &sorted_a, seed) <
                    0 ||
            contrast_median(&contrast->b, &contrast->b_low, &contrast->b_high, &sorted_b,
                            seed + 1) < 0)
                return ROAST_E_NOMEM;
        if (scale == CONTRAST_RATIO)
                reference = contrast->a;
        if (contrast->n < UNITS_MIN) {
                contrast->change = (contrast->b - contrast->a) / reference;
                return 0;
        }
        return is_paired ? contrast_paired(contrast, a, b, logs, reference)
                         : contrast_unpaired(contrast, &sorted_a, &sorted_b, logs, reference);
}

/* The mean of a group and its interval, from the variance of its own runs */
static void contrast_group_mean(double *mean, double *low, double *high, double *values, size_t n,
                                bool logs)
{
        double center, variance, margin, only = *values;

        for (size_t i = 0; i < n && logs; i++)
                values[i] = log(values[i]);
        stat_mean(values, n, &center, &variance);
        margin = sqrt(variance / (double)n) * stat_t_quantile((1 + LEVEL) / 2, (double)n - 1);
        *mean = n == 1 ? only : logs ? exp(center) : center;
        *low = logs ? exp(center - margin) : center - margin;
        *high = logs ? exp(center + margin) : center + margin;
}

void contrast_groups(struct contrast *contrast, double *a, size_t n_a, double *b, size_t n_b,
                     enum contrast_scale scale, double reference)
{
        bool logs = scale == CONTRAST_RATIO && contrast_all_positive(a, n_a) &&
                    contrast_all_positive(b, n_b);
        struct stat_welch test;
        double margin;

        *contrast = contrast_nothing("one run on each side: nothing is known of how runs vary");
        contrast->n = n_a < n_b ? n_a : n_b;
        contrast_group_mean(&contrast->a, &contrast->a_low, &contrast->a_high, a, n_a, logs);
        contrast_group_mean(&contrast->b, &contrast->b_low, &contrast->b_high, b, n_b, logs);
        test = stat_welch(a, n_a, b, n_b);
        if (scale == CONTRAST_RATIO || !(fabs(reference) > 0))
                reference = fabs(contrast->a);
        margin = test.error * stat_t_quantile((1 + LEVEL) / 2, test.df);
        contrast_as_change(contrast,
                           (struct stat_shift){ test.difference, test.difference - margin,
                                                test.difference + margin },
                           logs, reference);
        if (n_a + n_b < 3)
                return;
        /* what is the same in every run of a group needs no test */
        contrast->p = test.error > 0 ? test.p : test.difference == 0;
        contrast->test = "t";
        contrast->why = "";
}
