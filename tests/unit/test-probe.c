/*
 * probe/: the split of wall time and the peak of memory against known truths
 *
 * A machine that does other things meanwhile is no reason to fail: what depends
 * on time is tried up to three times.
 */

#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>

#include "probe/chunk.h"
#include "spend.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/size.h"

#define ATTEMPTS 3

static void print_split(const char *what, const struct probe_split *split)
{
        print_message("%s: wall %.0f ms = cpu %.0f + runqueue %.0f + throttled %.0f + block %.0f "
                      "+ lock %.0f + other %.0f, %u samples\n",
                      what, (double)split->wall_ns / 1e6, (double)split->cpu_ns / 1e6,
                      (double)split->runqueue_ns / 1e6, (double)split->throttled_ns / 1e6,
                      (double)split->block_io_ns / 1e6, (double)split->lock_ns / 1e6,
                      (double)split->other_ns / 1e6, split->samples);
}

/* The arithmetic */

static void test_the_parts_sum_to_the_wall_time_whatever_the_readings_say(void **state)
{
        uint64_t random = 88172645463325252u;
        int64_t v[4];
        uint32_t n[4];

        (void)state;
        for (int i = 0; i < 200000; i++) {
                struct probe_split split;

                for (int k = 0; k < 8; k++) {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        if (k < 4)
                                v[k] = (int64_t)(random >> (random & 63)) - (int64_t)(random & 7);
                        else
                                n[k - 4] = (uint32_t)random >> (2 + (random >> 32 & 31) % 30);
                }
                probe_split_compute(&split, &(struct probe_split_input){ v[0], v[1], v[2], v[3],
                                                                         n[0], n[1], n[2], n[3] });
                assert_true(split.wall_ns == (v[0] < 0 ? PROBE_ABSENT : v[0]));
                if (v[0] < 0 || v[1] < 0) {
                        assert_true(split.cpu_ns == PROBE_ABSENT && split.other_ns == PROBE_ABSENT);
                        continue;
                }
                assert_sums(&split);
                assert_true(split.samples || !(split.block_io_ns || split.lock_ns));
        }
}

static void test_throttling_comes_out_of_the_run_queue(void **state)
{
        struct probe_split split, sum = { 0 };

        (void)state;
        probe_split_compute(&split, &(struct probe_split_input){ 1000, 400, 300, 200, 1, 2, 1 });
        assert_int_equal(split.runqueue_ns, 100);
        assert_int_equal(split.throttled_ns, 200);
        assert_int_equal(split.block_io_ns, 75);
        assert_int_equal(split.lock_ns, 150);
        assert_int_equal(split.other_ns, 75);
        probe_split_add(&sum, &split);
        probe_split_compute(&split, &(struct probe_split_input){ 1000, 0, 0, 0, 0, 0, 0 });
        assert_int_equal(split.other_ns, 1000);
        probe_split_add(&sum, &split);
        assert_sums(&sum);
        assert_int_equal(sum.lock_ns, 650); /* half of what both slept */
}

static void test_a_sleep_that_the_kernel_counts_as_queueing(void **state)
{
        struct probe_split_input input = { 452 * MS, 1 * MS, 301 * MS, 0, 0, 0, 13, 0 };
        struct probe_split split;

        (void)state;
        probe_split_compute(&split, &input);
        assert_int_equal(split.runqueue_ns, 0);
        assert_int_equal(split.other_ns, 451 * MS);
        input.throttled_ns = 200 * MS; /* looks cannot tell of it: the watcher waits as well */
        probe_split_compute(&split, &input);
        assert_int_equal(split.throttled_ns, 200 * MS);
        assert_int_equal(split.runqueue_ns, 101 * MS);
        assert_sums(&split);

        /* As many looks as the count leaves room for, and a few more: it is believed */
        input = (struct probe_split_input){ 452 * MS, 1 * MS, 301 * MS, 0, 0, 0, 4, 9 };
        probe_split_compute(&split, &input);
        assert_int_equal(split.runqueue_ns, 301 * MS);
        input.other_samples = 8;
        input.awake_samples = 5;
        probe_split_compute(&split, &input);
        assert_int_equal(split.runqueue_ns, 301 * MS);
        /* Looks by chance, or within the lag of the kernel's counts */
        input = (struct probe_split_input){ 100 * MS, 50 * MS, 49 * MS, 0, 0, 0, 3, 0 };
        probe_split_compute(&split, &input);
        assert_int_equal(split.runqueue_ns, 49 * MS);

        /* Some of it was true: what is left to the queue is what looks met awake */
        input = (struct probe_split_input){ 10000 * MS, 1000 * MS, 8000 * MS, 0, 0, 0, 150, 150 };
        probe_split_compute(&split, &input);
        assert_int_equal(split.other_ns, 5000 * MS);
        assert_int_equal(split.runqueue_ns, 4000 * MS);
}

