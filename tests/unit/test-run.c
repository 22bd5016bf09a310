/* run/: what is written is read back */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "folder.h"
#include "run/run.h"
#include "runs.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

/* ---- writing and reading back ---- */

struct seen_facts {
        size_t n;
        struct roast_fact facts[32];
        char names[32][32];
        char texts[32][64];
};

static int see_fact(const struct roast_fact *fact, void *context)
{
        struct seen_facts *seen = context;

        seen->facts[seen->n] = *fact;
        snprintf(seen->names[seen->n], sizeof(seen->names[0]), "%s", fact->name);
        snprintf(seen->texts[seen->n], sizeof(seen->texts[0]), "%s", fact->text ? fact->text : "-");
        seen->n++;
        return 0;
}

static void test_facts_read_back_and_the_last_of_a_name_counts(void **state)
{
        struct roast_run *run = create(folder_path(state, "a.roast"));
        struct seen_facts seen = { 0 };

        assert_int_equal(roast_run_fact_int(run, "int", INT64_MIN, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "real", 0.1, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "text", "gr\xc3\xbc\xc3\x9f", NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "empty", "", NULL), 0);
        assert_int_equal(roast_run_fact_absent(run, "absent", "nobody asked", NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "real", 7, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "absent", 8, NULL), 0);
        assert_int_equal(roast_run_fact_absent(run, "text", "forgotten", NULL), 0);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);

        run = open_run(folder_path(state, "a.roast"));
        assert_int_equal(roast_run_facts(run, see_fact, &seen, NULL), 0);
        roast_run_free(run);
        assert_int_equal(seen.n, 5);
        assert_string_equal(seen.names[0], "int");
        assert_int_equal(seen.facts[0].type, ROAST_FACT_INT);
        assert_true(seen.facts[0].integer == INT64_MIN);
        assert_int_equal(seen.facts[1].type, ROAST_FACT_INT);
        assert_int_equal(seen.facts[1].integer, 7);
        assert_int_equal(seen.facts[2].type, ROAST_FACT_ABSENT);
        assert_string_equal(seen.texts[2], "forgotten");
        assert_int_equal(seen.facts[3].type, ROAST_FACT_TEXT);
        assert_string_equal(seen.texts[3], "");
        assert_int_equal(seen.facts[4].integer, 8);
}

static int count_fact(const struct roast_fact *fact, void *context)
{
        (void)fact;
        ++*(int *)context;
        return 0;
}

/* CPU seconds that reading so many facts takes, the least of three times */
static double reading_s(int n)
{
        struct roast_run *run = create(NULL);
        double least = INFINITY;

        for (int i = 0; i < n; i++) {
                char name[64];

                snprintf(name, sizeof(name), "clock.offset_ns.tcp://10.0.0.1:%06d", i);
                assert_int_equal(roast_run_fact_int(run, name, i, NULL), 0);
        }
        assert_int_equal(roast_run_commit(run, NULL), 0);
        for (int i = 0; i < 3; i++) {
                clock_t begun = clock();
                int seen = 0;

                assert_int_equal(roast_run_facts(run, count_fact, &seen, NULL), 0);
                least = fmin(least, (double)(clock() - begun) / CLOCKS_PER_SEC);
                assert_int_equal(seen, n);
        }
        roast_run_free(run);
        return least;
}

/* Each worker whose clock differs has a fact of its own, and workers come by the thousand. */
static void test_facts_of_many_names_are_read_in_a_time_that_grows_with_them(void **state)
{
        (void)state;
        assert_true(reading_s(20000) < 40 * fmax(reading_s(2000), 1e-4));
}

static void test_numbers_that_sqlite_does_not_keep_do_not_damage_a_run(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = create(path);
        struct seen_facts seen = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        assert_int_equal(roast_run_fact_real(run, "nan", (double)NAN, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "inf", (double)INFINITY, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "zero", -0.0, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "whole", 3.0, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "report.processtime", (double)NAN, NULL), 0);
        assert_int_equal(
                roast_run_add_span(run, "execute", "p", "thread-cpu", "seconds", (double)NAN, NULL),
                0);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);

        run = open_run(path);
        assert_int_equal(roast_run_facts(run, see_fact, &seen, NULL), 0);
        assert_int_equal(seen.facts[0].type, ROAST_FACT_ABSENT);
        assert_string_equal(seen.texts[0], "not a number");
        assert_true(isinf(seen.facts[1].real));
        assert_true(seen.facts[2].type == ROAST_FACT_REAL && seen.facts[2].real == 0);
        assert_true(seen.facts[3].type == ROAST_FACT_REAL && seen.facts[3].real == 3.0);
        summary = summary_of(run);
        roast_run_free(run);
}

