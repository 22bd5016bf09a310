/* run/attempts: what records, tasks and the scheduler tell comes together, one attempt each */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "roast-metrics.h"
#include "run/attempts.h"
#include "summed.h"
#include "util/cleanup.h"
#include "util/size.h"

/* A row about the chunk that begins at entry `start`: a second long, from `at` on */
static int add_task(struct roast_run *run, const char *worker, int64_t start,
                    enum chunk_outcome outcome, int64_t at, struct roast_error *error)
{
        struct roast_task task = ROAST_TASK_INIT;
        char key[32];

        snprintf(key, sizeof(key), "Processor-%lld", (long long)start);
        task.key = key;
        task.worker = worker;
        task.outcome = outcome;
        task.stop_utc_ns = at + S;
        if (outcome != CHUNK_LOST) {
                task.start_utc_ns = task.compute_start_utc_ns = at;
                task.compute_ns = S;
        }
        if (outcome == CHUNK_FAILED) {
                task.error_type = "OSError";
                task.error_message = "no such file";
        }
        task.dataset = "data";
        task.file = "a.root";
        task.tree = "Events";
        task.entry_start = start;
        task.entry_stop = start + 100;
        return roast_run_add_task(run, &task, error);
}

static void task(struct roast_run *run, const char *worker, int64_t start,
                 enum chunk_outcome outcome, int64_t at)
{
        assert_int_equal(add_task(run, worker, start, outcome, at, NULL), 1);
}

static void record(struct roast_run *run, const char *worker, int64_t start,
                   enum chunk_outcome outcome, int64_t at)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        chunk_table_init(&table);
        assert_int_equal(chunk_table_add(&table), 0);
        chunk_table_set_text(&table, 0, CHUNK_DATASET, "data", 4);
        chunk_table_set_text(&table, 0, CHUNK_FILE, "a.root", 6);
        chunk_table_set_text(&table, 0, CHUNK_TREE, "Events", 6);
        chunk_table_set_text(&table, 0, CHUNK_WORKER, worker, strlen(worker));
        chunk_table_set(&table, 0, CHUNK_ENTRY_START, start);
        chunk_table_set(&table, 0, CHUNK_ENTRY_STOP, start + 100);
        chunk_table_set(&table, 0, CHUNK_START_UTC_NS, at);
        chunk_table_set(&table, 0, CHUNK_WALL_NS, S / 2);
        chunk_table_set(&table, 0, CHUNK_NUM_EVENTS, 99);
        chunk_table_set(&table, 0, CHUNK_OUTCOME, outcome);
        if (outcome == CHUNK_FAILED)
                chunk_table_set_text(&table, 0, CHUNK_ERROR_TYPE, "ValueError", 10);
        add_table(run, &table);
}

/* Attempts as text: "ENTRY #NUMBER OUTCOME BY-WHAT EVENTS;" */
static int note(const struct run_attempt *attempt, void *context, struct roast_error *error)
{
        const struct run_value *chunk = attempt->chunk;

        assert_int_equal(chunk[CHUNK_OUTCOME].integer, attempt->outcome);
        if (buf_printf(context, "%lld #%lld %s %s%s%s;",
                       (long long)chunk[CHUNK_ENTRY_START].integer,
                       (long long)chunk[CHUNK_ATTEMPT].integer, chunk_outcomes[attempt->outcome],
                       attempt->chunk_id ? "record" : "", attempt->task_id ? "task" : "",
                       chunk[CHUNK_ERROR_TYPE].type == RUN_INT ? " error" : "") < 0)
                return roast_fail_nomem(error);
        return 0;
}

/* Commits and frees the run. */
static void assert_attempts(struct roast_run *run, const char *expected)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *string = NULL;
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        if (roast_run_attempts(run, note, &text, &error) < 0)
                fail_msg("%s", error.message);
        string = buf_release_string(&text);
        assert_string_equal(string, expected);
        roast_run_free(run);
}

