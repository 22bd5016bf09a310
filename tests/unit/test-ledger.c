/* metrics/ledger: the time of all worker threads, in parts that sum to it */

#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "alloc.h"
#include "roast-show.h"
#include "summed.h"
#include "util/cleanup.h"
#include "util/size.h"

#define PART(name) ROAST_LEDGER_##name

/* Ten seconds from UTC on, with a worker of two threads */
static struct roast_run *run_with_worker(void)
{
        struct roast_worker worker = { "a", NULL, -1, 2, -1 };
        struct roast_run *run = new_timed_run();

        assert_int_equal(
                roast_run_add_worker_event(run, UTC - S, ROAST_WORKER_PRESENT, &worker, NULL), 0);
        return run;
}

/* An attempt from `from` to `to` seconds that computes from `begin` on */
static void task(struct roast_run *run, const char *prefix, bool is_chunk, double from,
                 double begin, double to)
{
        struct roast_task task = ROAST_TASK_INIT;
        static int number;
        char key[64];

        snprintf(key, sizeof(key), "%s-%d", prefix, number++);
        task.key = key;
        task.prefix = prefix;
        task.worker = "a";
        task.outcome = CHUNK_FINISHED;
        task.start_utc_ns = UTC + (int64_t)(from * (double)S);
        task.stop_utc_ns = UTC + (int64_t)(to * (double)S);
        task.compute_start_utc_ns = UTC + (int64_t)(begin * (double)S);
        task.compute_ns = task.stop_utc_ns - task.compute_start_utc_ns;
        if (is_chunk) {
                task.file = "a.root";
                task.entry_start = number;
                task.entry_stop = number + 1;
        }
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
}

static void activity(struct roast_run *run, const char *kind, const char *prefix, const char *name,
                     double seconds)
{
        assert_int_equal(
                roast_run_add_activity(run, "a", kind, prefix, name, "seconds", seconds, NULL), 0);
}

/* To the nanosecond */
static void assert_seconds(double a, double b)
{
        if (!(fabs(a - b) < 1e-9))
                fail_msg("%.12g is not %.12g", a, b);
}

/* The parts sum to threads x wall. */
static void assert_sums(const struct roast_summary *summary, double wall_s)
{
        for (size_t i = 0; i < summary->n_ledger; i++) {
                const struct roast_ledger_row *row = &summary->ledger[i];
                double sum = 0;

                for (size_t j = 0; j < ROAST_LEDGER_N_PARTS; j++) {
                        assert_true(row->seconds[j] >= 0);
                        sum += row->seconds[j];
                }
                assert_seconds(sum, row->threads * wall_s);
        }
}

static void test_time_on_threads_is_the_processors_or_overhead(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = run_with_worker();
        const double *s;

        (void)state;
        task(run, "P", true, 1, 1.5, 4);
        task(run, "P", true, -1, -1, 2);      /* begun before the run */
        task(run, "reduce", false, 8, 8, 12); /* ended after it */
        activity(run, "execute", "P", "thread-cpu", 3);
        activity(run, "execute", "P", "thread-noncpu", 0.5);
        activity(run, "execute", "P", "my own", 0.5); /* is taken off thread-noncpu by Dask */
        activity(run, "execute", "reduce", "thread-cpu", 4);
        activity(run, "execute", "P", "deserialize", 0.2);
        activity(run, "execute", "P", "disk-read", 0.2);
        summarize(&summary, run);
        assert_int_equal(summary.n_ledger, 1);
        s = summary.ledger[0].seconds;
        assert_seconds(s[PART(PROCESSOR_CPU)], 4.5 * 0.75);
        assert_seconds(s[PART(PROCESSOR_WAIT)], 4.5 * 0.25);
        assert_seconds(s[PART(OVERHEAD)], 2);
        assert_seconds(s[PART(SERIALIZE)], 0.25);
        assert_seconds(s[PART(SPILL)], 0.25);
        assert_seconds(s[PART(IDLE)], 20 - 4.5 - 2 - 0.5);
        assert_seconds(s[PART(GONE)], 0);
        assert_int_equal(summary.ledger[0].estimated, 0);
        assert_sums(&summary, 10);
}

