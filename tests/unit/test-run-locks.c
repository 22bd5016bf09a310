/* run/open: a reader beside a run's writer: neither disturbs the other */

#include "unit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "faults.h"
#include "folder.h"
#include "roast-metrics.h"
#include "sample.h"

/* Whether another process can take the file for itself */
static bool can_be_taken(const char *path)
{
        pid_t child = fork();
        int status = 0;

        assert_true(child >= 0);
        if (child == 0) {
                struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
                int fd = open(path, O_RDWR);

                _exit(fd < 0 ? 2 : fcntl(fd, F_SETLK, &all) == 0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        return WEXITSTATUS(status);
}

static void test_a_reader_in_the_writers_process_leaves_its_locks(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *writer, *reader;

        assert_int_equal(roast_run_create(&writer, path, NULL), 0);
        assert_int_equal(sample_fill(writer, 3, NULL), 0);
        assert_int_equal(roast_run_commit(writer, NULL), 0);
        assert_false(can_be_taken(path));
        assert_int_equal(roast_run_open(&reader, path, NULL), 0);
        assert_false(can_be_taken(path));
        roast_run_free(reader);
        assert_false(can_be_taken(path));
        assert_int_equal(roast_run_open_any(&reader, path, NULL), 0);
        roast_run_free(reader);
        assert_false(can_be_taken(path));
        roast_run_free(writer);
        assert_true(can_be_taken(path));
}

static void test_a_run_that_is_refused_leaves_its_writers_locks(void **state)
{
        const char *path = folder_path(state, "a.db");
        struct roast_run *reader;
        sqlite3 *writer;

        assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
        assert_int_equal(sqlite3_exec(writer,
                                      "PRAGMA journal_mode=WAL; CREATE TABLE t(x);"
                                      " INSERT INTO t VALUES(1)",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        assert_false(can_be_taken(path));
        assert_int_equal(roast_run_open(&reader, path, NULL), ROAST_E_FORMAT);
        assert_false(can_be_taken(path));
        sqlite3_close(writer);
}

static long entries_of(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_summary summary;
        struct roast_run *run = NULL;
        long n;

        if (roast_run_open(&run, path, &error) < 0 ||
            roast_summary_of_run(&summary, run, &error) < 0)
                fail_msg("%s", error.message);
        n = (long)summary.metrics.values[ROAST_TOTAL_EVENTS].count;
        roast_summary_deinit(&summary);
        roast_run_free(run);
        return n;
}

/* Another process commits, checkpoints and finishes while we look again and again. */
static void test_a_reader_is_never_disturbed_by_the_writer(void **state)
{
        const char *path = folder_path(state, "a.roast"), *log = folder_path(state, "a.roast-wal");
        struct roast_run *run;
        long seen = 0;
        pid_t pid, ended = 0;
        int status;

        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                int r = roast_run_create(&run, path, NULL);

                for (int i = 1; i <= 100 && r >= 0; i++) {
                        r = roast_run_fact_int(run, "report.entries", i, NULL);
                        if (r >= 0)
                                r = sample_add_chunks(run, 30, NULL);
                        if (r >= 0)
                                r = roast_run_commit(run, NULL);
                }
                if (r >= 0)
                        r = roast_run_finish(run, NULL);
                roast_run_free(run);
                _exit(r < 0);
        }
        while (access(log, F_OK) < 0 && !(ended = waitpid(pid, &status, WNOHANG)))
                usleep(100); /* the file is being made */
        for (; !ended; ended = waitpid(pid, &status, WNOHANG)) {
                long n = entries_of(path);

                assert_true(n >= seen);
                seen = n;
        }
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(entries_of(path), 100);
}

/* Where memory cannot be shared between processes, the writer has the file for itself, to the end.
 */
static void test_on_a_network_readers_wait_until_the_run_has_finished(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_error error = { 0 };
        struct roast_run *run = NULL, *reader = NULL;

        faults_network(true);
        assert_int_equal(roast_run_create(&run, path, NULL), 0);
        faults_network(false);
        assert_int_equal(sample_fill(run, 3, NULL), 0);
        assert_int_equal(roast_run_open(&reader, path, &error), ROAST_E_STATE);
        assert_has(error.message, "network");
        assert_int_equal(roast_run_finish(run, NULL), 0);
        if (roast_run_open(&reader, path, &error) < 0)
                fail_msg("%s", error.message);
        roast_run_free(reader);
        roast_run_free(run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_a_reader_in_the_writers_process_leaves_its_locks),
                TEST(test_a_run_that_is_refused_leaves_its_writers_locks),
                TEST(test_a_reader_is_never_disturbed_by_the_writer),
                TEST(test_on_a_network_readers_wait_until_the_run_has_finished),
        };

        return cmocka_run_group_tests_name("run-locks", tests, NULL, NULL);
}