static int note_output(const struct run_attempt *attempt, void *context, struct roast_error *error)
{
        const struct run_value *value = &attempt->chunk[CHUNK_OUTPUT_BYTES];

        if (buf_printf(context, "%lld ", value->type == RUN_INT ? (long long)value->integer : -1) <
            0)
                return roast_fail_nomem(error);
        return 0;
}

static void test_the_task_says_how_large_the_output_was(void **state)
{
        struct roast_task packed = ROAST_TASK_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *string = NULL;
        struct roast_run *run = new_run();

        (void)state;
        packed.worker = "tcp://a:1";
        packed.outcome = CHUNK_FINISHED;
        packed.dataset = "data";
        packed.file = "a.root";
        packed.tree = "Events";
        packed.compute_ns = S;
        record(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC + S / 10);
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC); /* it says nothing */
        for (int i = 1; i < 3; i++) {
                packed.key = i == 1 ? "with a record" : "without";
                packed.entry_start = 100 * i;
                packed.entry_stop = 100 * i + 100;
                packed.start_utc_ns = packed.compute_start_utc_ns = UTC + i * 2 * S;
                packed.stop_utc_ns = packed.start_utc_ns + S;
                packed.output_bytes = 1000 + i;
                assert_int_equal(roast_run_add_task(run, &packed, NULL), 1);
        }
        record(run, "tcp://a:1", 100, CHUNK_FINISHED, UTC + 2 * S + S / 10);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_attempts(run, note_output, &text, NULL), 0);
        string = buf_release_string(&text);
        assert_string_equal(string, "-1 1001 1002 ");
        roast_run_free(run);
}

static void test_a_record_and_its_task_are_one_attempt(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        record(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC + S / 10);
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        record(run, "tcp://a:1", 100, CHUNK_FAILED, UTC + 2 * S - S / 20); /* clocks differ */
        task(run, "tcp://a:1", 100, CHUNK_FAILED, UTC + 2 * S);
        assert_attempts(run, "0 #1 finished recordtask;100 #1 failed recordtask error;");
}

static void test_a_task_without_a_record_is_an_attempt(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        task(run, "tcp://a:1", 100, CHUNK_SKIPPED, UTC + S);
        task(run, "tcp://a:1", 200, CHUNK_FAILED, UTC + 2 * S);
        task(run, "tcp://b:1", 200, CHUNK_CANCELLED, UTC + 3 * S);
        record(run, "tcp://b:1", 300, CHUNK_FINISHED, UTC);
        assert_attempts(run, "300 #1 finished record;0 #1 finished task;100 #1 skipped task;"
                             "200 #1 failed task error;200 #2 cancelled task;");
}

static void test_a_task_that_is_about_no_chunk_is_no_attempt_at_one(void **state)
{
        struct roast_task reduce = ROAST_TASK_INIT;
        struct roast_run *run = new_run();

        (void)state;
        reduce.key = "reduce-1";
        assert_int_equal(roast_run_add_task(run, &reduce, NULL), 1);
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        reduce.key = "reduce-2";
        assert_int_equal(roast_run_add_task(run, &reduce, NULL), 1);
        assert_attempts(run, "0 #1 finished task;");
}

static void test_a_task_that_arrives_twice_counts_once(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(add_task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC, NULL), 0);
        assert_attempts(run, "0 #1 finished task;");
}

static void test_retries_are_numbered_by_time_wherever_they_ran(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        record(run, "tcp://b:1", 0, CHUNK_FINISHED, UTC + 4 * S);
        record(run, "tcp://a:1", 0, CHUNK_FAILED, UTC);
        task(run, "tcp://b:1", 0, CHUNK_FINISHED, UTC + 4 * S);
        task(run, "tcp://a:1", 0, CHUNK_FAILED, UTC + 2 * S); /* the file did not open */
        task(run, "tcp://a:1", 0, CHUNK_FAILED, UTC);
        assert_attempts(run, "0 #3 finished recordtask;0 #1 failed recordtask error;"
                             "0 #2 failed task error;");
}

