/*
 * probe/ on a platform of which only POSIX is known
 *
 * Its library is compiled for POSIX alone, so that a call of Linux outside of probe/linux/ does not
 * compile.
 */

#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/chunk.h"
#include "probe/sampler.h"
#include "roast-error.h"
#include "spend.h"
#include "util/cleanup.h"
#include "util/clock.h"

static void test_a_chunk_has_its_times_and_nothing_that_is_not_known(void **state)
{
        struct probe_result result;
        struct probe_chunk chunk;

        (void)state;
        probe_chunk_begin(&chunk);
        spin_cpu_ns(30 * MS);
        sleep_ns(30 * MS);
        probe_chunk_end(&chunk, &result);
        assert_sums(&result.split);
        assert_true(result.split.wall_ns >= 60 * MS && result.split.cpu_ns >= 30 * MS);
        assert_true(result.split.other_ns >= 20 * MS);
        assert_true(result.split.runqueue_ns < 0 && result.split.throttled_ns < 0);
        assert_int_equal(result.split.samples, 0);
        assert_int_equal(result.flags, PROBE_UNWATCHED);
        assert_true(result.difference.utc_ns > 0 && result.probe_ns >= 0);
        assert_true(result.difference.major_faults < 0 && result.difference.io.rchar < 0);
        assert_true(result.opening.rss_bytes < 0);
        assert_int_equal(probe_chunks_active(), 0);
        assert_int_equal(probe_watch_cpu_ns(), 0); /* nothing to see, so nobody watches */
}

static void test_the_peak_is_known_where_it_rises(void **state)
{
        size_t size = 64 << 20;
        struct probe_result result;
        struct probe_chunk chunk;
        char *memory;

        (void)state;
        probe_chunk_begin(&chunk);
        memory = malloc(size);
        assert_non_null(memory);
        memset(memory, 1, size);
        assert_int_equal(memory[size / 2], 1);
        probe_chunk_end(&chunk, &result);
        free(memory);
        assert_int_equal(result.peak, PROBE_PEAK_EXACT);
        assert_true(result.peak_rss_bytes > (int64_t)size);
        probe_chunk_begin(&chunk);
        probe_chunk_end(&chunk, &result);
        assert_int_equal(result.peak, PROBE_PEAK_NONE);
}

static void test_a_source_that_is_not_read_says_why(void **state)
{
        size_t n_read = 0;

        (void)state;
        for (size_t i = 0; probes[i]; i++) {
                assert_true(!probes[i]->read == (probes[i]->absent != NULL));
                n_read += probes[i]->read != NULL;
        }
        assert_int_equal(n_read, 2);
        assert_string_equal(probe_columns[0].name, "monotonic_ns");
}

static void test_rows_are_sampled(void **state)
{
        ROAST_CLEANUP(sampler_freep) struct sampler *sampler = NULL;
        int64_t rows[8 * 64], before = clock_monotonic_ns();
        size_t n, known = 0, width = N_SAMPLES;

        (void)state;
        assert_in_range(width, 3, 64);
        assert_int_equal(sampler_new(&sampler, &(struct sampler_options){ .interval_s = 0.05 }), 0);
        assert_int_equal(sampler_start(sampler), 0);
        sleep_ns(220 * MS);
        sampler_stop(sampler);
        n = sampler_take(sampler, rows, 8);
        assert_true(n >= 2);
        assert_true(rows[0] >= before - MS && rows[width] > rows[0]);
        for (size_t i = 0; i < width; i++)
                known += rows[i] >= 0;
        assert_int_equal(known, 8); /* of the clocks and of getrusage() */
}

static void test_other_processes_and_locks_are_not_known(void **state)
{
        struct process_reading reading;
        struct probe_cgroup cgroup;
        pid_t pids[4];

        (void)state;
        assert_false(process_read(getpid(), &reading));
        assert_int_equal(process_descendants(getpid(), pids, 4), 0);
        assert_int_equal(probe_lock_add_symbol("_PyRuntime"), ROAST_E_NOENT);
        probe_cgroup_read(&cgroup);
        assert_true(cgroup.cpu_quota_millis < 0 && cgroup.memory_limit_bytes < 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_chunk_has_its_times_and_nothing_that_is_not_known),
                cmocka_unit_test(test_the_peak_is_known_where_it_rises),
                cmocka_unit_test(test_a_source_that_is_not_read_says_why),
                cmocka_unit_test(test_rows_are_sampled),
                cmocka_unit_test(test_other_processes_and_locks_are_not_known),
        };

        return cmocka_run_group_tests_name("probe-portable", tests, NULL, NULL);
}
