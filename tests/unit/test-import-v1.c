/* import/v1: measurements of format v1 in all the shapes that their files may have */

#include "unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "record/chunk.h"
#include "roast-run.h"
#include "sample.h"
#include "stored.h"
#include "util/cleanup.h"
#include "util/size.h"

#define S    SAMPLE_S
#define NOON (INT64_C(1794744000) * S) /* 2026-11-15 12:00:00 UTC */

static struct roast_run *open_text(void **state, const char *metrics)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        folder_put_text(folder_path(state, "metrics.json"), metrics);
        if (roast_run_open_any(&run, *state, &error) < 0)
                fail_msg("%s", error.message);
        return run;
}

static void expect_refused(void **state, int code, const char *name, const char *reason)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        assert_int_equal(roast_run_open_any(&run, *state, &error), code);
        assert_has(error.message, name);
        assert_has(error.message, reason);
}

/* ---- records ---- */

static void test_a_record_as_this_package_writes_it(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = open_text(
                state,
                "{\"raw_chunk_metrics\": ["
                " {\"duration\": 2.0, \"wall_split\": {\"cpu\": 1.0, \"gil\": 0.25, \"other\": "
                "0.75,"
                "  \"samples\": 4, \"more\": [1]}, \"peak_source\": \"exact\", \"outcome\": "
                "\"lost\"},"
                " {\"duration\": 1, \"peak_source\": \"sampled\", \"outcome\": \"unheard of\"},"
                " {\"duration\": 3, \"error_message\": \"first\", \"error\": \"second\","
                "  \"metadata\": {}, \"unused_branches\": 7, \"custom\": 1, \"t_end\": 4},"
                " {\"duration\": 4, \"error\": {\"not\": \"a text\"}, \"outcome\": "
                "\"finished\"}]}");

        ASSERT_COLUMN(run, "chunk", "wall_ns", 2 * S, S, 3 * S, 4 * S);
        ASSERT_COLUMN(run, "chunk", "cpu_ns", S, INT64_MIN, INT64_MIN, INT64_MIN);
        ASSERT_COLUMN(run, "chunk", "gil_ns", S / 4, INT64_MIN, INT64_MIN, INT64_MIN);
        ASSERT_COLUMN(run, "chunk", "other_ns", 3 * S / 4, INT64_MIN, INT64_MIN, INT64_MIN);
        ASSERT_COLUMN(run, "chunk", "split_samples", 4, INT64_MIN, INT64_MIN, INT64_MIN);
        ASSERT_COLUMN(run, "chunk", "peak_source", CHUNK_PEAK_EXACT, CHUNK_PEAK_SAMPLED, INT64_MIN,
                      INT64_MIN);
        /* the key alone makes a failure, as in the aggregation of records */
        ASSERT_COLUMN(run, "chunk", "outcome", CHUNK_LOST, CHUNK_FINISHED, CHUNK_FAILED,
                      CHUNK_FAILED);
}

/* Where the bytes of each branch are told, the percentage tells those of the whole file. */
static void test_bytes_of_the_branches_that_a_chunk_touched(void **state)
{
#define TREE "\"file_metadata\": {\"total_branches\": 10, \"total_tree_bytes\": 1000, \"x\": [2]}"
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = open_text(
                state, "{\"raw_chunk_metrics\": ["
                       " {\"entry_start\": 0, \"accessed_branches\": [\"x\", 5, \"yy\"],"
                       "  \"branch_bytes\": {\"yy\": 30, \"z\": 7, \"xx\": 8, \"x\": 10}, " TREE ","
                       "  \"bytes_read_percent\": 40.0, \"accessed_bytes\": 40,"
                       "  \"accessed_uncompressed_bytes\": 80},"
                       " {\"entry_start\": 1, \"branch_bytes\": {}, " TREE ","
                       "  \"bytes_read_percent\": 40.0, \"accessed_bytes\": 40},"
                       " {\"entry_start\": 2, \"branch_bytes\": {}, " TREE ","
                       "  \"bytes_read_percent\": 140.0},"
                       " {\"entry_start\": 3, \"branch_bytes\": {}, " TREE ","
                       "  \"bytes_read_percent\": null},"
                       " {\"entry_start\": 4, \"branch_bytes\": {}, " TREE ","
                       "  \"bytes_read_percent\": -1},"
                       " {\"entry_start\": 5, \"branch_bytes\": [], \"bytes_read_percent\": 40.0},"
                       " {\"entry_start\": 6, \"accessed_bytes\": 40}]}");

        ASSERT_COLUMN(run, "chunk", "selected_bytes", 400, 400, INT64_MIN, INT64_MIN, INT64_MIN,
                      INT64_MIN, 40);
        ASSERT_COLUMN(run, "chunk", "selected_uncompressed_bytes", 800, INT64_MIN, INT64_MIN,
                      INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN);
        ASSERT_COLUMN(run, "chunk", "tree_branches", 10, 10, 10, 10, 10, INT64_MIN, INT64_MIN);
        ASSERT_COLUMN(run, "branch", "bytes", 10, 30);
}

