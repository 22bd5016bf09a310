/* probe/: single sources of readings */

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/chunk.h"
#include "probe/linux/cgroup-dir.h"
#include "probe/linux/device.h"
#include "probe/linux/file.h"
#include "roast-error.h"
#include "spend.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/size.h"

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
        size_t n = N_SAMPLES;
        int64_t row[64], later[64];

        (void)state;
        assert_true(n > 20 && n <= ROAST_ARRAY_SIZE(row));
        probe_row_read(row);
        spin_cpu_ns(20 * MS);
        probe_row_read(later);
        for (size_t i = 0; i < n; i++) {
                const struct probe_column *column = &probe_columns[i];

                print_message("  %-28s %-6s %lld\n", column->name, column->unit,
                              (long long)later[i]);
                assert_true(row[i] >= PROBE_ABSENT && column->resolution > 0);
                assert_true(probe_column_unpack(column, probe_column_pack(column, row[i])) ==
                            row[i]);
                if (column->kind == PROBE_COUNTER && strncmp(column->name, "host", 4))
                        assert_true(later[i] >= row[i]);
                if (!strcmp(column->name, "fds"))
                        assert_true(later[i] >= 3 && later[i] < 200);
                if (!strcmp(column->name, "threads"))
                        assert_true(later[i] >= 1);
                for (size_t k = 0; k < i; k++)
                        assert_string_not_equal(column->name, probe_columns[k].name);
        }
}

static void make_directory(const char *folder, const char *name)
{
        char path[256];

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        assert_int_equal(mkdir(path, 0700), 0);
}

static void remove_directory(const char *folder, const char *name)
{
        char path[256];

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        assert_int_equal(rmdir(path), 0);
}

static void test_devices_are_asked_for_now_and_then(void **state)
{
        struct probe_devices devices = { 0 };
        char folder[] = "roast-test-XXXXXX", name[80];

        (void)state;
        assert_non_null(mkdtemp(folder));
        make_directory(folder, "disk1");
        make_directory(folder, "disk1/device");
        make_directory(folder, "disk10");

        probe_devices_begin(&devices);
        for (int i = 0; i < 2; i++) {
                assert_true(probe_devices_has(&devices, folder, "disk1", 5));
                assert_true(probe_devices_has(&devices, folder, "disk10 ", 5));
                assert_false(probe_devices_has(&devices, folder, "disk10", 6));
                assert_false(probe_devices_has(&devices, folder, "disk", 4));
                assert_false(probe_devices_has(&devices, folder, "", 0));
        }
        /* An answer is kept for a while, not for ever. */
        make_directory(folder, "disk10/device");
        for (int i = 1; i < 64; i++) {
                probe_devices_begin(&devices);
                assert_false(probe_devices_has(&devices, folder, "disk10", 6));
        }
        probe_devices_begin(&devices);
        assert_true(probe_devices_has(&devices, folder, "disk10", 6));

        /* More names than it keeps are asked for each time, and longer ones are none. */
        for (int i = 0; i < 2 * PROBE_DEVICES_MAX; i++) {
                snprintf(name, sizeof(name), "other-%d", i);
                assert_false(probe_devices_has(&devices, folder, name, strlen(name)));
        }
        assert_int_equal(devices.n, PROBE_DEVICES_MAX);
        assert_true(probe_devices_has(&devices, folder, "disk1", 5));
        memset(name, 'x', sizeof(name));
        assert_false(probe_devices_has(&devices, folder, name, 40));
        assert_false(probe_devices_has(&devices, folder, name, sizeof(name)));

        remove_directory(folder, "disk10/device");
        remove_directory(folder, "disk10");
        remove_directory(folder, "disk1/device");
        remove_directory(folder, "disk1");
        assert_int_equal(rmdir(folder), 0);
}

static int text_fd(const char *text)
{
        char name[] = "roast-test-XXXXXX";
        int fd = mkstemp(name);

        assert_true(fd >= 0);
        unlink(name);
        assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        return fd;
}

