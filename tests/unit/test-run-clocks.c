/* run/clock: stamps of workers whose clocks are off become those of the run's clock */

#include "unit.h"

#include <stdlib.h>

#include "alloc.h"
#include "run/run.h"
#include "stored.h"
#include "summed.h"
#include "timeline/block.h"
#include "util/cleanup.h"

#define WORKER "tcp://a:1"

/* The clock of WORKER is 2 s behind, give or take 1 ms. */
static struct roast_run *run_with_clock(void)
{
        struct roast_run *run = new_run();

        assert_int_equal(roast_run_set_clock(run, WORKER, 2 * S, S / 1000, NULL), 0);
        return run;
}

static struct roast_task task_of(const char *worker)
{
        struct roast_task task = ROAST_TASK_INIT;

        task.key = "task-1";
        task.worker = worker;
        task.outcome = CHUNK_FINISHED;
        return task;
}

static void test_every_stamp_of_a_task_is_moved(void **state)
{
        struct roast_run *run = run_with_clock();
        struct roast_task task = task_of(WORKER);

        (void)state;
        task.start_utc_ns = UTC;
        task.compute_start_utc_ns = UTC + S / 4;
        task.stop_utc_ns = UTC + S;
        task.compute_ns = S / 2;
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        ASSERT_COLUMN(run, "task", "start_utc_ns", UTC + 2 * S);
        ASSERT_COLUMN(run, "task", "compute_start_utc_ns", UTC + 9 * S / 4);
        ASSERT_COLUMN(run, "task", "stop_utc_ns", UTC + 3 * S);
        ASSERT_COLUMN(run, "task", "compute_ns", S / 2);
        roast_run_free(run);
}

static void test_stamps_that_are_not_known_stay_so(void **state)
{
        struct roast_run *run = run_with_clock();
        struct roast_task task = task_of(WORKER);

        (void)state;
        task.stop_utc_ns = UTC;
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
        assert_int_equal(roast_run_add_task(run, &task, NULL), 0); /* the same, told by its end */
        assert_int_equal(roast_run_commit(run, NULL), 0);
        ASSERT_COLUMN(run, "task", "start_utc_ns", INT64_MIN);
        ASSERT_COLUMN(run, "task", "compute_start_utc_ns", INT64_MIN);
        ASSERT_COLUMN(run, "task", "stop_utc_ns", UTC + 2 * S);
        roast_run_free(run);
}

static void test_other_workers_are_not_moved(void **state)
{
        static const char *const workers[] = { "tcp://b:1", NULL };

        (void)state;
        for (size_t i = 0; i < 2; i++) {
                struct roast_run *run = run_with_clock();
                struct roast_task task = task_of(workers[i]);

                task.start_utc_ns = UTC;
                assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
                assert_int_equal(roast_run_commit(run, NULL), 0);
                ASSERT_COLUMN(run, "task", "start_utc_ns", UTC);
                roast_run_free(run);
        }
}

static void test_a_stamp_that_would_overflow_stays(void **state)
{
        struct roast_run *run = run_with_clock();
        struct roast_task task = task_of(WORKER);

        (void)state;
        task.start_utc_ns = INT64_MAX - S;
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        ASSERT_COLUMN(run, "task", "start_utc_ns", INT64_MAX - S);
        roast_run_free(run);
}

static void test_the_last_comparison_of_clocks_counts(void **state)
{
        struct roast_run *run = run_with_clock();
        struct roast_task task = task_of(WORKER);

        (void)state;
        assert_int_equal(roast_run_set_clock(run, "tcp://b:1", -7 * S, 0, NULL), 0);
        assert_int_equal(roast_run_set_clock(run, WORKER, -3 * S, 0, NULL), 0);
        task.start_utc_ns = UTC;
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        ASSERT_COLUMN(run, "task", "start_utc_ns", UTC - 3 * S);
        roast_run_free(run);
}

