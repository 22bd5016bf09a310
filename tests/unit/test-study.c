/* analyze/study: what a run says about where its time went, summed up before any rule looks */

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/study.h"
#include "record/chunk.h"
#include "summed.h"
#include "util/cleanup.h"
#include "util/size.h"

static void read_study(struct study *study, struct roast_run *run)
{
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        if (study_run(study, run, true, &error) < 0)
                fail_msg("%s", error.message);
        roast_run_free(run);
}

static void add_span(struct roast_run *run, const char *kind, const char *prefix,
                     const char *activity, const char *unit, double value)
{
        assert_int_equal(roast_run_add_span(run, kind, prefix, activity, unit, value, NULL), 0);
}

static void add_activity(struct roast_run *run, const char *kind, const char *activity,
                         const char *unit, double value)
{
        assert_int_equal(
                roast_run_add_activity(run, "tcp://a:1", kind, NULL, activity, unit, value, NULL),
                0);
}

/* ---- spans ---- */

static void test_spans_are_told_apart_by_activity_and_task(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "processor.name", "MyProcessor", NULL), 0);
        add_span(run, "execute", "MyProcessor", "thread-cpu", "seconds", 5);
        add_span(run, "execute", "MyProcessor", "thread-noncpu", "seconds", 2);
        add_span(run, "execute", "MyProcesses", "thread-cpu", "seconds", 0.5);
        add_span(run, "execute", "preprocess", "thread-cpu", "seconds", 1);
        add_span(run, "execute", "reduce", "thread-cpu", "seconds", 3);
        add_span(run, "execute", "reduce", "serialize", "seconds", 0.25);
        add_span(run, "execute", "reduce", "deserialize", "seconds", 0.5);
        add_span(run, "execute", "reduce", "compress", "seconds", 0.125);
        add_span(run, "execute", "reduce", "decompress", "seconds", 0.0625);
        add_span(run, "execute", "reduce", "disk-read", "seconds", 1);
        add_span(run, "execute", "reduce", "disk-write", "seconds", 2);
        add_span(run, "execute", "reduce", "disk-read", "bytes", 1000);
        add_span(run, "execute", "reduce", "disk-write", "bytes", 500);
        read_study(&study, run);
        assert_true(study.spans.known);
        assert_near(study.spans.processor_s, 7);
        assert_near(study.spans.other_s, 1.5);
        assert_near(study.spans.reduce_s, 3);
        assert_near(study.spans.serialize_s, 0.25);
        assert_near(study.spans.deserialize_s, 0.5);
        assert_near(study.spans.compress_s, 0.125);
        assert_near(study.spans.decompress_s, 0.0625);
        assert_near(study.spans.disk_s, 3);
        assert_near(study.spans.disk_bytes, 1500);
}

static void test_spans_that_are_no_time_of_tasks_do_not_count(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        struct roast_run *run = new_timed_run();

        (void)state;
        add_span(run, "get-data", "reduce", "thread-cpu", "seconds", 1);
        add_span(run, "execute", "reduce", "thread-cpu", "seconds", (double)INFINITY);
        add_span(run, "execute", "reduce", "thread-cpu", "bytes", 1);
        add_span(run, "execute", "reduce", "thread-cpu", "count", 1);
        add_span(run, "execute", "reduce", "thread-cpu", NULL, 1);
        read_study(&study, run);
        assert_false(study.spans.known);
        assert_true(study.spans.reduce_s == 0 && study.spans.disk_bytes == 0);
}

/* Without the name of the processor nothing is taken for its time. */
static void test_tasks_are_others_where_the_processor_has_no_name(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        struct roast_run *run = new_timed_run();

        (void)state;
        add_span(run, "execute", "MyProcessor", "thread-cpu", "seconds", 4);
        read_study(&study, run);
        assert_near(study.spans.other_s, 4);
        assert_true(study.spans.processor_s == 0);
}

/* ---- activities of workers ---- */