static void test_numbers_are_found_where_they_are(void **state)
{
        const char *at = "  12\tx 9223372036854775807 99999999999999999999 -1";

        (void)state;
        assert_true(probe_scan(&at) == 12);
        assert_true(probe_scan(&at) == PROBE_ABSENT);
        probe_scan_skip(&at, 1);
        assert_true(probe_scan(&at) == INT64_MAX);
        assert_true(probe_scan(&at) == PROBE_ABSENT);
        probe_scan_skip(&at, 1);
        assert_true(probe_scan(&at) == PROBE_ABSENT);
        probe_scan_skip(&at, 5);
        assert_int_equal(*at, 0);
        assert_true(probe_scan_key("a: 1\nbb: 2\nb: 3\n", "b: ") == 3);
        assert_true(probe_scan_key("a: 1\nbb: 2", "b: ") == PROBE_ABSENT);
        assert_true(probe_scan_key("", "b: ") == PROBE_ABSENT);
}

static void test_lines_of_any_length_are_read(void **state)
{
        char text[4 * 4096], *line;
        struct probe_lines lines;
        size_t n = 0;
        int fd;

        (void)state;
        for (size_t i = 0; i < sizeof(text) - 1; i++)
                text[i] = i % 101 == 100 ? '\n' : 'x';
        memset(text + 5000, 'y', 5000); /* longer than the buffer: it comes in pieces */
        text[sizeof(text) - 1] = 0;
        fd = text_fd(text);
        probe_lines_init(&lines, fd);
        while ((line = probe_lines_next(&lines)))
                n += strlen(line) + 1;
        close(fd);
        assert_true(is_near((int64_t)n, sizeof(text), 3));
        probe_lines_init(&lines, -1);
        assert_null(probe_lines_next(&lines));
}

/* Control groups */

static int find_dir(struct cgroup_dir *dir, const char *mountinfo, const char *cgroup,
                    const char *controller)
{
        ROAST_CLEANUP(cleanup_close) int mounts = text_fd(mountinfo);
        ROAST_CLEANUP(cleanup_close) int groups = text_fd(cgroup);

        return cgroup_dir_find(dir, mounts, groups, controller);
}

static void test_the_group_is_found_in_v2(void **state)
{
        const char *mounts =
                "22 1 0:20 / / rw - ext4 /dev/vda rw\n"
                "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        struct cgroup_dir dir;

        (void)state;
        assert_int_equal(find_dir(&dir, mounts, "0::/user.slice/job\n", "cpu"), 0);
        assert_true(dir.v2);
        assert_string_equal(dir.path, "/sys/fs/cgroup/user.slice/job");
        assert_true(cgroup_dir_up(&dir));
        assert_string_equal(dir.path, "/sys/fs/cgroup/user.slice");
        assert_true(cgroup_dir_up(&dir));
        assert_string_equal(dir.path, "/sys/fs/cgroup");
        assert_false(cgroup_dir_up(&dir));
        assert_int_equal(find_dir(&dir, mounts, "0::/\n", "memory"), 0);
        assert_string_equal(dir.path, "/sys/fs/cgroup");
        assert_int_equal(find_dir(&dir, mounts, "0::/../../elsewhere\n", "memory"), 0);
        assert_string_equal(dir.path, "/sys/fs/cgroup");
}

static void test_the_group_is_found_in_v1_and_hybrid(void **state)
{
        /* a container that shares the host's cgroup namespace: the mount shows a part only */
        const char *mounts =
                "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup "
                "rw,cpu,cpuacct\n"
                "33 31 0:30 /docker/abc /sys/fs/cgroup/my\\040memory ro - cgroup none rw,memory\n"
                "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        const char *groups = "9:name=systemd:/docker/abc\n4:memory:/docker/abc/job\n"
                             "1:cpu,cpuacct:/docker/abc\n0::/system.slice\n";
        struct cgroup_dir dir;

        (void)state;
        assert_int_equal(find_dir(&dir, mounts, groups, "cpu"), 0);
        assert_false(dir.v2);
        assert_string_equal(dir.path, "/sys/fs/cgroup/cpu,cpuacct");
        assert_false(cgroup_dir_up(&dir));
        assert_int_equal(find_dir(&dir, mounts, groups, "memory"), 0);
        assert_string_equal(dir.path, "/sys/fs/cgroup/my memory/job");
        assert_int_equal(find_dir(&dir, mounts, groups, "io"), 0);
        assert_true(dir.v2);
        assert_string_equal(dir.path, "/sys/fs/cgroup/unified/system.slice");
        assert_int_equal(find_dir(&dir, "", groups, "cpu"), ROAST_E_NOENT);
        assert_int_equal(find_dir(&dir, mounts, "", "cpu"), ROAST_E_NOENT);
        assert_int_equal(find_dir(&dir, "- cgroup\n - cgroup2\n1 2 - cgroup2 x y", "0::/", "cpu"),
                         ROAST_E_NOENT);
}