static void test_work_outside_of_threads_explains_free_time_in_part(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = run_with_worker();
        const double *s;

        (void)state;
        task(run, "P", true, 0, 0, 5); /* a quarter of 2 x 10 s */
        activity(run, "gather-dep", NULL, "network", 4);
        activity(run, "get-data", NULL, "compress", 2);
        activity(run, "gather-dep", NULL, "other", 100);
        summarize(&summary, run);
        s = summary.ledger[0].seconds;
        assert_seconds(s[PART(TRANSFER)], 3);
        assert_seconds(s[PART(COMPRESS)], 1.5);
        assert_seconds(s[PART(IDLE)], 15 - 4.5);
        assert_true(summary.ledger[0].estimated & 1u << PART(TRANSFER));
        assert_true(summary.ledger[0].estimated & 1u << PART(IDLE));
        assert_sums(&summary, 10);
}

static void test_more_than_there_is_is_scaled(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = run_with_worker();

        (void)state;
        for (int i = 0; i < 4; i++) /* tasks that seceded: four at a time on two threads */
                task(run, "P", true, 0, 0, 10);
        activity(run, "gather-dep", NULL, "network", 400);
        summarize(&summary, run);
        assert_seconds(summary.ledger[0].seconds[PART(PROCESSOR)], 20);
        assert_seconds(summary.ledger[0].seconds[PART(IDLE)], 0);
        assert_true(summary.ledger[0].estimated & 1u << PART(PROCESSOR));
        assert_sums(&summary, 10);
}

static void test_a_worker_that_goes_and_one_that_comes_are_gone_for_the_rest(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_worker late = { "b", NULL, -1, 4, -1 }, gone = { "a", NULL, -1, 2, -1 };
        struct roast_task lost = ROAST_TASK_INIT;
        struct roast_run *run = run_with_worker();

        (void)state;
        lost.key = "P-1";
        lost.worker = "a";
        lost.outcome = CHUNK_LOST;
        lost.start_utc_ns = UTC + 2 * S;
        lost.stop_utc_ns = UTC + 4 * S;
        lost.file = "a.root";
        lost.entry_start = 0;
        assert_int_equal(roast_run_add_task(run, &lost, NULL), 1);
        assert_int_equal(
                roast_run_add_worker_event(run, UTC + 4 * S, ROAST_WORKER_WENT, &gone, NULL), 0);
        assert_int_equal(
                roast_run_add_worker_event(run, UTC + 7 * S, ROAST_WORKER_CAME, &late, NULL), 0);
        summarize(&summary, run);
        assert_int_equal(summary.n_ledger, 2);
        assert_seconds(summary.ledger[0].seconds[PART(PROCESSOR)], 2);
        assert_seconds(summary.ledger[0].seconds[PART(IDLE)], 6);
        assert_seconds(summary.ledger[0].seconds[PART(GONE)], 12);
        assert_seconds(summary.ledger[1].seconds[PART(IDLE)], 12);
        assert_seconds(summary.ledger[1].seconds[PART(GONE)], 28);
        assert_sums(&summary, 10);
}

/* A task of an executor that measures tasks; cpu negative: not this one */
static void measured(struct roast_run *run, const char *prefix, int outcome, double from, double to,
                     double cpu)
{
        struct roast_task task = ROAST_TASK_INIT;
        static int number;
        char key[16];

        snprintf(key, sizeof(key), "%d", number++);
        task.key = key;
        task.prefix = prefix;
        task.worker = "a";
        task.outcome = outcome;
        task.start_utc_ns = UTC + (int64_t)(from * (double)S);
        if (outcome == CHUNK_FINISHED || outcome == CHUNK_FAILED) {
                task.stop_utc_ns = UTC + (int64_t)(to * (double)S);
                task.compute_start_utc_ns = task.start_utc_ns;
                task.compute_ns = task.stop_utc_ns - task.start_utc_ns;
        }
        task.cpu_ns = cpu < 0 ? -1 : (int64_t)(cpu * (double)S);
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
}

static bool has(const struct roast_summary *summary, enum roast_ledger_part part)
{
        return summary->ledger[0].known >> part & 1;
}

static void test_tasks_that_were_measured_tell_how_long_they_were_on_a_core(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = run_with_worker();
        const double *s;

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "task.chunk_prefix", "processing", NULL), 0);
        measured(run, "preprocessing", CHUNK_FINISHED, 0, 1, 0.5);
        measured(run, "processing", CHUNK_FINISHED, 1, 5, 1);
        measured(run, "processing", CHUNK_FINISHED, 5, 6, 3);  /* three threads of its own */
        measured(run, "processing", CHUNK_FINISHED, -4, 4, 2); /* half of it before the run */
        measured(run, "processing", CHUNK_FAILED, 6, 6.5, -1); /* it was not measured */
        summarize(&summary, run);
        s = summary.ledger[0].seconds;
        assert_seconds(s[PART(PROCESSOR_CPU)], 1 + 1 + 1);
        assert_seconds(s[PART(PROCESSOR_WAIT)], 3 + 3);
        assert_seconds(s[PART(PROCESSOR)], 0.5);
        assert_seconds(s[PART(OVERHEAD)], 1);
        assert_seconds(s[PART(IDLE)], 9.5);
        assert_int_equal(summary.ledger[0].estimated, 0);
        assert_true(has(&summary, PART(PROCESSOR_CPU)));
        assert_false(has(&summary, PART(TASKS)));
        assert_false(has(&summary, PART(SERIALIZE))); /* nobody tells */
        assert_sums(&summary, 10);
}

