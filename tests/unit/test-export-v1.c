/* export/v1: a run as a measurement directory, in the documented keys */

#include "unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "roast-export.h"
#include "summed.h"
#include "timeline/block.h"
#include "util/cbor.h"
#include "util/cleanup.h"

/* The text of a file that was written; the caller frees. */
static char *written(void **state, const char *name)
{
        char *text = folder_text(folder_path(state, name));

        assert_non_null(text);
        return text;
}

/* Without what stands between values */
static char *compact(char *text)
{
        char *to = text;
        bool in_string = false;

        for (const char *at = text; *at; at++) {
                if (*at == '"' && (at == text || at[-1] != '\\'))
                        in_string = !in_string;
                if (in_string || (*at != ' ' && *at != '\n'))
                        *to++ = *at;
        }
        *to = '\0';
        return text;
}

/* Writes "m" and takes the run; returns its metrics.json. */
static char *export_run(void **state, struct roast_run *run)
{
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        if (roast_export_v1(run, folder_path(state, "m"), NULL, &error) < 0)
                fail_msg("%s", error.message);
        roast_run_free(run);
        return compact(written(state, "m/metrics.json"));
}

/* A second of a file's first hundred entries */
static void add_chunk(struct chunk_table *table, const char *file, const char *dataset,
                      int64_t outcome)
{
        size_t row = table->n;

        assert_int_equal(chunk_table_add(table), 0);
        assert_int_equal(chunk_table_set_text(table, row, CHUNK_FILE, file, strlen(file)), 0);
        if (dataset)
                assert_int_equal(
                        chunk_table_set_text(table, row, CHUNK_DATASET, dataset, strlen(dataset)),
                        0);
        chunk_table_set(table, row, CHUNK_ENTRY_START, 0);
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, 100);
        chunk_table_set(table, row, CHUNK_OUTCOME, outcome);
        chunk_table_set(table, row, CHUNK_START_UTC_NS, UTC);
        chunk_table_set(table, row, CHUNK_WALL_NS, S);
}

static void test_an_empty_run_has_zeros_and_nulls_as_documented(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *text = export_run(state, new_run());
        ROAST_CLEANUP(cleanup_free) char *times = written(state, "m/start_end_time.txt");

        assert_has(text, "\"total_events\":0");
        assert_has(text, "\"tracking_data\":null");
        assert_has_not(text, "per_dataset");
        assert_has_not(text, "chunk_info");
        assert_has_not(text, "raw_span_metrics");
        assert_has_not(text, "file_metadata");
        assert_string_equal(times, "0,0\n");
        assert_int_equal(access(folder_path(state, "m/run.roast"), R_OK), 0);
        assert_int_equal(access(folder_path(state, "m/config.json"), F_OK), -1);
}

/* Names of files as Python's repr() shows them, which is how they are read again */
static void test_keys_that_are_tuples_are_quoted_as_python_does(void **state)
{
        static const char *const names[] = { "it's.root", "a\\b.root", "tab\t.root",
                                             "'\".root",  "\x7f.root", "plain.root" };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run *run = new_timed_run();

        chunk_table_init(&table);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                add_chunk(&table, names[i], "A", CHUNK_FINISHED);
        add_table(run, &table);
        text = export_run(state, run);
        assert_has(text, "\"(\\\"it's.root\\\", 0, 100)\"");
        assert_has(text, "\"('a\\\\\\\\b.root', 0, 100)\"");
        assert_has(text, "\"('tab\\\\x09.root', 0, 100)\"");
        assert_has(text, "\"('\\\\'\\\".root', 0, 100)\"");
        assert_has(text, "\"('\\\\x7f.root', 0, 100)\"");
        assert_has(text, "\"('plain.root', 0, 100)\"");
}

/* Failed attempts have some, as every record that says where and when */
static void test_attempts_without_a_place_have_no_information(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run *run = new_timed_run();

        chunk_table_init(&table);
        add_chunk(&table, "failed.root", "A", CHUNK_FAILED);
        add_chunk(&table, "timeless.root", "A", CHUNK_FINISHED);
        chunk_table_set(&table, 1, CHUNK_WALL_NS, CHUNK_ABSENT);
        add_chunk(&table, "startless.root", "A", CHUNK_FINISHED);
        chunk_table_set(&table, 2, CHUNK_ENTRY_START, CHUNK_ABSENT);
        add_chunk(&table, "endless.root", "A", CHUNK_FINISHED);
        chunk_table_set(&table, 3, CHUNK_ENTRY_STOP, CHUNK_ABSENT);
        add_chunk(&table, "graph.root", "A", CHUNK_GRAPH);
        add_table(run, &table);
        text = export_run(state, run);
        assert_has(text,
                   "\"chunk_info\":{\"('failed.root', 0, 100)\":[1794772988.0,1794772989.0,0]}");
        assert_has(text, "\"endless.root\"");
        assert_has(text, "\"raw_chunk_metrics\"");
}

