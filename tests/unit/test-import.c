/* import/: whatever holds a run, recognised by content; measurements of format v1 */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "folder.h"
#include "roast-metrics.h"
#include "roast-run.h"
#include "sample.h"
#include "util/cleanup.h"

/* A small measurement as the earlier package wrote it; its samples are in local time, UTC+2. */
static const char metrics_json[] =
        "{\"total_events\": 300, \"total_bytes_read\": 4000, \"total_cpu_time\": 3.0,"
        " \"num_chunks\": 3, \"avg_cpu_time_per_chunk\": 1.5, \"elapsed_time_seconds\": 4.0,"
        " \"core_efficiency\": 0.1, \"processor_cpu_time_seconds\": 2.5, \"data_rate_gbps\": 7.0,"
        " \"per_dataset\": {\"A\": {\"num_chunks\": 3}}, \"compression_ratios\": [0.5],"
        " \"chunk_info\": {\"('/a.root', 0, 100)\": [1794772373.5, 1794772374.5, 9]},"
        " \"tracking_data\": {\"worker_counts\": {\"2026-11-15T21:52:52\": 1},"
        "  \"worker_memory\": {\"w1\": [[\"2026-11-15T21:52:52\", 100], [\"2026-11-15T21:52:54\", "
        "300],"
        "   [\"2026-11-15T21:52:56\", 300]], \"w2\": [[\"2026-11-15T21:52:52\", 500],"
        "   [\"2026-11-15T21:52:54\", 500]]},"
        "  \"worker_cores\": {\"w1\": [[\"2026-11-15T21:52:52\", 2], [\"2026-11-15T21:52:54\", 2],"
        "   [\"2026-11-15T21:52:56\", 2]], \"w2\": [[\"2026-11-15T21:52:52\", 4],"
        "   [\"2026-11-15T21:52:54\", 4]]},"
        "  \"worker_cpu\": {\"w1\": [[\"2026-11-15T21:52:52\", 99.5], [\"bad\", 1], [1, 2], 3]}},"
        " \"raw_chunk_metrics\": ["
        "  {\"t_start\": 1794772373.5, \"t_end\": 1794772374.5, \"duration\": 1.0, "
        "\"mem_before_mb\": 1.0,"
        "   \"mem_after_mb\": 3.0, \"num_events\": 100, \"dataset\": \"A\", \"file\": \"/a.root\", "
        "\"uuid\": null,"
        "   \"entry_start\": 0, \"entry_stop\": 100, \"bytes_read\": 1000, \"timing\": {\"fill\": "
        "0.25},"
        "   \"memory\": {\"fill\": 0.5}, \"bytes\": {\"fill\": 10}, \"accessed_branches\": [\"x\", "
        "\"y\"],"
        "   \"accessed_bytes\": 40, \"accessed_uncompressed_bytes\": 80,"
        "   \"file_metadata\": {\"total_branches\": 10, \"total_tree_bytes\": 400}, \"mine\": "
        "{\"a\": [1, null]}},"
        "  {\"t_start\": 1794772374.5, \"duration\": 2.0, \"num_events\": 200, \"dataset\": \"A\","
        "   \"file\": \"/a.root\", \"entry_start\": 100, \"entry_stop\": 300, \"bytes_read\": "
        "3000},"
        "  {\"t_start\": 1794772374.6, \"duration\": 0.5, \"dataset\": \"A\", \"error\": "
        "\"boom\"}, 7],"
        " \"raw_span_metrics\": {\"('execute', 'P', 'thread-cpu', 'seconds')\": 2.5,"
        "  \"('execute', 'reduce', 'thread-cpu', 'seconds')\": 0.5,"
        "  \"('execute', 'P', 'thread-noncpu', 'seconds')\": 1.0, \"nonsense\": 1}}";

static int write_measurement(void **state)
{
        static const char times[] = "10.5,14.5\n";
        static const char metadata[] = "{\"timestamp\": \"2026-11-15T21:53:00\", \"format\": "
                                       "\"roastcoffea_measurement_v1\"}";

        if (folder_make(state) < 0)
                return -1;
        folder_put_text(folder_path(state, "metrics.json"), metrics_json);
        folder_put_text(folder_path(state, "start_end_time.txt"), times);
        folder_put_text(folder_path(state, "metadata.json"), metadata);
        return 0;
}

static struct roast_run *open_good(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        if (roast_run_open_any(&run, path, &error) < 0)
                fail_msg("%s", error.message);
        return run;
}

