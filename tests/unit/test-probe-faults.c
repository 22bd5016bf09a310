/*
 * probe/: when clocks, reads of /proc, threads and memory fail
 *
 * Each figure is what it would be without the fault, or it is absent; afterwards
 * everything works again. What is looked up once in a process is tried in a child
 * for each fault.
 */

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "elsewhere.h"
#include "faults.h"
#include "folder.h"
#include "probe/chunk.h"
#include "probe/linux/sources.h"
#include "probe/platform.h"
#include "probe/sampler.h"
#include "roast-error.h"
#include "spend.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/size.h"

#define WIDTH    64 /* at least as many as there are columns */
#define CALLS    400
#define MINUTE_S 60

/* ---- chunks ---- */

static bool is_absent_or(int64_t value, int64_t least, int64_t most)
{
        return value == PROBE_ABSENT || (value >= least && value <= most);
}

static void assert_possible(const struct probe_result *result, long count)
{
        const struct probe_snapshot *difference = &result->difference;
        const struct probe_split *split = &result->split;
        int64_t most_ns = MINUTE_S * 1000 * MS, now_ns = time(NULL) * 1000 * MS;
        bool possible = is_absent_or(result->opening.utc_ns, now_ns - most_ns, now_ns + most_ns) &&
                        is_absent_or(difference->monotonic_ns, 1, most_ns) &&
                        is_absent_or(difference->utc_ns, 1, most_ns) &&
                        is_absent_or(difference->thread_cpu_ns, 1, most_ns) &&
                        is_absent_or(difference->runqueue_ns, 0, most_ns) &&
                        is_absent_or(difference->throttled_ns, 0, most_ns) &&
                        is_absent_or(difference->io.rchar, 0, 100000) &&
                        is_absent_or(result->opening.rss_bytes, 100000, INT64_MAX) &&
                        is_absent_or(result->peak_rss_bytes, 100000, INT64_MAX) &&
                        is_absent_or(result->probe_ns, 0, most_ns);

        if (!possible)
                fail_msg("after %ld calls: a figure that cannot be", count);
        assert_int_equal(split->wall_ns, difference->monotonic_ns);
        if (split->wall_ns >= 0 && difference->thread_cpu_ns >= 0)
                assert_sums(split);
        else
                assert_true(split->cpu_ns == PROBE_ABSENT && split->runqueue_ns == PROBE_ABSENT &&
                            split->throttled_ns == PROBE_ABSENT &&
                            split->block_io_ns == PROBE_ABSENT && split->lock_ns == PROBE_ABSENT &&
                            split->other_ns == PROBE_ABSENT);
}

static void measure(struct probe_result *result)
{
        struct probe_chunk chunk;

        probe_chunk_begin(&chunk);
        for (volatile int i = 0; i < 20000; i++)
                ;
        probe_chunk_end(&chunk, result);
}

static void play_chunks(enum fault kind, long n)
{
        struct probe_result result;
        bool failed = true;

        for (long count = 0; failed; count++) {
                faults_fail_after(kind, count, n, EIO);
                measure(&result);
                failed = faults_failed();
                faults_none();
                assert_possible(&result, count);
                measure(&result);
                assert_int_equal(result.flags, 0);
                assert_true(result.opening.utc_ns >= 0 && result.split.wall_ns > 0);
                assert_true(result.split.cpu_ns > 0 && result.peak_rss_bytes > 0);
                assert_true(count < CALLS);
        }
}

static void test_a_chunk_whose_clocks_fail_has_no_wrong_times(void **state)
{
        (void)state;
        play_chunks(FAULT_CLOCK, 1);
        play_chunks(FAULT_CLOCK, -1);
}

static void test_a_chunk_whose_reads_fail_has_no_wrong_figures(void **state)
{
        (void)state;
        play_chunks(FAULT_READ, 1);
        play_chunks(FAULT_READ, -1);
}

static void test_a_chunk_without_a_watcher_says_so(void **state)
{
        struct probe_result result;

        (void)state;
        probe_watch_stop();
        faults_fail_after(FAULT_THREAD, 0, -1, EAGAIN);
        measure(&result);
        faults_none();
        assert_int_equal(result.flags, PROBE_UNWATCHED);
        assert_possible(&result, 0);
        measure(&result);
        assert_int_equal(result.flags, 0);
        probe_watch_stop();
        faults_fail_after(FAULT_THREAD, 0, 1, EAGAIN); /* it tries again, without a small stack */
        measure(&result);
        assert_true(faults_failed());
        faults_none();
        assert_int_equal(result.flags, 0);
}

