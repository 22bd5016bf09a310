/* import/vine: TaskVine's `transactions`, line by line */

#include "unit.h"

#include <stdio.h>

#include "folder.h"
#include "record/chunk.h"
#include "roast-metrics.h"
#include "roast-run.h"
#include "sample.h"
#include "stored.h"
#include "util/cleanup.h"
#include "util/size.h"

#define HEAD "# time manager_pid MANAGER manager_pid START|END time_from_origin\n"
#define S    SAMPLE_S

/* Lines begin with seconds; those of the log with microseconds and the manager's number. */
static struct roast_run *import(void **state, const char *const *lines, size_t n)
{
        FILE *file = fopen(folder_path(state, "transactions"), "w");
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        assert_non_null(file);
        fputs(HEAD, file);
        for (size_t i = 0; i < n; i++)
                fprintf(file, "%.*s000000 7%s\n", (int)strcspn(lines[i], " "), lines[i],
                        strchr(lines[i], ' '));
        assert_int_equal(fclose(file), 0);
        if (roast_run_open_any(&run, *state, &error) < 0)
                fail_msg("%s", error.message);
        return run;
}

#define IMPORT(...)                                                                                \
        import(state, (const char *const[]){ __VA_ARGS__ },                                        \
               ROAST_ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })))

/* A worker has come when it has told what it has; what it tells again is no news. */
static void test_workers_come_change_and_go(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run =
                IMPORT("10 WORKER w1 CONNECTION host1:9000",
                       "11 WORKER w1 RESOURCES {\"cores\":[4,\"cores\"],\"memory\":[100,\"MB\"]}",
                       "12 WORKER w1 RESOURCES {\"cores\":[4,\"cores\"],\"memory\":[100,\"MB\"]}",
                       "13 WORKER w1 RESOURCES {\"cores\":[8,\"cores\"],\"memory\":[100,\"MB\"]}",
                       "14 WORKER w1 RESOURCES {\"cores\":[-5,\"cores\"]}",
                       "15 WORKER w1 RESOURCES {broken", "16 WORKER w1 DISCONNECTION FAILURE",
                       "17 WORKER w2 CONNECTION host2", "18 WORKER w2 DISCONNECTION IDLE_OUT",
                       "19 WORKER w3 RESOURCES {\"cores\":[1,\"cores\"]}", "20 WORKER w3");

        ASSERT_COLUMN(run, "worker_event", "kind", ROAST_WORKER_CAME, ROAST_WORKER_CAME,
                      ROAST_WORKER_WENT, ROAST_WORKER_CAME, ROAST_WORKER_WENT, ROAST_WORKER_CAME);
        ASSERT_COLUMN(run, "worker_event", "utc_ns", 10 * S, 13 * S, 16 * S, 17 * S, 18 * S,
                      19 * S);
        ASSERT_COLUMN(run, "worker_event", "threads", 4, 8, 8, INT64_MIN, INT64_MIN, 1);
        ASSERT_COLUMN(run, "worker_event", "memory_limit_bytes", 100 << 20, 100 << 20, 100 << 20,
                      INT64_MIN, INT64_MIN, INT64_MIN);
        assert_int_equal(fact_int(run, "import.skipped_lines"), 2);
}

static void test_what_was_sent_and_received(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = IMPORT("10 WORKER w1 TRANSFER INPUT file-a 500 86 9",
                                       "11 WORKER w1 TRANSFER INPUT b 20 1 9",
                                       "12 WORKER w1 TRANSFER OUTPUT c 7 1 9",
                                       "13 WORKER w1 TRANSFER OUTPUT d 0.5 1 9",
                                       "14 WORKER w1 TRANSFER OUTPUT e 9223372036854775807 1 9",
                                       "15 WORKER w1 CACHE_UPDATE f 1 2 3");

        assert_int_equal(fact_int(run, "vine.sent_bytes"), 520);
        assert_int_equal(fact_int(run, "vine.received_bytes"), 7);
        assert_int_equal(fact_int(run, "import.skipped_lines"), 2);
}

#define MEASURED "{} {\"time_worker_start\":[21.5,\"s\"],\"time_worker_end\":[23,\"s\"],"