static void test_spilling_counts_outside_of_tasks_too(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        struct roast_run *run = new_timed_run();

        (void)state;
        add_activity(run, "get-data", "disk-read", "seconds", 1.5);
        add_activity(run, "gather-dep", "disk-write", "seconds", 2);
        add_activity(run, "gather-dep", "disk-write", "bytes", 4000);
        add_activity(run, "execute", "disk-write", "seconds", 100); /* among the spans already */
        add_activity(run, "retires", "disk-write", "seconds", 0.25);
        add_activity(run, "gather-dep", "disk-write", "count", 7);
        add_activity(run, "gather-dep", "network", "seconds", 9);
        add_activity(run, "gather-dep", "idle", "seconds", 9);
        add_activity(run, "gather-dep", "disk-write", "seconds", -1);
        add_activity(run, "gather-dep", "disk-write", NULL, 9);
        add_activity(run, "gather-dep", "disk-write", "percent", 9);
        add_activity(run, "gather-dep", "disk-write", "hours", 9);
        add_activity(run, "gather-dep", NULL, "seconds", 9);
        add_activity(run, NULL, "disk-write", "seconds", 9);
        read_study(&study, run);
        assert_near(study.spans.disk_s, 3.75);
        assert_near(study.spans.disk_bytes, 4000);
        assert_false(study.spans.known);
}

/* ---- the length of a run ---- */

static double elapsed_of(struct roast_run *run)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };

        read_study(&study, run);
        return study.elapsed_s;
}

static void test_the_length_of_a_run_without_a_stopwatch(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", UTC, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.end_utc_ns", UTC + 5 * S / 2, NULL), 0);
        assert_near(elapsed_of(run), 2.5);
        run = new_run();
        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", UTC, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.end_utc_ns", UTC - S, NULL), 0);
        assert_true(isnan(elapsed_of(run)));
        run = new_run();
        assert_int_equal(roast_run_fact_int(run, "run.end_utc_ns", UTC, NULL), 0);
        assert_true(isnan(elapsed_of(run)));
}

static void test_the_client_is_named(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "env.host", "login1", NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "env.cpus", 12, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "processor.name", 7, NULL), 0);
        read_study(&study, run);
        assert_string_equal(study.client_host, "login1");
        assert_string_equal(study.processor, "");
        assert_near(study.cpus, 12);
        assert_near(study.elapsed_s, 10);
}

/* ---- gaps between chunks ---- */

static void add_chunk(struct chunk_table *table, int64_t thread, double start_s, double wall_s)
{
        size_t row = table->n;

        assert_int_equal(chunk_table_add(table), 0);
        assert_int_equal(chunk_table_set_text(table, row, CHUNK_WORKER, "tcp://a:1", 9), 0);
        assert_int_equal(chunk_table_set_text(table, row, CHUNK_FILE, "a.root", 6), 0);
        chunk_table_set(table, row, CHUNK_THREAD, thread);
        chunk_table_set(table, row, CHUNK_ENTRY_START, (int64_t)row * 100);
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, (int64_t)row * 100 + 100);
        chunk_table_set(table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
        chunk_table_set(table, row, CHUNK_START_UTC_NS, UTC + (int64_t)(start_s * 1e9));
        chunk_table_set(table, row, CHUNK_WALL_NS, (int64_t)(wall_s * 1e9));
}

static void study_table(struct study *study, const struct chunk_table *table)
{
        struct roast_run *run = new_timed_run();

        add_table(run, table);
        read_study(study, run);
}

/* Two threads; that of thread 1 sends its records in no order. */
static void test_chunks_out_of_order_have_the_gaps_of_their_order(void **state)
{
        static const double starts[] = { 4, 0, 7, 1.5, 2.75 }; /* of 1 s each */
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(starts); i++)
                add_chunk(&table, 1, starts[i], 1);
        add_chunk(&table, 2, 1, 2);
        study_table(&study, &table);
        assert_true(study.unsorted);
        assert_int_equal(study.n_slots, 2);
        assert_int_equal(study.n_chunks, 6);
        /* gaps of 0.5, 0.25, 0.25 and 2 s */
        assert_near(study.typical_gap_s, 0.375);
        assert_near((double)study.chunks[2].gap_s, 2);
        assert_int_equal(study.chunks[2].order, 4);
        assert_int_equal(study.chunks[1].order, 0);
        assert_true(isnan(study.chunks[1].gap_s));
        assert_true(isnan(study.chunks[5].gap_s));
        assert_near(study.starved_s, 2 - 0.375);
        assert_near(study.overhead_s, 1 + 0.375);
        assert_near(study.first_s, 0);
        assert_near(study.last_s, 8);
        assert_near(study.median_wall_s, 1);
}

