/* metrics/: what a run is summed up to: its report, workers, spans and samples */

#include "unit.h"

#include <math.h>

#include "roast-metrics.h"
#include "roast-run.h"
#include "sample.h"
#include "summed.h"
#include "timeline/block.h"
#include "util/cleanup.h"

static void test_an_empty_run_knows_nothing_and_says_why(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;

        (void)state;
        summarize(&summary, new_run());
        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                assert_int_equal(summary.metrics.values[i].state, ROAST_ABSENT);
                assert_true(*roast_metric_reason(&summary.metrics, i));
        }
        assert_absent(&summary, ROAST_TOTAL_EVENTS, "no report was given");
        assert_absent(&summary, ROAST_DATA_RATE_GBPS, "no report was given");
        assert_absent(&summary, ROAST_ELAPSED_TIME_SECONDS, "the run has not finished");
        assert_absent(&summary, ROAST_TOTAL_CORES, "no worker tracking");
}

static void test_a_report_is_taken_exactly(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.bytesread", INT64_MAX, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "report.entries", 9007199254740993, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "report.processtime", 0.1, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "report.chunks", 7, NULL), 0);
        summarize(&summary, run);
        assert_true(summary.metrics.values[ROAST_TOTAL_BYTES_READ].count == INT64_MAX);
        assert_true(summary.metrics.values[ROAST_TOTAL_EVENTS].count == 9007199254740993);
        assert_near(known(&summary, ROAST_AVG_CPU_TIME_PER_CHUNK), 0.1 / 7);
        assert_near(known(&summary, ROAST_ELAPSED_TIME_SECONDS), 10);
}

static void test_a_report_with_unusable_fields_says_which(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.bytesread", -1, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "report.entries", "many", NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "report.processtime", (double)INFINITY, NULL), 0);
        assert_int_equal(roast_run_fact_absent(run, "report.chunks", "not in the report", NULL), 0);
        summarize(&summary, run);
        assert_absent(&summary, ROAST_TOTAL_BYTES_READ, "the report's bytesread is negative");
        assert_absent(&summary, ROAST_DATA_RATE_MB_PER_S, "the report's bytesread is negative");
        assert_absent(&summary, ROAST_TOTAL_EVENTS, "the report's entries is not a number");
        assert_absent(&summary, ROAST_TOTAL_CPU_TIME, "the report's processtime is not finite");
        assert_absent(&summary, ROAST_NUM_CHUNKS, "not in the report");
}

static void test_a_report_of_zero_chunks_has_no_time_per_chunk(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.processtime", 5, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "report.chunks", 0, NULL), 0);
        summarize(&summary, run);
        assert_absent(&summary, ROAST_AVG_CPU_TIME_PER_CHUNK, "the report counts no chunks");
        assert_near(known(&summary, ROAST_TOTAL_CPU_TIME), 5);
        assert_true(known(&summary, ROAST_NUM_CHUNKS) == 0);
}

/* ---- workers ---- */

static void event(struct roast_run *run, double at_s, enum roast_worker_event kind,
                  const char *name, int64_t threads)
{
        const struct roast_worker worker = { name, NULL, -1, threads, -1 };

        assert_int_equal(
                roast_run_add_worker_event(run, UTC + (int64_t)(at_s * 1e9), kind, &worker, NULL),
                0);
}

static void test_workers_of_a_run_without_length_say_why_there_is_no_average(void **state)
{
        static const struct {
                int64_t end_utc_ns;
                const char *reason;
        } runs[] = {
                { UTC, "the run took no time" },
                { UTC - S, "the run ends before it begins" },
        };

        (void)state;
        for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
                struct roast_run *run = new_timed_run();

                assert_int_equal(
                        roast_run_fact_int(run, "run.end_utc_ns", runs[i].end_utc_ns, NULL), 0);
                event(run, 0, ROAST_WORKER_PRESENT, "a", 2);
                summarize(&summary, run);
                assert_near(known(&summary, ROAST_PEAK_WORKERS), 1);
                assert_absent(&summary, ROAST_AVG_WORKERS, runs[i].reason);
                assert_absent(&summary, ROAST_MEAN_WORKERS, runs[i].reason);
                assert_absent(&summary, ROAST_TOTAL_CORES, runs[i].reason);
                assert_absent(&summary, ROAST_CORES_PER_WORKER, runs[i].reason);
        }
}

static void test_workers_of_different_size_that_come_and_go_are_integrated(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, 0, ROAST_WORKER_PRESENT, "a", 2); /* 10 s */
        event(run, 2.5, ROAST_WORKER_CAME, "b", 4);  /* 5 s */
        event(run, 5, ROAST_WORKER_CAME, "c", 1);    /* 5 s */
        event(run, 7.5, ROAST_WORKER_WENT, "b", -1);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_AVG_WORKERS), (10 + 5 + 5) / 10.0);
        assert_near(known(&summary, ROAST_TOTAL_CORES), (20 + 20 + 5) / 10.0);
        assert_near(known(&summary, ROAST_CORES_PER_WORKER), 4.5 / 2);
        assert_true(known(&summary, ROAST_PEAK_WORKERS) == 3);
}

