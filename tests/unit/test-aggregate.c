/* Accumulators that take values from anywhere: averages, cores over time, coverage */

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "metrics/chunk-stats.h"
#include "metrics/coverage.h"
#include "metrics/presence.h"
#include "metrics/report.h"
#include "record/chunk.h"
#include "sample.h"
#include "util/cleanup.h"

static void test_an_average_over_time_is_trapezoidal(void **state)
{
        struct stat_average average = { 0 };

        (void)state;
        assert_true(stat_average_mean(&average) == 0);
        stat_average_add(&average, 100, 7);
        assert_true(stat_average_mean(&average) == 7);
        stat_average_add(&average, 110, 9);
        assert_true(stat_average_mean(&average) == 8);
        stat_average_add(&average, 110, 1); /* a step */
        stat_average_add(&average, 120, 1);
        assert_true(stat_average_mean(&average) == 4.5);
}

static void test_an_average_of_huge_values_does_not_overflow(void **state)
{
        struct stat_average average = { 0 };

        (void)state;
        for (int i = 0; i < 100; i++)
                stat_average_add(&average, i, 1.7e308);
        assert_true(stat_average_mean(&average) == 1.7e308);
}

static void test_a_total_is_exact_until_it_cannot_be(void **state)
{
        struct stat_total total = { 0 };

        (void)state;
        stat_total_int(&total, (INT64_C(1) << 60) + 1);
        stat_total_int(&total, 1);
        assert_false(total.inexact);
        assert_true(total.whole == (INT64_C(1) << 60) + 2);
        stat_total_int(&total, INT64_MAX);
        assert_true(total.inexact);
        assert_true(total.real > 1e19);
}

/* ---- cores over time ---- */

static double cores_of(struct presence *presence, double *workers)
{
        double cores;

        assert_true(presence_average(presence, &cores, workers) >= 0);
        return cores;
}

static void test_no_samples_no_cores(void **state)
{
        ROAST_CLEANUP(presence_deinit) struct presence presence = { 0 };
        double cores, workers;

        (void)state;
        assert_int_equal(presence_average(&presence, &cores, &workers), 0);
        presence_add(&presence, 0, PRESENCE_COUNT, 3);
        presence_add(&presence, 0, 0, (double)NAN);
        presence_add(&presence, (double)INFINITY, 0, 4);
        assert_int_equal(presence_average(&presence, &cores, &workers), 0);
}

static void test_a_worker_that_is_away_is_not_bridged_where_all_are_accounted_for(void **state)
{
        ROAST_CLEANUP(presence_deinit) struct presence presence = { 0 };
        double workers;

        (void)state;
        for (int i = 0; i <= 4; i++) {
                presence_add(&presence, i, 0, 2);
                if (i == 0 || i == 4)
                        presence_add(&presence, i, 1, 8);
        }
        /* nothing is known of the instants between: worker 1 is taken to be there */
        assert_true(cores_of(&presence, &workers) == 10 && workers == 2);
        for (int i = 0; i <= 4; i++)
                presence_add(&presence, i, PRESENCE_COUNT, i == 0 || i == 4 ? 2 : 1);
        assert_true(cores_of(&presence, &workers) == 4);
        assert_true(workers == 1.25);
}

static void test_the_last_sample_of_an_instant_counts(void **state)
{
        ROAST_CLEANUP(presence_deinit) struct presence presence = { 0 };
        double workers;

        (void)state;
        presence_add(&presence, 5, 0, 16);
        presence_add(&presence, 5, 0, 4);
        assert_true(cores_of(&presence, &workers) == 4 && workers == 1);
}

/* The same without bridging by differences: every worker at every instant */
static double naive_cores(const double *times, size_t n_times, double samples[][8], size_t n)
{
        struct stat_average average = { 0 };

        for (size_t t = 0; t < n_times; t++) {
                double sum = 0;

                for (size_t w = 0; w < n; w++) {
                        double last = (double)NAN;
                        bool later = false;

                        for (size_t u = 0; u <= t; u++)
                                if (!isnan(samples[w][u]))
                                        last = samples[w][u];
                        for (size_t u = t; u < n_times; u++)
                                later |= !isnan(samples[w][u]);
                        if (later && !isnan(last))
                                sum += last;
                }
                stat_average_add(&average, times[t], sum);
        }
        return stat_average_mean(&average);
}

