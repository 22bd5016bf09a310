/* import/tasks: the tasks of an executor's own log, in a run that followed the executor */

#include "unit.h"

#include <stdio.h>

#include "alloc.h"
#include "folder.h"
#include "record/chunk.h"
#include "roast-run.h"
#include "run/run.h"
#include "stored.h"
#include "summed.h"
#include "util/cleanup.h"

#define N 10

/* Tasks that end a second after each other; every third has failed. */
static int write_log(void **state)
{
        struct roast_run *log;

        assert_int_equal(folder_make(state), 0);
        assert_int_equal(roast_run_create(&log, folder_path(state, "log.roast"), NULL), 0);
        for (int64_t i = 0; i < N; i++) {
                struct roast_task task = ROAST_TASK_INIT;
                char key[16];

                (void)snprintf(key, sizeof(key), "%d", (int)i);
                task.key = key;
                task.prefix = "processing";
                task.worker = i % 2 ? "worker-a" : "worker-b";
                task.outcome = i % 3 ? CHUNK_FINISHED : CHUNK_FAILED;
                task.start_utc_ns = UTC + i * S;
                task.stop_utc_ns = UTC + (i + 1) * S;
                task.error_type = i % 3 ? NULL : "exit code";
                task.cpu_ns = i % 2 ? -1 : i;
                assert_int_equal(roast_run_add_task(log, &task, NULL), 1);
        }
        assert_int_equal(roast_run_fact_text(log, "task.chunk_prefix", "processing", NULL), 0);
        assert_int_equal(roast_run_fact_text(log, "run.name", "of the log", NULL), 0);
        assert_int_equal(roast_run_finish(log, NULL), 0);
        roast_run_free(log);
        return 0;
}

static void test_rows_come_as_they_were(void **state)
{
        struct roast_run *run = new_run();
        struct run_scan scan;
        int r, n = 0;

        assert_int_equal(roast_run_add_tasks_of(run, folder_path(state, "log.roast"), 0, NULL), N);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        r = run_scan_begin(&scan, run, RUN_TASK, NULL);
        for (; r >= 0 && (r = run_scan_next(&scan, NULL)) > 0; n++) {
                assert_int_equal(scan.values[TASK_STOP_UTC_NS].integer, UTC + (n + 1) * S);
                assert_int_equal(scan.values[TASK_OUTCOME].integer,
                                 n % 3 ? CHUNK_FINISHED : CHUNK_FAILED);
                assert_int_equal(scan.values[TASK_ERROR_TYPE].type, n % 3 ? RUN_NULL : RUN_INT);
                assert_int_equal(scan.values[TASK_CPU_NS].type, n % 2 ? RUN_NULL : RUN_INT);
        }
        run_scan_end(&scan);
        assert_int_equal(r, 0);
        assert_int_equal(n, N);
        roast_run_free(run);
}

static void test_the_run_knows_which_of_them_are_about_chunks(void **state)
{
        struct roast_run *run = new_run();

        assert_int_equal(roast_run_add_tasks_of(run, folder_path(state, "log.roast"), 0, NULL), N);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_string_equal(find_fact(run, "task.chunk_prefix").text, "processing");
        assert_string_not_equal(find_fact(run, "run.name").text, "of the log");
        roast_run_free(run);
}

static void test_what_ended_before_the_run_is_left_out(void **state)
{
        struct roast_run *run = new_run();
        const char *path = folder_path(state, "log.roast");

        assert_int_equal(roast_run_add_tasks_of(run, path, UTC + 4 * S, NULL), N - 3);
        assert_int_equal(roast_run_add_tasks_of(run, path, UTC + 4 * S, NULL), 0);
        assert_int_equal(roast_run_add_tasks_of(run, path, 0, NULL), 3);
        roast_run_free(run);
}

static void test_a_log_that_is_not_there_is_an_error(void **state)
{
        struct roast_run *run = new_run();
        struct roast_error error = { 0 };

        assert_true(roast_run_add_tasks_of(run, folder_path(state, "none"), 0, &error) < 0);
        assert_true(error.message[0] != '\0');
        roast_run_free(run);
}

/* Whatever was added is there, and the rest comes with the next call. */
static void test_running_out_of_memory_is_an_error(void **state)
{
        struct roast_run *run = new_run();
        int r = ROAST_E_NOMEM, n = 0;

        for (long count = 0; r < 0; count++) {
                alloc_fail_after(count);
                r = roast_run_add_tasks_of(run, folder_path(state, "log.roast"), 0, NULL);
                alloc_fail_after(-1);
                n += r < 0;
                assert_true(count < 100000);
        }
        assert_true(n > 0);
        assert_int_equal(roast_run_add_tasks_of(run, folder_path(state, "log.roast"), 0, NULL), 0);
        roast_run_free(run);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, write_log, folder_remove)
        const struct CMUnitTest tests[] = {
                TEST(test_rows_come_as_they_were),
                TEST(test_the_run_knows_which_of_them_are_about_chunks),
                TEST(test_what_ended_before_the_run_is_left_out),
                TEST(test_a_log_that_is_not_there_is_an_error),
                TEST(test_running_out_of_memory_is_an_error),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
