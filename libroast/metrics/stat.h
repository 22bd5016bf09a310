#pragma once
/*
 * Accumulators: what a stream of numbers comes to, in one pass
 *
 * Numbers may come from a run or from anybody's dicts, so that none of these
 * overflows: counts end at the largest number, means are moved and not summed.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Mean, deviation and range
 *
 * After B. P. Welford, "Note on a method for calculating corrected sums of
 * squares and products", Technometrics 4 (1962): no catastrophic cancellation.
 */
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

/* Sample standard deviation (n - 1); 0 for one value */
static inline double stat_deviation(const struct stat_sum *stat)
{
        return stat->n > 1 ? sqrt(stat->m2 / (double)(stat->n - 1)) : 0;
}

/* The nearest whole number; 0 for none, and the largest there are for those beyond. */
static inline int64_t stat_whole(double real)
{
        if (isnan(real))
                return 0;
        if (!(fabs(real) < 9.2e18))
                return real < 0 ? INT64_MIN : INT64_MAX;
        return (int64_t)llround(real);
}

/* Sums of counts that came from elsewhere end at the largest number instead of overflowing. */
static inline int64_t stat_sum_int(int64_t a, int64_t b)
{
        int64_t sum;

        if (!__builtin_add_overflow(a, b, &sum))
                return sum;
        return b < 0 ? INT64_MIN : INT64_MAX;
}

/* A sum that stays exact as long as its parts are whole numbers and it fits */
struct stat_total {
        int64_t n; /* parts */
        double real;
        int64_t whole;
        bool inexact;
};

static inline void stat_total_int(struct stat_total *total, int64_t value)
{
        total->n++;
        total->real += (double)value;
        total->inexact |= __builtin_add_overflow(total->whole, value, &total->whole);
}

static inline void stat_total_real(struct stat_total *total, double value)
{
        total->n++;
        total->real += value;
        total->inexact = true;
}

/* Average over time by the trapezoidal rule; times must not decrease, in whatever unit */
struct stat_average {
        int64_t n;
        double last_time;
        double last_value;
        double time; /* covered so far */
        double mean; /* over that */
};

static inline void stat_average_add(struct stat_average *average, double time, double value)
{
        double dt = time - average->last_time;

        if (average->n && dt > 0) {
                double between = average->last_value / 2 + value / 2;

                average->time += dt;
                average->mean += (between - average->mean) * (dt / average->time);
        }
        average->n++;
        average->last_time = time;
        average->last_value = value;
}

/* Of one instant: its last value */
static inline double stat_average_mean(const struct stat_average *average)
{
        return average->time > 0 ? average->mean : average->last_value;
}