static void test_chunks_are_moved(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = run_with_clock();

        (void)state;
        chunk_table_init(&table);
        assert_int_equal(chunk_table_add(&table), 0);
        assert_int_equal(chunk_table_set_text(&table, 0, CHUNK_WORKER, WORKER, strlen(WORKER)), 0);
        chunk_table_set(&table, 0, CHUNK_START_UTC_NS, UTC);
        chunk_table_set(&table, 0, CHUNK_WALL_NS, S);
        add_table(run, &table);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        ASSERT_COLUMN(run, "chunk", "start_utc_ns", UTC + 2 * S);
        ASSERT_COLUMN(run, "chunk", "wall_ns", S);
        roast_run_free(run);
}

static void assert_sampled_at(struct roast_run *run, const char *worker, int64_t utc_ns)
{
        struct roast_run_column times = { 0 }, values = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_read_series(run, worker, "rss_bytes", &times, &values, NULL), 0);
        assert_int_equal(times.n, 1);
        assert_int_equal(times.values[0], utc_ns);
        assert_int_equal(values.values[0], 4096);
        free(times.values);
        free(values.values);
        roast_run_free(run);
}

/* What somebody else has seen of a worker has that one's time. */
static void test_samples_are_moved_by_the_clock_that_took_them(void **state)
{
        const int64_t utc_ms = UTC / 1000000, rss = 4096;
        ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;
        struct roast_run *run = run_with_clock();

        (void)state;
        assert_int_equal(block_encode(&block, &utc_ms, (const int64_t *[]){ &rss }, 1, 1, NULL), 0);
        assert_int_equal(
                roast_run_add_series(run, WORKER, "rss_bytes", block.data, block.len, NULL), 0);
        assert_sampled_at(run, WORKER, UTC + 2 * S);
        run = run_with_clock();
        assert_int_equal(
                roast_run_add_value(run, WORKER, "rss_bytes", "scheduler", utc_ms, rss, NULL), 0);
        assert_sampled_at(run, WORKER, UTC);
        run = run_with_clock();
        assert_int_equal(
                roast_run_add_value(run, "tcp://b:1", "rss_bytes", WORKER, utc_ms, rss, NULL), 0);
        assert_sampled_at(run, "tcp://b:1", UTC + 2 * S);
        run = run_with_clock();
        assert_int_equal(roast_run_set_clock(run, "tcp://b:1", S / 2, 0, NULL), 0);
        assert_int_equal(
                roast_run_add_value(run, WORKER, "rss_bytes", "tcp://b:1", utc_ms, rss, NULL), 0);
        assert_sampled_at(run, WORKER, UTC + S / 2);
}

static void test_the_correction_is_a_fact_of_the_run(void **state)
{
        struct roast_run *run = run_with_clock();

        (void)state;
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(fact_int(run, "clock.offset_ns." WORKER), 2 * S);
        assert_int_equal(fact_int(run, "clock.error_ns." WORKER), S / 1000);
        roast_run_free(run);
}

/* A clock that could not be kept moves nothing, and can be told again. */
static void test_a_clock_without_memory_is_an_error(void **state)
{
        struct roast_run *run = new_run();
        int r = ROAST_E_NOMEM;

        (void)state;
        for (long count = 0; r < 0; count++) {
                struct roast_error error = { 0 };

                alloc_fail_after(count);
                r = roast_run_set_clock(run, WORKER, 2 * S, 0, &error);
                alloc_fail_after(-1);
                if (r < 0 && (r != ROAST_E_NOMEM || !error.message[0]))
                        fail_msg("after %ld allocations: %d: %s", count, r, error.message);
                assert_true(count < 1000);
        }
        assert_int_equal(run_clock_offset(run, WORKER, strlen(WORKER)), 2 * S);
        assert_int_equal(run_clock_offset(run, "tcp://b:1", 9), 0);
        roast_run_free(run);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_every_stamp_of_a_task_is_moved),
                cmocka_unit_test(test_stamps_that_are_not_known_stay_so),
                cmocka_unit_test(test_other_workers_are_not_moved),
                cmocka_unit_test(test_a_stamp_that_would_overflow_stays),
                cmocka_unit_test(test_the_last_comparison_of_clocks_counts),
                cmocka_unit_test(test_chunks_are_moved),
                cmocka_unit_test(test_samples_are_moved_by_the_clock_that_took_them),
                cmocka_unit_test(test_the_correction_is_a_fact_of_the_run),
                cmocka_unit_test(test_a_clock_without_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("run-clocks", tests, NULL, NULL);
}
