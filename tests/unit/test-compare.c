/* Comparisons: what they call a difference, and what they do not */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "analyze/clusters.h"
#include "roast-compare.h"
#include "synthetic.h"

#define RUNS_MAX 16

static struct roast_run *synthetic_run(const struct synthetic *options)
{
        struct roast_error error = { 0 };
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, &error), 0);
        assert_int_equal(synthetic_fill(run, options, &error), 0);
        return run;
}

/* Compares n_a runs with the others; takes them over. */
static struct roast_comparison compare(struct roast_run **runs, size_t n_a, size_t n)
{
        struct roast_comparison comparison;
        struct roast_error error = { 0 };
        size_t groups[RUNS_MAX];

        for (size_t i = 0; i < n; i++)
                groups[i] = i >= n_a;
        assert_int_equal(roast_compare(&comparison, runs, groups, n, &error), 0);
        for (size_t i = 0; i < n; i++)
                roast_run_free(runs[i]);
        return comparison;
}

static struct roast_comparison compare_two(const struct synthetic *a, const struct synthetic *b)
{
        struct roast_run *runs[] = { synthetic_run(a), synthetic_run(b) };

        return compare(runs, 1, 2);
}

static const struct roast_compare_row *row_of(const struct roast_comparison *comparison,
                                              const char *group, const char *key)
{
        for (size_t i = 0; i < comparison->n_rows; i++)
                if (!strcmp(comparison->rows[i].group, group) &&
                    !strcmp(comparison->rows[i].key, key))
                        return &comparison->rows[i];
        fail_msg("there is no row %s %s", group, key);
        return NULL;
}

static size_t count_called(const struct roast_comparison *comparison)
{
        size_t n = 0;

        for (size_t i = 0; i < comparison->n_rows; i++)
                n += comparison->rows[i].verdict != ROAST_VERDICT_NONE;
        return n;
}

static void test_a_run_does_not_differ_from_its_copy(void **state)
{
        const struct synthetic options = {
                .chunks = 100, .seed = 1, .scale = 1, .spread = 0.1, .workers = 4
        };
        struct roast_comparison comparison = compare_two(&options, &options);

        (void)state;
        assert_int_equal(count_called(&comparison), 0);
        assert_int_equal(comparison.n_differences, 0);
        assert_string_equal(comparison.matched_by[1], "chunk");
        for (size_t i = 0; i < comparison.n_rows; i++) {
                assert_true(comparison.rows[i].a == comparison.rows[i].b);
                assert_true(fabs(comparison.rows[i].change) < 1e-12);
        }
        assert_null(roast_comparison_regression(&comparison, 0));
        roast_comparison_deinit(&comparison);
}

/* The promise: 3 % slower, 500 chunks, a spread of 10 %: found in at least 80 of 100 */
static void test_a_slowdown_of_three_percent_is_found(void **state)
{
        size_t found = 0, trials = synthetic_pairs() / 4;

        (void)state;
        for (size_t i = 0; i < trials; i++) {
                const struct synthetic a = {
                        .chunks = 500, .seed = 2 * i + 1, .scale = 1, .spread = 0.1, .workers = 4
                };
                const struct synthetic b = {
                        .chunks = 500, .seed = 2 * i + 2, .scale = 1.03, .spread = 0.1, .workers = 4
                };
                struct roast_comparison comparison = compare_two(&a, &b);
                const struct roast_compare_row *row =
                        row_of(&comparison, "chunk", "wall_per_event");

                found += row->verdict == ROAST_VERDICT_WORSE;
                assert_true(row->verdict != ROAST_VERDICT_BETTER);
                roast_comparison_deinit(&comparison);
        }
        printf("found %zu of %zu\n", found, trials);
        assert_true(found >= trials * 80 / 100);
}

/* ---- what chunks of one run share ---- */

