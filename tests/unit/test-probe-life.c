/* probe/: chunks in many threads, over fork(), and the coming and going of the watcher */

#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/chunk.h"
#include "spend.h"
#include "util/cleanup.h"

static int fork_child_chunk(void)
{
        struct probe_result result;
        struct probe_chunk chunk;

        probe_chunk_begin(&chunk);
        sleep_ns(300 * MS);
        probe_chunk_end(&chunk, &result);
        assert_sums(&result.split);
        if (result.opening.io.rchar >= 0 && result.difference.io.rchar > 1000)
                return 0; /* the probes' own bytes, counted since the fork */
        return !result.flags && result.split.samples >= 3 && result.difference.runqueue_ns >= 0;
}

static int fork_child(struct probe_chunk *chunk)
{
        struct probe_result result;

        if (SPEND_NO_THREADS_AFTER_FORK)
                sleep_ns(300 * MS);
        else if (!fork_child_chunk())
                return 1;
        probe_chunk_end(chunk, &result);
        if (!(result.flags & PROBE_FORKED) || result.difference.io.rchar >= 0)
                return 2;
        return result.split.wall_ns < 300 * MS || probe_chunks_active() ? 3 : 0;
}

static void test_a_fork_in_the_middle_leaves_both_sides_working(void **state)
{
        struct probe_result result;
        struct probe_chunk chunk;
        int status;
        pid_t pid;

        (void)state;
        needs_platform();
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
        needs_platform();
        probe_chunk_begin(&chunk);
        spin_cpu_ns(20 * MS);
        assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &chunk), 0);
        pthread_join(thread, &pointer);
        result = pointer;
        assert_int_equal(result->flags, PROBE_MOVED);
        assert_true(result->difference.thread_cpu_ns == PROBE_ABSENT);
        assert_int_equal(result->split.cpu_ns, PROBE_ABSENT);
        assert_int_equal(result->split.other_ns, PROBE_ABSENT);
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
        needs_platform();
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

static _Atomic bool storm_stops;

static void *storm_chunks(void *unused)
{
        struct probe_result result;
        struct probe_chunk outer, inner;

        (void)unused;
        while (!storm_stops) {
                probe_chunk_begin(&outer);
                probe_chunk_begin(&inner);
                probe_chunk_end(&inner, &result);
                assert_sums(&result.split);
                probe_chunk_end(&outer, &result);
                assert_sums(&result.split);
                assert_true(!(result.flags & ~(unsigned int)PROBE_UNWATCHED));
        }
        return NULL;
}

static void test_chunks_stops_and_forks_at_once(void **state)
{
        struct probe_result result;
        struct probe_chunk chunk;
        pthread_t threads[6];
        int status;
        pid_t pid;

        (void)state;
        needs_platform();
        storm_stops = false;
        for (int i = 0; i < 6; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, storm_chunks, NULL), 0);
        for (int i = 0; i < 60; i++) {
                probe_watch_stop();
                pid = i % 3 || SPEND_NO_THREADS_AFTER_FORK ? -1 : fork();
                if (pid == 0) {
                        probe_chunk_begin(&chunk);
                        probe_chunk_end(&chunk, &result);
                        probe_watch_stop();
                        _exit(result.flags || probe_chunks_active() ? 1 : 0);
                }
                if (pid > 0) {
                        assert_int_equal(waitpid(pid, &status, 0), pid);
                        assert_int_equal(status, 0);
                }
                sleep_ns(5 * MS);
        }
        storm_stops = true;
        for (int i = 0; i < 6; i++)
                pthread_join(threads[i], NULL);
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
        int fds, threads, watched = 0;

        (void)state;
        needs_platform();
        probe_chunk_begin(&chunk);
        probe_chunk_end(&chunk, &result);
        probe_watch_stop();
        fds = count_entries("/proc/self/fd");
        threads = count_threads();
        for (int i = 0; i < 1000; i++) {
                probe_chunk_begin(&chunk);
                if (i % 100 == 0)
                        sleep_ns(60 * MS);
                probe_chunk_end(&chunk, &result);
                watched += result.split.samples > 0;
                probe_watch_stop();
        }
        assert_true(watched >= 5);
        assert_int_equal(count_entries("/proc/self/fd"), fds);
        assert_int_equal(count_threads(), threads);
        probe_chunk_begin(&chunk);
        probe_chunk_end(&chunk, &result);
        assert_int_equal(count_threads(), threads + 1);
        for (int i = 0; i < 30 && count_threads() > threads; i++)
                sleep_ns(100 * MS);
        assert_int_equal(count_threads(), threads); /* it left by itself */
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
        threads = count_threads();
        assert_int_equal(pthread_create(&thread, NULL, begin_and_die, NULL), 0);
        pthread_join(thread, NULL);
        for (int i = 0; i < 30 && count_threads() > threads; i++)
                sleep_ns(100 * MS);
        assert_int_equal(count_threads(), threads);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_fork_in_the_middle_leaves_both_sides_working),
                cmocka_unit_test(test_an_end_by_another_thread_knows_less),
                cmocka_unit_test(test_three_hundred_chunks_at_once),
                cmocka_unit_test(test_chunks_stops_and_forks_at_once),
                cmocka_unit_test(test_the_watcher_comes_and_goes),
                cmocka_unit_test(test_a_thread_that_dies_in_a_chunk_gives_its_slot_back),
        };

        return cmocka_run_group_tests_name("probe-life", tests, NULL, stop_watch);
}