static void test_what_was_measured_of_a_task(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = IMPORT(
                "20 TASK 1 READY processing", "21 TASK 1 RUNNING w1",
                "24 TASK 1 RETRIEVED SUCCESS 0 " MEASURED "\"time_input_mgr\":[0.25,\"s\"],"
                "\"time_output_mgr\":[0.5,\"s\"],\"size_input_mgr\":[2,\"MB\"],"
                "\"size_output_mgr\":[-1,\"MB\"],\"cpu_time\":[1.25,\"s\"],\"memory\":[3,\"MB\"]}",
                "20 TASK 2 READY processing", "21 TASK 2 RUNNING w1",
                "24 TASK 2 RETRIEVED SUCCESS 1 " MEASURED "\"time_output_mgr\":[0.5,\"s\"],"
                "\"memory\":[3,\"MB\"]}");

        ASSERT_COLUMN(run, "task", "outcome", CHUNK_FINISHED, CHUNK_FAILED);
        ASSERT_COLUMN(run, "task", "start_utc_ns", 43 * S / 2, 43 * S / 2);
        ASSERT_COLUMN(run, "task", "compute_ns", 3 * S / 2, 3 * S / 2);
        ASSERT_COLUMN(run, "task", "transfer_ns", 3 * S / 4, S / 2);
        ASSERT_COLUMN(run, "task", "transfer_bytes", 2 << 20, INT64_MIN);
        ASSERT_COLUMN(run, "task", "result_bytes", INT64_MIN, INT64_MIN);
        ASSERT_COLUMN(run, "task", "cpu_ns", 5 * S / 4, INT64_MIN);
        /* without CPU time it is what the task was allotted */
        ASSERT_COLUMN(run, "task", "peak_memory_bytes", 3 << 20, INT64_MIN);
}

/* The manager's times stand for those of the worker. */
static void test_tasks_of_which_nothing_was_measured(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run =
                IMPORT("20 TASK 1 READY a", "21 TASK 1 RUNNING w1",
                       "23 TASK 1 WAITING_RETRIEVAL w1", "24 TASK 1 RETRIEVED SIGNAL 9 {} {}",
                       "25 TASK 1 RETRIEVED SUCCESS 0 {} {}", "20 TASK 2 READY a",
                       "21 TASK 2 RUNNING w1", "24 TASK 2 RETRIEVED SUCCESS 0 {} {broken}",
                       "25 TASK x RUNNING w1", "26 TASK 3 WAITING a", "27 TASK 3 RUNNING w1",
                       "28 TASK 3 READY a", "29 TASK 3 RUNNING w1");

        ASSERT_COLUMN(run, "task", "outcome", CHUNK_FAILED, CHUNK_FINISHED, CHUNK_LOST,
                      CHUNK_RUNNING);
        ASSERT_COLUMN(run, "task", "start_utc_ns", 21 * S, 21 * S, 27 * S, 29 * S);
        ASSERT_COLUMN(run, "task", "stop_utc_ns", 23 * S, 24 * S, 28 * S, 29 * S);
        ASSERT_COLUMN(run, "task", "attempt", 1, 1, 1, 2);
        /* a result of what did not run, one that is broken, a task without a number */
        assert_int_equal(fact_int(run, "import.skipped_lines"), 3);
        assert_int_equal(fact_int(run, "vine.tasks"), 3);
}

#define NOTE(second, rest) second " APPLICATION coffea_task {" rest "}"

static void test_notes_of_the_application_tell_the_chunks(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = IMPORT(
                NOTE("20", "\"task_id\": 1, \"item\": \"p\", \"file\": \"a.root\", \"start\": 5,"
                           " \"stop\": 9, \"dataset\": 3, \"uuid\": null, \"more\": [1]"),
                NOTE("20", "\"task_id\": 2, \"file\": \"a.root\", \"start\": 9, \"stop\": 5"),
                NOTE("20", "\"task_id\": 3, \"file\": \"a.root\", \"start\": 1.5, \"stop\": 5"),
                NOTE("20", "\"task_id\": 4, \"item\": \"p\""), NOTE("20", "\"file\": \"b.root\""),
                NOTE("20", "\"task_id\": \"five\""), "20 APPLICATION coffea_task nonsense",
                "20 APPLICATION other {}", "21 TASK 1 RUNNING w",
                "22 TASK 1 RETRIEVED SIGNAL 9 {} {}", "21 TASK 2 RUNNING w",
                "22 TASK 2 RETRIEVED SUCCESS 0 {} {}", "21 TASK 3 RUNNING w",
                "22 TASK 3 RETRIEVED SUCCESS 0 {} {}", "23 TASK 4 RUNNING w",
                "24 TASK 4 RETRIEVED SUCCESS 0 {} {}");

        /* the fourth does again what the first did not */
        ASSERT_COLUMN(run, "task", "entry_start", 5, INT64_MIN, INT64_MIN, 5);
        ASSERT_COLUMN(run, "task", "entry_stop", 9, INT64_MIN, INT64_MIN, 9);
        ASSERT_COLUMN(run, "task", "attempt", 1, 1, 1, 2);
        ASSERT_COLUMN(run, "task", "dataset_text", INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN);
        assert_int_equal(fact_int(run, "import.skipped_lines"), 3);
}