/* ---- rows of the sampler ---- */

/* A counter is between what it was before and after, a gauge is near them. */
static bool is_between(const struct probe_column *column, int64_t value, int64_t before,
                       int64_t after)
{
        int64_t low = before < after ? before : after, high = before < after ? after : before;

        if (value == PROBE_ABSENT)
                return true;
        if (before == PROBE_ABSENT || after == PROBE_ABSENT)
                return false;
        if (column->kind == PROBE_COUNTER)
                return value >= before && value <= after;
        return value >= low / 2 && value <= 2 * high + 16;
}

static int row_child(enum fault kind, long count, long n)
{
        int64_t first[WIDTH], before[WIDTH], row[WIDTH], after[WIDTH];
        bool failed;

        /* what was looked up before the fork stays out of it */
        faults_fail_after(kind, count, n, EIO);
        probe_row_read(first);
        failed = faults_failed();
        faults_none();
        probe_row_read(before);
        faults_fail_after(kind, count, n, EIO);
        probe_row_read(row);
        failed |= faults_failed();
        faults_none();
        probe_row_read(after);
        for (size_t i = 0; i < N_SAMPLES; i++) {
                const struct probe_column *column = &probe_columns[i];

                if (is_between(column, row[i], before[i], after[i]) &&
                    is_between(column, first[i], before[i] < 0 ? PROBE_ABSENT : 0, before[i]))
                        continue;
                fprintf(stderr, "%s: %lld, %lld, %lld, %lld\n", column->name, (long long)first[i],
                        (long long)before[i], (long long)row[i], (long long)after[i]);
                return 1;
        }
        return failed ? 0 : 100; /* nothing is left to fail */
}

/* Until a child has nothing left that could fail */
static void play_children(int (*child)(enum fault kind, long count, long n), enum fault kind,
                          long n)
{
        long count = 0;

        for (int status = 0; !status; count++) {
                pid_t pid = fork();

                assert_true(pid >= 0);
                if (pid == 0)
                        _exit(child(kind, count, n));
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_true(WIFEXITED(status));
                status = WEXITSTATUS(status);
                if (status && status != 100)
                        fail_msg("%ld calls that fail after %ld: %d", n, count, status);
                assert_true(count < CALLS);
        }
        assert_true(count > 1);
}

static void test_a_row_whose_reads_fail_has_no_wrong_figures(void **state)
{
        (void)state;
        play_children(row_child, FAULT_READ, 1);
        play_children(row_child, FAULT_READ, -1);
}

static void test_a_row_whose_clocks_fail_has_no_wrong_times(void **state)
{
        (void)state;
        play_children(row_child, FAULT_CLOCK, 1);
        play_children(row_child, FAULT_CLOCK, -1);
}

/* ---- control groups ---- */

/* A group with limits of which the one above is tighter, as v2 and as v1 */
static int make_groups(void **state)
{
        static const struct {
                const char *name, *text;
        } files[] = {
                { "job/cpu.max", "max 100000\n" },
                { "job/memory.max", "8192000\n" },
                { "job/memory.current", "8192\n" },
                { "job/cpu.stat", "nr_throttled 3\nthrottled_usec 1\n" },
                { "cpu.max", "50000 100000\n" },
                { "cpu.stat", "nr_throttled 3\nthrottled_usec 7000000\n" },
                { "memory.max", "4096000\n" },
                { "memory.current", "4096\n" },
                { "groups", "1:cpu,memory:/job\n0::/job\n" },
                { "job/cpu.cfs_quota_us", "-1\n" },
                { "job/cpu.cfs_period_us", "100000\n" },
                { "cpu.cfs_quota_us", "50000\n" },
                { "cpu.cfs_period_us", "100000\n" },
                { "job/memory.limit_in_bytes", "8192000\n" },
                { "memory.limit_in_bytes", "4096000\n" },
                { "memory.usage_in_bytes", "4096\n" },
        };
        ROAST_CLEANUP(cleanup_free) char *mounts = NULL;

        assert_int_equal(folder_make(state), 0);
        assert_int_equal(mkdir(folder_path(state, "job"), 0700), 0);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(files); i++)
                folder_put_text(folder_path(state, files[i].name), files[i].text);
        assert_true(asprintf(&mounts, "30 23 0:26 / %s rw - cgroup2 cgroup2 rw\n",
                             (const char *)*state) > 0);
        folder_put_text(folder_path(state, "mounts"), mounts);
        free(mounts);
        mounts = NULL;
        assert_true(asprintf(&mounts, "30 23 0:26 / %s rw - cgroup cgroup rw,cpu,memory\n",
                             (const char *)*state) > 0);
        folder_put_text(folder_path(state, "mounts-v1"), mounts);
        return 0;
}

