/* metrics/quantile: quantiles against sorting, for numbers in every order */

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "metrics/quantile.h"
#include "roast-error.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* By definition: the numbers sorted, and a line between two ranks */
static double naive(const double *sorted, size_t n, double share)
{
        double rank = share * (double)(n - 1);
        size_t k = (size_t)rank;

        return k + 1 == n ? sorted[k]
                          : sorted[k] + (sorted[k + 1] - sorted[k]) * (rank - (double)k);
}

static void assert_quantiles(const double *values, size_t n)
{
        static const double shares[] = { 0, 0.01, 0.25, 1.0 / 3, 0.5, 0.9, 0.95, 0.99, 1 };
        ROAST_CLEANUP(quantile_deinit) struct quantile quantile = { 0 };
        ROAST_CLEANUP(cleanup_free) double *sorted = malloc(n * sizeof(*sorted));

        assert_non_null(sorted);
        memcpy(sorted, values, n * sizeof(*sorted));
        qsort(sorted, n, sizeof(*sorted), by_value);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(quantile_add(&quantile, values[i]), 0);
        /* one after the other: each finds the order that the one before has left */
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(shares); i++)
                if (quantile_of(&quantile, shares[i]) != naive(sorted, n, shares[i]))
                        fail_msg("%zu numbers, share %g: %.17g, not %.17g", n, shares[i],
                                 quantile_of(&quantile, shares[i]), naive(sorted, n, shares[i]));
}

static void test_without_numbers_there_is_no_quantile(void **state)
{
        struct quantile quantile = { 0 };

        (void)state;
        assert_true(isnan(quantile_of(&quantile, 0.5)));
        quantile_deinit(&quantile);
}

static void test_a_quantile_lies_between_two_ranks(void **state)
{
        static const double values[] = { 40, 10, 30, 20 };
        ROAST_CLEANUP(quantile_deinit) struct quantile quantile = { 0 };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(values); i++)
                assert_int_equal(quantile_add(&quantile, values[i]), 0);
        assert_true(quantile_of(&quantile, 0) == 10);
        assert_true(quantile_of(&quantile, 0.5) == 25);
        assert_true(quantile_of(&quantile, 1) == 40);
        assert_true(fabs(quantile_of(&quantile, 0.9) - 37) < 1e-12);
}

static void test_random_numbers_agree_with_sorting(void **state)
{
        double values[700];
        uint64_t seed = 11;

        (void)state;
        for (int round = 0; round < 300; round++) {
                size_t n = 1 + sample_below(&seed, ROAST_ARRAY_SIZE(values));
                uint64_t different = 1 + sample_below(&seed, round % 2 ? 5 : 100000);

                for (size_t i = 0; i < n; i++)
                        values[i] = ((double)sample_below(&seed, different) - 2) * 1e-3;
                assert_quantiles(values, n);
        }
}

/* Orders in which choosing a pivot badly would take long, or go on forever */
static void test_orders_that_are_no_chance_agree_with_sorting(void **state)
{
        enum { N = 3000 };
        static double values[N];

        (void)state;
        for (int order = 0; order < 5; order++) {
                for (size_t i = 0; i < N; i++)
                        values[i] = order == 0   ? (double)i
                                    : order == 1 ? (double)(N - i)
                                    : order == 2 ? 7
                                    : order == 3 ? (double)(i < N / 2 ? i : N - i)
                                                 : (double)(i % 2 ? i : N - i);
                assert_quantiles(values, N);
        }
}

/* The two smallest that are left are always two of the three whose median is taken. */
static void test_numbers_chosen_against_the_pivot_are_sorted(void **state)
{
        enum { N = 2000 };
        static double values[N];

        (void)state;
        for (size_t i = 0; i < N; i++)
                values[i] = (double)(N + i);
        for (size_t i = 0; i < N / 2; i++)
                values[i % 2 ? N / 2 - 1 + i / 2 : i] = (double)i;
        assert_quantiles(values, N);
}

static void test_extreme_numbers_keep_their_order(void **state)
{
        static const double values[] = { 1.7e308, -1.7e308, 0.0, -0.0, 5e-324, -5e-324, 1 };

        (void)state;
        assert_quantiles(values, ROAST_ARRAY_SIZE(values));
}

static void test_a_number_for_which_there_is_no_memory_is_not_taken(void **state)
{
        ROAST_CLEANUP(quantile_deinit) struct quantile quantile = { 0 };
        int r = 0;

        (void)state;
        alloc_fail_after(0);
        assert_int_equal(quantile_add(&quantile, 1), ROAST_E_NOMEM);
        assert_int_equal(quantile.n, 0);
        alloc_fail_after(1);
        for (double value = 0; value < 1e6 && r == 0; value++)
                r = quantile_add(&quantile, value);
        alloc_fail_after(-1);
        assert_int_equal(r, ROAST_E_NOMEM);
        assert_true(quantile.n > 1);
        assert_true(quantile_of(&quantile, 1) == (double)quantile.n - 1);
        assert_int_equal(quantile_add(&quantile, -1), 0);
        assert_true(quantile_of(&quantile, 0) == -1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_without_numbers_there_is_no_quantile),
                cmocka_unit_test(test_a_quantile_lies_between_two_ranks),
                cmocka_unit_test(test_random_numbers_agree_with_sorting),
                cmocka_unit_test(test_orders_that_are_no_chance_agree_with_sorting),
                cmocka_unit_test(test_numbers_chosen_against_the_pivot_are_sorted),
                cmocka_unit_test(test_extreme_numbers_keep_their_order),
                cmocka_unit_test(test_a_number_for_which_there_is_no_memory_is_not_taken),
        };

        return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}
