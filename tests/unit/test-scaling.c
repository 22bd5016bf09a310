/* Scaling: fits that find what is there, and say what they do not know */

#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "analyze/laws.h"
#include "sample.h"
#include "synthetic.h"

static const double cores[] = { 1, 2, 4, 8, 16, 32, 64, 128 };

static void make_rates(double *rates, const struct law *law, double noise)
{
        for (size_t i = 0; i < 8; i++)
                rates[i] = law_at(law, cores[i]) * (1 + (i % 2 ? noise : -noise));
}

static void test_a_law_without_noise_is_found(void **state)
{
        const struct law truth = { 1000, 0.03, 0.0002 };
        struct law law;
        double rates[8];

        (void)state;
        make_rates(rates, &truth, 0);
        assert_true(law_fit(&law, cores, rates, 8, true) < 1e-9);
        assert_true(fabs(law.lambda / 1000 - 1) < 1e-9);
        assert_true(fabs(law.sigma / 0.03 - 1) < 1e-9);
        assert_true(fabs(law.kappa / 0.0002 - 1) < 1e-9);
        /* Amdahl's law does not fit a throughput that falls */
        assert_true(law_fit(&law, cores, rates, 8, false) > 0.02);
}

static void test_intervals_hold_the_truth_and_the_knee(void **state)
{
        const struct law truth = { 1000, 0.03, 0.0002 };
        struct roast_scaling_fit fit = { 0 };
        double rates[8], knee = sqrt((1 - 0.03) / 0.0002);

        (void)state;
        make_rates(rates, &truth, 0.03);
        assert_int_equal(law_fit_with_intervals(&fit, cores, rates, 8, true, 1), 0);
        assert_true(fit.lambda.low < 1000 && fit.lambda.high > 1000);
        assert_true(fit.sigma.low <= 0.03 && fit.sigma.high >= 0.03);
        assert_true(fit.kappa.low <= 0.0002 && fit.kappa.high >= 0.0002);
        assert_true(fit.knee.low < knee && fit.knee.high > knee);
        assert_true(fit.half.low < fit.half.value && fit.half.value < fit.half.high);
}

static void test_no_coefficient_is_negative(void **state)
{
        /* better than linear: caches */
        const double rates[] = { 100, 220, 470, 1000, 2200, 4500, 9500, 20000 };
        struct law law;

        (void)state;
        law_fit(&law, cores, rates, 8, true);
        assert_true(law.lambda > 0);
        assert_true(law.sigma == 0);
        assert_true(law.kappa == 0);
}

static void test_half_efficiency_is_where_a_core_does_half(void **state)
{
        const struct law truth = { 1000, 0.03, 0.0002 };
        struct roast_scaling_fit fit = { 0 };
        double rates[8];

        (void)state;
        make_rates(rates, &truth, 0);
        assert_int_equal(law_fit_with_intervals(&fit, cores, rates, 8, true, 1), 0);
        assert_true(fabs(law_at(&truth, fit.half.value) / fit.half.value / 500 - 1) < 1e-6);
        assert_true(law_at(&truth, fit.knee.value) > law_at(&truth, 1.05 * fit.knee.value));
        assert_true(law_at(&truth, fit.knee.value) > law_at(&truth, 0.95 * fit.knee.value));
}

static struct roast_run *run_of(size_t workers)
{
        const struct synthetic options = { .chunks = 16,
                                           .seed = workers,
                                           .workers = workers,
                                           .scale = 1 + 0.1 * ((double)workers - 1) };
        struct roast_error error = { 0 };
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, &error), 0);
        assert_int_equal(synthetic_fill(run, &options, &error), 0);
        return run;
}

static void test_runs_are_sorted_and_related_to_the_smallest(void **state)
{
        struct roast_run *runs[] = { run_of(4), run_of(1), run_of(2) };
        struct roast_error error = { 0 };
        struct roast_scaling scaling;

        (void)state;
        assert_int_equal(roast_scaling(&scaling, runs, 3, &error), 0);
        assert_true(scaling.points[0].cores == 1 && scaling.points[2].cores == 4);
        assert_true(fabs(scaling.points[0].efficiency - 1) < 1e-9);
        assert_true(fabs(scaling.points[2].efficiency - 1 / 1.3) < 1e-6);
        assert_true(fabs(scaling.points[2].speedup - 4 / 1.3) < 1e-6);
        assert_string_equal(scaling.fits[0].why, "");
        assert_true(fabs(scaling.fits[0].sigma.value - 0.1) < 1e-6);
        assert_true(isnan(scaling.fits[1].sigma.low)); /* three runs for three parameters */
        roast_scaling_deinit(&scaling);
        assert_int_equal(roast_scaling(&scaling, runs, 1, &error), 0);
        assert_true(strlen(scaling.fits[0].why) > 0);
        roast_scaling_deinit(&scaling);
        for (size_t i = 0; i < 3; i++)
                roast_run_free(runs[i]);
}

