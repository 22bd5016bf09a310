/* metrics/: CPU time of processes that several workers share */

#include "unit.h"

#include "roast-metrics.h"
#include "roast-run.h"
#include "summed.h"
#include "timeline/block.h"
#include "util/cleanup.h"

#define START_MS (UTC / 1000000)

static void event(struct roast_run *run, double at_s, enum roast_worker_event kind,
                  const char *name, int64_t threads)
{
        const struct roast_worker worker = { name, "host", 77, threads, -1 };

        assert_int_equal(
                roast_run_add_worker_event(run, UTC + (int64_t)(at_s * 1e9), kind, &worker, NULL),
                0);
}

/* Samples each second: the process uses 700 ms of a second in user mode, 100 ms in the kernel. */
static void sample(struct roast_run *run, const char *worker, int64_t from_s, int64_t to_s)
{
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        int64_t times[10], user[10], system[10], monitor[10];
        const int64_t *series[] = { user, system, monitor };
        size_t n = 0;

        for (int64_t s = from_s; s <= to_s; s++, n++) {
                times[n] = START_MS + s * 1000;
                user[n] = 5000 + s * 700;
                system[n] = 300 + s * 100;
                monitor[n] = 1000 * (s - from_s + 1);
        }
        assert_int_equal(block_encode(&bytes, times, series, n, 3, NULL), 0);
        assert_int_equal(
                roast_run_add_series(run, worker,
                                     "cpu_user_ns/1000000,cpu_system_ns/1000000,monitor_cpu_us",
                                     bytes.data, bytes.len, NULL),
                0);
}

static void test_a_process_goes_on_when_its_first_worker_has_gone(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, 0, ROAST_WORKER_PRESENT, "a", 1);
        event(run, 0, ROAST_WORKER_PRESENT, "b", 1);
        sample(run, "a", 0, 2);
        sample(run, "b", 0, 3);
        event(run, 2.5, ROAST_WORKER_WENT, "a", -1);
        sample(run, "b", 4, 9);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_WORKER_CPU_SECONDS), 9 * 0.8);
        assert_near(known(&summary, ROAST_AVG_CPU_UTILIZATION_PERCENT), 80 / 2.0);
        /* sampling has a thread of its own in each worker */
        assert_near(known(&summary, ROAST_MONITORING_SAMPLER_SECONDS), (3 + 4 + 6) * 1e-3);
}

static void test_samples_of_a_process_count_once_in_any_order(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, 0, ROAST_WORKER_PRESENT, "a", 1);
        event(run, 0, ROAST_WORKER_PRESENT, "b", 1);
        sample(run, "b", 3, 5);
        sample(run, "a", 0, 4);
        sample(run, "a", 5, 7);
        sample(run, "b", 6, 8);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_WORKER_CPU_SECONDS), 8 * 0.8);
}

static void test_workers_that_followed_each_other_do_not_add_up(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, 0, ROAST_WORKER_PRESENT, "a", 2);
        sample(run, "a", 0, 3);
        event(run, 3, ROAST_WORKER_WENT, "a", -1);
        event(run, 4, ROAST_WORKER_CAME, "b", 1);
        event(run, 4, ROAST_WORKER_CAME, "c", 1);
        sample(run, "b", 4, 9);
        sample(run, "c", 4, 9);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_WORKER_CPU_SECONDS), 9 * 0.8);
        assert_near(known(&summary, ROAST_AVG_CPU_UTILIZATION_PERCENT), 80 / 2.0);
        assert_near(known(&summary, ROAST_AVG_CPU_UTILIZATION_PERCENT + 2), 80 / 2.0);
}

/* One that a worker sent so: its times can be read, so that it is kept, but not its values. */
static void test_a_damaged_block_is_passed_over_and_counted(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        const int64_t times[] = { START_MS, START_MS + 1000, START_MS + 2000 };
        const int64_t rss[] = { 1000, 7, 123456 };
        const int64_t *series[] = { rss };
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, 0, ROAST_WORKER_PRESENT, "a", 1);
        sample(run, "a", 0, 9);
        assert_int_equal(block_encode(&bytes, times, series, 3, 1, NULL), 0);
        assert_int_equal(buf_append(&bytes, "\0\0\0", 4), 0); /* a word that nothing has coded */
        assert_int_equal(
                roast_run_add_series(run, "a", "rss_bytes/4096", bytes.data, bytes.len, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.faults", 0, NULL), 0);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_WORKER_CPU_SECONDS), 9 * 0.8);
        assert_int_equal(summary.metrics.values[ROAST_PEAK_MEMORY_BYTES].state, ROAST_ABSENT);
        assert_near(known(&summary, ROAST_MONITORING_FAULTS), 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_process_goes_on_when_its_first_worker_has_gone),
                cmocka_unit_test(test_samples_of_a_process_count_once_in_any_order),
                cmocka_unit_test(test_workers_that_followed_each_other_do_not_add_up),
                cmocka_unit_test(test_a_damaged_block_is_passed_over_and_counted),
        };

        return cmocka_run_group_tests_name("metrics-processes", tests, NULL, NULL);
}
