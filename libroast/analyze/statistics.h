#pragma once
/*
 * Statistics, written from the papers that each function names
 *
 * Nothing here knows of runs. Arrays are doubles without NaN; results that do
 * not exist (the median of nothing) are NaN. Randomness comes from a seed, so
 * that every figure can be had again.
 */

#include <stddef.h>
#include <stdint.h>

/* Distributions: P(X <= x), and the x for a probability */
double stat_normal_cdf(double x);
double stat_normal_quantile(double p);
double stat_t_cdf(double x, double df);
double stat_t_quantile(double p, double df);
/* Both tails of t; without cancellation where it is small */
double stat_t_two_sided(double t, double df);

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014) */
uint64_t stat_random(uint64_t *state);
/* 0 to limit - 1, unbiased (Lemire, ACM TOMACS 29, 2019) */
uint32_t stat_random_below(uint64_t *state, uint32_t limit);

/*
 * Sorts by radix; `order` (may be NULL) gets where each value stood before.
 * `scratch` has room for n of what stat_sort_scratch() tells in bytes.
 */
size_t stat_sort_scratch(size_t n);
void stat_sort(double *values, uint32_t *order, size_t n, void *scratch);
/* Of sorted values, by linear interpolation (Hyndman and Fan 1996, type 7) */
double stat_quantile_sorted(const double *sorted, size_t n, double q);

/* A rank test: the statistic, its expectation, its standard deviation, z with continuity */
struct stat_test {
        double statistic;
        double mean;
        double deviation;
        double z; /* 0 where nothing can be said */
        double p; /* two-sided, normal approximation */
};

/*
 * H. B. Mann and D. R. Whitney, Ann. Math. Statist. 18 (1947): U of b, how often a value of b
 * is larger than one of a, ties as halves; both sorted.
 */
struct stat_test stat_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b);
/*
 * F. Wilcoxon, Biometrics Bulletin 1 (1945): the sum of ranks of positive differences, zeros
 * left out; sorted.
 */
struct stat_test stat_signed_rank(const double *sorted, size_t n);

/*
 * What each value adds to the statistic, for its variance in clusters: the rank with the sign
 * of the value; how much of the other sample is below it (ties as halves).
 */
void stat_signed_ranks(double *scores, const double *sorted, size_t n);
void stat_placements(double *scores, const double *sorted, size_t n, const double *others,
                     size_t n_others);

/*
 * J. L. Hodges and E. L. Lehmann, Ann. Math. Statist. 34 (1963): the shift at which the rank
 * test sees nothing, and the interval in which |z| stays below `z`. Beyond 4,096 values each
 * array is taken at that many quantiles.
 */
struct stat_shift {
        double estimate;
        double low;
        double high;
};

struct stat_shift stat_shift_paired(const double *sorted, size_t n, double z);
struct stat_shift stat_shift_unpaired(const double *a, size_t n_a, const double *b, size_t n_b,
                                      double z);

/* Mean and variance; of one value the variance is NaN. */
void stat_mean(const double *x, size_t n, double *mean, double *variance);

/* B. L. Welch, Biometrika 34 (1947); one value on a side: Student's, with the other's variance */
struct stat_welch {
        double difference; /* mean of b - mean of a */
        double error;      /* its standard error; NaN: not known */
        double df;
        double p;
};

struct stat_welch stat_welch(const double *a, size_t n_a, const double *b, size_t n_b);

/* S. Holm, Scand. J. Statist. 6 (1979): p in place; NaN are not counted. 0 or ROAST_E_NOMEM. */
int stat_holm(double *p, size_t n);

/*
 * B. Efron, Ann. Statist. 7 (1979): percentile interval of the median, drawing whole clusters.
 * `cluster` has a number below n_clusters for each of the sorted values. 0 or ROAST_E_NOMEM.
 */
struct stat_interval {
        double low;
        double high;
};

int stat_median_interval(struct stat_interval *ret, const double *sorted, const uint16_t *cluster,
                         size_t n, size_t n_clusters, double level, uint64_t seed);