static void test_a_queue_that_nobody_tells_of_is_not_empty(void **state)
{
        struct probe_split split, sum = { 0 };

        (void)state;
        probe_split_compute(&split,
                            &(struct probe_split_input){ 1000, 400, PROBE_ABSENT, 200, 1, 0, 1 });
        assert_true(split.runqueue_ns == PROBE_ABSENT && split.throttled_ns == PROBE_ABSENT);
        assert_int_equal(split.block_io_ns, 300);
        assert_int_equal(split.other_ns, 300);
        probe_split_add(&sum, &split);
        assert_int_equal(sum.runqueue_ns, 0);
        assert_int_equal(sum.wall_ns, 1000);
}

static void test_an_absent_reading_makes_an_absent_difference(void **state)
{
        (void)state;
        assert_true(probe_difference(PROBE_ABSENT, 5) == PROBE_ABSENT);
        assert_true(probe_difference(5, PROBE_ABSENT) == PROBE_ABSENT);
        assert_true(probe_difference(5, 4) == PROBE_ABSENT);
        assert_true(probe_difference(5, 7) == 2);
}

/* Truths */

struct truth {
        int64_t cpu_ns;
        int64_t block_io_ns;
        int64_t lock_ns;
        int64_t other_ns;
};

static bool split_is_true(const struct probe_split *split, const struct truth *truth)
{
        int64_t tenth = split->wall_ns / 10;

        return is_near(split->cpu_ns, truth->cpu_ns, tenth) &&
               is_near(split->block_io_ns, truth->block_io_ns, tenth) &&
               is_near(split->lock_ns, truth->lock_ns, tenth) &&
               is_near(split->other_ns, truth->other_ns, tenth);
}

/* Spends time in a known way; each stretch's own time asleep is added to the truth. */
static void mix(struct probe_result *result, struct truth *truth, int fd, int64_t wall_ns)
{
        int64_t *parts[] = { NULL, &truth->other_ns, &truth->lock_ns, &truth->block_io_ns };
        int64_t end = clock_monotonic_ns() + wall_ns, wall, cpu;
        struct probe_chunk chunk;

        probe_chunk_begin(&chunk);
        for (int i = 0; clock_monotonic_ns() < end; i = (i + 1) % 4) {
                int64_t queue = probe_runqueue_ns();

                wall = clock_monotonic_ns();
                cpu = clock_thread_cpu_ns();
                if (i == 0) {
                        spin_cpu_ns(12 * MS);
                } else if (i == 1) {
                        sleep_ns(15 * MS);
                } else if (i == 2) {
                        gil_take();
                        gil_drop();
                } else if (fd >= 0) {
                        read_direct_ns(fd, 15 * MS);
                }
                cpu = clock_thread_cpu_ns() - cpu;
                wall = clock_monotonic_ns() - wall;
                truth->cpu_ns += cpu;
                if (parts[i])
                        *parts[i] += wall - cpu - (probe_runqueue_ns() - queue);
        }
        probe_chunk_end(&chunk, result);
}

