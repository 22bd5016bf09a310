/* Comparisons of many groups: each has a letter */

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/contrast.h"
#include "roast-compare.h"
#include "roast-run.h"
#include "sample.h"
#include "util/cleanup.h"

enum { MAX = ROAST_COMPARE_GROUPS_MAX };

static void test_more_groups_than_letters_are_refused(void **state)
{
        struct roast_run *run, *runs[MAX + 1];
        struct roast_comparison comparison;
        struct roast_error error = { 0 };
        size_t groups[MAX + 1];

        (void)state;
        assert_int_equal(roast_run_create(&run, NULL, &error), 0);
        for (size_t i = 0; i <= MAX; i++) {
                runs[i] = run;
                groups[i] = i;
        }
        assert_int_equal(roast_compare(&comparison, runs, groups, MAX + 1, &error),
                         ROAST_E_INVALID);
        assert_string_equal(error.message, "more than 26 groups cannot be compared at once");
        roast_comparison_deinit(&comparison);
        roast_run_free(run);
}

static void test_the_last_group_has_a_letter(void **state)
{
        struct roast_comparison comparison = { 0 };
        struct roast_run *runs[MAX];
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *notes = NULL;
        size_t groups[MAX];

        (void)state;
        for (size_t i = 0; i < MAX; i++) {
                groups[i] = i;
                assert_int_equal(roast_run_create(&runs[i], NULL, &error), 0);
        }
        assert_int_equal(roast_compare(&comparison, runs, groups, MAX, &error), 0);
        notes = roast_comparison_notes(&comparison);
        assert_non_null(notes);
        assert_has(notes, "all of B is held against all of A");
        assert_has(notes, "all of Z is held against all of A");
        roast_comparison_deinit(&comparison);
        for (size_t i = 0; i < MAX; i++)
                roast_run_free(runs[i]);
}

static struct roast_run *run_with_id(const char *id)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "run.id", id, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "run.name", id, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.elapsed_ns", 120 * SAMPLE_S, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        return run;
}

static void test_a_run_counts_once_in_a_group(void **state)
{
        static const size_t groups[][3] = { { 0, 1, 1 }, { 0, 1, 0 } };
        struct roast_run *runs[] = { run_with_id("one"), run_with_id("two"), run_with_id("two") };
        struct roast_comparison comparison;
        struct roast_error error = { 0 };

        (void)state;
        assert_int_equal(roast_compare(&comparison, runs, groups[0], 3, &error), ROAST_E_INVALID);
        assert_string_equal(error.message, "two and two are the same run: give it once");
        assert_int_equal(roast_compare(&comparison, runs, groups[1], 3, &error), 0);
        roast_comparison_deinit(&comparison);
        for (size_t i = 0; i < 3; i++)
                roast_run_free(runs[i]);
}

static void test_figures_of_single_runs_are_those_of_the_runs(void **state)
{
        static const size_t groups[] = { 0, 1 };
        struct roast_run *runs[] = { run_with_id("one"), run_with_id("two") };
        struct roast_comparison comparison;
        size_t seen = 0;

        (void)state;
        assert_int_equal(roast_compare(&comparison, runs, groups, 2, NULL), 0);
        for (size_t i = 0; i < comparison.n_rows; i++) {
                const struct roast_compare_row *row = &comparison.rows[i];

                if (strcmp(row->key, "elapsed_time_seconds") != 0)
                        continue;
                assert_true(row->a == 120 && row->b == 120); /* not exp(log(120)) */
                seen++;
        }
        assert_int_equal(seen, 1);
        roast_comparison_deinit(&comparison);
        for (size_t i = 0; i < 2; i++)
                roast_run_free(runs[i]);
}

/* What there was none of has no logarithm, and is no percentage. */
static void test_what_was_0_in_every_run_of_a_group_can_become_worse(void **state)
{
        double none[] = { 0, 0, 0 }, some[] = { 1500, 1510, 1490 };
        struct contrast contrast;

        (void)state;
        contrast_groups(&contrast, none, 3, some, 3, CONTRAST_RATIO, 0);
        assert_true(contrast.a == 0 && fabs(contrast.b - 1500) < 1e-9);
        assert_true(isinf(contrast.change) && contrast.change > 0);
        assert_true(contrast.p > 0 && contrast.p < 0.001);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_more_groups_than_letters_are_refused),
                cmocka_unit_test(test_the_last_group_has_a_letter),
                cmocka_unit_test(test_a_run_counts_once_in_a_group),
                cmocka_unit_test(test_figures_of_single_runs_are_those_of_the_runs),
                cmocka_unit_test(test_what_was_0_in_every_run_of_a_group_can_become_worse),
        };

        return cmocka_run_group_tests_name("compare-groups", tests, NULL, NULL);
}
