/* run/: the file while it is written, finished, killed and copied */

#include "unit.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "runs.h"
#include "sample.h"
#include "util/cleanup.h"

/* ---- the file ---- */

static void test_only_its_owner_may_read_a_run_file(void **state)
{
        mode_t before = umask(0);
        const char *path = finished_run(state, "a.roast");
        struct roast_run *run;
        struct stat st;

        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        run = open_run(path);
        assert_int_equal(roast_run_copy(run, folder_path(state, "b.roast"), NULL), 0);
        assert_int_equal(stat(folder_path(state, "b.roast"), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        roast_run_free(run);
        umask(before);
}

static void test_an_existing_file_is_not_touched(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        folder_put_text(path, "my thesis");
        assert_int_equal(roast_run_create(&run, path, &error), ROAST_E_STATE);
        assert_null(run);
        assert_has(error.message, path);
        assert_int_equal(size_of(path), 9);
}

static void test_a_run_that_cannot_be_created_leaves_nothing(void **state)
{
        const char *path = folder_path(state, "missing/a.roast");
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        assert_int_equal(roast_run_create(&run, path, &error), ROAST_E_IO);
        assert_has(error.message, path);
        assert_int_equal(count_files(*state), 0);
}

static void test_a_reader_sees_what_is_committed_while_the_writer_goes_on(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *writer = create(path), *reader;
        ROAST_CLEANUP(cleanup_free) char *before = NULL;
        ROAST_CLEANUP(cleanup_free) char *same = NULL;
        ROAST_CLEANUP(cleanup_free) char *after = NULL;

        assert_int_equal(sample_begin(writer, NULL), 0);
        assert_int_equal(roast_run_commit(writer, NULL), 0);
        reader = open_run(path);
        before = summary_of(reader);
        assert_int_equal(sample_add_chunks(writer, CHUNKS, NULL), CHUNKS);
        same = summary_of(reader);
        assert_string_equal(same, before);
        assert_int_equal(roast_run_commit(writer, NULL), 0);
        after = summary_of(reader);
        assert_has(after, "num_successful_chunks 1 ");
        roast_run_free(reader);
        roast_run_free(writer);
}

static void test_the_writer_itself_sees_what_is_committed(void **state)
{
        struct roast_run *run = create(NULL);
        ROAST_CLEANUP(cleanup_free) char *before = NULL;
        ROAST_CLEANUP(cleanup_free) char *same = NULL;

        (void)state;
        assert_int_equal(sample_begin(run, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        before = summary_of(run);
        assert_int_equal(sample_add_chunks(run, CHUNKS, NULL), CHUNKS);
        same = summary_of(run);
        assert_string_equal(same, before);
        roast_run_free(run);
}

static void test_a_reader_cannot_write(void **state)
{
        struct roast_run *run = open_run(finished_run(state, "a.roast"));
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_fact_int(run, "x", 1, &error), ROAST_E_STATE);
        assert_int_equal(sample_add_chunks(run, 1, &error), ROAST_E_STATE);
        assert_int_equal(roast_run_commit(run, &error), 0);
        roast_run_free(run);
}

static void test_a_finished_run_is_one_file(void **state)
{
        finished_run(state, "a.roast");
        assert_int_equal(count_files(*state), 1);
}

static void test_a_run_finished_under_a_reader_is_whole(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *writer = create(path), *reader;
        ROAST_CLEANUP(cleanup_free) char *expected = NULL;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        fill(writer);
        expected = summary_of(writer);
        reader = open_run(path);
        assert_int_equal(roast_run_finish(writer, NULL), 0);
        roast_run_free(writer);
        summary = summary_of(reader);
        assert_string_equal(summary, expected);
        roast_run_free(reader);
        free(summary);
        summary = summary_of_file(path);
        assert_string_equal(summary, expected);
}

static int opens(const char *path)
{
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = try_summary_of_file(path, &error);

        if (!summary)
                fprintf(stderr, "%s\n", error.message);
        return summary ? 0 : 1;
}

static int tells_of_a_journal(const char *path)
{
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = try_summary_of_file(path, &error);

        return !summary && error.code == ROAST_E_IO && strstr(error.message, "journal") ? 0 : 1;
}

static void test_a_finished_run_opens_from_a_read_only_directory(void **state)
{
        const char *path = finished_run(state, "a.roast");

        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(chmod(*state, 0555), 0);
        as_nobody(opens, path);
}

/* Its mode says WAL, but there is no log: finished under a reader, then copied by cp. */
static void test_a_run_that_stayed_in_wal_mode_opens_from_a_read_only_directory(void **state)
{
        const char *path = finished_run(state, "a #1%20?.roast");

        sql(path, "PRAGMA journal_mode=WAL");
        assert_int_equal(count_files(*state), 1);
        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(chmod(*state, 0555), 0);
        as_nobody(opens, path);
}

static void kill_after_commit(const char *path)
{
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0) {
                struct roast_run *run;

                if (roast_run_create(&run, path, NULL) < 0 || sample_begin(run, NULL) < 0 ||
                    roast_run_commit(run, NULL) < 0 || sample_add_chunks(run, CHUNKS, NULL) < 0 ||
                    roast_run_commit(run, NULL) < 0 || sample_end(run, NULL) < 0)
                        _exit(1);
                kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
}

static void test_a_killed_run_opens_with_what_was_committed(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run;
        struct roast_run_about about;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;
        ROAST_CLEANUP(cleanup_free) char *expected = NULL;

        kill_after_commit(path);
        run = open_run(path);
        assert_int_equal(roast_run_about(run, &about, NULL), 0);
        assert_null(about.outcome);
        summary = summary_of(run);
        roast_run_free(run);

        run = create(NULL);
        assert_int_equal(sample_begin(run, NULL), 0);
        assert_int_equal(sample_add_chunks(run, CHUNKS, NULL), CHUNKS);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        expected = summary_of(run);
        roast_run_free(run);
        assert_string_equal(summary, expected);
}

/* Without a log, what a commit overwrites is kept in a journal: killed in the middle of that */
static void kill_within_commit(const char *path)
{
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0) {
                sqlite3 *db;

                if (sqlite3_open(path, &db) != SQLITE_OK ||
                    sqlite3_exec(db,
                                 "PRAGMA cache_size=1; BEGIN; UPDATE chunk SET wall_ns=1;"
                                 "UPDATE fact SET value=1; UPDATE span SET value=1.5;",
                                 NULL, NULL, NULL) != SQLITE_OK)
                        _exit(1);
                kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
}

static void test_a_run_killed_within_a_late_commit_opens_as_it_was(void **state)
{
        const char *path = finished_run(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *before = summary_of_file(path);
        ROAST_CLEANUP(cleanup_free) char *after = NULL;

        kill_within_commit(path);
        assert_true(size_of(folder_path(state, "a.roast-journal")) > 0);
        after = summary_of_file(path);
        assert_string_equal(after, before);
        assert_int_equal(count_files(*state), 1);
}

static int names_its_journal(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run;

        if (roast_run_open(&run, path, &error) != ROAST_E_IO)
                return 1;
        return strstr(error.message, "-journal") && strstr(error.message, "copy both") ? 0 : 2;
}

static void test_a_run_killed_within_a_late_commit_is_no_use_read_only(void **state)
{
        const char *path = finished_run(state, "a.roast");

        kill_within_commit(path);
        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(chmod(folder_path(state, "a.roast-journal"), 0444), 0);
        assert_int_equal(chmod(*state, 0555), 0);
        as_nobody(names_its_journal, path);
}

/* Reads for a while, after it has said so. */
static pid_t read_for_a_while(const char *path)
{
        int pipes[2];
        char byte = 0;
        pid_t pid;

        assert_int_equal(pipe(pipes), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                sqlite3 *db;

                if (sqlite3_open(path, &db) != SQLITE_OK ||
                    sqlite3_exec(db, "BEGIN; SELECT count(*) FROM fact;", NULL, NULL, NULL) !=
                            SQLITE_OK ||
                    write(pipes[1], &byte, 1) != 1)
                        _exit(1);
                usleep(300000);
                _exit(0);
        }
        close(pipes[1]);
        assert_int_equal(read(pipes[0], &byte, 1), 1);
        close(pipes[0]);
        return pid;
}

static void test_what_is_added_after_the_end_waits_for_readers(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = create(path);
        struct roast_error error = { 0 };
        pid_t pid;

        fill(run);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        pid = read_for_a_while(path);
        assert_int_equal(roast_run_fact_int(run, "late", 7, NULL), 0);
        if (roast_run_commit(run, &error) < 0)
                fail_msg("%s", error.message);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        roast_run_free(run);
        assert_int_equal(sql_int(path, "SELECT value FROM facts WHERE name='late'"), 7);
}

/* Somebody removed the file, but not its log. */
static void test_the_log_of_a_removed_run_does_not_reach_the_next_of_its_name(void **state)
{
        const char *path = folder_path(state, "a.roast");
        ROAST_CLEANUP(cleanup_free)
        char *expected = summary_of_file(finished_run(state, "b.roast"));
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        kill_after_commit(path);
        assert_int_equal(unlink(path), 0);
        assert_true(size_of(folder_path(state, "a.roast-wal")) > 0);
        summary = summary_of_file(finished_run(state, "a.roast"));
        assert_string_equal(summary, expected);
}

static void test_a_killed_run_in_a_read_only_directory_says_what_to_do(void **state)
{
        const char *path = folder_path(state, "a.roast");

        kill_after_commit(path);
        assert_int_equal(unlink(folder_path(state, "a.roast-shm")), 0);
        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(chmod(folder_path(state, "a.roast-wal"), 0444), 0);
        assert_int_equal(chmod(*state, 0555), 0);
        as_nobody(tells_of_a_journal, path);
}

/* ---- copies ---- */

static void test_a_copy_has_the_same_figures_and_replaces_a_file(void **state)
{
        const char *to = folder_path(state, "b.roast");
        ROAST_CLEANUP(cleanup_free) char *original = NULL;
        ROAST_CLEANUP(cleanup_free) char *copy = NULL;
        struct roast_run *run = create(NULL);

        assert_int_equal(roast_run_copy(run, to, NULL), 0);
        fill(run);
        original = summary_of(run);
        assert_int_equal(roast_run_copy(run, to, NULL), 0);
        copy = summary_of_file(to);
        assert_string_equal(copy, original);
        assert_int_equal(count_files(*state), 1);
        roast_run_free(run);
}

static void test_a_copy_that_fails_leaves_nothing(void **state)
{
        struct roast_run *run = open_run(finished_run(state, "a.roast"));
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_copy(run, folder_path(state, "missing/b.roast"), &error),
                         ROAST_E_IO);
        assert_int_equal(mkdir(folder_path(state, "b.roast"), 0700), 0);
        assert_int_equal(roast_run_copy(run, folder_path(state, "b.roast"), &error), ROAST_E_IO);
        assert_int_equal(count_files(*state), 2);
        roast_run_free(run);
}

/* Its log would be replayed over the copy. */
static void test_a_copy_does_not_replace_a_run_that_is_being_written(void **state)
{
        const char *path = folder_path(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *expected = NULL;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;
        struct roast_run *live = create(path), *other = create(NULL);
        struct roast_error error = { 0 };

        fill(live);
        expected = summary_of(live);
        assert_int_equal(roast_run_copy(other, path, &error), ROAST_E_STATE);
        assert_has(error.message, path);
        assert_int_equal(roast_run_copy(live, path, &error), ROAST_E_STATE);
        assert_int_equal(roast_run_finish(live, NULL), 0);
        assert_int_equal(roast_run_copy(live, path, &error), ROAST_E_STATE);
        assert_has(error.message, "itself");
        roast_run_free(live);
        roast_run_free(other);
        summary = summary_of_file(path);
        assert_string_equal(summary, expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_only_its_owner_may_read_a_run_file),
                TEST(test_an_existing_file_is_not_touched),
                TEST(test_a_run_that_cannot_be_created_leaves_nothing),
                TEST(test_a_reader_sees_what_is_committed_while_the_writer_goes_on),
                TEST(test_the_writer_itself_sees_what_is_committed),
                TEST(test_a_reader_cannot_write),
                TEST(test_a_finished_run_is_one_file),
                TEST(test_a_run_finished_under_a_reader_is_whole),
                TEST(test_a_finished_run_opens_from_a_read_only_directory),
                TEST(test_a_run_that_stayed_in_wal_mode_opens_from_a_read_only_directory),
                TEST(test_a_killed_run_opens_with_what_was_committed),
                TEST(test_a_run_killed_within_a_late_commit_opens_as_it_was),
                TEST(test_a_run_killed_within_a_late_commit_is_no_use_read_only),
                TEST(test_what_is_added_after_the_end_waits_for_readers),
                TEST(test_the_log_of_a_removed_run_does_not_reach_the_next_of_its_name),
                TEST(test_a_killed_run_in_a_read_only_directory_says_what_to_do),
                TEST(test_a_copy_has_the_same_figures_and_replaces_a_file),
                TEST(test_a_copy_that_fails_leaves_nothing),
                TEST(test_a_copy_does_not_replace_a_run_that_is_being_written),
        };

        return cmocka_run_group_tests_name("run-file", tests, NULL, NULL);
}