static void test_a_task_in_which_process_was_called_again_has_several_records(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        record(run, "tcp://a:1", 0, CHUNK_FAILED, UTC);
        record(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC + S / 2);
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        record(run, "tcp://a:1", 100, CHUNK_FAILED, UTC);
        record(run, "tcp://a:1", 100, CHUNK_FAILED, UTC + S / 2);
        task(run, "tcp://a:1", 100, CHUNK_SKIPPED, UTC);
        assert_attempts(run, "0 #1 failed recordtask error;0 #2 finished recordtask;"
                             "100 #1 failed recordtask error;100 #2 skipped recordtask error;");
}

static void test_a_result_that_did_not_get_out_makes_a_failure(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        record(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        task(run, "tcp://a:1", 0, CHUNK_FAILED, UTC);
        assert_attempts(run, "0 #1 failed recordtask error;");
}

static void test_what_is_lost_with_its_worker_is_one_attempt(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        record(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC); /* finished, and its result was lost */
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        task(run, "tcp://a:1", 0, CHUNK_LOST, UTC + 5 * S);
        record(run, "tcp://b:1", 0, CHUNK_FINISHED, UTC + 7 * S);
        task(run, "tcp://b:1", 0, CHUNK_FINISHED, UTC + 7 * S);
        task(run, "tcp://a:1", 100, CHUNK_FINISHED, UTC + S); /* the same without records */
        task(run, "tcp://a:1", 100, CHUNK_LOST, UTC + 5 * S);
        task(run, "tcp://b:1", 100, CHUNK_FINISHED, UTC + 8 * S);
        record(run, "tcp://a:1", 200, CHUNK_FAILED, UTC + 2 * S); /* failed, then lost */
        task(run, "tcp://a:1", 200, CHUNK_LOST, UTC + 5 * S);
        assert_attempts(run, "0 #1 lost recordtask;0 #2 finished recordtask;"
                             "200 #1 failed record error;100 #1 lost task;100 #2 finished task;"
                             "200 #2 lost task;");
}

/* TaskVine's tasks are processes of their own, which do not know what their worker is called. */
static void test_records_under_other_names_find_tasks_by_chunk_and_time(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        task(run, "worker-1", 0, CHUNK_LOST, UTC);
        task(run, "worker-2", 0, CHUNK_FINISHED, UTC + 2 * S);
        record(run, "node:11", 0, CHUNK_FINISHED, UTC + 2 * S + S / 4);
        task(run, "worker-2", 100, CHUNK_FAILED, UTC + 4 * S);
        task(run, "worker-2", 100, CHUNK_FINISHED, UTC + 6 * S);
        record(run, "node:12", 100, CHUNK_FINISHED, UTC + 6 * S + S / 4);
        assert_attempts(run, "0 #2 finished recordtask;100 #2 finished recordtask;"
                             "0 #1 lost task;100 #1 failed task error;");
}

static void test_what_an_older_run_calls_lost_is_understood(void **state)
{
        struct roast_run *run = new_run();

        (void)state;
        record(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        record(run, "tcp://a:1", 0, CHUNK_LOST, UTC + 5 * S);
        record(run, "tcp://a:1", 100, CHUNK_LOST, UTC + 5 * S);
        assert_attempts(run, "0 #1 lost record;100 #1 lost record;");
}

static void test_the_writers_own_walk_ends_at_its_last_commit(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *string = NULL;
        struct roast_run *run = new_run();

        (void)state;
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        record(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        assert_int_equal(roast_run_attempts(run, note, &text, NULL), 0);
        string = buf_release_string(&text);
        assert_string_equal(string, "0 #1 finished task;");
        assert_attempts(run, "0 #1 finished recordtask;");
}

static void test_attempts_without_a_record_are_read_back_as_chunks(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(cleanup_free) void *data = NULL;
        struct roast_run *run = new_run();
        size_t len;

        (void)state;
        task(run, "tcp://a:1", 0, CHUNK_FINISHED, UTC);
        task(run, "tcp://a:1", 100, CHUNK_LOST, UTC);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_encode_chunks(run, &data, &len, NULL), 0);
        chunk_table_init(&table);
        assert_int_equal(chunk_table_decode(&table, data, len, NULL), 0);
        assert_int_equal(table.n, 2);
        assert_int_equal(chunk_table_get(&table, 0, CHUNK_NUM_EVENTS), 100);
        assert_int_equal(chunk_table_get(&table, 0, CHUNK_WALL_NS), S);
        assert_int_equal(chunk_table_get(&table, 1, CHUNK_OUTCOME), CHUNK_LOST);
        assert_int_equal(chunk_table_get(&table, 1, CHUNK_NUM_EVENTS), CHUNK_ABSENT);
        roast_run_free(run);
}

static void test_chunks_of_an_undecorated_processor_are_counted(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_run();
        const struct roast_value *values;

        (void)state;
        task(run, "tcp://a:1", 0, CHUNK_FAILED, UTC);
        task(run, "tcp://b:1", 0, CHUNK_FINISHED, UTC + 2 * S);
        task(run, "tcp://a:1", 100, CHUNK_LOST, UTC + S);
        task(run, "tcp://b:1", 100, CHUNK_FINISHED, UTC + 4 * S);
        task(run, "tcp://b:1", 200, CHUNK_SKIPPED, UTC + 6 * S);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        values = summary.metrics.values;
        assert_int_equal(values[ROAST_NUM_CHUNKS].count, 4);
        assert_int_equal(values[ROAST_NUM_SUCCESSFUL_CHUNKS].count, 2);
        assert_int_equal(values[ROAST_NUM_FAILED_CHUNKS].count, 2);
        assert_int_equal(values[ROAST_NUM_SKIPPED_CHUNKS].count, 1);
        assert_int_equal(values[ROAST_NUM_LOST_CHUNKS].count, 1);
        assert_int_equal(values[ROAST_NUM_RETRIED_CHUNKS].count, 2);
        assert_int_equal(values[ROAST_TOTAL_EVENTS_FROM_CHUNKS].count, 200);
        assert_int_equal(values[ROAST_CHUNK_DURATION_MEAN].state, ROAST_ESTIMATED);
        assert_has(values[ROAST_CHUNK_DURATION_MEAN].reason, "without a record");
        roast_run_free(run);
}

/* Memory that fails anywhere is an error, and only that. */
static void test_a_walk_without_memory_is_an_error(void **state)
{
        struct roast_run *run = new_run();
        bool failed = true;

        (void)state;
        assert_true(sample_fill(run, 20, NULL) >= 0);
        task(run, "tcp://10.0.0.1:1001", 0, CHUNK_LOST, UTC);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
                struct roast_error error = { 0 };
                int r;

                alloc_fail_after(count);
                r = roast_run_attempts(run, note, &text, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                if (r < 0)
                        assert_int_equal(r, ROAST_E_NOMEM);
                else
                        failed = false;
        }
        roast_run_free(run);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_the_task_says_how_large_the_output_was),
                cmocka_unit_test(test_a_record_and_its_task_are_one_attempt),
                cmocka_unit_test(test_a_task_without_a_record_is_an_attempt),
                cmocka_unit_test(test_a_task_that_is_about_no_chunk_is_no_attempt_at_one),
                cmocka_unit_test(test_a_task_that_arrives_twice_counts_once),
                cmocka_unit_test(test_retries_are_numbered_by_time_wherever_they_ran),
                cmocka_unit_test(test_a_task_in_which_process_was_called_again_has_several_records),
                cmocka_unit_test(test_a_result_that_did_not_get_out_makes_a_failure),
                cmocka_unit_test(test_what_is_lost_with_its_worker_is_one_attempt),
                cmocka_unit_test(test_records_under_other_names_find_tasks_by_chunk_and_time),
                cmocka_unit_test(test_what_an_older_run_calls_lost_is_understood),
                cmocka_unit_test(test_the_writers_own_walk_ends_at_its_last_commit),
                cmocka_unit_test(test_attempts_without_a_record_are_read_back_as_chunks),
                cmocka_unit_test(test_chunks_of_an_undecorated_processor_are_counted),
                cmocka_unit_test(test_a_walk_without_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("attempts", tests, NULL, NULL);
}