static int group_child(enum fault kind, long count, long n)
{
        struct probe_cgroup first, second, third;
        int64_t throttled_ns;
        bool failed;

        faults_fail_after(kind, count, n, EIO);
        throttled_ns = probe_throttled_ns();
        probe_cgroup_read(&first);
        failed = faults_failed();
        faults_none();
        probe_cgroup_read(&second);
        faults_fail_after(kind, count, n, EIO);
        probe_cgroup_read(&third);
        failed |= faults_failed();
        faults_none();
        if (second.cpu_quota_millis != 500 || second.memory_limit_bytes != 4096000 ||
            second.memory_bytes != 4096)
                return 1;
        if (!is_absent_or(throttled_ns, second.throttled_ns, second.throttled_ns))
                return 2;
        for (int i = 0; i < 2; i++) {
                const struct probe_cgroup *group = i ? &third : &first;

                if (!is_absent_or(group->cpu_quota_millis, 500, 500) ||
                    !is_absent_or(group->memory_limit_bytes, 4096000, 4096000) ||
                    !is_absent_or(group->memory_bytes, 4096, 4096) ||
                    !is_absent_or(group->throttled_ns, second.throttled_ns, second.throttled_ns))
                        return 3 + i;
        }
        return failed ? 0 : 100;
}

static void play_groups(void **state, const char *mounts)
{
        ROAST_CLEANUP(cleanup_free) char *mountinfo = NULL, *groups = NULL;

        assert_true(asprintf(&mountinfo, "%s/%s", (const char *)*state, mounts) > 0);
        assert_true(asprintf(&groups, "%s/groups", (const char *)*state) > 0);
        elsewhere_put("/proc/self/mountinfo", mountinfo);
        elsewhere_put("/proc/self/cgroup", groups);
        play_children(group_child, FAULT_READ, 1);
        play_children(group_child, FAULT_READ, -1);
        elsewhere_none();
}

/* Not "no quota" and not the quota of another level because one file could not be read */
static void test_a_group_that_cannot_be_read_is_absent(void **state)
{
        play_groups(state, "mounts");
        play_groups(state, "mounts-v1");
}

/* ---- the host ---- */

#define CARDS 100 /* more than one read can bring */

static int net_child(enum fault kind, long count, long n)
{
        int64_t row[N_SAMPLES];
        bool failed;

        faults_fail_after(kind, count, n, EIO);
        probe_netdev.read(row);
        failed = faults_failed();
        faults_none();
        if (!is_absent_or(row[SAMPLE_HOST_NET_RECV_BYTES], 1000 * CARDS, 1000 * CARDS) ||
            !is_absent_or(row[SAMPLE_HOST_NET_SENT_BYTES], 7 * CARDS, 7 * CARDS))
                return 1;
        return failed ? 0 : 100;
}

/* The sum of the first cards alone would be a counter that goes back. */
static void test_a_list_of_cards_that_breaks_off_is_absent(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *path = NULL;
        FILE *out = fopen(folder_path(state, "dev"), "w");

        assert_non_null(out);
        for (int i = 0; i < CARDS; i++)
                assert_true(fprintf(out, " no-card-%d: 1000 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n", i) >
                            0);
        assert_int_equal(fclose(out), 0);
        assert_true(asprintf(&path, "%s/dev", (const char *)*state) > 0);
        elsewhere_put("/proc/self/net/dev", path);
        play_children(net_child, FAULT_READ, 1);
        elsewhere_none();
}

/* ---- the sampler ---- */

static void sample_a_while(enum fault kind, long count, long n, bool *failed)
{
        ROAST_CLEANUP(sampler_freep) struct sampler *sampler = NULL;
        size_t width = N_SAMPLES, n_rows;
        struct sampler_state told;
        int64_t rows[64 * WIDTH], begin = clock_monotonic_ns(), last = begin - MS;

        assert_int_equal(sampler_new(&sampler, &(struct sampler_options){ .interval_s = 0.05 }), 0);
        faults_fail_after(kind, count, n, EIO);
        assert_int_equal(sampler_start(sampler), 0);
        sleep_ns(110 * MS);
        sampler_stop(sampler);
        *failed = faults_failed();
        faults_none();
        sampler_state(sampler, &told);
        n_rows = sampler_take(sampler, rows, 64);
        for (size_t i = 0; i < n_rows; i++) {
                assert_true(rows[i * width] >= last && rows[i * width] <= clock_monotonic_ns());
                last = rows[i * width];
        }
        assert_true(told.rows == n_rows);
        /* neither wild guesses of what was missed, nor a tick after the other */
        assert_true(told.rows + told.missed <=
                    (uint64_t)(clock_monotonic_ns() - begin) / (40 * MS) + 2);
        assert_true(told.cpu_ns >= 0 && told.cpu_ns < MINUTE_S * 1000 * MS);
}