/* Workers never come at the same moment: repetitions are one number of cores all the same. */
static void test_repetitions_have_one_size(void **state)
{
        struct roast_run *runs[3];
        struct roast_scaling scaling;
        double speedup = 0;

        (void)state;
        for (size_t i = 0; i < 3; i++) {
                const struct synthetic options = { .chunks = 16,
                                                   .seed = i,
                                                   .workers = 2,
                                                   .scale = 1 + 0.1 * (double)i,
                                                   .late_ns = (int64_t)i * 100000 };

                assert_int_equal(roast_run_create(&runs[i], NULL, NULL), 0);
                assert_int_equal(synthetic_fill(runs[i], &options, NULL), 0);
        }
        assert_int_equal(roast_scaling(&scaling, runs, 3, NULL), 0);
        assert_true(scaling.points[0].cores != scaling.points[2].cores);
        assert_has(scaling.fits[0].why, "two numbers of cores");
        assert_has(scaling.fits[1].why, "three numbers of cores");
        for (size_t i = 0; i < 3; i++)
                speedup += scaling.points[i].speedup / 3;
        assert_true(fabs(speedup - 2) < 1e-3);
        roast_scaling_deinit(&scaling);
        for (size_t i = 0; i < 3; i++)
                roast_run_free(runs[i]);
}

static void test_a_run_that_does_not_tell_is_left_out_with_its_reason(void **state)
{
        struct roast_run *runs[2] = { run_of(2), NULL };
        struct roast_error error = { 0 };
        struct roast_scaling scaling;

        (void)state;
        assert_int_equal(roast_run_create(&runs[1], NULL, &error), 0);
        assert_int_equal(roast_run_commit(runs[1], &error), 0);
        assert_int_equal(roast_scaling(&scaling, runs, 2, &error), 0);
        assert_null(scaling.points[0].left_out);
        assert_has(scaling.points[1].left_out, "is not known");
        roast_scaling_deinit(&scaling);
        roast_run_free(runs[0]);
        roast_run_free(runs[1]);
}

static void test_a_run_that_is_given_twice_counts_once(void **state)
{
        struct roast_run *runs[] = { run_of(1), run_of(2), run_of(2) };
        struct roast_scaling scaling;

        (void)state;
        for (size_t i = 0; i < 3; i++) {
                assert_int_equal(roast_run_fact_text(runs[i], "run.id", i ? "b" : "a", NULL), 0);
                assert_int_equal(roast_run_commit(runs[i], NULL), 0);
        }
        assert_int_equal(roast_scaling(&scaling, runs, 3, NULL), 0);
        assert_null(scaling.points[0].left_out);
        assert_null(scaling.points[1].left_out);
        assert_has(scaling.points[2].left_out, "it is the same run as ");
        roast_scaling_deinit(&scaling);
        for (size_t i = 0; i < 3; i++)
                roast_run_free(runs[i]);
}

static void test_without_memory_it_is_an_error(void **state)
{
        struct roast_run *runs[] = { run_of(1), run_of(2), run_of(3), run_of(4) };
        bool whole = false;

        (void)state;
        for (long i = 0; !whole; i += 1 + i / 20) {
                struct roast_error error = { 0 };
                struct roast_scaling scaling;
                int r;

                alloc_fail_after(i);
                r = roast_scaling(&scaling, runs, 4, &error);
                whole = !alloc_failed();
                alloc_fail_after(-1);
                assert_true(r == 0 || r == ROAST_E_NOMEM);
                if (r == 0)
                        roast_scaling_deinit(&scaling);
        }
        for (size_t i = 0; i < 4; i++)
                roast_run_free(runs[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_law_without_noise_is_found),
                cmocka_unit_test(test_intervals_hold_the_truth_and_the_knee),
                cmocka_unit_test(test_no_coefficient_is_negative),
                cmocka_unit_test(test_half_efficiency_is_where_a_core_does_half),
                cmocka_unit_test(test_runs_are_sorted_and_related_to_the_smallest),
                cmocka_unit_test(test_repetitions_have_one_size),
                cmocka_unit_test(test_a_run_that_does_not_tell_is_left_out_with_its_reason),
                cmocka_unit_test(test_a_run_that_is_given_twice_counts_once),
                cmocka_unit_test(test_without_memory_it_is_an_error),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