static void test_a_drift_within_runs_is_not_called_a_difference(void **state)
{
        size_t called = 0, trials = 1 + synthetic_pairs() / 10;

        (void)state;
        for (size_t i = 0; i < trials; i++) {
                const struct synthetic a = { .chunks = 400,
                                             .seed = 2 * i + 1,
                                             .scale = 1,
                                             .spread = 0.05,
                                             .workers = 2,
                                             .drift = 0.3 };
                const struct synthetic b = { .chunks = 400,
                                             .seed = 2 * i + 2,
                                             .scale = 1,
                                             .spread = 0.05,
                                             .workers = 2,
                                             .drift = -0.3 };
                struct roast_comparison comparison = compare_two(&a, &b);

                called += count_called(&comparison) > 0;
                roast_comparison_deinit(&comparison);
        }
        assert_true(called <= trials * 65 / 1000);
}

static void test_a_change_within_the_noise_of_a_shared_machine_is_not_called(void **state)
{
        struct synthetic a = {
                .chunks = 400, .seed = 1, .scale = 1, .spread = 0.05, .workers = 2, .waiting = 0.3
        };
        struct synthetic b = {
                .chunks = 400, .seed = 2, .scale = 1.1, .spread = 0.05, .workers = 2, .waiting = 0.3
        };
        struct roast_comparison comparison = compare_two(&a, &b);
        const struct roast_compare_row *row = row_of(&comparison, "chunk", "wall_per_event");

        (void)state;
        assert_true(row->p_adjusted < 0.001);
        assert_int_equal(row->verdict, ROAST_VERDICT_NONE);
        assert_string_equal(row->why, "within what runs differ by themselves");
        assert_true(row->noise > 0.5);
        roast_comparison_deinit(&comparison);

        a.waiting = b.waiting = 0;
        comparison = compare_two(&a, &b);
        row = row_of(&comparison, "chunk", "wall_per_event");
        assert_int_equal(row->verdict, ROAST_VERDICT_WORSE);
        assert_true(fabs(row->change - 0.1) < 0.01);
        assert_true(row->change_low < 0.1 && row->change_high > 0.1);
        assert_non_null(roast_comparison_regression(&comparison, 0.05));
        assert_null(roast_comparison_regression(&comparison, 0.5));
        roast_comparison_deinit(&comparison);
}

/* ---- groups ---- */

static struct roast_comparison compare_groups(double scale, uint64_t seed)
{
        static const double levels[] = { 0.95, 1.06, 1.0, 1.03, 0.97, 1.05, 0.94, 1.01 };
        struct roast_run *runs[8];

        for (size_t i = 0; i < 8; i++) {
                const struct synthetic options = { .chunks = 200,
                                                   .seed = seed + i,
                                                   .spread = 0.05,
                                                   .workers = 2,
                                                   .scale = levels[i] * (i < 4 ? 1 : scale) };

                runs[i] = synthetic_run(&options);
        }
        return compare(runs, 4, 8);
}

static void test_groups_tell_how_runs_vary(void **state)
{
        struct roast_comparison comparison = compare_groups(1, 1);

        (void)state;
        /* each of the runs alone differs from the others by more than its chunks' spread */
        assert_int_equal(count_called(&comparison), 0);
        assert_string_equal(row_of(&comparison, "run", "elapsed_time_seconds")->test, "t");
        assert_true(row_of(&comparison, "chunk", "wall_per_event")->noise == 0);
        roast_comparison_deinit(&comparison);

        comparison = compare_groups(1.5, 1);
        assert_int_equal(row_of(&comparison, "chunk", "wall_per_event")->verdict,
                         ROAST_VERDICT_WORSE);
        assert_int_equal(row_of(&comparison, "run", "event_rate_elapsed_khz")->verdict,
                         ROAST_VERDICT_WORSE);
        roast_comparison_deinit(&comparison);
}

/* ---- matching ---- */

