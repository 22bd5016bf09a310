/* metrics/facts, metrics/report: figures that facts of the run tell */

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "roast-metrics.h"
#include "summed.h"
#include "util/cleanup.h"

static void assert_estimated(const struct roast_summary *summary, enum roast_metric metric,
                             double value, const char *reason)
{
        assert_int_equal(summary->metrics.values[metric].state, ROAST_ESTIMATED);
        assert_near(summary->metrics.values[metric].real, value);
        assert_string_equal(roast_metric_reason(&summary->metrics, metric), reason);
}

static void test_what_following_the_workers_cost(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "monitor.scheduler_ns", 2 * S, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "monitor.client_ns", S / 2, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "monitor.bytes", 4000, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "monitor.unheard", 1, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.faults", 3, NULL), 0);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_MONITORING_SCHEDULER_SECONDS), 2);
        assert_near(known(&summary, ROAST_MONITORING_CLIENT_SECONDS), 0.5);
        assert_near(known(&summary, ROAST_MONITORING_BYTES), 4000);
        assert_near(known(&summary, ROAST_MONITORING_FAULTS), 3);
}

/* They stand for those of coffea's report, summed over datasets. */
static void test_figures_that_the_user_gave_by_dataset(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "custom.entries.A", 1000, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "custom.entries.B", 500, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "custom.entries.C", -7, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "custom.bytes.A", 2.5e9, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "custom.bytes.B", 500000000, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "custom.duration.A", 12.5, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "custom.duration.B", (double)NAN, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "custom.colour.A", 1, NULL), 0);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_TOTAL_EVENTS), 1500);
        assert_near(known(&summary, ROAST_TOTAL_BYTES_READ), 3e9);
        assert_near(known(&summary, ROAST_TOTAL_CPU_TIME), 12.5);
}

static void test_branches_that_the_report_names(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "report.columns",
                                             "Jet_pt-data\nnJet-offsets\nMET_phi-data\n-data",
                                             NULL),
                         0);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_TOTAL_BRANCHES_READ), 2);
}

static void test_a_custom_figure_does_not_make_the_others_known(void **state)
{
        static const char reason[] = "not in the figures given in place of the report";
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.bytesread", 7, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "custom.entries.A", 1000, NULL), 0);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_TOTAL_EVENTS), 1000);
        assert_absent(&summary, ROAST_TOTAL_BYTES_READ, reason);
        assert_absent(&summary, ROAST_DATA_RATE_GBPS, reason);
        assert_absent(&summary, ROAST_TOTAL_CPU_TIME, reason);
}

static void test_custom_figures_that_tell_nothing_replace_the_report_all_the_same(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.entries", 7, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "custom.given", 1, NULL), 0);
        summarize(&summary, run);
        assert_absent(&summary, ROAST_TOTAL_EVENTS,
                      "not in the figures given in place of the report");
}

static void test_figures_of_a_derived_report_are_estimated(void **state)
{
        static const char how[] = "counted from the work items";
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.entries", 7, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "report.derived", how, NULL), 0);
        summarize(&summary, run);
        assert_estimated(&summary, ROAST_TOTAL_EVENTS, 7, how);
        assert_int_equal(summary.metrics.values[ROAST_TOTAL_BYTES_READ].state, ROAST_ABSENT);
}

static void test_a_report_of_coffeas_own_replaces_a_derived_one(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.entries", 7, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "report.derived", "somehow", NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "report.entries", 8, NULL), 0);
        assert_int_equal(roast_run_fact_absent(run, "report.derived", "it is coffea's", NULL), 0);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_TOTAL_EVENTS), 8);
}

static void test_what_is_made_of_rows_is_estimated_where_some_may_be_missing(void **state)
{
        static const char why[] = "the run could not be written to its end";
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.entries", 7, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "report.chunks", 2, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "run.shortfall", why, NULL), 0);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_TOTAL_EVENTS), 7);
        assert_estimated(&summary, ROAST_NUM_CHUNKS, 2, why);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_what_following_the_workers_cost),
                cmocka_unit_test(test_figures_that_the_user_gave_by_dataset),
                cmocka_unit_test(test_a_custom_figure_does_not_make_the_others_known),
                cmocka_unit_test(
                        test_custom_figures_that_tell_nothing_replace_the_report_all_the_same),
                cmocka_unit_test(test_branches_that_the_report_names),
                cmocka_unit_test(test_figures_of_a_derived_report_are_estimated),
                cmocka_unit_test(test_a_report_of_coffeas_own_replaces_a_derived_one),
                cmocka_unit_test(test_what_is_made_of_rows_is_estimated_where_some_may_be_missing),
        };

        return cmocka_run_group_tests_name("metrics-facts", tests, NULL, NULL);
}