/* Another program may seal what ours never writes. */
static void test_a_fact_of_another_shape_is_absent(void **state)
{
        static const struct run_value bytes = { .type = RUN_BYTES, .data = "xy", .len = 2 };
        struct roast_run *run = create(NULL);
        struct seen_facts seen = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        (void)state;
        for (int i = 0; i < 2; i++) {
                struct run_value zero[] = { run_string("a\0bcdef", 7), run_int(i), { 0 } };
                struct run_value name[] = { run_string("processor.name", 14), bytes, bytes };

                assert_int_equal(run_insert(run, RUN_FACT, zero, 3, NULL), 0);
                assert_int_equal(run_insert(run, RUN_FACT, name, 3, NULL), 0);
                name[0] = bytes;
                assert_int_equal(run_insert(run, RUN_FACT, name, 3, NULL), 0);
        }
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_facts(run, see_fact, &seen, NULL), 0);
        assert_int_equal(seen.n, 2);
        assert_int_equal(seen.facts[0].integer, 1);
        assert_int_equal(seen.facts[1].type, ROAST_FACT_ABSENT);
        summary = summary_of(run);
        roast_run_free(run);
}

static void test_what_is_known_about_a_run(void **state)
{
        struct roast_run *run = open_run(finished_run(state, "a.roast"));
        struct roast_run_about about;

        assert_int_equal(roast_run_about(run, &about, NULL), 0);
        assert_string_equal(about.id, "00112233445566778899aabbccddeeff");
        assert_string_equal(about.name, "sample");
        assert_string_equal(about.outcome, "finished");
        assert_null(about.error);
        assert_true(about.start_utc_ns == SAMPLE_START_UTC_NS);
        assert_true(about.end_utc_ns == SAMPLE_START_UTC_NS + 10 * SAMPLE_S);
        assert_string_equal(roast_run_path(run), folder_path(state, "a.roast"));
        roast_run_free(run);
}

static void test_a_run_without_an_end_is_unfinished(void **state)
{
        struct roast_run *run = create(folder_path(state, "a.roast"));
        struct roast_run_about about;

        assert_int_equal(sample_begin(run, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "run.outcome", "finished", NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_about(run, &about, NULL), 0);
        assert_null(about.outcome);
        assert_true(about.end_utc_ns == INT64_MIN);
        roast_run_free(run);
}

static void test_a_run_in_memory_has_the_same_figures(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *in_memory = NULL;
        ROAST_CLEANUP(cleanup_free) char *on_disk = summary_of_file(finished_run(state, "a.roast"));
        struct roast_run *run = create(NULL);

        fill(run);
        assert_null(roast_run_path(run));
        in_memory = summary_of(run);
        assert_string_equal(in_memory, on_disk);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);
}

static void test_any_string_of_a_chunk_reads_back(void **state)
{
        static const struct {
                const char *data;
                size_t len;
        } names[] = { { "", 0 }, { "a\0b", 3 }, { "\xff\xfe", 2 }, { "'; DROP TABLE chunk", 19 } };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = create(path);

        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(names); i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                assert_int_equal(
                        chunk_table_set_text(&table, i, CHUNK_DATASET, names[i].data, names[i].len),
                        0);
                assert_int_equal(
                        chunk_table_set_text(&table, i, CHUNK_CUSTOM, names[i].data, names[i].len),
                        0);
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), 4);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);

        assert_int_equal(sql_int(path, "SELECT count(dataset) FROM chunks"), 4);
        assert_int_equal(sql_int(path, "SELECT length(custom) FROM chunk WHERE id=2"), 3);
        run = open_run(path);
        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        assert_int_equal(summary.n_datasets, 4);
        assert_string_equal(summary.datasets[0].name, "");
        assert_string_equal(summary.datasets[3].name, "'; DROP TABLE chunk");
        roast_run_free(run);
}