static void test_chunks_that_overlap_have_no_gap(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        add_chunk(&table, 1, 0, 4);
        add_chunk(&table, 1, 1, 1);
        add_chunk(&table, 1, 4.5, 1);
        study_table(&study, &table);
        assert_false(study.unsorted);
        assert_near((double)study.chunks[1].gap_s, 0);
        assert_near((double)study.chunks[2].gap_s, 0.5); /* since the end of the first */
        assert_near(study.slots[0].busy_s, 6);
}

/* Four at a time, the last to begin comes first; and one alone */
static void test_chunks_without_a_thread_are_in_lanes(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        double busy_s = 0;

        (void)state;
        chunk_table_init(&table);
        for (int i = 0; i < 8; i++)
                add_chunk(&table, CHUNK_ABSENT, i / 4 * 2 + 0.125 * (3 - i % 4), 1.9375);
        add_chunk(&table, CHUNK_ABSENT, 4.5, 1);
        add_chunk(&table, 1, 0, 6);
        study_table(&study, &table);
        assert_int_equal(study.n_slots, 5); /* four lanes, and the thread that is known */
        for (size_t i = 0; i < study.n_slots; i++)
                busy_s += study.slots[i].busy_s;
        assert_near(busy_s, 8 * 1.9375 + 1 + 6);
        assert_int_equal(study.chunks[3].slot, study.chunks[7].slot);
        for (size_t i = 4; i < 8; i++)
                assert_near((double)study.chunks[i].gap_s, 0.0625);
        assert_int_equal(study.chunks[8].slot, study.chunks[4].slot); /* it ended last */
        assert_near((double)study.chunks[8].gap_s, 0.1875);
        assert_false(study.slots[study.chunks[9].slot].is_lane);
        assert_near(study.starved_s, 0);
}

/* One after the other, without a moment between: wall times have fewer digits than starts. */
static void test_chunks_that_only_touch_are_in_one_lane(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        for (int i = 0; i < 20; i++)
                add_chunk(&table, CHUNK_ABSENT, 1234.56789 * i, 1234.56789);
        study_table(&study, &table);
        assert_int_equal(study.n_slots, 1);
}

static void test_lanes_of_a_worker_have_an_end(void **state)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        for (int i = 0; i < 1100; i++)
                add_chunk(&table, CHUNK_ABSENT, 1, 2);
        study_table(&study, &table);
        assert_int_equal(study.n_chunks, 1100);
        assert_int_equal(study.n_slots, 1024);
}

/* ---- what threads do in long gaps ---- */

static void add_task(struct roast_run *run, const char *worker, double start_s, double stop_s)
{
        struct roast_task task = ROAST_TASK_INIT;
        struct roast_error error = { 0 };
        char key[64];

        snprintf(key, sizeof(key), "merge-%s-%g-%g", worker, start_s, stop_s);
        task.key = key;
        task.prefix = "merge";
        task.worker = worker;
        task.outcome = CHUNK_FINISHED;
        task.start_utc_ns = UTC + (int64_t)(start_s * 1e9);
        task.stop_utc_ns = UTC + (int64_t)(stop_s * 1e9);
        if (roast_run_add_task(run, &task, &error) < 0)
                fail_msg("%s", error.message);
}

/* A thread: chunks of a second, a quarter between two, but 8 s before the sixth */
static void add_thread(struct chunk_table *table, int64_t thread)
{
        for (int i = 0; i < 8; i++)
                add_chunk(table, thread, 1.25 * i + (i > 4 ? 7.75 : 0), 1);
}

struct lasting {
        double start_s, stop_s;
};

static void study_tasks_of(struct study *study, const struct chunk_table *table,
                           const struct lasting *tasks, size_t n)
{
        struct roast_run *run = new_timed_run();

        add_table(run, table);
        for (size_t i = 0; i < n; i++)
                add_task(run, "tcp://a:1", tasks[i].start_s, tasks[i].stop_s);
        add_task(run, "tcp://b:1", 0, 20); /* of a worker without chunks */
        read_study(study, run);
}