static void test_datasets_of_which_nothing_finished_are_left_out(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        const char *datasets;
        struct roast_run *run = new_timed_run();

        chunk_table_init(&table);
        add_chunk(&table, "a.root", NULL, CHUNK_FINISHED);
        chunk_table_set(&table, 0, CHUNK_NUM_EVENTS, 50);
        add_chunk(&table, "b.root", "failing", CHUNK_FAILED);
        add_chunk(&table, "c.root", "empty", CHUNK_FINISHED);
        add_table(run, &table);
        text = export_run(state, run);
        datasets = strstr(text, "\"per_dataset\"");
        assert_non_null(datasets);
        *strstr(datasets, "\"compression_ratios\"") = '\0';
        assert_has(datasets, "\"None\":{"); /* as Python's str() has it */
        assert_has(datasets, "\"mean_events_per_chunk\":50");
        assert_has_not(datasets, "failing");
        assert_has_not(strstr(datasets, "\"empty\""), "mean_events_per_chunk");
}

static void put_metadata(struct chunk_table *table)
{
        ROAST_CLEANUP(buf_deinit) struct buf map = BUF_INIT;

        assert_int_equal(cbor_put(&map, CBOR_MAP, 1), 0);
        assert_int_equal(cbor_put_text(&map, "compression_ratio", 17), 0);
        assert_int_equal(cbor_put_real(&map, 0.375), 0);
        assert_int_equal(chunk_table_set_text(table, table->n - 1, CHUNK_FILE_METADATA,
                                              (const char *)map.data, map.len),
                         0);
}

static void test_what_was_read_of_each_file(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run *run = new_timed_run();

        chunk_table_init(&table);
        add_chunk(&table, "a.root", "A", CHUNK_FINISHED);
        put_metadata(&table);
        chunk_table_set(&table, 0, CHUNK_TREE_BRANCHES, 20);
        chunk_table_set(&table, 0, CHUNK_TREE_BYTES, 1000);
        chunk_table_set(&table, 0, CHUNK_SELECTED_BYTES, 125);
        add_chunk(&table, "b.root", "A", CHUNK_FINISHED);
        add_table(run, &table);
        text = export_run(state, run);
        assert_has(text, "\"compression_ratio\":0.375");
        assert_has(text, "\"total_branches\":20");
        assert_has(text, "\"bytes_read_percent\":12.5");
}

static void test_a_mean_of_a_dataset_is_over_the_chunks_whose_time_is_known(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run *run = new_timed_run();

        chunk_table_init(&table);
        add_chunk(&table, "a.root", "TTbar", CHUNK_FINISHED);
        add_chunk(&table, "b.root", "TTbar", CHUNK_FINISHED);
        chunk_table_set(&table, 1, CHUNK_WALL_NS, CHUNK_ABSENT);
        add_chunk(&table, "c.root", "silent", CHUNK_FINISHED);
        chunk_table_set(&table, 2, CHUNK_WALL_NS, CHUNK_ABSENT);
        add_table(run, &table);
        text = export_run(state, run);
        assert_has(text, "\"TTbar\":{\"num_chunks\":2,\"total_duration\":1.0,\"total_events\":0,"
                         "\"mean_duration\":1.0}");
        assert_has(text, "\"silent\":{\"num_chunks\":1,\"total_duration\":0.0,\"total_events\":0,"
                         "\"mean_duration\":0.0}");
}

static void test_spans_have_their_tuples(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run *run = new_timed_run();

        assert_int_equal(
                roast_run_add_span(run, "execute", "P", "thread-cpu", "seconds", 2.5, NULL), 0);
        assert_int_equal(roast_run_add_span(run, "execute", NULL, "disk-read", "bytes", 7, NULL),
                         0);
        assert_int_equal(roast_run_add_span(run, "execute", "P", "executor", NULL, 1e16, NULL), 0);
        text = export_run(state, run);
        assert_has(text, "\"('execute', 'P', 'thread-cpu', 'seconds')\":2.5");
        assert_has(text, "\"('execute', None, 'disk-read', 'bytes')\":7");
        assert_has(text, "\"('execute', 'P', 'executor')\":1e+16");
}