static void test_a_sampler_without_a_clock_neither_spins_nor_guesses(void **state)
{
        bool failed = true;

        (void)state;
        for (long count = 0; failed; count++) {
                sample_a_while(FAULT_CLOCK, count, 1, &failed);
                if (failed)
                        sample_a_while(FAULT_CLOCK, count, -1, &failed);
                assert_true(count < 50);
        }
}

static void test_a_sampler_without_a_thread_is_an_error_and_starts_later(void **state)
{
        ROAST_CLEANUP(sampler_freep) struct sampler *sampler = NULL;
        struct sampler_state told;

        (void)state;
        assert_int_equal(sampler_new(&sampler, NULL), 0);
        faults_fail_after(FAULT_THREAD, 0, -1, EAGAIN);
        assert_int_equal(sampler_start(sampler), ROAST_E_NOMEM);
        sampler_state(sampler, &told);
        assert_false(told.runs);
        sampler_stop(sampler);
        faults_fail_after(FAULT_THREAD, 0, 1, EAGAIN);
        assert_int_equal(sampler_start(sampler), 0);
        faults_none();
        sampler_state(sampler, &told);
        assert_true(told.runs);
}

/* ---- memory ---- */

static int memory_child(enum fault kind, long count, long n)
{
        struct probe_result result;
        struct sampler *sampler = NULL;
        int64_t row[WIDTH];
        bool failed;
        int r;

        (void)kind;
        (void)n;
        alloc_fail_after(count);
        measure(&result);
        probe_row_read(row);
        r = sampler_new(&sampler, NULL);
        failed = alloc_failed();
        alloc_fail_after(-1);
        sampler_free(sampler);
        if (r < 0 ? r != ROAST_E_NOMEM || !failed : !sampler)
                return 1;
        if (result.split.wall_ns <= 0 || row[0] <= 0)
                return 2;
        return failed ? 0 : 100;
}

static void test_measuring_without_memory_knows_less(void **state)
{
        (void)state;
        play_children(memory_child, FAULT_READ, 1);
}

/* ---- other processes ---- */

static void test_a_process_that_cannot_be_read_is_not_there(void **state)
{
        struct process_reading reading;
        bool failed = true;

        (void)state;
        for (long count = 0; failed; count++) {
                bool known;

                faults_fail_after(FAULT_READ, count, 1, EIO);
                known = process_read(getpid(), &reading);
                failed = faults_failed();
                faults_none();
                if (known)
                        assert_true(reading.values[PROCESS_RSS_BYTES] > 0 &&
                                    is_absent_or(reading.values[PROCESS_RCHAR], 1, INT64_MAX));
                else
                        assert_true(failed);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_chunk_whose_clocks_fail_has_no_wrong_times),
                cmocka_unit_test(test_a_chunk_whose_reads_fail_has_no_wrong_figures),
                cmocka_unit_test(test_a_chunk_without_a_watcher_says_so),
                cmocka_unit_test(test_a_row_whose_reads_fail_has_no_wrong_figures),
                cmocka_unit_test(test_a_row_whose_clocks_fail_has_no_wrong_times),
                cmocka_unit_test_setup_teardown(test_a_group_that_cannot_be_read_is_absent,
                                                make_groups, folder_remove),
                cmocka_unit_test_setup_teardown(test_a_list_of_cards_that_breaks_off_is_absent,
                                                folder_make, folder_remove),
                cmocka_unit_test(test_a_sampler_without_a_clock_neither_spins_nor_guesses),
                cmocka_unit_test(test_a_sampler_without_a_thread_is_an_error_and_starts_later),
                cmocka_unit_test(test_measuring_without_memory_knows_less),
                cmocka_unit_test(test_a_process_that_cannot_be_read_is_not_there),
        };

        return cmocka_run_group_tests_name("probe-faults", tests, NULL, NULL);
}