static void test_a_worker_that_comes_again_under_its_name_counts_once(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, 0, ROAST_WORKER_PRESENT, "a", 2);
        event(run, 4, ROAST_WORKER_CAME, "a", 4); /* restarted, its going was not seen */
        event(run, 6, ROAST_WORKER_WENT, "a", -1);
        event(run, 6, ROAST_WORKER_WENT, "a", -1); /* told twice */
        event(run, 8, ROAST_WORKER_CAME, "a", 1);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_AVG_WORKERS), 0.8);
        assert_near(known(&summary, ROAST_TOTAL_CORES), (4 * 2 + 2 * 4 + 2 * 1) / 10.0);
        assert_true(known(&summary, ROAST_PEAK_WORKERS) == 1);
}

static void test_what_happens_outside_of_the_run_does_not_count(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, -100, ROAST_WORKER_PRESENT, "a", 2);
        event(run, 50, ROAST_WORKER_WENT, "a", -1);
        event(run, 60, ROAST_WORKER_WENT, "never here", -1);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_AVG_WORKERS), 1);
        assert_near(known(&summary, ROAST_TOTAL_CORES), 2);
}

static void test_an_unfinished_run_is_integrated_up_to_the_last_event(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", UTC, NULL), 0);
        event(run, 0, ROAST_WORKER_PRESENT, "a", 2);
        event(run, 3, ROAST_WORKER_CAME, "b", 2);
        event(run, 4, ROAST_WORKER_WENT, "b", 2);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_AVG_WORKERS), 1.25);
        assert_absent(&summary, ROAST_CORE_EFFICIENCY, "no report was given");
}

static void test_random_comings_and_goings_against_a_plain_sum(void **state)
{
        uint64_t seed = 5;

        (void)state;
        for (size_t round = 0; round < 50; round++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
                struct roast_run *run = new_timed_run();
                int64_t threads[6] = { 0 };
                double workers_s = 0, threads_s = 0, at = 0;

                for (;;) {
                        double next = at + (double)sample_below(&seed, 1000) / 1000;
                        size_t which = sample_below(&seed, 6);
                        const char name[2] = { (char)('a' + which), '\0' };

                        if (next > 10)
                                next = 10;
                        for (size_t i = 0; i < 6; i++) {
                                workers_s += (next - at) * (threads[i] > 0);
                                threads_s += (next - at) * (double)threads[i];
                        }
                        at = next;
                        if (at >= 10)
                                break;
                        threads[which] = threads[which] ? 0 : 1 + (int64_t)sample_below(&seed, 8);
                        event(run, at, threads[which] ? ROAST_WORKER_CAME : ROAST_WORKER_WENT, name,
                              threads[which]);
                }
                summarize(&summary, run);
                /* the events are at whole nanoseconds */
                assert_true(fabs(known(&summary, ROAST_AVG_WORKERS) - workers_s / 10) < 1e-7);
                assert_true(fabs(known(&summary, ROAST_TOTAL_CORES) - threads_s / 10) < 1e-6);
        }
}

/* ---- spans ---- */

static void span(struct roast_run *run, const char *prefix, const char *activity, const char *unit,
                 double value)
{
        assert_int_equal(roast_run_add_span(run, "execute", prefix, activity, unit, value, NULL),
                         0);
}

static void test_spans_are_split_by_the_name_of_the_processor(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "processor.name", "Mine", NULL), 0);
        span(run, "Mine", "thread-cpu", "seconds", 3);
        span(run, "Mine", "thread-cpu", "seconds", 0.5);
        span(run, "Mine", "thread-noncpu", NULL, 1.5); /* no unit: the expected one */
        span(run, "Mine2", "thread-cpu", "seconds", 7);
        span(run, NULL, "thread-noncpu", "seconds", 2);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS), 3.5);
        assert_near(known(&summary, ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS), 1.5);
        assert_near(known(&summary, ROAST_OVERHEAD_CPU_TIME_SECONDS), 7);
        assert_near(known(&summary, ROAST_OVERHEAD_IO_WAIT_TIME_SECONDS), 2);
        assert_near(known(&summary, ROAST_PROCESSOR_CPU_PERCENT), 70);
        assert_near(known(&summary, ROAST_SPEEDUP_FACTOR), 1.05);
        assert_near(known(&summary, ROAST_IO_OVERHEAD_PCT), 35);
}

static void test_without_a_name_all_tasks_are_the_processors(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        span(run, "a", "thread-cpu", "seconds", 3);
        span(run, "b", "thread-cpu", "seconds", 4);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS), 7);
        assert_true(known(&summary, ROAST_OVERHEAD_CPU_TIME_SECONDS) == 0);
}

/* Dask cuts prefixes at 50 characters. */
static void test_a_processor_with_a_long_name_is_found(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();
        char name[61], prefix[51];

        (void)state;
        memset(name, 'P', 60);
        memset(prefix, 'P', 50);
        name[60] = prefix[50] = '\0';
        assert_int_equal(roast_run_fact_text(run, "processor.name", name, NULL), 0);
        span(run, prefix, "thread-cpu", "seconds", 3);
        prefix[49] = '\0';
        span(run, prefix, "thread-cpu", "seconds", 4);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS), 3);
        assert_near(known(&summary, ROAST_OVERHEAD_CPU_TIME_SECONDS), 4);
}

