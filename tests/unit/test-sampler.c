/* probe/sampler: the series of a worker */

#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/sampler.h"
#include "roast-error.h"
#include "spend.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define WIDTH 64 /* at least as many as there are columns */

static void test_an_interval_out_of_range_is_refused(void **state)
{
        struct sampler *sampler = NULL;

        (void)state;
        assert_int_equal(sampler_new(&sampler, &(struct sampler_options){ .interval_s = 0.04 }),
                         ROAST_E_INVALID);
        assert_int_equal(sampler_new(&sampler, &(struct sampler_options){ .interval_s = 61 }),
                         ROAST_E_INVALID);
        assert_int_equal(sampler_new(&sampler, &(struct sampler_options){ .interval_s = -1 }),
                         ROAST_E_INVALID);
        assert_null(sampler);
        assert_int_equal(sampler_new(&sampler, NULL), 0);
        assert_int_equal(sampler_set_interval(sampler, 0), ROAST_E_INVALID);
        sampler_free(sampler);
}

static void test_rows_come_at_the_interval_and_in_order(void **state)
{
        ROAST_CLEANUP(sampler_freep) struct sampler *sampler = NULL;
        size_t width = N_SAMPLES, n, total = 0;
        struct sampler_state told;
        int64_t rows[16 * WIDTH], last = 0, begin = clock_monotonic_ns(), ticks;

        (void)state;
        assert_int_equal(sampler_new(&sampler, &(struct sampler_options){ .interval_s = 0.05 }), 0);
        assert_int_equal(sampler_start(sampler), 0);
        assert_int_equal(sampler_start(sampler), 0);
        for (int i = 0; i < 10; i++) {
                sleep_ns(103 * MS);
                n = sampler_take(sampler, rows, 16);
                for (size_t k = 0; k < n; k++) {
                        assert_true(rows[k * width] > last);
                        last = rows[k * width];
                }
                total += n;
        }
        sampler_stop(sampler);
        ticks = (clock_monotonic_ns() - begin) / (50 * MS);
        total += sampler_take(sampler, rows, 16);
        sampler_state(sampler, &told);
        assert_int_equal(told.rows, total);
        assert_int_equal(told.dropped, 0);
        assert_true(is_near((int64_t)(total + told.missed), ticks, 2));
        assert_false(told.runs);
        assert_true(told.cpu_ns > 0 && told.cpu_ns < 200 * MS);
}

static void test_a_full_ring_keeps_the_newest_rows(void **state)
{
        ROAST_CLEANUP(sampler_freep) struct sampler *sampler = NULL;
        size_t width = N_SAMPLES;
        struct sampler_state told;
        int64_t rows[8 * WIDTH];

        (void)state;
        assert_int_equal(sampler_new(&sampler, &(struct sampler_options){ 0.05, 4 }), 0);
        assert_int_equal(sampler_start(sampler), 0);
        sleep_ns(500 * MS);
        sampler_stop(sampler);
        sampler_state(sampler, &told);
        assert_int_equal(sampler_take(sampler, rows, 3), 3);
        assert_int_equal(sampler_take(sampler, rows + 3 * width, 5), 1);
        assert_int_equal(sampler_take(sampler, rows, 8), 0);
        assert_int_equal(told.dropped, told.rows - 4);
        assert_true(told.rows > 5);
        for (size_t i = 1; i < 4; i++)
                assert_true(rows[i * width] > rows[(i - 1) * width]);
        assert_true(rows[3 * width] > clock_monotonic_ns() - 300 * MS);
}

static void test_a_row_can_be_asked_for(void **state)
{
        ROAST_CLEANUP(sampler_freep) struct sampler *sampler = NULL;
        size_t width = N_SAMPLES;
        struct sampler_state told;
        int64_t rows[4 * WIDTH];

        (void)state;
        assert_int_equal(sampler_new(&sampler, NULL), 0);
        assert_int_equal(sampler_read(sampler), 0);
        assert_int_equal(sampler_read(sampler), 0);
        sampler_state(sampler, &told);
        assert_int_equal(told.rows, 2);
        assert_false(told.runs);
        assert_int_equal(sampler_take(sampler, rows, 4), 2);
        assert_true(rows[0] > 0 && rows[width] >= rows[0]);
}

static int forked_sampler(struct sampler *sampler)
{
        struct sampler_state told;
        int64_t rows[8 * WIDTH];

        sampler_state(sampler, &told);
        if (told.runs || told.rows || sampler_take(sampler, rows, 8))
                return 1;
        if (SPEND_NO_THREADS_AFTER_FORK)
                return 0;
        if (sampler_start(sampler) < 0)
                return 2;
        sleep_ns(160 * MS);
        if (sampler_take(sampler, rows, 8) < 2)
                return 3;
        sampler_free(sampler);
        return 0;
}

static void test_a_forked_child_starts_its_own(void **state)
{
        ROAST_CLEANUP(sampler_freep) struct sampler *sampler = NULL;
        struct sampler_state told;
        int status;
        pid_t pid;

        (void)state;
        assert_int_equal(sampler_new(&sampler, &(struct sampler_options){ .interval_s = 0.05 }), 0);
        assert_int_equal(sampler_start(sampler), 0);
        sleep_ns(60 * MS);
        pid = fork();
        if (pid == 0)
                _exit(forked_sampler(sampler));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        sleep_ns(160 * MS);
        sampler_state(sampler, &told);
        assert_true(told.runs && told.rows >= 3);
}

static void test_a_thousand_starts_and_stops_leave_nothing_behind(void **state)
{
        struct sampler *sampler = NULL;
        int fds, threads;

        (void)state;
        assert_int_equal(sampler_new(&sampler, NULL), 0);
        assert_int_equal(sampler_start(sampler), 0);
        sampler_stop(sampler);
        fds = count_entries("/proc/self/fd");
        threads = count_threads();
        for (int i = 0; i < 1000; i++) {
                assert_int_equal(sampler_start(sampler), 0);
                if (i % 3)
                        sampler_stop(sampler);
                if (i % 7 == 0) {
                        sampler_free(sampler);
                        assert_int_equal(sampler_new(&sampler, NULL), 0);
                }
        }
        sampler_stop(sampler);
        assert_int_equal(count_entries("/proc/self/fd"), fds);
        assert_int_equal(count_threads(), threads);
        sampler_free(sampler);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_an_interval_out_of_range_is_refused),
                cmocka_unit_test(test_rows_come_at_the_interval_and_in_order),
                cmocka_unit_test(test_a_full_ring_keeps_the_newest_rows),
                cmocka_unit_test(test_a_row_can_be_asked_for),
                cmocka_unit_test(test_a_forked_child_starts_its_own),
                cmocka_unit_test(test_a_thousand_starts_and_stops_leave_nothing_behind),
        };

        return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
