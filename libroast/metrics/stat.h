#pragma once
/*
 * Mean, deviation and range of a stream of numbers, in one pass
 *
 * After B. P. Welford, "Note on a method for calculating corrected sums of
 * squares and products", Technometrics 4 (1962): no catastrophic cancellation.
 */

#include <math.h>
#include <stdint.h>

struct stat_sum {
        int64_t n;
        double sum;
        double mean;
        double m2; /* sum of squared differences from the mean */
        double min;
        double max;
};

static inline void stat_add(struct stat_sum *stat, double value)
{
        double delta = value - stat->mean;

        stat->n++;
        stat->sum += value;
        stat->mean += delta / (double)stat->n;
        stat->m2 += delta * (value - stat->mean);
        if (stat->n == 1 || value < stat->min)
                stat->min = value;
        if (stat->n == 1 || value > stat->max)
                stat->max = value;
}

/* Sums of counts that came from elsewhere end at the largest number instead of overflowing. */
static inline int64_t stat_sum_int(int64_t a, int64_t b)
{
        int64_t sum;

        if (!__builtin_add_overflow(a, b, &sum))
                return sum;
        return b < 0 ? INT64_MIN : INT64_MAX;
}

/* Sample standard deviation (n - 1); 0 for one value */
static inline double stat_deviation(const struct stat_sum *stat)
{
        return stat->n > 1 ? sqrt(stat->m2 / (double)(stat->n - 1)) : 0;
}
