/* run/open: reading a run beside its writer, in the same process, leaves the writer's locks */

#include "unit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "folder.h"
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(
                        test_a_reader_in_the_writers_process_leaves_its_locks, folder_make,
                        folder_remove),
                cmocka_unit_test_setup_teardown(test_a_run_that_is_refused_leaves_its_writers_locks,
                                                folder_make, folder_remove),
        };

        return cmocka_run_group_tests_name("run-locks", tests, NULL, NULL);
}