static void test_metrics_of_the_user_are_keys(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run *run = new_timed_run();

        assert_int_equal(roast_run_fact_real(run, "metric.events_per_joule", 12.5, NULL), 0);
        assert_int_equal(roast_run_fact_absent(run, "metric.joules", "no meter", NULL), 0);
        text = export_run(state, run);
        assert_has(text, "\"events_per_joule\":12.5");
        assert_has_not(text, "joules\"");
}

/* ---- samples ---- */

static void add_samples(struct roast_run *run, const char *worker, int64_t utc_ms)
{
        ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;
        const int64_t times[] = { utc_ms, utc_ms + 250 }, cpu[] = { 1500, -1 };
        const struct roast_worker row = { worker, NULL, -1, 2, 1000 };

        assert_int_equal(
                roast_run_add_worker_event(run, utc_ms * 1000000, ROAST_WORKER_CAME, &row, NULL),
                0);
        assert_int_equal(block_encode(&block, times, (const int64_t *[]){ cpu }, 2, 1, NULL), 0);
        assert_int_equal(roast_run_add_series(run, worker, "dask_cpu_millipercent", block.data,
                                              block.len, NULL),
                         0);
}

static void test_samples_are_counted_at_the_interval_of_the_back_end(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run *run = new_timed_run();

        assert_int_equal(roast_run_fact_real(run, "backend.interval_s", 4, NULL), 0);
        add_samples(run, "tcp://a:1", UTC / 1000000);
        add_samples(run, "tcp://b:1", UTC / 1000000 + 5000);
        text = export_run(state, run);
        assert_has(text, "\"2026-11-15T20:03:08\":1");
        assert_has(text, "\"2026-11-15T20:03:12\":1");
        assert_has(text, "\"2026-11-15T20:03:16\":2");
        assert_has(text, "1.5");
        assert_has_not(text, "20:03:08.250000"); /* not known then */
        assert_has_not(text, "20:03:09");
}

static void test_samples_before_1970_have_their_times(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run *run = new_run();

        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", -2750 * (S / 1000), NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.end_utc_ns", S, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.elapsed_ns", 3 * S, NULL), 0);
        add_samples(run, "tcp://a:1", -750);
        text = export_run(state, run);
        assert_has(text, "\"1969-12-31T23:59:59.250000\"");
}

/* ---- the directory ---- */

static void test_the_configuration_of_an_imported_run_goes_with_it(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *text = NULL, *config = NULL;
        struct roast_run *run = new_timed_run();

        assert_int_equal(roast_run_fact_text(run, "import.config", "{\"a\": 1}\n", NULL), 0);
        text = export_run(state, run);
        config = written(state, "m/config.json");
        assert_string_equal(config, "{\"a\": 1}\n");
}

static void test_directories_that_cannot_be_made(void **state)
{
        struct roast_run *run = new_timed_run();
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_export_v1(run, folder_path(state, "none/m"), NULL, &error),
                         ROAST_E_IO);
        assert_has(error.message, "none/m: cannot be created");
        assert_int_equal(mkdir(folder_path(state, "m"), 0700), 0);
        assert_int_equal(roast_export_v1(run, folder_path(state, "m"), NULL, &error),
                         ROAST_E_STATE);
        assert_int_equal(rmdir(folder_path(state, "m")), 0);
        assert_int_equal(roast_export_v1(run, folder_path(state, "m//"), NULL, &error), 0);
        assert_int_equal(access(folder_path(state, "m/metadata.json"), R_OK), 0);
        roast_run_free(run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
        const struct CMUnitTest tests[] = {
                TEST(test_an_empty_run_has_zeros_and_nulls_as_documented),
                TEST(test_keys_that_are_tuples_are_quoted_as_python_does),
                TEST(test_attempts_without_a_place_have_no_information),
                TEST(test_datasets_of_which_nothing_finished_are_left_out),
                TEST(test_what_was_read_of_each_file),
                TEST(test_a_mean_of_a_dataset_is_over_the_chunks_whose_time_is_known),
                TEST(test_spans_have_their_tuples),
                TEST(test_metrics_of_the_user_are_keys),
                TEST(test_samples_are_counted_at_the_interval_of_the_back_end),
                TEST(test_samples_before_1970_have_their_times),
                TEST(test_the_configuration_of_an_imported_run_goes_with_it),
                TEST(test_directories_that_cannot_be_made),
        };

        return cmocka_run_group_tests_name("export-v1", tests, NULL, NULL);
}