/* They began at the same time, as far as their stamps tell, and no process is named. */
static void test_chunks_of_two_workers_are_two(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run =
                open_text(state, "{\"raw_chunk_metrics\": ["
                                 " {\"t_start\": 1e9, \"worker\": \"w1\", \"num_events\": 1},"
                                 " {\"t_start\": 1e9, \"worker\": \"w2\", \"num_events\": 2},"
                                 " {\"t_start\": 1e9, \"worker\": \"w2\", \"num_events\": 2}]}");

        ASSERT_COLUMN(run, "chunk", "num_events", 1, 2);
}

static void test_chunk_info_of_other_shapes(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = open_text(
                state, "{\"chunk_info\": {\"('a', 0, 10)\": [5.5, 6.0, 9, [\"more\"]],"
                       " \"('a', 10, 20)\": [null, 6.0, null], \"('a', 20, 30)\": [6.5, 5.0, 3],"
                       " \"('a', 30)\": [1, 2, 3], \"(0, 1, 2)\": [1, 2, 3],"
                       " \"('a', 'b', 2)\": [1, 2, 3], \"('a', 1, None)\": [1, 2, 3],"
                       " \"('a', 40, 50)\": {\"x\": 1}}}");

        ASSERT_COLUMN(run, "chunk", "entry_stop", 10, 20, 30);
        ASSERT_COLUMN(run, "chunk", "start_utc_ns", 11 * S / 2, INT64_MIN, 13 * S / 2);
        ASSERT_COLUMN(run, "chunk", "wall_ns", S / 2, INT64_MIN, INT64_MIN);
        ASSERT_COLUMN(run, "chunk", "requested_bytes", 9, INT64_MIN, 3);
}

/* ---- samples ---- */

static void test_workers_come_change_and_go(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = open_text(
                state,
                "{\"tracking_data\": {\"worker_cores\": {"
                "  \"w1\": [[\"2026-11-15T12:00:10\", 4], [\"2026-11-15T12:00:00\", 2], [5, 6],"
                "   [\"2026-11-15T12:00:05\", \"x\"], [\"2026-11-15T12:00:05\", -1],"
                "   [\"2026-11-15T12:00:05\"]],"
                "  \"w2\": [[\"2026-11-15T12:00:04\", 1, \"more\"]], \"w3\": 7},"
                " \"worker_memory_limit\": {\"w1\": [[\"2026-11-15T12:00:00\", 1000],"
                "  [\"2026-11-15T12:00:10\", 1000]]},"
                " \"worker_memory\": {\"w1\": [[\"2026-11-15T12:00:10\", 70],"
                "  [\"2026-11-15T12:00:00\", 50]]},"
                " \"worker_cpu\": 3, \"other\": [1], \"worker_counts\": 5}}");

        ASSERT_COLUMN(run, "worker_event", "kind", ROAST_WORKER_PRESENT, ROAST_WORKER_CAME,
                      ROAST_WORKER_WENT, ROAST_WORKER_CAME);
        ASSERT_COLUMN(run, "worker_event", "utc_ns", NOON, NOON + 4 * S, NOON + 4 * S,
                      NOON + 10 * S);
        ASSERT_COLUMN(run, "worker_event", "threads", 2, 1, 1, 4);
        ASSERT_COLUMN(run, "worker_event", "memory_limit_bytes", 1000, INT64_MIN, INT64_MIN, 1000);
}

static void test_many_samples_of_a_worker_go_in_blocks(void **state)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct roast_run_column times = { 0 }, values = { 0 };

        assert_int_equal(buf_puts(&text, "{\"tracking_data\": {\"worker_memory\": {\"w\": ["), 0);
        for (int i = 0; i < 300; i++)
                assert_int_equal(buf_printf(&text, "%s[\"2026-11-15T12:%02d:%02d\", %d]",
                                            i ? ", " : "", i / 60, i % 60, 1000 + i),
                                 0);
        assert_int_equal(buf_append(&text, "]}}}", 5), 0);
        run = open_text(state, (const char *)text.data);
        assert_int_equal(roast_run_read_series(run, "w", "rss_bytes", &times, &values, NULL), 0);
        assert_int_equal(values.n, 300);
        for (size_t i = 0; i < values.n; i++) {
                assert_int_equal(times.values[i], NOON + (int64_t)i * S);
                assert_int_equal(values.values[i], 1000 + i);
        }
        free(times.values);
        free(values.values);
}

