/*
 * probe/: the readings around a chunk against known truths
 *
 * A machine that does other things meanwhile is no reason to fail: what depends
 * on time is tried up to three times.
 */

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/chunk.h"
#include "probe/readings.h"
#include "roast-error.h"
#include "util/cleanup.h"
#include "util/size.h"

#define MS       ((int64_t)1000000)
#define ATTEMPTS 3

/* Threads are started in forked children here, which is what is tested. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
        return "die_after_fork=0";
}

/* Known ways to spend time */

static void sleep_ns(int64_t ns)
{
        struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

        while (nanosleep(&time, &time) < 0 && errno == EINTR)
                ;
}

static void spin_cpu_ns(int64_t ns)
{
        int64_t until = probe_thread_cpu_ns() + ns;

        while (probe_thread_cpu_ns() < until)
                ;
}

/* A lock that is waited for as CPython waits for its GIL: five milliseconds at a time. */
static struct {
        pthread_mutex_t mutex;
        pthread_cond_t cond;
        bool held;
} gil = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
static _Atomic bool hog_stops;

static void gil_take(void)
{
        struct timespec until;

        pthread_mutex_lock(&gil.mutex);
        while (gil.held) {
                clock_gettime(CLOCK_REALTIME, &until);
                until.tv_nsec += 5 * MS;
                until.tv_sec += until.tv_nsec / 1000000000;
                until.tv_nsec %= 1000000000;
                pthread_cond_timedwait(&gil.cond, &gil.mutex, &until);
        }
        gil.held = true;
        pthread_mutex_unlock(&gil.mutex);
}

static void gil_drop(void)
{
        pthread_mutex_lock(&gil.mutex);
        gil.held = false;
        pthread_cond_signal(&gil.cond);
        pthread_mutex_unlock(&gil.mutex);
}

static void *gil_hog(void *unused)
{
        (void)unused;
        while (!hog_stops) {
                gil_take();
                sleep_ns(37 * MS);
                gil_drop();
                sleep_ns(MS);
        }
        return NULL;
}

static int open_direct(void)
{
        char name[] = "roast-test-XXXXXX";
        static char block[1 << 20];
        int fd = mkstemp(name);

        assert_true(fd >= 0);
        for (int i = 0; i < 16; i++)
                assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
        fsync(fd);
        close(fd);
        fd = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
        unlink(name);
        return fd;
}

static void read_direct_ns(int fd, int64_t ns)
{
        static _Thread_local _Alignas(4096) char block[1 << 18];
        int64_t until = probe_monotonic_ns() + ns;
        off_t at = 0;

        while (probe_monotonic_ns() < until) {
                if (pread(fd, block, sizeof(block), at) != sizeof(block))
                        return;
                at = (at + (off_t)sizeof(block)) % (1 << 24);
        }
}

static int count_entries(const char *path)
{
        DIR *dir = opendir(path);
        int n = 0;

        assert_non_null(dir);
        while (readdir(dir))
                n++;
        closedir(dir);
        return n;
}

static bool is_near(int64_t value, int64_t truth, int64_t tolerance)
{
        int64_t distance = value > truth ? value - truth : truth - value;

        return distance <= tolerance;
}

static void print_split(const char *what, const struct probe_split *split)
{
        print_message("%s: wall %.0f ms = cpu %.0f + runqueue %.0f + throttled %.0f + block %.0f "
                      "+ lock %.0f + other %.0f, %u samples\n",
                      what, (double)split->wall_ns / 1e6, (double)split->cpu_ns / 1e6,
                      (double)split->runqueue_ns / 1e6, (double)split->throttled_ns / 1e6,
                      (double)split->block_io_ns / 1e6, (double)split->lock_ns / 1e6,
                      (double)split->other_ns / 1e6, split->samples);
}

static void assert_sums(const struct probe_split *split)
{
        assert_true(split->cpu_ns >= 0 && split->runqueue_ns >= 0 && split->throttled_ns >= 0 &&
                    split->block_io_ns >= 0 && split->lock_ns >= 0 && split->other_ns >= 0);
        assert_true(split->wall_ns == split->cpu_ns + split->runqueue_ns + split->throttled_ns +
                                              split->block_io_ns + split->lock_ns +
                                              split->other_ns);
}

/* The arithmetic */