static bool mixture_is_true(int fd, int n_chunks, int64_t wall_ns)
{
        struct probe_result result;
        struct probe_split sum = { 0 };
        struct truth truth = { 0 };

        for (int i = 0; i < n_chunks; i++) {
                mix(&result, &truth, fd, wall_ns);
                assert_sums(&result.split);
                assert_int_equal(result.flags, 0);
                assert_true(result.probe_ns > 0);
                probe_split_add(&sum, &result.split);
        }
        print_split("mixture", &sum);
        print_message("   truth: cpu %.0f block %.0f lock %.0f other %.0f\n",
                      (double)truth.cpu_ns / 1e6, (double)truth.block_io_ns / 1e6,
                      (double)truth.lock_ns / 1e6, (double)truth.other_ns / 1e6);
        assert_sums(&sum);
        return sum.samples > 10 && split_is_true(&sum, &truth);
}

static void assert_mixture(int n_chunks, int64_t wall_ns)
{
        ROAST_CLEANUP(cleanup_close) int fd = open_direct();
        bool good = false;

        hog_start();
        for (int i = 0; i < ATTEMPTS && !good; i++)
                good = mixture_is_true(fd, n_chunks, wall_ns);
        hog_stop();
        assert_true(good);
}

static void test_a_mixture_is_told_apart(void **state)
{
        (void)state;
        needs_platform();
        assert_mixture(1, 4000 * MS);
}

static void test_short_chunks_add_up_to_a_good_estimate(void **state)
{
        (void)state;
        needs_platform();
        assert_mixture(40, 100 * MS);
}

static void test_bytes_past_the_page_cache_are_counted(void **state)
{
        ROAST_CLEANUP(cleanup_close) int fd = open_direct();
        struct probe_result result;
        struct probe_chunk chunk;

        (void)state;
        needs_platform();
        if (fd < 0) {
                print_message("the file system does not read past the page cache\n");
                skip();
        }
        probe_chunk_begin(&chunk);
        read_direct_ns(fd, 20 * MS);
        probe_chunk_end(&chunk, &result);
        assert_true(result.difference.io.read_bytes >= 1 << 18);
        assert_true(is_near(result.difference.io.rchar, result.difference.io.read_bytes, 1 << 16));
}

static void test_a_sleeper_is_seen_asleep(void **state)
{
        struct probe_result result;
        struct probe_chunk chunk;

        (void)state;
        needs_platform();
        probe_chunk_begin(&chunk);
        sleep_ns(1000 * MS);
        probe_chunk_end(&chunk, &result);
        print_split("sleep", &result.split);
        assert_sums(&result.split);
        assert_true(result.split.other_ns > 900 * MS);
        assert_true(result.split.samples >= 15 && result.split.samples <= 60);
        assert_true(is_near(result.difference.utc_ns, result.split.wall_ns, 100 * MS));
}

static void *compete(void *argument)
{
        cpu_set_t two;
        struct probe_result *result = argument;
        struct probe_chunk chunk;
        int64_t end;

        CPU_ZERO(&two);
        CPU_SET(0, &two);
        CPU_SET(1, &two);
        sched_setaffinity(0, sizeof(two), &two);
        probe_chunk_begin(&chunk);
        end = clock_monotonic_ns() + 2000 * MS;
        while (clock_monotonic_ns() < end)
                ;
        probe_chunk_end(&chunk, result);
        return NULL;
}

static void test_three_competitors_for_two_cores_wait_in_the_run_queue(void **state)
{
        struct probe_result results[3];
        pthread_t threads[3];
        bool good = false;

        (void)state;
        needs_platform();
        for (int i = 0; i < ATTEMPTS && !good; i++) {
                int64_t queue = 0, wall = 0, asleep = 0, cpu = 0;

                for (int k = 0; k < 3; k++)
                        assert_int_equal(pthread_create(&threads[k], NULL, compete, &results[k]),
                                         0);
                for (int k = 0; k < 3; k++) {
                        pthread_join(threads[k], NULL);
                        print_split("competitor", &results[k].split);
                        assert_sums(&results[k].split);
                        queue += results[k].split.runqueue_ns;
                        cpu += results[k].split.cpu_ns;
                        wall += results[k].split.wall_ns;
                        asleep += probe_split_asleep_ns(&results[k].split);
                }
                /* A third in the queue if nobody else is here, more if there is. */
                good = asleep < wall / 10 && is_near(queue, wall - cpu, wall / 10) &&
                       queue > wall / 4;
        }
        assert_true(good);
}

