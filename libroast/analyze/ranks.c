/* Sorting, rank tests and the shifts that belong to them: see statistics.h. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/statistics.h"
#include "roast-error.h"

#define DIGIT_BITS 11
#define DIGITS     6
#define DIGIT_SIZE (1u << DIGIT_BITS)

struct item {
        uint64_t key;
        uint32_t at;
};

size_t stat_sort_scratch(size_t n)
{
        return 2 * n * sizeof(struct item);
}

/* Bits whose unsigned order is the order of the numbers */
static uint64_t ranks_key_of(double value)
{
        uint64_t bits;

        value += 0.0; /* -0 and 0 are the same value */
        memcpy(&bits, &value, sizeof(bits));
        return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double ranks_value_of(uint64_t key)
{
        uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
        double value;

        memcpy(&value, &bits, sizeof(value));
        return value;
}

static unsigned int ranks_digit(uint64_t key, int pass)
{
        return (unsigned int)(key >> (pass * DIGIT_BITS)) & (DIGIT_SIZE - 1);
}

/* Stable; a pass in which all values have the same digit is left out. */
void stat_sort(double *values, uint32_t *order, size_t n, void *scratch)
{
        struct item *from = scratch, *to = from + n, *swap;
        uint32_t counts[DIGITS][DIGIT_SIZE] = { 0 };

        for (size_t i = 0; i < n; i++) {
                from[i] = (struct item){ ranks_key_of(values[i]), (uint32_t)i };
                for (int pass = 0; pass < DIGITS; pass++)
                        counts[pass][ranks_digit(from[i].key, pass)]++;
        }
        for (int pass = 0; pass < DIGITS && n; pass++) {
                uint32_t *count = counts[pass], sum = 0;

                if (count[ranks_digit(from[0].key, pass)] == n)
                        continue;
                for (unsigned int i = 0; i < DIGIT_SIZE; i++) {
                        uint32_t here = count[i];

                        count[i] = sum;
                        sum += here;
                }
                for (size_t i = 0; i < n; i++)
                        to[count[ranks_digit(from[i].key, pass)]++] = from[i];
                swap = from;
                from = to;
                to = swap;
        }
        for (size_t i = 0; i < n; i++) {
                values[i] = ranks_value_of(from[i].key);
                if (order)
                        order[i] = from[i].at;
        }
}

double stat_quantile_sorted(const double *sorted, size_t n, double q)
{
        double at = q * ((double)n - 1);
        size_t below = (size_t)at;

        if (n == 0)
                return (double)NAN;
        if (below + 1 >= n)
                return sorted[n - 1];
        return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* Half a step towards the expectation, then both tails */
static void ranks_finish(struct stat_test *test)
{
        double distance = fabs(test->statistic - test->mean) - 0.5;

        test->z = 0;
        test->p = 1;
        if (!(test->deviation > 0) || distance <= 0)
                return;
        test->z = copysign(distance / test->deviation, test->statistic - test->mean);
        test->p = 2 * stat_normal_cdf(-fabs(test->z));
}

/* How many at the front have the value of the first */
static size_t ranks_run_length(const double *sorted, size_t n)
{
        size_t i = 1;

        while (i < n && sorted[i] == sorted[0])
                i++;
        return n ? i : 0;
}

struct stat_test stat_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b)
{
        double x = (double)n_a, y = (double)n_b, n = x + y, ties = 0;
        struct stat_test test = { .mean = x * y / 2, .p = 1 };
        size_t i = 0, j = 0;

        while (i < n_a || j < n_b) {
                bool from_a = j == n_b || (i < n_a && a[i] <= b[j]);
                double value = from_a ? a[i] : b[j], in_a = 0, in_b = 0;

                if (i < n_a && a[i] == value)
                        in_a = (double)ranks_run_length(a + i, n_a - i);
                if (j < n_b && b[j] == value)
                        in_b = (double)ranks_run_length(b + j, n_b - j);
                test.statistic += in_b * ((double)i + in_a / 2);
                ties += pow(in_a + in_b, 3) - in_a - in_b;
                i += (size_t)in_a;
                j += (size_t)in_b;
        }
        if (n > 1)
                test.deviation = sqrt(x * y / 12 * (n + 1 - ties / (n * (n - 1))));
        ranks_finish(&test);
        return test;
}

/* Magnitudes in rising order: negative values from zero down, positive ones from zero up */
struct magnitudes {
        const double *sorted;
        size_t n;
        size_t down; /* values before it are negative and not seen yet */
        size_t up;   /* values from it on are positive and not seen yet */
        double rank;
};

static struct magnitudes ranks_magnitudes_init(const double *sorted, size_t n)
{
        struct magnitudes walk = { .sorted = sorted, .n = n };

        while (walk.down < n && sorted[walk.down] < 0)
                walk.down++;
        walk.up = walk.down;
        while (walk.up < n && sorted[walk.up] == 0)
                walk.up++;
        return walk;
}

/* The values of the next magnitude: `negative` before .down, `positive` from .up on */
static bool ranks_magnitudes_next(const struct magnitudes *walk, size_t *negative, size_t *positive)
{
        double next = walk->down > 0 ? -walk->sorted[walk->down - 1] : (double)INFINITY;

        if (walk->up < walk->n && walk->sorted[walk->up] < next)
                next = walk->sorted[walk->up];
        *negative = *positive = 0;
        while (*negative < walk->down && -walk->sorted[walk->down - 1 - *negative] == next)
                ++*negative;
        while (walk->up + *positive < walk->n && walk->sorted[walk->up + *positive] == next)
                ++*positive;
        return *negative + *positive > 0;
}

static void ranks_magnitudes_step(struct magnitudes *walk, size_t negative, size_t positive)
{
        walk->down -= negative;
        walk->up += positive;
        walk->rank += (double)(negative + positive);
}

struct stat_test stat_signed_rank(const double *sorted, size_t n)
{
        struct magnitudes walk = ranks_magnitudes_init(sorted, n);
        struct stat_test test = { .p = 1 };
        size_t negative, positive;
        double squares = 0;

        while (ranks_magnitudes_next(&walk, &negative, &positive)) {
                double ties = (double)(negative + positive), mid = walk.rank + (ties + 1) / 2;

                test.statistic += (double)positive * mid;
                test.mean += ties * mid / 2;
                squares += ties * mid * mid;
                ranks_magnitudes_step(&walk, negative, positive);
        }
        test.deviation = sqrt(squares / 4);
        ranks_finish(&test);
        return test;
}

void stat_signed_ranks(double *scores, const double *sorted, size_t n)
{
        struct magnitudes walk = ranks_magnitudes_init(sorted, n);
        size_t negative, positive;

        for (size_t i = walk.down; i < walk.up; i++)
                scores[i] = 0;
        while (ranks_magnitudes_next(&walk, &negative, &positive)) {
                double mid = walk.rank + ((double)(negative + positive) + 1) / 2;

                for (size_t i = 0; i < negative; i++)
                        scores[walk.down - 1 - i] = -mid;
                for (size_t i = 0; i < positive; i++)
                        scores[walk.up + i] = mid;
                ranks_magnitudes_step(&walk, negative, positive);
        }
}

void stat_placements(double *scores, const double *sorted, size_t n, const double *others,
                     size_t n_others)
{
        size_t below = 0, not_above = 0;

        for (size_t i = 0; i < n; i++) {
                while (below < n_others && others[below] < sorted[i])
                        below++;
                while (not_above < n_others && others[not_above] <= sorted[i])
                        not_above++;
                scores[i] = ((double)below + (double)not_above) / 2 / (double)n_others;
        }
}

/* At most so many points stand for an array: its quantiles in the middle of as many parts */
#define SKETCH 4096

static size_t ranks_sketch(double *points, const double *sorted, size_t n)
{
        if (n <= SKETCH) {
                memcpy(points, sorted, n * sizeof(*points));
                return n;
        }
        for (size_t i = 0; i < SKETCH; i++)
                points[i] = stat_quantile_sorted(sorted, n, ((double)i + 0.5) / SKETCH);
        return SKETCH;
}

/* Share of Walsh averages (x_i + x_j) / 2, i <= j, above `shift`; half of those at it */
static double ranks_walsh_above(const double *x, size_t n, double shift)
{
        double above = 0, at = 0;
        size_t j = n, k = n;

        /* for rising i: from j on the sum is above, from k on it is not below */
        for (size_t i = 0; i < n; i++) {
                size_t first_above, first_at;

                while (j > 0 && x[i] + x[j - 1] > 2 * shift)
                        j--;
                while (k > 0 && x[i] + x[k - 1] >= 2 * shift)
                        k--;
                first_above = j > i ? j : i;
                first_at = k > i ? k : i;
                above += (double)(n - first_above);
                at += (double)(first_above - first_at);
        }
        return (above + at / 2) / ((double)n * ((double)n + 1) / 2);
}

/* Share of differences b - a above `shift`; half of those at it */
static double ranks_differences_above(const double *a, size_t n_a, const double *b, size_t n_b,
                                      double shift)
{
        double above = 0, at = 0;
        size_t j = 0, k = 0;

        for (size_t i = 0; i < n_a; i++) {
                while (j < n_b && b[j] - a[i] <= shift)
                        j++;
                while (k < n_b && b[k] - a[i] < shift)
                        k++;
                above += (double)(n_b - j);
                at += (double)(j - k);
        }
        return (above + at / 2) / ((double)n_a * (double)n_b);
}

struct arrays {
        const double *a, *b; /* b NULL: paired */
        size_t n_a, n_b;
        double low, high; /* no shift is outside */
};

/*
 * The shift up to which more than a share of pairs is above, or (`at_least`) that share: it falls
 * as the shift rises, and between two values it stays.
 */
static double ranks_shift_at(const struct arrays *arrays, double share, bool at_least)
{
        double low = arrays->low, high = arrays->high;

        for (int i = 0; i < 60 && high > low; i++) {
                double middle = low + (high - low) / 2;
                double above = arrays->b ? ranks_differences_above(arrays->a, arrays->n_a,
                                                                   arrays->b, arrays->n_b, middle)
                                         : ranks_walsh_above(arrays->a, arrays->n_a, middle);

                if (at_least ? above >= share : above > share)
                        low = middle;
                else
                        high = middle;
        }
        return low + (high - low) / 2;
}

static struct stat_shift ranks_shift_of(const struct arrays *arrays, double margin)
{
        struct stat_shift shift = { .low = -(double)INFINITY, .high = (double)INFINITY };

        shift.estimate =
                (ranks_shift_at(arrays, 0.5, false) + ranks_shift_at(arrays, 0.5, true)) / 2;
        if (margin < 0.5) {
                shift.low = ranks_shift_at(arrays, 0.5 + margin, false);
                shift.high = ranks_shift_at(arrays, 0.5 - margin, true);
        }
        return shift;
}

struct stat_shift stat_shift_paired(const double *sorted, size_t n, double z)
{
        double points[SKETCH], x = (double)n;
        struct arrays arrays = { .a = points };

        if (n == 0)
                return (struct stat_shift){ (double)NAN, (double)NAN, (double)NAN };
        arrays.n_a = ranks_sketch(points, sorted, n);
        arrays.low = points[0];
        arrays.high = points[arrays.n_a - 1];
        /* sd of the rank sum, as a share of the n (n + 1) / 2 averages */
        return ranks_shift_of(&arrays,
                              z * sqrt(x * (x + 1) * (2 * x + 1) / 24) / (x * (x + 1) / 2));
}

struct stat_shift stat_shift_unpaired(const double *a, size_t n_a, const double *b, size_t n_b,
                                      double z)
{
        double points[SKETCH], others[SKETCH], x = (double)n_a, y = (double)n_b;
        struct arrays arrays = { .a = points, .b = others };

        if (n_a == 0 || n_b == 0)
                return (struct stat_shift){ (double)NAN, (double)NAN, (double)NAN };
        arrays.n_a = ranks_sketch(points, a, n_a);
        arrays.n_b = ranks_sketch(others, b, n_b);
        arrays.low = others[0] - points[arrays.n_a - 1];
        arrays.high = others[arrays.n_b - 1] - points[0];
        return ranks_shift_of(&arrays, z * sqrt(x * y * (x + y + 1) / 12) / (x * y));
}