static void test_what_is_not_known_of_tasks_is_no_zero(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };
        struct roast_run *run = run_with_worker();
        const double *s;

        (void)state;
        measured(run, "wrapper", CHUNK_FINISHED, 0, 4, 1);
        measured(run, "wrapper", CHUNK_FAILED, 4, 6, -1);
        summarize(&summary, run);
        s = summary.ledger[0].seconds;
        assert_seconds(s[PART(TASKS_CPU)], 1);
        assert_seconds(s[PART(TASKS_WAIT)], 3);
        assert_seconds(s[PART(TASKS)], 2);
        assert_seconds(s[PART(IDLE)], 14);
        assert_false(has(&summary, PART(PROCESSOR_CPU)) || has(&summary, PART(PROCESSOR_WAIT)) ||
                     has(&summary, PART(OVERHEAD)));
        assert_sums(&summary, 10);
        assert_int_equal(roast_table_make(&table, "ledger", &summary, NULL), 0);
        assert_int_equal(table.n_rows, 4);
        assert_string_equal(table.cells[0].text, "Tasks of any kind, on a core");
}

static void test_chunks_that_nobody_measured_are_not_said_to_be_on_a_core(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = run_with_worker();

        (void)state;
        task(run, "P", true, 0, 0, 3);
        summarize(&summary, run);
        assert_seconds(summary.ledger[0].seconds[PART(PROCESSOR)], 3);
        assert_false(has(&summary, PART(PROCESSOR_CPU)));
        assert_sums(&summary, 10);
}

/* Until the end of the run, whether or not somebody has said so */
static void test_a_chunk_that_never_ended_is_the_processors(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = run_with_worker();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "task.chunk_prefix", "processing", NULL), 0);
        measured(run, "processing", CHUNK_RUNNING, 4, 0, -1);
        summarize(&summary, run);
        assert_seconds(summary.ledger[0].seconds[PART(PROCESSOR)], 6);
        assert_seconds(summary.ledger[0].seconds[PART(OVERHEAD)], 0);
        assert_sums(&summary, 10);
}

/* Its tasks tell of more than the comings and goings of workers, which may all be at its start. */
static void test_an_unfinished_run_is_followed_until_its_last_task(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_worker worker = { "a", NULL, -1, 2, -1 };
        struct roast_run *run = new_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", UTC, NULL), 0);
        assert_int_equal(roast_run_add_worker_event(run, UTC, ROAST_WORKER_PRESENT, &worker, NULL),
                         0);
        task(run, "P", true, 0, 0, 4);
        summarize(&summary, run);
        assert_absent(&summary, ROAST_ELAPSED_TIME_SECONDS, "the run has not finished");
        assert_near(known(&summary, ROAST_AVG_WORKERS), 1);
        assert_int_equal(summary.n_ledger, 1);
        assert_seconds(summary.ledger[0].seconds[PART(PROCESSOR)], 4);
        assert_sums(&summary, 4);
}

static void test_without_tasks_there_is_no_ledger(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

        (void)state;
        summarize(&summary, run_with_worker());
        assert_int_equal(summary.n_ledger, 0);
        assert_int_equal(roast_table_make(&table, "ledger", &summary, NULL), 0);
        assert_int_equal(table.n_rows, 0);
}