/* Memory */

static void test_the_peak_of_a_chunk_is_its_own(void **state)
{
        static const size_t sizes[] = { 200 << 20, 60 << 20, 0, 100 << 20 };
        bool exact = probe_peak_reset();
        struct probe_result result;
        struct probe_chunk chunk;

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(sizes); i++) {
                probe_chunk_begin(&chunk);
                if (sizes[i])
                        munmap(map_bytes(sizes[i]), sizes[i]);
                probe_chunk_end(&chunk, &result);
                if (!exact && i > 0)
                        break;
                assert_int_equal(result.peak, PROBE_PEAK_EXACT);
                assert_true(is_near(result.peak_rss_bytes - result.opening.rss_bytes,
                                    (int64_t)sizes[i], (int64_t)sizes[i] / 20 + (1 << 20)));
        }
}

static void test_a_peak_in_company_is_sampled_or_the_kernels(void **state)
{
        struct probe_result result;
        struct probe_chunk first, second;
        void *memory;

        (void)state;
        needs_platform();
        probe_chunk_begin(&first);
        munmap(map_bytes(200 << 20), 200 << 20);
        probe_chunk_begin(&second);
        assert_int_equal(probe_chunks_active(), 2);
        assert_false(second.peak_was_reset);
        memory = map_bytes(100 << 20);
        sleep_ns(200 * MS);
        munmap(memory, 100 << 20);
        probe_chunk_end(&second, &result);
        assert_int_equal(result.peak, PROBE_PEAK_SAMPLED);
        assert_true(is_near(result.peak_rss_bytes - result.opening.rss_bytes, 100 << 20, 5 << 20));
        probe_chunk_begin(&second);
        munmap(map_bytes(300 << 20), 300 << 20);
        probe_chunk_end(&second, &result);
        assert_int_equal(result.peak, PROBE_PEAK_EXACT); /* it rose above what was before */
        assert_true(is_near(result.peak_rss_bytes - result.opening.rss_bytes, 300 << 20, 15 << 20));
        probe_chunk_end(&first, &result);
        assert_int_equal(probe_chunks_active(), 0);
}

static void test_a_forbidden_reset_is_not_made(void **state)
{
        int64_t before, size = 150 << 20;

        (void)state;
        needs_platform();
        munmap(map_bytes((size_t)size), (size_t)size);
        before = probe_peak_bytes();
        probe_peak_allow_reset(false);
        assert_false(probe_peak_reset());
        assert_true(probe_peak_bytes() >= before && before > size);
        probe_peak_allow_reset(true);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_the_parts_sum_to_the_wall_time_whatever_the_readings_say),
                cmocka_unit_test(test_throttling_comes_out_of_the_run_queue),
                cmocka_unit_test(test_a_sleep_that_the_kernel_counts_as_queueing),
                cmocka_unit_test(test_a_queue_that_nobody_tells_of_is_not_empty),
                cmocka_unit_test(test_an_absent_reading_makes_an_absent_difference),
                cmocka_unit_test(test_a_mixture_is_told_apart),
                cmocka_unit_test(test_short_chunks_add_up_to_a_good_estimate),
                cmocka_unit_test(test_bytes_past_the_page_cache_are_counted),
                cmocka_unit_test(test_a_sleeper_is_seen_asleep),
                cmocka_unit_test(test_three_competitors_for_two_cores_wait_in_the_run_queue),
                cmocka_unit_test(test_the_peak_of_a_chunk_is_its_own),
                cmocka_unit_test(test_a_peak_in_company_is_sampled_or_the_kernels),
                cmocka_unit_test(test_a_forbidden_reset_is_not_made),
        };

        return cmocka_run_group_tests_name("probe", tests, NULL, stop_watch);
}