static bool write_in(const char *dir, const char *name, const char *text)
{
        char path[CGROUP_PATH_MAX + 64];
        ssize_t n = -1;
        int fd;

        snprintf(path, sizeof(path), "%s/%s", dir, name);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd >= 0) {
                n = write(fd, text, strlen(text));
                close(fd);
        }
        return n == (ssize_t)strlen(text);
}

enum { NOT_ALLOWED = 77, TOO_BUSY = 78 };

/* In a group with 10 % of a core a spinner is held back 90 % of the time. */
static int throttled_child(const char *group)
{
        struct probe_cgroup cgroup;
        struct probe_result result;
        struct probe_chunk chunk;
        int64_t end, stolen = stolen_ns();

        if (!write_in(group, "cgroup.procs", "0"))
                return NOT_ALLOWED;
        probe_chunk_begin(&chunk);
        end = clock_monotonic_ns() + 1500 * MS;
        while (clock_monotonic_ns() < end)
                ;
        probe_chunk_end(&chunk, &result);
        stolen = stolen_ns() - stolen;
        probe_cgroup_read(&cgroup);
        probe_watch_stop();
        dprintf(1,
                "throttled: wall %.0f ms, cpu %.0f, runqueue %.0f, throttled %.0f, stolen %.0f\n",
                (double)result.split.wall_ns / 1e6, (double)result.split.cpu_ns / 1e6,
                (double)result.split.runqueue_ns / 1e6, (double)result.split.throttled_ns / 1e6,
                (double)stolen / 1e6);
        if (cgroup.cpu_quota_millis != 100)
                return 1;
        if (result.split.runqueue_ns > 250 * MS)
                return TOO_BUSY; /* others had the core for so long that the quota hardly bit */
        if (!is_near(result.split.cpu_ns, 150 * MS, 100 * MS))
                return 2;
        if (probe_split_asleep_ns(&result.split) > 150 * MS + stolen)
                return 3;
        return is_near(result.split.throttled_ns, 1200 * MS, 450 * MS) ? 0 : 4;
}

static void test_a_quota_shows_as_throttling(void **state)
{
        ROAST_CLEANUP(cleanup_close) int mounts = open("/proc/self/mountinfo", O_RDONLY);
        ROAST_CLEANUP(cleanup_close) int groups = open("/proc/self/cgroup", O_RDONLY);
        char group[CGROUP_PATH_MAX + 32];
        struct cgroup_dir dir;
        int status = NOT_ALLOWED << 8;
        pid_t pid;

        (void)state;
        if (cgroup_dir_find(&dir, mounts, groups, "cpu") < 0) {
                print_message("the control group of CPU time cannot be found\n");
                skip();
        }
        snprintf(group, sizeof(group), "%s/roast-test-%d", dir.path, (int)getpid());
        if (mkdir(group, 0755) < 0) { /* the usual case */
                print_message("no right to make a control group\n");
                skip();
        }
        if (dir.v2 ? write_in(group, "cpu.max", "10000 100000")
                   : write_in(group, "cpu.cfs_quota_us", "10000")) {
                for (int i = 0; i < 3 && status; i++) {
                        pid = fork();
                        if (pid == 0)
                                _exit(throttled_child(group));
                        waitpid(pid, &status, 0);
                }
        }
        rmdir(group);
        if (WEXITSTATUS(status) == NOT_ALLOWED) {
                print_message("no right to set a quota, or to move a process under it\n");
                skip();
        }
        if (WEXITSTATUS(status) == TOO_BUSY) {
                print_message("the machine is too busy to see a quota at work\n");
                skip();
        }
        assert_int_equal(status, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_the_probes_do_not_count_as_bytes_read),
                cmocka_unit_test(test_a_row_has_a_value_for_each_column),
                cmocka_unit_test(test_devices_are_asked_for_now_and_then),
                cmocka_unit_test(test_numbers_are_found_where_they_are),
                cmocka_unit_test(test_lines_of_any_length_are_read),
                cmocka_unit_test(test_the_group_is_found_in_v2),
                cmocka_unit_test(test_the_group_is_found_in_v1_and_hybrid),
                cmocka_unit_test(test_a_quota_shows_as_throttling),
        };

        return cmocka_run_group_tests_name("probe-sources", tests, NULL, stop_watch);
}