static void test_the_parts_sum_to_the_wall_time_whatever_the_readings_say(void **state)
{
        uint64_t random = 88172645463325252u;
        int64_t v[4];
        uint32_t n[3];

        (void)state;
        for (int i = 0; i < 200000; i++) {
                struct probe_split split;

                for (int k = 0; k < 7; k++) {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        if (k < 4)
                                v[k] = (int64_t)(random >> (random & 63)) - (int64_t)(random & 7);
                        else
                                n[k - 4] = (uint32_t)random >> (2 + (random >> 32 & 31) % 30);
                }
                probe_split_compute(&split, &(struct probe_split_input){ v[0], v[1], v[2], v[3],
                                                                         n[0], n[1], n[2] });
                assert_sums(&split);
                assert_true(split.wall_ns == (v[0] < 0 ? 0 : v[0]));
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

/* Spends time in a known way; each stretch's own wall time less its CPU time is the truth. */
static void mix(struct probe_result *result, struct truth *truth, int fd, int64_t wall_ns)
{
        int64_t *parts[] = { NULL, &truth->other_ns, &truth->lock_ns, &truth->block_io_ns };
        int64_t end = probe_monotonic_ns() + wall_ns, wall, cpu;
        struct probe_chunk chunk;

        *truth = (struct truth){ 0 };
        probe_chunk_begin(&chunk);
        for (int i = 0; probe_monotonic_ns() < end; i = (i + 1) % 4) {
                int64_t queue = probe_runqueue_ns();

                wall = probe_monotonic_ns();
                cpu = probe_thread_cpu_ns();
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
                cpu = probe_thread_cpu_ns() - cpu;
                wall = probe_monotonic_ns() - wall;
                truth->cpu_ns += cpu;
                if (parts[i])
                        *parts[i] += wall - cpu - (probe_runqueue_ns() - queue);
        }
        probe_chunk_end(&chunk, result);
}

static void test_a_mixture_is_told_apart(void **state)
{
        ROAST_CLEANUP(cleanup_close) int fd = open_direct();
        struct probe_result result;
        struct truth truth;
        pthread_t hog;
        bool good = false;

        (void)state;
        assert_int_equal(probe_lock_add(&gil, sizeof(gil)), 0);
        hog_stops = false;
        assert_int_equal(pthread_create(&hog, NULL, gil_hog, NULL), 0);
        for (int i = 0; i < ATTEMPTS && !good; i++) {
                mix(&result, &truth, fd, 4000 * MS);
                print_split("mixture", &result.split);
                print_message("   truth: cpu %.0f block %.0f lock %.0f other %.0f\n",
                              (double)truth.cpu_ns / 1e6, (double)truth.block_io_ns / 1e6,
                              (double)truth.lock_ns / 1e6, (double)truth.other_ns / 1e6);
                assert_sums(&result.split);
                good = split_is_true(&result.split, &truth);
        }
        hog_stops = true;
        pthread_join(hog, NULL);
        assert_true(good);
        assert_true(result.split.samples > 30);
        assert_int_equal(result.flags, 0);
        assert_true(result.probe_ns > 0 && result.probe_ns < 10 * MS);
        if (fd >= 0)
                assert_true(result.difference.io.read_bytes >= 1 << 24);
}

static void test_a_sleeper_is_seen_asleep(void **state)
{
        struct probe_result result;
        struct probe_chunk chunk;

        (void)state;
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
        end = probe_monotonic_ns() + 2000 * MS;
        while (probe_monotonic_ns() < end)
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

static void *map_bytes(size_t size)
{
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

        assert_true(memory != MAP_FAILED);
        return memory;
}

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
        munmap(map_bytes((size_t)size), (size_t)size);
        before = probe_peak_bytes();
        probe_peak_allow_reset(false);
        assert_false(probe_peak_reset());
        assert_true(probe_peak_bytes() >= before && before > size);
        probe_peak_allow_reset(true);
}

/* Readings */

static void test_the_probes_do_not_count_as_bytes_read(void **state)
{
        struct probe_snapshot opening, closing, difference;
        char block[5000] = { 0 };
        int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

        (void)state;
        probe_watch_stop();
        probe_snapshot_take(&opening, PROBE_OPENING);
        for (int i = 0; i < 100; i++)
                probe_snapshot_take(&closing, PROBE_CLOSING);
        assert_int_equal(read(fd, block, sizeof(block)), sizeof(block));
        close(fd);
        probe_snapshot_take(&closing, PROBE_CLOSING);
        probe_snapshot_difference(&difference, &opening, &closing);
        if (opening.io.rchar >= 0)
                assert_int_equal(difference.io.rchar, sizeof(block));
        assert_int_equal(difference.io.wchar, 0);
        assert_true(difference.monotonic_ns > 0 && difference.thread_cpu_ns > 0);
}

static void test_a_row_has_a_value_for_each_column(void **state)
{
        size_t n = probe_column_count();
        int64_t row[64], later[64];

        (void)state;
        assert_true(n > 20 && n <= ROAST_ARRAY_SIZE(row));
        assert_null(probe_column(n));
        probe_row_read(row);
        spin_cpu_ns(20 * MS);
        probe_row_read(later);
        for (size_t i = 0; i < n; i++) {
                const struct probe_column *column = probe_column(i);

                print_message("  %-28s %-6s %lld\n", column->name, column->unit,
                              (long long)later[i]);
                assert_true(row[i] >= PROBE_ABSENT && column->resolution > 0);
                assert_true(row[i] < 0 || row[i] % column->resolution == 0);
                if (column->kind == PROBE_COUNTER && strncmp(column->name, "host", 4))
                        assert_true(later[i] >= row[i]);
                if (!strcmp(column->name, "fds"))
                        assert_true(later[i] >= 3 && later[i] < 200);
                if (!strcmp(column->name, "threads"))
                        assert_true(later[i] >= 1);
                for (size_t k = 0; k < i; k++)
                        assert_string_not_equal(column->name, probe_column(k)->name);
        }
}

/* Life */

static int fork_child(struct probe_chunk *chunk)
{
        struct probe_result result;
        struct probe_chunk own;
        int64_t queue = probe_runqueue_ns();

        probe_chunk_begin(&own);
        sleep_ns(300 * MS);
        probe_chunk_end(&own, &result);
        if (result.flags || result.split.samples < 3 || queue < 0)
                return 1;
        if (result.split.wall_ns != probe_split_asleep_ns(&result.split) + result.split.cpu_ns +
                                            result.split.runqueue_ns + result.split.throttled_ns)
                return 2;
        probe_chunk_end(chunk, &result);
        if (!(result.flags & PROBE_FORKED) || result.difference.io.rchar >= 0)
                return 3;
        if (result.split.wall_ns < 300 * MS || probe_chunks_active())
                return 4;
        return 0;
}

static void test_a_fork_in_the_middle_leaves_both_sides_working(void **state)
{
        struct probe_result result;
        struct probe_chunk chunk;
        int status;
        pid_t pid;

        (void)state;
        probe_chunk_begin(&chunk);
        sleep_ns(150 * MS);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
                _exit(fork_child(&chunk));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        probe_chunk_end(&chunk, &result);
        assert_int_equal(result.flags, 0);
        assert_true(result.split.samples >= 5);
        assert_true(result.split.other_ns > 350 * MS);
        assert_int_equal(probe_chunks_active(), 0);
}

static void *end_elsewhere(void *argument)
{
        struct probe_result *result = calloc(1, sizeof(*result));

        assert_non_null(result);
        probe_chunk_end(argument, result);
        return result;
}

static void test_an_end_by_another_thread_knows_less(void **state)
{
        ROAST_CLEANUP(cleanup_free) void *pointer = NULL;
        struct probe_result *result;
        struct probe_chunk chunk;
        pthread_t thread;

        (void)state;
        probe_chunk_begin(&chunk);
        spin_cpu_ns(20 * MS);
        assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &chunk), 0);
        pthread_join(thread, &pointer);
        result = pointer;
        assert_int_equal(result->flags, PROBE_MOVED);
        assert_true(result->difference.thread_cpu_ns == PROBE_ABSENT);
        assert_sums(&result->split);
        assert_int_equal(result->split.cpu_ns, 0);
        assert_true(result->split.wall_ns >= 20 * MS);
}