static int open_code(const char *path, struct roast_error *error)
{
        struct roast_run *run = NULL;
        int r = roast_run_open_any(&run, path, error);

        roast_run_free(run);
        return r;
}

static double value(const struct roast_summary *summary, enum roast_metric metric)
{
        const struct roast_value *value = &summary->metrics.values[metric];

        return value->state == ROAST_ABSENT ? (double)NAN : value->real;
}

static void count_rows(const char *table, int64_t rows, void *context)
{
        (void)table;
        *(int64_t *)context += rows;
}

static void test_a_measurement_gives_its_metrics_again(void **state)
{
        int64_t rows = 0;
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_run *run = open_good(*state);
        struct roast_run_about about;

        assert_int_equal(roast_run_about(run, &about, NULL), 0);
        assert_true(about.start_utc_ns ==
                    INT64_C(1794772372000000000)); /* 2 hours before 21:52:52 */
        assert_true(about.end_utc_ns == INT64_C(1794772376000000000));
        assert_string_equal(about.outcome, "finished");
        assert_string_equal(roast_run_path(run), *state);
        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        assert_true(value(&summary, ROAST_TOTAL_EVENTS) == 300);
        assert_true(value(&summary, ROAST_TOTAL_BYTES_READ) == 4000);
        assert_true(value(&summary, ROAST_AVG_CPU_TIME_PER_CHUNK) == 1.5);
        assert_true(value(&summary, ROAST_ELAPSED_TIME_SECONDS) == 4);
        assert_true(value(&summary, ROAST_NUM_SUCCESSFUL_CHUNKS) == 2);
        assert_true(value(&summary, ROAST_NUM_FAILED_CHUNKS) == 1);
        assert_true(value(&summary, ROAST_CHUNK_DURATION_MEAN) == 1.5);
        assert_true(value(&summary, ROAST_CHUNK_MEM_DELTA_MEAN_MB) == 2);
        assert_true(value(&summary, ROAST_PEAK_WORKERS) == 2);
        assert_true(value(&summary, ROAST_AVG_WORKERS) == 1.5); /* w2 was there for half of it */
        assert_true(value(&summary, ROAST_TOTAL_CORES) == 4);
        assert_true(value(&summary, ROAST_PEAK_MEMORY_BYTES) == 500);
        assert_true(value(&summary, ROAST_AVG_MEMORY_PER_WORKER_BYTES) == (250 + 500) / 2.0);
        assert_true(value(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS) == 2.5);
        assert_true(value(&summary, ROAST_OVERHEAD_CPU_TIME_SECONDS) == 0.5);
        /* computed anew, whatever the measurement said */
        assert_true(value(&summary, ROAST_DATA_RATE_GBPS) == 4000 * 8 / 1e9 / 4);
        assert_true(value(&summary, ROAST_CORE_EFFICIENCY) == 3.0 / 16);
        assert_int_equal(summary.n_datasets, 1);
        assert_int_equal(summary.n_sections, 1);
        assert_int_equal(summary.sections[0].bytes, 10);
        assert_int_equal(roast_run_check(run, count_rows, &rows, NULL), 0);
        assert_true(rows > 20);
        /* it is for reading */
        assert_int_equal(roast_run_fact_int(run, "a", 1, NULL), ROAST_E_STATE);
        roast_run_free(run);
}

static void test_figures_without_raw_data_are_kept_and_marked(void **state)
{
        static const char text[] = "{\"total_events\": 5, \"elapsed_time_seconds\": 2.0,"
                                   " \"chunk_duration_mean\": 0.5, \"avg_workers\": 3.0,"
                                   " \"total_cores\": 6.0, \"data_rate_gbps\": 0,"
                                   " \"peak_memory_bytes\": NaN, \"tracking_data\": null}";
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_run *run;

        folder_put_text(folder_path(state, "metrics.json"), text);
        unlink(folder_path(state, "start_end_time.txt"));
        unlink(folder_path(state, "metadata.json"));
        run = open_good(*state);
        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        assert_true(value(&summary, ROAST_TOTAL_EVENTS) == 5);
        assert_true(value(&summary, ROAST_CHUNK_DURATION_MEAN) == 0.5);
        assert_int_equal(summary.metrics.values[ROAST_CHUNK_DURATION_MEAN].state, ROAST_ESTIMATED);
        assert_int_equal(summary.metrics.values[ROAST_AVG_WORKERS].state, ROAST_ESTIMATED);
        /* a formula over them is estimated, too */
        assert_int_equal(summary.metrics.values[ROAST_EVENT_RATE_CORE_HZ].state, ROAST_ESTIMATED);
        assert_true(value(&summary, ROAST_EVENT_RATE_CORE_HZ) == 5 / (2.0 * 6));
        assert_int_equal(summary.metrics.values[ROAST_DATA_RATE_GBPS].state, ROAST_ABSENT);
        assert_int_equal(summary.metrics.values[ROAST_PEAK_MEMORY_BYTES].state, ROAST_ABSENT);
        roast_run_free(run);
}