static void test_a_thread_with_another_task_is_not_idle(void **state)
{
        /* the gap is from 6 to 14 s */
        static const struct lasting tasks[] = {
                { 0, 1 }, { 5.5, 7.5 }, { 9, 13 }, { 16, 17 }, { 4, 3 }
        };
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        add_thread(&table, 1);
        study_tasks_of(&study, &table, tasks, ROAST_ARRAY_SIZE(tasks));
        assert_near(study.typical_gap_s, 0.25);
        assert_near(study.starved_s, 8 - 1.5 - 4);
        assert_near(study.tasked_s, 8 - 0.25 - study.starved_s);
        assert_near((double)study.chunks[5].starved_s, study.starved_s);
        assert_near((double)study.chunks[5].gap_s, 8);
}

/* The task around each chunk, as Dask has one, takes no more of a gap than is typical. */
static void test_tasks_of_chunks_leave_the_gaps_idle(void **state)
{
        struct lasting tasks[8];
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        add_thread(&table, 1);
        for (int i = 0; i < 8; i++) {
                tasks[i].start_s = 1.25 * i + (i > 4 ? 7.75 : 0) - 0.125;
                tasks[i].stop_s = tasks[i].start_s + 1.25;
        }
        study_tasks_of(&study, &table, tasks, 8);
        assert_near(study.starved_s, 7.75);
        assert_near(study.tasked_s, 0);
}

/* Both threads wait from 6 to 14 s, and nobody knows on which of them the task is; a third one has
 * chunks, and a task for each, all the time. */
static void test_one_task_is_on_one_of_two_threads(void **state)
{
        static const struct lasting tasks[] = { { 6, 10 }, { 0, 10 }, { 10, 20 } };
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        add_thread(&table, 1);
        add_thread(&table, 2);
        add_chunk(&table, 3, 0, 10);
        add_chunk(&table, 3, 10.25, 9.75);
        study_tasks_of(&study, &table, tasks, ROAST_ARRAY_SIZE(tasks));
        assert_near((double)study.chunks[5].starved_s, 6);
        assert_near((double)study.chunks[13].starved_s, 6);
        assert_near(study.starved_s, 12);
}

static int by_value(const void *a, const void *b)
{
        float x = *(const float *)a, y = *(const float *)b;

        return x < y ? -1 : x > y;
}

static void test_medians_against_sorting(void **state)
{
        uint64_t seed = 7;

        (void)state;
        assert_true(isnan(study_median(NULL, 0)));
        for (size_t n = 1; n < 60; n++) {
                float values[60], sorted[60];
                double middle;

                for (size_t i = 0; i < n; i++)
                        values[i] = sorted[i] = (float)sample_below(&seed, 20);
                qsort(sorted, n, sizeof(*sorted), by_value);
                middle = ((double)sorted[(n - 1) / 2] + (double)sorted[n / 2]) / 2;
                assert_near(study_median(values, n), middle);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_spans_are_told_apart_by_activity_and_task),
                cmocka_unit_test(test_spans_that_are_no_time_of_tasks_do_not_count),
                cmocka_unit_test(test_tasks_are_others_where_the_processor_has_no_name),
                cmocka_unit_test(test_spilling_counts_outside_of_tasks_too),
                cmocka_unit_test(test_the_length_of_a_run_without_a_stopwatch),
                cmocka_unit_test(test_the_client_is_named),
                cmocka_unit_test(test_chunks_out_of_order_have_the_gaps_of_their_order),
                cmocka_unit_test(test_chunks_that_overlap_have_no_gap),
                cmocka_unit_test(test_chunks_without_a_thread_are_in_lanes),
                cmocka_unit_test(test_chunks_that_only_touch_are_in_one_lane),
                cmocka_unit_test(test_lanes_of_a_worker_have_an_end),
                cmocka_unit_test(test_a_thread_with_another_task_is_not_idle),
                cmocka_unit_test(test_tasks_of_chunks_leave_the_gaps_idle),
                cmocka_unit_test(test_one_task_is_on_one_of_two_threads),
                cmocka_unit_test(test_medians_against_sorting),
        };

        return cmocka_run_group_tests_name("study", tests, NULL, NULL);
}