static void test_how_often_workers_were_looked_at(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = open_text(
                state,
                "{\"tracking_data\": {\"worker_counts\": {\"2026-11-15T12:00:03\": 1,"
                " \"2026-11-15T12:00:00\": [2], \"never\": 3, \"2026-11-15T12:00:08\": 1}}}");
        struct found interval = find_fact(run, "backend.interval_s");

        assert_true(interval.found);
        assert_true(interval.fact.real == 4);
}

/* ---- when it was ---- */

static void assert_times(struct roast_run *run, int64_t start, int64_t end)
{
        struct roast_run_about about;

        assert_int_equal(roast_run_about(run, &about, NULL), 0);
        if (about.start_utc_ns != start || about.end_utc_ns != end)
                fail_msg("%lld to %lld", (long long)about.start_utc_ns,
                         (long long)about.end_utc_ns);
}

static void test_metadata_tell_when_nothing_else_does(void **state)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;

        folder_put_text(folder_path(state, "metadata.json"),
                        "{\"timestamp\": \"2026-11-15T12:00:00\", \"elapsed_time_seconds\": 7.5,"
                        " \"more\": [1]}");
        run = open_text(state, "{}");
        assert_times(run, NOON - 15 * S / 2, NOON);
        assert_int_equal(fact_int(run, "run.elapsed_ns"), 15 * S / 2);
}

/* What the stopwatch says goes before metadata, which may have other types. */
static void test_a_stopwatch_goes_before_the_metadata(void **state)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;

        folder_put_text(folder_path(state, "start_end_time.txt"), "10.5,13.0\n");
        folder_put_text(folder_path(state, "metadata.json"),
                        "{\"timestamp\": \"2026-11-15T12:00:00\", \"elapsed_time_seconds\": 7.5}");
        run = open_text(state, "{}");
        assert_times(run, NOON - 5 * S / 2, NOON);
        roast_run_free(run);
        folder_put_text(folder_path(state, "metadata.json"),
                        "{\"elapsed_time_seconds\": \"x\", \"timestamp\": 5}");
        run = open_text(state, "{}");
        assert_int_equal(fact_int(run, "run.elapsed_ns"), 5 * S / 2);
}

static void test_a_length_that_cannot_be_is_not_known(void **state)
{
        static const char *const times[] = { "13,10", "0,1e10" };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(times); i++) {
                ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
                struct found elapsed;

                folder_put_text(folder_path(state, "start_end_time.txt"), times[i]);
                run = open_text(state, "{}");
                elapsed = find_fact(run, "run.elapsed_ns");
                assert_int_equal(elapsed.fact.type, ROAST_FACT_ABSENT);
                assert_string_equal(elapsed.text, "the measurement does not tell it");
        }
}

/* A clock that counts from 1970, half a second before the first chunk */
static void test_the_beginning_by_a_clock_that_counts_from_1970(void **state)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;

        folder_put_text(folder_path(state, "start_end_time.txt"), "1794744000.5,1794744004.5");
        run = open_text(state,
                        "{\"raw_chunk_metrics\": [{\"t_start\": 1794744002, \"duration\": 1},"
                        " {\"t_start\": 1794744001, \"duration\": 1}]}");
        assert_times(run, NOON + S / 2, NOON + 9 * S / 2);
}

/* Days between samples and chunks are no time zone. */
static void test_samples_of_another_day_are_not_moved(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = open_text(
                state, "{\"raw_chunk_metrics\": [{\"t_start\": 1794744000, \"duration\": 1}],"
                       " \"tracking_data\": {\"worker_memory\": {\"w\":"
                       " [[\"2026-11-18T12:00:00\", 50]]}}}");

        assert_false(find_fact(run, "import.offset_ns").found);
        assert_times(run, NOON, NOON + 3 * 86400 * S);
}

/* Samples over an hour from noon, as a clock in another zone says, and a chunk among them */
static void test_samples_are_moved_by_whole_zones(void **state)
{
        static const struct {
                int hour, minute; /* of the first sample */
                int64_t chunk_s;  /* after noon */
                int64_t offset_s;
        } rows[] = {
                { 12, 0, 10, 0 },        { 12, 0, 600, 0 },      { 12, 0, 1500, 0 },
                { 14, 0, 10, -7200 },    { 14, 0, 1500, -7200 }, { 7, 0, 600, 18000 },
                { 17, 30, 600, -19800 },
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
                char text[600];
                struct found offset;

                snprintf(text, sizeof(text),
                         "{\"raw_chunk_metrics\": [{\"t_start\": %lld, \"duration\": 1800}],"
                         " \"tracking_data\": {\"worker_memory\": {\"w\":"
                         " [[\"2026-11-15T%02d:%02d:00\", 50], [\"2026-11-15T%02d:%02d:00\", "
                         "50]]}}}",
                         1794744000 + (long long)rows[i].chunk_s, rows[i].hour, rows[i].minute,
                         rows[i].hour + 1, rows[i].minute);
                run = open_text(state, text);
                offset = find_fact(run, "import.offset_ns");
                assert_int_equal(offset.found ? offset.fact.integer : 0, rows[i].offset_s * S);
        }
}

