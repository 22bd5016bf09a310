/* show/openmetrics: a summary as lines for Prometheus */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "roast-show.h"
#include "summed.h"
#include "util/cleanup.h"
#include "util/size.h"

static const struct roast_run_about nothing_known = { .start_utc_ns = INT64_MIN,
                                                      .end_utc_ns = INT64_MIN };

static char *expose(const struct roast_run_about *about, const struct roast_summary *summary)
{
        const struct roast_openmetrics source = { .about = about, .summary = summary };
        char *text = NULL;
        size_t len = 0;

        assert_int_equal(roast_openmetrics(&text, &len, &source, NULL), 0);
        assert_int_equal(strlen(text), len);
        assert_string_equal(text + len - 6, "# EOF\n");
        return text;
}

static void assert_line(const char *text, const char *line)
{
        size_t len = strlen(line);

        for (const char *at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
                if (!strncmp(at, line, len) && at[len] == '\n')
                        return;
        fail_msg("%s is not a line of\n%s", line, text);
}

static void test_a_run_of_which_nothing_is_known(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = expose(&nothing_known, &summary);

        (void)state;
        assert_line(text, "roast_run_info{name=\"\",id=\"\",outcome=\"unfinished\"} 1");
        assert_line(text, "roast_run_active 1");
        assert_has_not(text, "_time_seconds");
        assert_has_not(text, "_total");
}

static void test_totals_of_the_report_stand_for_missing_chunks(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;

        (void)state;
        roast_metric_set_count(&summary.metrics, ROAST_TOTAL_EVENTS, 1234);
        text = expose(&nothing_known, &summary);
        assert_line(text, "roast_events_total 1234");
        assert_has_not(text, "roast_chunks_total");
}

/* Numbers that are none are left out, and estimates are marked. */
static void test_gauges_in_base_units(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;

        (void)state;
        roast_metric_set_real(&summary.metrics, ROAST_DATA_RATE_GBPS, 2);
        roast_metric_set_real(&summary.metrics, ROAST_AVG_BRANCHES_READ_PERCENT, 25);
        roast_metric_set_real(&summary.metrics, ROAST_ELAPSED_TIME_SECONDS, (double)INFINITY);
        assert_int_equal(
                roast_metric_set_estimated(&summary.metrics, ROAST_CORE_EFFICIENCY, 0.5, "because"),
                0);
        text = expose(&nothing_known, &summary);
        assert_line(text, "# UNIT roast_data_rate_bytes_per_second bytes_per_second");
        assert_line(text, "roast_data_rate_bytes_per_second 250000000");
        assert_line(text, "roast_avg_branches_read_ratio 0.25");
        assert_line(text, "roast_core_efficiency_ratio 0.5");
        assert_line(text, "roast_metric_estimated{metric=\"core_efficiency_ratio\"} 1");
        assert_has_not(text, "roast_elapsed_time");
}

/* Labels stay bounded: the datasets after the thousandth are one. */
static void test_many_datasets_are_told_together(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;

        (void)state;
        summary.n_datasets = 1003;
        summary.datasets = calloc(summary.n_datasets, sizeof(*summary.datasets));
        assert_non_null(summary.datasets);
        for (size_t i = 0; i < summary.n_datasets; i++) {
                summary.datasets[i] = (struct roast_dataset){ .finished = 2,
                                                              .failed = 1,
                                                              .events = (int64_t)i,
                                                              .wall_s = 0.5,
                                                              .wall_chunks = 2 };
                if (i) /* the first has no name */
                        assert_true(asprintf(&summary.datasets[i].name, "d%zu", i) > 0);
        }
        text = expose(&nothing_known, &summary);
        assert_line(text, "roast_events_total{dataset=\"\"} 0");
        assert_line(text, "roast_events_total{dataset=\"d999\"} 999");
        assert_has_not(text, "\"d1000\"");
        assert_line(text, "roast_events_total{dataset=\"(all others)\"} 3003");
        assert_line(text, "roast_chunk_seconds_total{dataset=\"(all others)\"} 1.5");
        assert_line(text, "roast_chunks_total{dataset=\"(all others)\",outcome=\"finished\"} 6");
        assert_line(text, "roast_chunks_total{dataset=\"(all others)\",outcome=\"failed\"} 3");
        assert_has_not(text, "roast_read_bytes_total{");
}

/* Prometheus refuses labels that come twice, and counters that are negative. */
static void test_datasets_that_read_the_same_are_told_together(void **state)
{
        static const char *const names[] = { "a\xff", "a\xfe", "", NULL, "b", "a\xef\xbf\xbd" };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;

        (void)state;
        summary.n_datasets = ROAST_ARRAY_SIZE(names);
        summary.datasets = calloc(summary.n_datasets, sizeof(*summary.datasets));
        assert_non_null(summary.datasets);
        for (size_t i = 0; i < summary.n_datasets; i++) {
                summary.datasets[i] = (struct roast_dataset){ .finished = 1, .events = 1 << i };
                if (names[i])
                        assert_non_null(summary.datasets[i].name = strdup(names[i]));
        }
        summary.datasets[4].events = -1;
        text = expose(&nothing_known, &summary);
        assert_line(text, "roast_events_total{dataset=\"a\xef\xbf\xbd\"} 35");
        assert_line(text, "roast_events_total{dataset=\"\"} 12");
        assert_has_not(text, "roast_events_total{dataset=\"b\"}");
        assert_line(text, "roast_chunks_total{dataset=\"b\",outcome=\"finished\"} 1");
        assert_line(text, "roast_chunks_total{dataset=\"\",outcome=\"finished\"} 2");
}

static void test_metrics_of_the_user_are_labels(void **state)
{
        static char keys[][8] = { "a", "b\"\n", "c", "d" }, unit[] = "J";
        struct roast_custom customs[] = {
                { .key = keys[0], .unit = unit, .value = { .state = ROAST_KNOWN, .real = 1.5 } },
                { .key = keys[1], .value = { .state = ROAST_KNOWN, .real = 2 } },
                { .key = keys[2], .value = { .state = ROAST_ABSENT } },
                { .key = keys[3], .value = { .state = ROAST_KNOWN, .real = (double)NAN } },
        };
        const struct roast_summary summary = { .customs = customs, .n_customs = 4 };
        ROAST_CLEANUP(cleanup_free) char *text = expose(&nothing_known, &summary);

        (void)state;
        assert_line(text, "roast_custom_metric{metric=\"a\",unit=\"J\"} 1.5");
        assert_line(text, "roast_custom_metric{metric=\"b\\\"\\n\",unit=\"\"} 2");
        assert_has_not(text, "metric=\"c\"");
        assert_has_not(text, "metric=\"d\"");
}

static void test_lines_without_memory_are_an_error(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        const struct roast_openmetrics source = { .about = &nothing_known, .summary = &summary };
        bool failed = true;

        (void)state;
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(cleanup_free) char *text = NULL;
                struct roast_error error = { 0 };
                size_t len;
                int r;

                alloc_fail_after(count);
                r = roast_openmetrics(&text, &len, &source, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                assert_int_equal(error.code, r);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_run_of_which_nothing_is_known),
                cmocka_unit_test(test_totals_of_the_report_stand_for_missing_chunks),
                cmocka_unit_test(test_gauges_in_base_units),
                cmocka_unit_test(test_many_datasets_are_told_together),
                cmocka_unit_test(test_datasets_that_read_the_same_are_told_together),
                cmocka_unit_test(test_metrics_of_the_user_are_labels),
                cmocka_unit_test(test_lines_without_memory_are_an_error),
        };

        return cmocka_run_group_tests_name("openmetrics", tests, NULL, NULL);
}