static void test_cores_over_time_against_a_naive_version(void **state)
{
        uint64_t seed = 1;

        (void)state;
        for (int round = 0; round < 2000; round++) {
                ROAST_CLEANUP(presence_deinit) struct presence presence = { 0 };
                double times[8], samples[4][8], workers, cores;
                bool any[8] = { false };

                for (size_t t = 0; t < 8; t++)
                        times[t] = (double)(t * 10 + sample_below(&seed, 9));
                for (size_t w = 0; w < 4; w++)
                        for (size_t t = 0; t < 8; t++) {
                                bool here = t == 0 || sample_below(&seed, 2);

                                samples[w][t] =
                                        here ? (double)sample_below(&seed, 64) : (double)NAN;
                                any[t] |= here;
                                presence_add(&presence, times[t], (int64_t)w, samples[w][t]);
                        }
                for (size_t t = 0; t < 8; t++)
                        if (!any[t]) /* so that the instant counts in both */
                                presence_add(&presence, times[t], 0, samples[0][t] = 1);
                cores = cores_of(&presence, &workers);
                assert_float_equal(cores, naive_cores(times, 8, samples, 4), 1e-9);
        }
}

/* ---- coverage ---- */

static void add_set(struct coverage_file *file, const char *branches, double bytes)
{
        uint32_t numbers[16];
        size_t n = strlen(branches);

        for (size_t i = 0; i < n; i++)
                numbers[i] = (uint32_t)(branches[i] - 'a');
        assert_int_equal(coverage_file_add(file, numbers, n, bytes, (double)n, bytes / 10), 0);
}

static void test_coverage_is_of_the_union_in_any_order(void **state)
{
        static const char *const sets[] = { "ab", "dc", "ba", "a", "gef" };
        static const double bytes[] = { 30, 20, 30, 10, 50 };
        uint64_t seed = 2;

        (void)state;
        for (int round = 0; round < 100; round++) {
                ROAST_CLEANUP(coverage_file_deinit) struct coverage_file file = { 0 };
                struct coverage coverage;
                size_t first = sample_below(&seed, 5), step = 1 + sample_below(&seed, 4);

                for (size_t i = 0; i < 5; i++)
                        add_set(&file, sets[(first + i * step) % 5], bytes[(first + i * step) % 5]);
                assert_int_equal(file.n, 4);
                assert_int_equal(coverage_of_file(&coverage, &file, 26, 100, 1000), 0);
                assert_int_equal(coverage.branches, 7);
                assert_true(coverage.bytes == 100 && coverage.bytes_percent == 10);
                assert_true(coverage.branches_percent == 7);
                assert_false(coverage.estimated);
        }
}

static void test_overlapping_sets_are_estimated(void **state)
{
        ROAST_CLEANUP(coverage_file_deinit) struct coverage_file file = { 0 };
        struct coverage coverage;

        (void)state;
        add_set(&file, "ab", 30);
        add_set(&file, "bc", 20);
        assert_int_equal(coverage_of_file(&coverage, &file, 26, 0, 0), 0);
        assert_true(coverage.bytes == 40);
        assert_true(coverage.estimated);
        assert_true(coverage.branches_percent == 2); /* totals are not known: as a chunk said */
}

static void test_overlapping_sets_of_branches_of_known_size_are_exact(void **state)
{
        ROAST_CLEANUP(coverage_file_deinit) struct coverage_file file = { 0 };
        struct coverage coverage;

        (void)state;
        add_set(&file, "ab", 30);
        add_set(&file, "bz", 25);
        assert_int_equal(coverage_file_branch(&file, 0, 10), 0);
        assert_int_equal(coverage_file_branch(&file, 1, 20), 0);
        assert_int_equal(coverage_file_branch(&file, 25, 5), 0);
        assert_int_equal(coverage_of_file(&coverage, &file, 26, 100, 100), 0);
        assert_true(coverage.bytes == 35 && coverage.bytes_percent == 35);
        assert_false(coverage.estimated);
}

static void test_a_file_of_which_nothing_is_said(void **state)
{
        ROAST_CLEANUP(coverage_file_deinit) struct coverage_file file = { 0 };
        struct coverage coverage;

        (void)state;
        assert_int_equal(coverage_of_file(&coverage, &file, 0, 10, 10), 0);
        assert_true(coverage.bytes == 0 && coverage.branches_percent == 0);
        assert_int_equal(coverage_file_add(&file, NULL, 0, (double)NAN, (double)NAN, (double)NAN),
                         0);
        assert_int_equal(coverage_of_file(&coverage, &file, 0, 10, 10), 0);
        assert_true(coverage.bytes == 0 && coverage.bytes_percent == 0);
}

/* ---- report, sections ---- */