static void test_zeros_for_a_missing_report_are_absent(void **state)
{
        static const char text[] = "{\"total_events\": 0, \"total_bytes_read\": 0,"
                                   " \"total_cpu_time\": 2.0, \"elapsed_time_seconds\": 2.0}";
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_run *run;

        folder_put_text(folder_path(state, "metrics.json"), text);
        run = open_good(*state);
        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        assert_int_equal(summary.metrics.values[ROAST_TOTAL_EVENTS].state, ROAST_ABSENT);
        assert_int_equal(summary.metrics.values[ROAST_TOTAL_BYTES_READ].state, ROAST_ABSENT);
        roast_run_free(run);
}

static void test_chunk_info_stands_for_missing_records(void **state)
{
        static const char text[] =
                "{\"chunk_info\": {\"('/a.root', 0, 100)\": [1794772373.5, 1794772374.5, 9],"
                " \"('/a.root', 100, 200)\": [1794772374.5, 1794772377.5, 11], \"x\": [1, 2, 3]}}";
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_run *run;

        folder_put_text(folder_path(state, "metrics.json"), text);
        run = open_good(*state);
        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        assert_true(value(&summary, ROAST_NUM_SUCCESSFUL_CHUNKS) == 2);
        assert_true(value(&summary, ROAST_CHUNK_DURATION_MEAN) == 2);
        roast_run_free(run);
}

static void test_a_run_inside_the_directory_is_the_run(void **state)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, folder_path(state, "run.roast"), NULL), 0);
        assert_int_equal(sample_fill(run, 5, NULL), 0);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);
        run = open_good(*state);
        assert_string_equal(roast_run_path(run), folder_path(state, "run.roast"));
        roast_run_free(run);
        /* and no other is taken for it if it is damaged */
        folder_put_text(folder_path(state, "run.roast"), "junk");
        assert_int_equal(open_code(*state, NULL), ROAST_E_FORMAT);
}

static void test_what_holds_no_run_is_refused_with_the_reason(void **state)
{
        struct roast_error error = { 0 };

        assert_int_equal(open_code(folder_path(state, "nothing"), &error), ROAST_E_NOENT);
        mkdir(folder_path(state, "empty"), 0700);
        assert_int_equal(open_code(folder_path(state, "empty"), &error), ROAST_E_FORMAT);
        assert_has(error.message, "metrics.json");
        assert_int_equal(open_code(folder_path(state, "metrics.json"), &error), ROAST_E_FORMAT);
}

static void expect_refused(void **state, const char *name, const char *text, const char *reason)
{
        struct roast_error error = { 0 };

        folder_put_text(folder_path(state, name), text);
        assert_int_equal(open_code(*state, &error), ROAST_E_FORMAT);
        assert_has(error.message, reason);
        assert_has(error.message, name);
}

static void test_damaged_files_are_named(void **state)
{
        expect_refused(state, "start_end_time.txt", "1;2", "two numbers");
        expect_refused(state, "start_end_time.txt", "1,2,3", "two numbers");
        expect_refused(state, "start_end_time.txt", "1", "two numbers");
        expect_refused(state, "start_end_time.txt", "NaN,2", "two numbers");
        folder_put_text(folder_path(state, "start_end_time.txt"), " 1.5, 2.5 \n");
        expect_refused(state, "metadata.json", "{", "not valid JSON");
        folder_put_text(folder_path(state, "metadata.json"), "{}");
        expect_refused(state, "config.json", "{]", "not valid JSON");
        folder_put_text(folder_path(state, "config.json"), "[1]");
        expect_refused(state, "metrics.json", "[]", "an object is wanted");
        expect_refused(state, "metrics.json",
                       "{\"raw_chunk_metrics\": [], \"raw_chunk_metrics\": []}", "twice");
        expect_refused(state, "metrics.json",
                       "{\"tracking_data\": {\"worker_cpu\": {}, \"worker_cpu\": {}}}", "twice");
        expect_refused(state, "metrics.json",
                       "{\"raw_chunk_metrics\": [{\"timing\": {}, \"timing\": {}}]}", "twice");
}

