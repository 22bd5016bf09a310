/*
 * analyze/distribution: the normal and Student's distribution
 *
 * Expected values are those of closed forms (one and two degrees of freedom) and
 * of tables; the Python tests hold many more against scipy.
 */

#include "unit.h"

#include <math.h>

#include "analyze/statistics.h"
#include "util/size.h"

#define INF ((double)INFINITY)

static void assert_close(double value, double expected)
{
        if (!(fabs(value - expected) <= 1e-10 * fabs(expected)))
                fail_msg("%.17g is not %.17g", value, expected);
}

static void test_quantiles_of_the_normal_distribution(void **state)
{
        (void)state;
        assert_close(stat_normal_quantile(0.975), 1.959963984540054);
        assert_close(stat_normal_quantile(0.025), -1.959963984540054);
        assert_close(stat_normal_quantile(1e-10), -6.361340902404056);
        assert_true(fabs(stat_normal_quantile(0.5)) < 1e-15);
        assert_close(stat_normal_cdf(-1.959963984540054), 0.025);
}

static void test_probabilities_at_and_beyond_the_ends(void **state)
{
        (void)state;
        assert_true(stat_normal_quantile(0) == -INF);
        assert_true(stat_normal_quantile(1) == INF);
        assert_true(isnan(stat_normal_quantile(-0.1)));
        assert_true(isnan(stat_normal_quantile(1.1)));
        assert_true(isnan(stat_normal_quantile((double)NAN)));
        assert_true(stat_t_quantile(0, 3) == -INF);
        assert_true(stat_t_quantile(1, 3) == INF);
        assert_true(isnan(stat_t_quantile(2, 3)));
        assert_true(isnan(stat_t_quantile(0.5, 0)));
}

static void test_both_tails_of_t(void **state)
{
        static const struct {
                double t, df, tails;
        } rows[] = {
                { 1, 1, 0.5 },                     /* 1 - 2 atan(t) / pi */
                { -1, 1, 0.5 },                    /* both tails */
                { 1, 2, 0.42264973081037427 },     /* 1 - t / sqrt(2 + t^2) */
                { 0.001, 4, 0.99925000015625 },    /* near the middle */
                { 2, 100, 0.04821217873113365 },   /* gammas would cancel */
                { 2, 20000, 0.04551376195849993 }, /* as a normal deviate */
                { 1.96, 1e6, 0.04999606758526985 },
                { 0, 5, 1 },
                { INF, 5, 0 },
                { 1e200, 5, 0 },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++)
                assert_close(stat_t_two_sided(rows[i].t, rows[i].df), rows[i].tails);
        assert_true(isnan(stat_t_two_sided((double)NAN, 5)));
        assert_true(isnan(stat_t_two_sided(1, 0)));
        assert_true(isnan(stat_t_two_sided(1, -3)));
}

static void test_quantiles_of_t(void **state)
{
        (void)state;
        assert_close(stat_t_quantile(0.975, 1), 12.706204736174694);
        assert_close(stat_t_quantile(0.025, 1), -12.706204736174694);
        assert_close(stat_t_quantile(0.99, 5), 3.3649299989072174);
        assert_close(stat_t_quantile(1e-6, 1), -318309.88618274347); /* -cot(pi p) */
        assert_true(fabs(stat_t_quantile(0.5, 3)) < 1e-15);
        assert_close(stat_t_cdf(-2, 3), 0.06966298427942152);
        assert_close(stat_t_cdf(2, 3), 1 - 0.06966298427942152);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_quantiles_of_the_normal_distribution),
                cmocka_unit_test(test_probabilities_at_and_beyond_the_ends),
                cmocka_unit_test(test_both_tails_of_t),
                cmocka_unit_test(test_quantiles_of_t),
        };

        return cmocka_run_group_tests_name("distribution", tests, NULL, NULL);
}