static void test_runs_cut_differently_are_matched_by_file(void **state)
{
        const struct synthetic a = { .chunks = 800,
                                     .seed = 1,
                                     .scale = 1,
                                     .spread = 0.02,
                                     .workers = 4,
                                     .chunk_events = 25000 };
        const struct synthetic b = { .chunks = 400,
                                     .seed = 2,
                                     .scale = 1.2,
                                     .spread = 0.02,
                                     .workers = 4,
                                     .chunk_events = 50000 };
        struct roast_comparison comparison = compare_two(&a, &b);
        const struct roast_compare_row *row = row_of(&comparison, "chunk", "wall_per_event");
        bool told = false;

        (void)state;
        assert_string_equal(comparison.matched_by[1], "file");
        assert_int_equal(row->n, 20);
        assert_true(fabs(row->change - 0.2) < 0.02);
        assert_int_equal(row->verdict, ROAST_VERDICT_WORSE);
        for (size_t i = 0; i < comparison.n_differences; i++)
                told |= !strcmp(comparison.differences[i].name, "events of a chunk") &&
                        !strcmp(comparison.differences[i].values[0], "25,000") &&
                        !strcmp(comparison.differences[i].values[1], "50,000");
        assert_true(told);
        roast_comparison_deinit(&comparison);
}

static void test_a_run_without_chunks_has_no_figures_of_chunks(void **state)
{
        const struct synthetic a = { .chunks = 40, .seed = 1, .scale = 1, .workers = 1 };
        const struct synthetic none = { .chunks = 0, .seed = 1, .scale = 1, .workers = 1 };
        struct roast_comparison comparison = compare_two(&a, &none);

        (void)state;
        for (size_t i = 0; i < comparison.n_rows; i++)
                assert_string_equal(comparison.rows[i].group, "run");
        assert_int_equal(count_called(&comparison), 0);
        roast_comparison_deinit(&comparison);
}

static void test_clusters_are_stretches_of_a_worker(void **state)
{
        uint32_t worker[600];
        int64_t start[600];
        uint16_t *cluster;
        size_t n;

        (void)state;
        for (size_t i = 0; i < 600; i++) {
                worker[i] = i % 3 ? 17 : 4;
                start[i] = (int64_t)(600 - i);
        }
        assert_int_equal(clusters_make(&cluster, &n, worker, start, 600), 0);
        assert_true(n >= 30 && n <= CLUSTERS_MAX);
        for (size_t i = 0; i < 600; i++)
                for (size_t j = 0; j < 600; j++)
                        assert_true(cluster[i] != cluster[j] || worker[i] == worker[j]);
        assert_int_equal(cluster[0], cluster[3]);
        assert_int_not_equal(cluster[0], cluster[597]);
        free(cluster);
        assert_int_equal(clusters_make(&cluster, &n, worker, start, 0), 0);
        assert_int_equal(n, 0);
        free(cluster);
}

/* ---- without memory ---- */

static void test_a_comparison_without_memory_is_an_error(void **state)
{
        const struct synthetic options = {
                .chunks = 40, .seed = 1, .scale = 1, .spread = 0.1, .workers = 2
        };
        struct roast_run *runs[] = { synthetic_run(&options), synthetic_run(&options) };
        const size_t groups[] = { 0, 1 };
        bool whole = false;

        (void)state;
        for (long i = 0; !whole; i += 1 + i / 25) {
                struct roast_comparison comparison;
                struct roast_error error = { 0 };
                int r;

                alloc_fail_after(i);
                r = roast_compare(&comparison, runs, groups, 2, &error);
                whole = !alloc_failed();
                alloc_fail_after(-1);
                assert_true(r == 0 || r == ROAST_E_NOMEM);
                assert_true(whole ? r == 0 : true);
                if (r == 0)
                        roast_comparison_deinit(&comparison);
        }
        roast_run_free(runs[0]);
        roast_run_free(runs[1]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_run_does_not_differ_from_its_copy),
                cmocka_unit_test(test_a_slowdown_of_three_percent_is_found),
                cmocka_unit_test(test_a_drift_within_runs_is_not_called_a_difference),
                cmocka_unit_test(test_a_change_within_the_noise_of_a_shared_machine_is_not_called),
                cmocka_unit_test(test_groups_tell_how_runs_vary),
                cmocka_unit_test(test_runs_cut_differently_are_matched_by_file),
                cmocka_unit_test(test_a_run_without_chunks_has_no_figures_of_chunks),
                cmocka_unit_test(test_clusters_are_stretches_of_a_worker),
                cmocka_unit_test(test_a_comparison_without_memory_is_an_error),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