/* Whatever tasks, workers and activities say */
static void test_random_ledgers_sum_to_threads_times_wall(void **state)
{
        static const char *const kinds[] = { "execute", "gather-dep", "get-data" };
        static const char *const names[] = { "thread-cpu", "network", "disk-write", "serialize",
                                             "compress",   "other",   "failed",     "x" };
        uint64_t seed = 77;

        (void)state;
        for (int i = 0; i < 200; i++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
                struct roast_run *run = run_with_worker();

                for (uint64_t n = sample_below(&seed, 12); n > 0; n--) {
                        double from = (double)sample_below(&seed, 1300) / 100 - 1;
                        double to = from + (double)sample_below(&seed, 500) / 100;

                        task(run, n % 3 ? "P" : "reduce", n % 3, from, (from + to) / 2, to);
                }
                for (uint64_t n = sample_below(&seed, 12); n > 0; n--)
                        activity(run, kinds[sample_below(&seed, 3)], n % 2 ? "P" : NULL,
                                 names[sample_below(&seed, 8)],
                                 (double)sample_below(&seed, 900) / 100);
                for (uint64_t n = sample_below(&seed, 6); n > 0; n--) {
                        struct roast_worker worker = { n % 2 ? "a" : "b", NULL, -1,
                                                       (int64_t)sample_below(&seed, 9), -1 };
                        int64_t at = UTC + (int64_t)sample_below(&seed, 12) * S - S;

                        assert_int_equal(
                                roast_run_add_worker_event(run, at, 2 + n % 2, &worker, NULL), 0);
                }
                summarize(&summary, run);
                assert_sums(&summary, 10);
        }
}

static void test_prefixes_are_the_processors_by_what_their_tasks_are_about(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = run_with_worker();
        const struct roast_value *values;

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "processor.name", "P", NULL), 0);
        task(run, "automatic_retries", true, 0, 0, 3);
        task(run, "automatic_retries", false, 3, 3, 4); /* the metadata of a file */
        task(run, "reduce", false, 4, 4, 5);
        assert_int_equal(roast_run_add_span(run, "execute", "automatic_retries", "thread-cpu",
                                            "seconds", 4, NULL),
                         0);
        assert_int_equal(
                roast_run_add_span(run, "execute", "reduce", "thread-cpu", "seconds", 50, NULL), 0);
        summarize(&summary, run);
        values = summary.metrics.values;
        assert_seconds(values[ROAST_PROCESSOR_CPU_TIME_SECONDS].real, 3);
        assert_seconds(values[ROAST_OVERHEAD_CPU_TIME_SECONDS].real, 51);
        assert_int_equal(values[ROAST_PROCESSOR_CPU_TIME_SECONDS].state, ROAST_ESTIMATED);
        assert_has(values[ROAST_PROCESSOR_CPU_TIME_SECONDS].reason, "same name");
}

/* Dask makes "deadbeef" of a hexadecimal name and cuts long ones: the name does not matter. */
static void test_a_prefix_that_dask_changed_is_the_processors_all_the_same(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = run_with_worker();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "processor.name", "deadbeefdeadbeef", NULL), 0);
        task(run, "data", true, 0, 0, 3);
        assert_int_equal(
                roast_run_add_span(run, "execute", "data", "thread-cpu", "seconds", 2, NULL), 0);
        summarize(&summary, run);
        assert_seconds(summary.metrics.values[ROAST_PROCESSOR_CPU_TIME_SECONDS].real, 2);
        assert_int_equal(summary.metrics.values[ROAST_PROCESSOR_CPU_TIME_SECONDS].state,
                         ROAST_KNOWN);
}

static void test_a_ledger_without_memory_is_an_error(void **state)
{
        struct roast_run *run = run_with_worker();
        bool failed = true;

        (void)state;
        task(run, "P", true, 0, 0, 3);
        activity(run, "execute", "P", "thread-cpu", 3);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
                ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };
                struct roast_error error = { 0 };
                int r;

                alloc_fail_after(count);
                r = roast_summary_of_run(&summary, run, &error);
                if (r >= 0)
                        r = roast_table_make(&table, "ledger", &summary, &error);
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
                cmocka_unit_test(test_time_on_threads_is_the_processors_or_overhead),
                cmocka_unit_test(test_work_outside_of_threads_explains_free_time_in_part),
                cmocka_unit_test(test_more_than_there_is_is_scaled),
                cmocka_unit_test(test_a_worker_that_goes_and_one_that_comes_are_gone_for_the_rest),
                cmocka_unit_test(test_tasks_that_were_measured_tell_how_long_they_were_on_a_core),
                cmocka_unit_test(test_what_is_not_known_of_tasks_is_no_zero),
                cmocka_unit_test(test_chunks_that_nobody_measured_are_not_said_to_be_on_a_core),
                cmocka_unit_test(test_a_chunk_that_never_ended_is_the_processors),
                cmocka_unit_test(test_an_unfinished_run_is_followed_until_its_last_task),
                cmocka_unit_test(test_without_tasks_there_is_no_ledger),
                cmocka_unit_test(test_random_ledgers_sum_to_threads_times_wall),
                cmocka_unit_test(test_prefixes_are_the_processors_by_what_their_tasks_are_about),
                cmocka_unit_test(test_a_prefix_that_dask_changed_is_the_processors_all_the_same),
                cmocka_unit_test(test_a_ledger_without_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