#define CROWD 300

static pthread_barrier_t crowd_barrier;

static void *crowd_member(void *argument)
{
        struct probe_result *result = argument;
        struct probe_chunk chunk;

        probe_chunk_begin(&chunk);
        pthread_barrier_wait(&crowd_barrier);
        sleep_ns(500 * MS);
        pthread_barrier_wait(&crowd_barrier);
        probe_chunk_end(&chunk, result);
        return NULL;
}

static void test_three_hundred_chunks_at_once(void **state)
{
        static struct probe_result results[CROWD];
        pthread_t threads[CROWD];
        int unwatched = 0, sampled = 0;

        (void)state;
        pthread_barrier_init(&crowd_barrier, NULL, CROWD);
        for (int i = 0; i < CROWD; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, crowd_member, &results[i]), 0);
        for (int i = 0; i < CROWD; i++) {
                pthread_join(threads[i], NULL);
                assert_sums(&results[i].split);
                unwatched += results[i].flags == PROBE_UNWATCHED;
                sampled += results[i].split.samples > 0;
                assert_true(!results[i].split.samples || !results[i].flags);
        }
        pthread_barrier_destroy(&crowd_barrier);
        assert_int_equal(unwatched, CROWD - WATCH_SLOTS);
        assert_true(sampled > 100);
        assert_int_equal(probe_chunks_active(), 0);
}

