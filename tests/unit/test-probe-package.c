/* probe/: what the Python package uses beside the sampler: processes, a set clock, locks by name */

#include "unit.h"

#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/platform.h"
#include "probe/readings.h"
#include "roast-error.h"
#include "spend.h"
#include "util/clock.h"

/* ---- processes ---- */

static void test_this_process_is_read(void **state)
{
        struct process_reading reading, again;

        (void)state;
        needs_platform();
        assert_true(process_read(getpid(), &reading));
        assert_true(reading.values[PROCESS_RSS_BYTES] >= 4096);
        assert_int_equal(reading.values[PROCESS_RSS_BYTES] % sysconf(_SC_PAGESIZE), 0);
        assert_true(reading.values[PROCESS_THREADS] >= 1);
        assert_true(reading.values[PROCESS_CPU_USER_NS] >= 0);
        assert_true(reading.values[PROCESS_CPU_SYSTEM_NS] >= 0);
        assert_true(process_read(getpid(), &again));
        assert_int_equal(reading.start_ticks, again.start_ticks);
        assert_true(again.values[PROCESS_RCHAR] > reading.values[PROCESS_RCHAR]);
}

/* It has ended, but nobody has asked how. */
static void test_a_process_that_has_ended_is_not_there(void **state)
{
        struct process_reading reading;
        siginfo_t info;
        pid_t pid = fork();

        (void)state;
        assert_true(pid >= 0);
        if (pid == 0)
                _exit(0);
        assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        assert_false(process_read(pid, &reading));
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_false(process_read(pid, &reading));
        assert_int_equal(process_descendants(pid, &pid, 1), 0);
}

/* A child that has one itself; both end when the pipe does. */
static pid_t fork_two(int from_parent, int to_parent)
{
        pid_t pid = fork();
        char byte;

        assert_true(pid >= 0);
        if (pid != 0)
                return pid;
        pid = fork();
        if (pid == 0)
                _exit(read(from_parent, &byte, 1) != 0);
        (void)!write(to_parent, &pid, sizeof(pid));
        (void)!read(from_parent, &byte, 1);
        _exit(waitpid(pid, NULL, 0) != pid);
}

static void skip_without_lists_of_children(void)
{
        needs_platform();
        if (access("/proc/thread-self/children", R_OK) == 0)
                return;
        print_message("the kernel is built without CONFIG_PROC_CHILDREN\n");
        skip();
}

static void test_children_and_theirs_are_found(void **state)
{
        pid_t pids[8] = { 0 }, child, grandchild;
        int down[2], up[2];

        (void)state;
        skip_without_lists_of_children();
        assert_int_equal(process_descendants(getpid(), pids, 8), 0);
        assert_int_equal(pipe(down), 0);
        assert_int_equal(pipe(up), 0);
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
                close(down[1]);
                child = fork_two(down[0], up[1]);
                _exit(waitpid(child, NULL, 0) != child);
        }
        assert_int_equal(read(up[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
        assert_int_equal(process_descendants(getpid(), pids, 8), 3);
        assert_int_equal(pids[0], child);
        assert_int_equal(pids[2], grandchild);
        assert_int_equal(process_descendants(pids[1], pids, 8), 1);
        assert_int_equal(process_descendants(getpid(), pids, 2), 2);
        assert_int_equal(process_descendants(getpid(), pids, 0), 0);
        close(down[1]);
        assert_int_equal(waitpid(child, NULL, 0), child);
        close(down[0]);
        close(up[0]);
        close(up[1]);
}

#define MANY 1300 /* their numbers do not fit into one page */

static void test_many_children_are_found(void **state)
{
        static pid_t made[MANY], found[MANY + 1];
        int down[2], n = 0;
        size_t n_found;
        char byte;

        (void)state;
        skip_without_lists_of_children();
        assert_int_equal(pipe(down), 0);
        while (n < MANY && (made[n] = fork()) > 0)
                n++;
        if (n < MANY && made[n] == 0) {
                close(down[1]);
                _exit(read(down[0], &byte, 1) != 0);
        }
        n_found = process_descendants(getpid(), found, MANY + 1);
        close(down[0]);
        close(down[1]);
        for (int i = 0; i < n; i++)
                assert_int_equal(waitpid(made[i], NULL, 0), made[i]);
        if (n < MANY) {
                print_message("only %d processes may run here\n", n);
                skip();
        }
        assert_int_equal(n_found, MANY);
        assert_memory_equal(found, made, sizeof(made));
}

/* ---- the clock ---- */

static void test_a_distance_to_utc_that_was_set_counts(void **state)
{
        int64_t before, now, after;

        (void)state;
        clock_set_utc_offset(5000);
        assert_int_equal(clock_utc_offset_ns(), 5000);
        before = clock_monotonic_ns();
        now = clock_utc_ns();
        after = clock_monotonic_ns();
        assert_in_range(now, before + 5000, after + 5000);
        clock_set_utc_offset(PROBE_ABSENT);
        assert_true(clock_utc_offset_ns() > INT64_C(1000000000) * 1000000000); /* after 2001 */
}

/* ---- locks ---- */

static void test_a_lock_is_named_by_its_symbol(void **state)
{
        (void)state;
        needs_platform();
        assert_int_equal(probe_lock_add_symbol("optind"), 0);
        assert_int_equal(probe_lock_add_symbol("optind"), 0);
        assert_int_equal(probe_lock_add(&optind, sizeof(optind)), 0); /* it is that one */
        assert_int_equal(probe_lock_add_symbol("no_such_symbol_anywhere"), ROAST_E_NOENT);
}

static void test_an_empty_range_is_no_lock(void **state)
{
        static int lock;

        (void)state;
        assert_int_equal(probe_lock_add(NULL, 8), ROAST_E_INVALID);
        assert_int_equal(probe_lock_add(&lock, 0), ROAST_E_INVALID);
}

/* The last test: what is named stays so. */
static void test_there_is_room_for_some_locks(void **state)
{
        static char locks[64];
        size_t n = 0;

        (void)state;
        needs_platform();
        while (n < sizeof(locks) && probe_lock_add(&locks[n], 1) == 0)
                n++;
        assert_in_range(n, 8, 16);
        assert_int_equal(probe_lock_add(&locks[n], 1), ROAST_E_NOMEM);
        assert_int_equal(probe_lock_add(&locks[0], 1), 0);
        assert_int_equal(probe_lock_add(&locks[0], 2), ROAST_E_NOMEM);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_this_process_is_read),
                cmocka_unit_test(test_a_process_that_has_ended_is_not_there),
                cmocka_unit_test(test_children_and_theirs_are_found),
                cmocka_unit_test(test_many_children_are_found),
                cmocka_unit_test(test_a_distance_to_utc_that_was_set_counts),
                cmocka_unit_test(test_a_lock_is_named_by_its_symbol),
                cmocka_unit_test(test_an_empty_range_is_no_lock),
                cmocka_unit_test(test_there_is_room_for_some_locks),
        };

        return cmocka_run_group_tests_name("probe-package", tests, NULL, NULL);
}