/* Workers send what they like: no sum of it may overflow. */
static void test_chunks_of_extremes_are_summed_without_overflow(void **state)
{
        static const int64_t extremes[] = { INT64_MIN + 1, -1, 0, 1, INT64_MAX };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;
        struct roast_worker worker = { "w", NULL, INT64_MAX, INT64_MAX, INT64_MAX };
        int64_t values[SECTION_N_FIELDS];
        struct roast_run *run = create(NULL);

        (void)state;
        chunk_table_init(&table);
        for (size_t i = 0; i < 50; i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                for (unsigned int j = 0; j < CHUNK_N_FIELDS; j++)
                        if (chunk_fields[j].type == CHUNK_TYPE_INT && j != CHUNK_OUTCOME)
                                chunk_table_set(&table, i, j, extremes[(i / 2 + i * j) % 5]);
                for (unsigned int j = 0; j < SECTION_N_FIELDS; j++)
                        values[j] = extremes[(i + j) % 5 ? 4 : 0];
                chunk_table_set(&table, i, CHUNK_OUTCOME, CHUNK_FINISHED);
                chunk_table_set(&table, i, CHUNK_THREAD, (int64_t)i); /* 50 attempts, not one */
                assert_int_equal(chunk_table_add_section(&table, "s", 1, values), 0);
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), 50);
        assert_int_equal(
                roast_run_add_worker_event(run, INT64_MAX, ROAST_WORKER_CAME, &worker, NULL), 0);
        worker.name = "v";
        assert_int_equal(
                roast_run_add_worker_event(run, INT64_MIN, ROAST_WORKER_CAME, &worker, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        summary = summary_of(run);
        free(summary);
        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", INT64_MIN + 1, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.end_utc_ns", INT64_MAX, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        summary = summary_of(run);
        roast_run_free(run);
}

static void test_the_views_show_strings_and_seconds(void **state)
{
        const char *path = finished_run(state, "a.roast");

        assert_int_equal(sql_int(path, "SELECT count(*) FROM chunks WHERE dataset='TTbar'"), 14);
        assert_int_equal(sql_int(path, "SELECT 100*sum(wall_s) FROM chunks WHERE id<3"), 101);
        assert_int_equal(sql_int(path, "SELECT count(*) FROM sections WHERE name='fill'"), CHUNKS);
        assert_int_equal(sql_int(path, "SELECT count(*) FROM branches WHERE bytes IS NULL"),
                         CHUNKS / 2);
        assert_int_equal(sql_int(path, "SELECT count(*) FROM worker_events WHERE host='node1'"), 2);
        assert_int_equal(sql_int(path, "SELECT value FROM facts WHERE name='report.chunks'"), 40);
        assert_int_equal(sql_int(path, "PRAGMA application_id"), 0x524F5354);
        assert_int_equal(sql_int(path, "PRAGMA user_version"), 1002);
}

static void test_damaged_chunk_records_add_nothing(void **state)
{
        struct roast_run *run = create(NULL);
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        (void)state;
        assert_int_equal(roast_run_add_chunks(run, "RC\x03\x00\x09\x05\x00", 7, &error),
                         ROAST_E_CORRUPT);
        assert_int_equal(roast_run_add_chunks(run, "", 0, &error), ROAST_E_FORMAT);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        summary = summary_of(run);
        assert_has(summary, "num_successful_chunks 0 ");
        roast_run_free(run);
}

/* ---- series on a grid ---- */

#define GRID 10

static int take_values(const char *worker, const int64_t *values, void *context)
{
        (void)worker;
        memcpy(context, values, GRID * sizeof(*values));
        return 0;
}

static void worker_event(struct roast_run *run, int64_t utc_ns, enum roast_worker_event kind,
                         int64_t threads)
{
        const struct roast_worker worker = { "tcp://a:1", NULL, -1, threads, -1 };

        assert_int_equal(roast_run_add_worker_event(run, utc_ns, kind, &worker, NULL), 0);
}

static void assert_threads(struct roast_run *run, const int64_t expected[GRID])
{
        const struct roast_grid grid = { 0, 1000, GRID };
        int64_t values[GRID] = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(
                roast_run_resample_workers(run, "threads", &grid, take_values, values, NULL), 0);
        assert_memory_equal(values, expected, sizeof(values));
}

static void test_a_worker_that_is_away_has_no_threads(void **state)
{
        const int64_t none = INT64_MIN;
        struct roast_run *run = create(NULL);

        (void)state;
        worker_event(run, 500, ROAST_WORKER_CAME, 4);
        worker_event(run, 2500, ROAST_WORKER_WENT, -1);
        worker_event(run, 4500, ROAST_WORKER_CAME, 8);
        assert_threads(run, (int64_t[GRID]){ none, 4, 4, none, none, 8, 8, 8, 8, 8 });
        worker_event(run, 7000, ROAST_WORKER_WENT, -1);
        assert_threads(run, (int64_t[GRID]){ none, 4, 4, none, none, 8, 8, none, none, none });
        roast_run_free(run);
}

static void test_a_worker_that_went_before_the_grid_has_no_threads(void **state)
{
        const int64_t none = INT64_MIN;
        struct roast_run *run = create(NULL);

        (void)state;
        worker_event(run, -900, ROAST_WORKER_PRESENT, 4);
        worker_event(run, -500, ROAST_WORKER_WENT, -1);
        assert_threads(
                run, (int64_t[GRID]){ none, none, none, none, none, none, none, none, none, none });
        roast_run_free(run);
}

/* An error with a message that names the file, or the figures as they were */

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_facts_read_back_and_the_last_of_a_name_counts),
                TEST(test_facts_of_many_names_are_read_in_a_time_that_grows_with_them),
                TEST(test_numbers_that_sqlite_does_not_keep_do_not_damage_a_run),
                TEST(test_a_fact_of_another_shape_is_absent),
                TEST(test_what_is_known_about_a_run),
                TEST(test_a_run_without_an_end_is_unfinished),
                TEST(test_a_run_in_memory_has_the_same_figures),
                TEST(test_any_string_of_a_chunk_reads_back),
                TEST(test_chunks_of_extremes_are_summed_without_overflow),
                TEST(test_the_views_show_strings_and_seconds),
                TEST(test_damaged_chunk_records_add_nothing),
                TEST(test_a_worker_that_is_away_has_no_threads),
                TEST(test_a_worker_that_went_before_the_grid_has_no_threads),
        };

        return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