static void *begin_and_die(void *unused)
{
        struct probe_chunk chunk;

        (void)unused;
        probe_chunk_begin(&chunk);
        return NULL;
}

static void test_the_watcher_comes_and_goes(void **state)
{
        struct probe_result result;
        struct probe_chunk chunk;
        int fds, threads;

        (void)state;
        probe_chunk_begin(&chunk);
        probe_chunk_end(&chunk, &result);
        probe_watch_stop();
        fds = count_entries("/proc/self/fd");
        threads = count_entries("/proc/self/task");
        for (int i = 0; i < 1000; i++) {
                probe_chunk_begin(&chunk);
                if (i % 100 == 0)
                        sleep_ns(60 * MS);
                probe_chunk_end(&chunk, &result);
                if (i % 100 == 0)
                        assert_true(result.split.samples > 0);
                probe_watch_stop();
        }
        assert_int_equal(count_entries("/proc/self/fd"), fds);
        assert_int_equal(count_entries("/proc/self/task"), threads);
        probe_chunk_begin(&chunk);
        probe_chunk_end(&chunk, &result);
        assert_int_equal(count_entries("/proc/self/task"), threads + 1);
        for (int i = 0; i < 30 && count_entries("/proc/self/task") > threads; i++)
                sleep_ns(100 * MS);
        assert_int_equal(count_entries("/proc/self/task"), threads); /* it left by itself */
        assert_int_equal(count_entries("/proc/self/fd"), fds);
        assert_true(probe_watch_cpu_ns() > 0);
}

/* Last, since the chunk that never ends stays counted. */
static void test_a_thread_that_dies_in_a_chunk_gives_its_slot_back(void **state)
{
        pthread_t thread;
        int threads;

        (void)state;
        probe_watch_stop();
        threads = count_entries("/proc/self/task");
        assert_int_equal(pthread_create(&thread, NULL, begin_and_die, NULL), 0);
        pthread_join(thread, NULL);
        for (int i = 0; i < 30 && count_entries("/proc/self/task") > threads; i++)
                sleep_ns(100 * MS);
        assert_int_equal(count_entries("/proc/self/task"), threads);
}

static int stop_watch(void **state)
{
        (void)state;
        probe_watch_stop();
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_the_parts_sum_to_the_wall_time_whatever_the_readings_say),
                cmocka_unit_test(test_throttling_comes_out_of_the_run_queue),
                cmocka_unit_test(test_an_absent_reading_makes_an_absent_difference),
                cmocka_unit_test(test_a_mixture_is_told_apart),
                cmocka_unit_test(test_a_sleeper_is_seen_asleep),
                cmocka_unit_test(test_three_competitors_for_two_cores_wait_in_the_run_queue),
                cmocka_unit_test(test_the_peak_of_a_chunk_is_its_own),
                cmocka_unit_test(test_a_peak_in_company_is_sampled_or_the_kernels),
                cmocka_unit_test(test_a_forbidden_reset_is_not_made),
                cmocka_unit_test(test_the_probes_do_not_count_as_bytes_read),
                cmocka_unit_test(test_a_row_has_a_value_for_each_column),
                cmocka_unit_test(test_a_fork_in_the_middle_leaves_both_sides_working),
                cmocka_unit_test(test_an_end_by_another_thread_knows_less),
                cmocka_unit_test(test_three_hundred_chunks_at_once),
                cmocka_unit_test(test_the_watcher_comes_and_goes),
                cmocka_unit_test(test_a_thread_that_dies_in_a_chunk_gives_its_slot_back),
        };

        return cmocka_run_group_tests_name("probe", tests, NULL, stop_watch);
}