static void test_a_report_without_process_time_is_as_long_as_the_run(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
        struct report_custom custom = { 0 };
        struct roast_fact chunks = { .type = ROAST_FACT_INT, .integer = 4, .real = 4 };

        (void)state;
        assert_int_equal(report_begin(&set), 0);
        roast_metric_set_real(&set, ROAST_ELAPSED_TIME_SECONDS, 8);
        assert_int_equal(report_note(&set, "chunks", &chunks), 0);
        assert_int_equal(report_assume_process_time(&set), 0);
        assert_int_equal(set.values[ROAST_TOTAL_CPU_TIME].state, ROAST_ABSENT);
        assert_int_equal(report_note(&set, "entries", &chunks), 0);
        assert_int_equal(report_assume_process_time(&set), 0);
        assert_int_equal(report_end(&set, &custom), 0);
        assert_int_equal(set.values[ROAST_TOTAL_CPU_TIME].state, ROAST_ESTIMATED);
        assert_true(set.values[ROAST_AVG_CPU_TIME_PER_CHUNK].real == 2);
}

static void test_memory_of_a_section_is_averaged_over_the_chunks_that_followed_it(void **state)
{
        struct roast_section section = { 0 };
        struct section_figures timed = { .kind = SECTION_TIME, .count = 3, .total_s = 2 };
        struct section_figures followed = {
                .kind = SECTION_MEMORY, .count = 1, .total_s = 2, .rss_delta_bytes = -50
        };

        (void)state;
        section_add(&section, &followed);
        assert_true(section.total_s == 2 && section.count == 1);
        section_add(&section, &timed); /* from here on time counts once */
        section_add(&section, &timed);
        assert_true(section.total_s == 4 && section.count == 6 && section.chunks == 2);
        assert_int_equal(section.memory_chunks, 1);
        assert_true(section.rss_delta_bytes == -50 && section.rss_delta_max_bytes == -50);
}

/* ---- lack of memory ---- */

static int everything(void)
{
        ROAST_CLEANUP(presence_deinit) struct presence presence = { 0 };
        ROAST_CLEANUP(coverage_file_deinit) struct coverage_file file = { 0 };
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
        struct report_custom custom = { 0 };
        struct coverage coverage;
        uint32_t branches[] = { 1, 0 };
        double cores, workers;
        int r = 0;

        for (int i = 0; i < 200 && r >= 0; i++)
                r = presence_add(&presence, i, i % 3, 1);
        if (r >= 0)
                r = presence_average(&presence, &cores, &workers);
        if (r >= 0)
                r = coverage_file_add(&file, branches, 2, 1, 1, 1);
        if (r >= 0)
                r = coverage_file_branch(&file, 1, 1);
        if (r >= 0)
                r = coverage_of_file(&coverage, &file, 2, 2, 2);
        if (r >= 0)
                r = report_begin(&set);
        return r < 0 ? r : report_end(&set, &custom);
}

static void test_a_lack_of_memory_is_an_error(void **state)
{
        long count = 0;

        (void)state;
        for (;; count++) {
                int r;

                alloc_fail_after(count);
                r = everything();
                if (!alloc_failed()) {
                        alloc_fail_after(-1);
                        assert_int_equal(r, 0);
                        break;
                }
                alloc_fail_after(-1);
                assert_int_equal(r, ROAST_E_NOMEM);
        }
        assert_true(count > 10);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_an_average_over_time_is_trapezoidal),
                cmocka_unit_test(test_an_average_of_huge_values_does_not_overflow),
                cmocka_unit_test(test_a_total_is_exact_until_it_cannot_be),
                cmocka_unit_test(test_no_samples_no_cores),
                cmocka_unit_test(
                        test_a_worker_that_is_away_is_not_bridged_where_all_are_accounted_for),
                cmocka_unit_test(test_the_last_sample_of_an_instant_counts),
                cmocka_unit_test(test_cores_over_time_against_a_naive_version),
                cmocka_unit_test(test_coverage_is_of_the_union_in_any_order),
                cmocka_unit_test(test_overlapping_sets_are_estimated),
                cmocka_unit_test(test_overlapping_sets_of_branches_of_known_size_are_exact),
                cmocka_unit_test(test_a_file_of_which_nothing_is_said),
                cmocka_unit_test(test_a_report_without_process_time_is_as_long_as_the_run),
                cmocka_unit_test(
                        test_memory_of_a_section_is_averaged_over_the_chunks_that_followed_it),
                cmocka_unit_test(test_a_lack_of_memory_is_an_error),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