static void test_the_length_of_a_run(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = IMPORT("10 MANAGER 7 START 0", "15 MANAGER 7 END 4500000");

        assert_int_equal(fact_int(run, "run.start_utc_ns"), 10 * S);
        assert_int_equal(fact_int(run, "run.end_utc_ns"), 15 * S);
        assert_int_equal(fact_int(run, "run.elapsed_ns"), 9 * S / 2);
        roast_run_free(run);
        run = IMPORT("10 MANAGER 7 START 0", "15 MANAGER 7 END 9223372036854775807");
        assert_int_equal(fact_int(run, "run.elapsed_ns"), 5 * S);
        roast_run_free(run);
        run = IMPORT("10 MANAGER 7 START 0", "9223372036854 MANAGER 7 START 0",
                     "12 LIBRARY 1 SENT w");
        assert_int_equal(fact_int(run, "run.end_utc_ns"), -1);
        assert_int_equal(fact_int(run, "run.elapsed_ns"), -1);
        roast_run_free(run);
        run = IMPORT("10 MANAGER 7 START 0", "9 MANAGER 7 END 9223372036854775807");
        assert_int_equal(fact_int(run, "run.elapsed_ns"), -1);
}

static void test_tasks_about_chunks_are_those_of_coffeas_category(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = IMPORT("10 MANAGER 7 START 0", "11 TASK 1 READY preprocessing",
                                       "12 TASK 2 READY processing", "13 TASK 3 RUNNING w");

        assert_string_equal(find_fact(run, "task.chunk_prefix").text, "processing");
        roast_run_free(run);
        run = IMPORT("10 MANAGER 7 START 0", "11 TASK 1 READY mine", "12 TASK 2 RUNNING w");
        assert_false(find_fact(run, "task.chunk_prefix").found);
}

#define CORES "{\"cores\":[1,\"cores\"]}"

/* The ledger of an unfinished log: what is known ends with the log's last line. */
static void test_a_task_that_the_log_ends_in_is_in_the_ledger_as_what_it_is(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run =
                IMPORT("10 MANAGER 7 START 0", "10 WORKER w CONNECTION h:1",
                       "10 WORKER w RESOURCES " CORES, "10 TASK 1 READY preprocessing",
                       "10 TASK 2 READY processing", "10 TASK 1 RUNNING w",
                       "12 TASK 1 RETRIEVED SUCCESS 0 {} {}", "13 TASK 2 RUNNING w",
                       "30 LIBRARY 1 SENT w");

        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        assert_int_equal(summary.metrics.values[ROAST_ELAPSED_TIME_SECONDS].state, ROAST_ABSENT);
        assert_int_equal(summary.n_ledger, 1);
        assert_true(summary.ledger[0].seconds[ROAST_LEDGER_PROCESSOR] == 17);
        assert_true(summary.ledger[0].seconds[ROAST_LEDGER_OVERHEAD] == 2);
        assert_true(summary.ledger[0].seconds[ROAST_LEDGER_IDLE] == 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
        const struct CMUnitTest tests[] = {
                TEST(test_workers_come_change_and_go),
                TEST(test_what_was_sent_and_received),
                TEST(test_what_was_measured_of_a_task),
                TEST(test_tasks_of_which_nothing_was_measured),
                TEST(test_notes_of_the_application_tell_the_chunks),
                TEST(test_the_length_of_a_run),
                TEST(test_tasks_about_chunks_are_those_of_coffeas_category),
                TEST(test_a_task_that_the_log_ends_in_is_in_the_ledger_as_what_it_is),
        };

        return cmocka_run_group_tests_name("import-vine", tests, NULL, NULL);
}