static void test_values_of_any_kind_do_no_harm(void **state)
{
        static const char *const texts[] = {
                "{\"raw_chunk_metrics\": {\"a\": 1}, \"tracking_data\": [1], \"raw_span_metrics\": "
                "3}",
                "{\"raw_chunk_metrics\": [{\"t_start\": 1e300, \"duration\": -1e300, "
                "\"num_events\": \"x\","
                " \"timing\": [1], \"memory\": {\"a\": null}, \"accessed_branches\": {\"x\": 1},"
                " \"branch_bytes\": {\"q\": 1}, \"file_metadata\": 3, \"metadata\": [], "
                "\"outcome\": 9,"
                " \"wall_split\": 1, \"entry_start\": 9223372036854775808, \"error\": null}]}",
                "{\"raw_chunk_metrics\": [{\"t_start\": -9e9, \"duration\": 1.8e10}, {}]}",
                "{\"tracking_data\": {\"worker_memory\": {\"w\": [[\"1970-01-01T00:00:00\", -5],"
                " [\"2200-12-31T00:00:00\", 1e400], [\"2200-12-31T00:00:00\", 9e18]]}},"
                " \"raw_chunk_metrics\": [{\"t_start\": 9.1e9, \"duration\": 9e9}]}",
                "{\"chunk_info\": {\"('f', 1, 2)\": [-9.1e9, 9.1e9, 1]}}",
                "{\"\\u0000\": 1, \"total_events\": -3, \"avg_cpu_time_per_chunk\": 1e-300,"
                " \"total_cpu_time\": 1e300}",
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
                struct roast_run *run;

                folder_put_text(folder_path(state, "metrics.json"), texts[i]);
                run = open_good(*state);
                assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
                roast_run_free(run);
        }
}

static void test_a_measurement_that_is_cut_anywhere_is_refused(void **state)
{
        for (size_t len = 0; len < sizeof(metrics_json) - 1; len += 23) {
                struct roast_error error = { 0 };

                folder_put(folder_path(state, "metrics.json"), metrics_json, len);
                assert_int_equal(open_code(*state, &error), ROAST_E_FORMAT);
                assert_has(error.message, "metrics.json");
        }
}

static void test_many_records_go_in_batches(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_run *run;
        FILE *out = fopen(folder_path(state, "metrics.json"), "w");

        assert_non_null(out);
        fputs("{\"raw_chunk_metrics\": [", out);
        for (int i = 0; i < 2500; i++)
                fprintf(out, "%s{\"t_start\": %d.25, \"duration\": 1, \"num_events\": %d}",
                        i ? "," : "", 1794772373 + i, i);
        fputs("]}", out);
        fclose(out);
        run = open_good(*state);
        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        assert_true(value(&summary, ROAST_NUM_SUCCESSFUL_CHUNKS) == 2500);
        assert_true(value(&summary, ROAST_TOTAL_EVENTS_FROM_CHUNKS) == 2500 * 2499 / 2);
        roast_run_free(run);
}

static void test_running_out_of_memory_is_an_error(void **state)
{
        struct roast_error error = { 0 };
        int r = ROAST_E_NOMEM;

        for (long n = 0; r < 0; n += 1 + n / 40) {
                struct roast_run *run = NULL;

                alloc_fail_after(n);
                r = roast_run_open_any(&run, *state, &error);
                alloc_fail_after(-1);
                roast_run_free(run);
                if (r < 0 && r != ROAST_E_NOMEM && r != ROAST_E_IO && r != ROAST_E_FORMAT)
                        fail_msg("%ld: %d: %s", n, r, error.message);
                assert_true(n < 100000);
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, write_measurement, folder_remove)
        const struct CMUnitTest tests[] = {
                TEST(test_a_measurement_gives_its_metrics_again),
                TEST(test_figures_without_raw_data_are_kept_and_marked),
                TEST(test_zeros_for_a_missing_report_are_absent),
                TEST(test_chunk_info_stands_for_missing_records),
                TEST(test_a_run_inside_the_directory_is_the_run),
                TEST(test_what_holds_no_run_is_refused_with_the_reason),
                TEST(test_damaged_files_are_named),
                TEST(test_values_of_any_kind_do_no_harm),
                TEST(test_a_measurement_that_is_cut_anywhere_is_refused),
                TEST(test_many_records_go_in_batches),
                TEST(test_running_out_of_memory_is_an_error),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