/* ---- what else is told ---- */

static void test_the_processor_is_the_one_whose_time_was_told(void **state)
{
        static const struct {
                const char *metrics, *name;
        } rows[] = {
                { "{\"processor_cpu_time_seconds\": 2.5, \"raw_span_metrics\": {"
                  "\"('execute', 'P', 'thread-cpu', 'seconds')\": 2.5,"
                  " \"('execute', 'Q', 'thread-cpu', 'seconds')\": 1.5}}",
                  "P" },
                { "{\"processor_cpu_time_seconds\": 2.5, \"raw_span_metrics\": {"
                  "\"('execute', 'P', 'thread-cpu', 'seconds')\": 2.5,"
                  " \"('execute', 'Q', 'thread-cpu', 'seconds')\": 2.5}}",
                  NULL },
                { "{\"processor_cpu_time_seconds\": 0, \"raw_span_metrics\": {"
                  "\"('execute', 'P', 'thread-cpu', 'seconds')\": 0}}",
                  NULL },
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                ROAST_CLEANUP(sample_freep)
                struct roast_run *run = open_text(state, rows[i].metrics);
                struct found name = find_fact(run, "processor.name");

                assert_int_equal(name.found, rows[i].name != NULL);
                if (rows[i].name)
                        assert_string_equal(name.text, rows[i].name);
        }
}

static void test_the_configuration_is_kept_as_it_is(void **state)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;

        folder_put_text(folder_path(state, "config.json"), "{\"workers\" : 4}\n");
        run = open_text(state, "{}");
        assert_string_equal(find_fact(run, "import.config").text, "{\"workers\" : 4}\n");
}

/* ---- files that are none, or too large ---- */

static void test_files_beside_the_metrics_must_be_files(void **state)
{
        static const char *const names[] = { "start_end_time.txt", "metadata.json", "config.json" };

        folder_put_text(folder_path(state, "metrics.json"), "{}");
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(names); i++) {
                assert_int_equal(mkdir(folder_path(state, names[i]), 0700), 0);
                expect_refused(state, ROAST_E_FORMAT, names[i], "is not a regular file");
                assert_int_equal(rmdir(folder_path(state, names[i])), 0);
        }
        unlink(folder_path(state, "metrics.json"));
        assert_int_equal(mkdir(folder_path(state, "metrics.json"), 0700), 0);
        expect_refused(state, ROAST_E_FORMAT, "metrics.json", "");
}

static void test_files_beside_the_metrics_have_a_limit(void **state)
{
        static const char *const names[] = { "start_end_time.txt", "metadata.json", "config.json" };

        folder_put_text(folder_path(state, "metrics.json"), "{}");
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(names); i++) {
                folder_put_text(folder_path(state, names[i]), "1");
                assert_int_equal(truncate(folder_path(state, names[i]), (1 << 20) + 1), 0);
                expect_refused(state, ROAST_E_INVALID, names[i], "has more than 1 MB");
                unlink(folder_path(state, names[i]));
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
        const struct CMUnitTest tests[] = {
                TEST(test_a_record_as_this_package_writes_it),
                TEST(test_bytes_of_the_branches_that_a_chunk_touched),
                TEST(test_chunks_of_two_workers_are_two),
                TEST(test_chunk_info_of_other_shapes),
                TEST(test_workers_come_change_and_go),
                TEST(test_many_samples_of_a_worker_go_in_blocks),
                TEST(test_how_often_workers_were_looked_at),
                TEST(test_metadata_tell_when_nothing_else_does),
                TEST(test_a_stopwatch_goes_before_the_metadata),
                TEST(test_a_length_that_cannot_be_is_not_known),
                TEST(test_the_beginning_by_a_clock_that_counts_from_1970),
                TEST(test_samples_of_another_day_are_not_moved),
                TEST(test_samples_are_moved_by_whole_zones),
                TEST(test_the_processor_is_the_one_whose_time_was_told),
                TEST(test_the_configuration_is_kept_as_it_is),
                TEST(test_files_beside_the_metrics_must_be_files),
                TEST(test_files_beside_the_metrics_have_a_limit),
        };

        return cmocka_run_group_tests_name("import-v1", tests, NULL, NULL);
}