static void test_units_of_one_activity_do_not_mix(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "processor.name", "Mine", NULL), 0);
        span(run, "Mine", "disk-read", "bytes", 5e9);
        span(run, "reduce", "disk-read", "bytes", 1e9);
        span(run, "Mine", "disk-read", "seconds", 2);
        span(run, "Mine", "disk-read", "count", 3);
        span(run, "Mine", "disk-write", "bytes", 7);
        span(run, "Mine", "memory-read", "bytes", 11);
        span(run, "Mine", "memory-read", "seconds", 100);
        span(run, "x", "compress", "seconds", 1);
        span(run, "x", "compress", "bytes", 500);
        span(run, "x", "decompress", "seconds", 2);
        span(run, "x", "serialize", "seconds", 4);
        span(run, "x", "deserialize", "seconds", 8);
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_DISK_READ_BYTES) == 6e9);
        assert_true(known(&summary, ROAST_DISK_WRITE_BYTES) == 7);
        assert_true(known(&summary, ROAST_TOTAL_BYTES_MEMORY_READ) == 11);
        assert_true(known(&summary, ROAST_TOTAL_COMPRESSION_OVERHEAD_SECONDS) == 3);
        assert_true(known(&summary, ROAST_TOTAL_SERIALIZATION_OVERHEAD_SECONDS) == 12);
}

/* They tell that the spans work, not that the tasks took no time. */
static void test_spans_that_tell_nothing_of_tasks_leave_the_figures_absent(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(
                roast_run_add_span(run, "gather-dep", NULL, "thread-cpu", "seconds", 5, NULL), 0);
        span(run, "N/A", "idle or other spans", "seconds", 100);
        summarize(&summary, run);
        assert_absent(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS, "no fine metrics");
        assert_absent(&summary, ROAST_IO_OVERHEAD, "no fine metrics");
}

/* ---- samples ---- */

static void add_block(struct roast_run *run, const char *worker, const int64_t *times,
                      const int64_t *rss, size_t n)
{
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

        assert_int_equal(block_encode(&bytes, times, &rss, n, 1, NULL), 0);
        assert_int_equal(
                roast_run_add_series(run, worker, "rss_bytes/4096", bytes.data, bytes.len, NULL),
                0);
}

static void test_memory_is_averaged_over_time_and_workers(void **state)
{
        static const int64_t times[] = { 1000, 2000, 4000 }, rss[] = { 10, 20, 10 };
        static const int64_t once[] = { 1000 }, small[] = { 5 };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        add_block(run, "a", times, rss, 3);
        add_block(run, "b", once, small, 1);
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_PEAK_MEMORY_BYTES) == 20 * 4096);
        assert_near(known(&summary, ROAST_AVG_MEMORY_PER_WORKER_BYTES), (15 + 5) / 2.0 * 4096);
}

static void test_samples_of_any_time_are_summed_without_overflow(void **state)
{
        static const int64_t times[] = { INT64_MIN, 0, INT64_MAX, -1 };
        static const int64_t rss[] = { INT64_MAX, INT64_MIN, INT64_MAX, 1 };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        add_block(run, "a", times, rss, 4);
        summarize(&summary, run);
        assert_true(isfinite(known(&summary, ROAST_AVG_MEMORY_PER_WORKER_BYTES)));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_an_empty_run_knows_nothing_and_says_why),
                cmocka_unit_test(test_a_report_is_taken_exactly),
                cmocka_unit_test(test_a_report_with_unusable_fields_says_which),
                cmocka_unit_test(test_a_report_of_zero_chunks_has_no_time_per_chunk),
                cmocka_unit_test(test_workers_of_a_run_without_length_say_why_there_is_no_average),
                cmocka_unit_test(test_workers_of_different_size_that_come_and_go_are_integrated),
                cmocka_unit_test(test_a_worker_that_comes_again_under_its_name_counts_once),
                cmocka_unit_test(test_what_happens_outside_of_the_run_does_not_count),
                cmocka_unit_test(test_an_unfinished_run_is_integrated_up_to_the_last_event),
                cmocka_unit_test(test_random_comings_and_goings_against_a_plain_sum),
                cmocka_unit_test(test_spans_are_split_by_the_name_of_the_processor),
                cmocka_unit_test(test_without_a_name_all_tasks_are_the_processors),
                cmocka_unit_test(test_a_processor_with_a_long_name_is_found),
                cmocka_unit_test(test_units_of_one_activity_do_not_mix),
                cmocka_unit_test(test_spans_that_tell_nothing_of_tasks_leave_the_figures_absent),
                cmocka_unit_test(test_memory_is_averaged_over_time_and_workers),
                cmocka_unit_test(test_samples_of_any_time_are_summed_without_overflow),
        };

        return cmocka_run_group_tests_name("metrics-run", tests, NULL, NULL);
}
