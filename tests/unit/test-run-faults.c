/*
 * run/: when memory, the disk or a sync fails
 *
 * A life of a run is played again and again, and each time the next call of the
 * system fails. Whatever happens, the calls return errors, and the file that is
 * left has the figures of one of the commits that were made, or was never made.
 */

#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "faults.h"
#include "folder.h"
#include "run/run.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

#define CHUNKS 12

/* ---- the steps of a life ---- */

static int add_chunks(struct roast_run *run, struct roast_error *error)
{
        int r = sample_add_chunks(run, CHUNKS, error);

        return r < 0 ? r : sample_add_tasks(run, CHUNKS, error);
}

static int (*const steps[])(struct roast_run *run, struct roast_error *error) = {
        sample_begin, roast_run_commit, add_chunks,       roast_run_commit,
        sample_end,   roast_run_commit, roast_run_finish,
};

/* The summary after each step */
struct stages {
        char *summaries[ROAST_ARRAY_SIZE(steps) + 1];
};

static void stages_init(struct stages *stages)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        stages->summaries[0] = sample_summary(run, NULL);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(steps); i++) {
                assert_true(steps[i](run, NULL) >= 0);
                stages->summaries[i + 1] = sample_summary(run, NULL);
                assert_non_null(stages->summaries[i + 1]);
        }
        roast_run_free(run);
}

static void stages_deinit(struct stages *stages)
{
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(stages->summaries); i++)
                free(stages->summaries[i]);
}

/* Lives until the first failure; returns its code, or 0. */
static int live(const char *path, struct roast_run **run, struct roast_error *error)
{
        int r = roast_run_create(run, path, error);

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(steps) && r >= 0; i++)
                r = steps[i](*run, error);
        return r < 0 ? r : 0;
}

static void assert_is_a_stage(const char *path, const struct stages *stages, long count)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        if (roast_run_open(&run, path, &error) < 0 || !(summary = sample_summary(run, &error)))
                fail_msg("after %ld calls: %s", count, error.message);
        roast_run_free(run);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(stages->summaries); i++)
                if (!strcmp(summary, stages->summaries[i]))
                        return;
        fail_msg("after %ld calls: figures that were never committed", count);
}

/* The files that a run can have; NULL at the end */
static const char *const ends[] = { "", "-wal", "-shm", "-journal", NULL };

static void remove_run(const char *path)
{
        for (size_t i = 0; ends[i]; i++) {
                ROAST_CLEANUP(cleanup_free) char *name = NULL;

                assert_true(asprintf(&name, "%s%s", path, ends[i]) > 0);
                unlink(name);
        }
}

static void assert_nothing_left(const char *path)
{
        for (size_t i = 0; ends[i]; i++) {
                ROAST_CLEANUP(cleanup_free) char *name = NULL;

                assert_true(asprintf(&name, "%s%s", path, ends[i]) > 0);
                if (access(name, F_OK) == 0)
                        fail_msg("%s was left", name);
        }
}

/* ---- memory ---- */

static void test_writing_without_memory_keeps_what_is_committed(void **state)
{
        ROAST_CLEANUP(stages_deinit) struct stages stages;
        const char *path = folder_path(state, "a.roast");
        bool failed = true;

        stages_init(&stages);
        for (long count = 0; failed; count = faults_next(count, 60)) {
                struct roast_error error = { 0 };
                struct roast_run *run = NULL;
                int r;

                alloc_fail_after(count);
                r = live(path, &run, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                if (r < 0)
                        assert_int_equal(r, ROAST_E_NOMEM);
                roast_run_free(run);
                if (run)
                        assert_is_a_stage(path, &stages, count);
                else
                        assert_nothing_left(path);
                remove_run(path);
        }
}

/* One call fails for lack of memory, then there is memory again. */
static void test_a_writer_goes_on_after_a_lack_of_memory(void **state)
{
        bool failed = true;

        (void)state;
        for (long count = 0; failed; count = faults_next(count, 60)) {
                struct roast_error error = { 0 };
                struct roast_run *run;
                ROAST_CLEANUP(cleanup_free) char *summary = NULL;
                int r;

                assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
                assert_int_equal(sample_begin(run, NULL), 0);
                assert_int_equal(roast_run_commit(run, NULL), 0);
                alloc_fail_after(count);
                r = add_chunks(run, &error);
                if (r >= 0)
                        r = roast_run_commit(run, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                if (r < 0)
                        assert_int_equal(r, ROAST_E_NOMEM);
                /* some may be there already; afterwards all are */
                assert_true(sample_add_chunks(run, 5, NULL) >= 0);
                assert_int_equal(sample_add_chunks(run, 5, NULL), 0);
                assert_int_equal(sample_end(run, NULL), 0);
                assert_int_equal(roast_run_commit(run, NULL), 0);
                summary = sample_summary(run, &error);
                if (!summary)
                        fail_msg("after %ld allocations: %s", count, error.message);
                assert_has(summary, "dataset DYJets ");
                assert_has(summary, "dataset TTbar ");
                assert_has_not(summary, "dataset - ");
                roast_run_free(run);
        }
}

static void test_reading_without_memory_is_an_error(void **state)
{
        const char *path = folder_path(state, "a.roast");
        ROAST_CLEANUP(stages_deinit) struct stages stages;
        struct roast_run *run = NULL;
        bool failed = true;

        stages_init(&stages);
        assert_int_equal(live(path, &run, NULL), 0);
        roast_run_free(run);
        for (long count = 0; failed; count = faults_next(count, 100)) {
                struct roast_error error = { 0 };
                ROAST_CLEANUP(cleanup_free) char *summary = NULL;
                int r;

                alloc_fail_after(count);
                r = roast_run_open(&run, path, &error);
                if (r >= 0) {
                        summary = sample_summary(run, &error);
                        if (!summary)
                                r = error.code;
                        roast_run_free(run);
                }
                failed = alloc_failed();
                alloc_fail_after(-1);
                if (r < 0)
                        assert_int_equal(r, ROAST_E_NOMEM);
                else
                        assert_string_equal(summary, stages.summaries[ROAST_ARRAY_SIZE(steps)]);
        }
}

/* ---- the disk ---- */

static void play_with_faults(void **state, enum fault kind, long n, int reason)
{
        ROAST_CLEANUP(stages_deinit) struct stages stages;
        const char *path = folder_path(state, "a.roast");
        bool failed = true;

        stages_init(&stages);
        for (long count = 0; failed; count++) {
                struct roast_error error = { 0 };
                struct roast_run *run = NULL;
                int r;

                faults_fail_after(kind, count, n, reason);
                r = live(path, &run, &error);
                roast_run_free(run);
                failed = faults_failed();
                faults_none();
                if (r < 0) {
                        assert_int_equal(r, ROAST_E_IO);
                        assert_has(error.message, path);
                }
                if (run)
                        assert_is_a_stage(path, &stages, count);
                else
                        assert_nothing_left(path);
                if (!failed)
                        assert_int_equal(r, 0);
                remove_run(path);
                assert_true(count < 1000);
        }
}

static void test_a_disk_that_is_full_from_some_write_on_keeps_what_is_committed(void **state)
{
        play_with_faults(state, FAULT_WRITE, -1, ENOSPC);
}

static void test_a_write_or_sync_that_fails_once_keeps_what_is_committed(void **state)
{
        play_with_faults(state, FAULT_WRITE, 1, EIO);
}

static void test_reads_that_fail_keep_what_is_committed(void **state)
{
        play_with_faults(state, FAULT_READ, 1, EIO);
        play_with_faults(state, FAULT_READ, -1, EIO);
}

/* ---- the clock ---- */

/* When a commit was made is not known then; it is made all the same. */
static void test_a_clock_that_fails_does_no_harm(void **state)
{
        ROAST_CLEANUP(stages_deinit) struct stages stages;
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = NULL;
        sqlite3_stmt *seals = NULL;
        int n = 0;

        play_with_faults(state, FAULT_CLOCK, 1, EINVAL);
        play_with_faults(state, FAULT_CLOCK, -1, EINVAL);
        faults_fail_after(FAULT_CLOCK, 0, -1, EINVAL);
        assert_int_equal(live(path, &run, NULL), 0);
        faults_none();
        assert_int_equal(sqlite3_prepare_v2(run->db, "SELECT utc_ns FROM seal", -1, &seals, NULL),
                         SQLITE_OK);
        for (; sqlite3_step(seals) == SQLITE_ROW; n++)
                assert_int_equal(sqlite3_column_type(seals, 0), SQLITE_NULL);
        sqlite3_finalize(seals);
        roast_run_free(run);
        assert_true(n > 0);
        stages_init(&stages);
        assert_is_a_stage(path, &stages, 0);
}

/* Space is freed later: the writer goes on, and the file is one that its reader takes. */
static void test_a_writer_goes_on_after_a_full_disk(void **state)
{
        const char *path = folder_path(state, "a.roast");
        bool failed = true;

        for (long count = 0; failed; count++) {
                struct roast_error error = { 0 };
                struct roast_run *run;
                ROAST_CLEANUP(cleanup_free) char *summary = NULL;

                assert_int_equal(roast_run_create(&run, path, NULL), 0);
                assert_int_equal(sample_begin(run, NULL), 0);
                assert_int_equal(roast_run_commit(run, NULL), 0);
                faults_fail_after(FAULT_WRITE, count, -1, ENOSPC);
                if (add_chunks(run, &error) >= 0)
                        (void)roast_run_commit(run, &error);
                failed = faults_failed();
                faults_none();
                if (sample_end(run, &error) < 0 || roast_run_commit(run, &error) < 0 ||
                    roast_run_finish(run, &error) < 0)
                        fail_msg("after %ld calls: %s", count, error.message);
                roast_run_free(run);
                assert_int_equal(roast_run_open(&run, path, &error), 0);
                summary = sample_summary(run, &error);
                if (!summary)
                        fail_msg("after %ld calls: %s", count, error.message);
                assert_has(summary, "total_events 1 ");
                roast_run_free(run);
                remove_run(path);
        }
}

static void test_a_copy_onto_a_full_disk_leaves_the_old_one(void **state)
{
        const char *path = folder_path(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *before = NULL;
        ROAST_CLEANUP(cleanup_free) char *temporary = NULL;
        struct roast_run *run, *copy;
        bool failed = true;

        assert_true(asprintf(&temporary, "%s.%ld.part", path, (long)getpid()) > 0);
        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(sample_begin(run, NULL), 0);
        assert_int_equal(roast_run_copy(run, path, NULL), 0);
        before = sample_summary(run, NULL);
        assert_int_equal(sample_end(run, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        for (long count = 0; failed; count++) {
                struct roast_error error = { 0 };
                ROAST_CLEANUP(cleanup_free) char *summary = NULL;
                int r;

                faults_fail_after(FAULT_WRITE, count, -1, ENOSPC);
                r = roast_run_copy(run, path, &error);
                failed = faults_failed();
                faults_none();
                assert_int_equal(r, failed ? ROAST_E_IO : 0);
                assert_int_equal(roast_run_open(&copy, path, &error), 0);
                summary = sample_summary(copy, &error);
                roast_run_free(copy);
                assert_non_null(summary);
                assert_int_equal(!strcmp(summary, before), failed);
                assert_nothing_left(temporary);
        }
        roast_run_free(run);
}

/* A log that was cut off, as by a crash of the machine: the commits before the cut are there. */
static void test_a_log_cut_off_anywhere_gives_an_earlier_commit(void **state)
{
        ROAST_CLEANUP(stages_deinit) struct stages stages;
        const char *path = folder_path(state, "a.roast"), *log = folder_path(state, "a.roast-wal");
        const char *index = folder_path(state, "a.roast-shm");
        pid_t pid;
        int status;
        struct stat st;

        stages_init(&stages);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                struct roast_run *run = NULL;
                int r = roast_run_create(&run, path, NULL);

                for (size_t i = 0; i < ROAST_ARRAY_SIZE(steps) - 1 && r >= 0; i++)
                        r = steps[i](run, NULL);
                _exit(r < 0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(stat(log, &st), 0);
        for (off_t size = st.st_size; size >= 0; size -= 509) {
                assert_int_equal(truncate(log, size), 0);
                unlink(index);
                assert_is_a_stage(path, &stages, (long)size);
        }
}

/* The real thing: the kernel refuses to let the file grow. */
static void test_a_file_that_may_not_grow_keeps_what_is_committed(void **state)
{
        ROAST_CLEANUP(stages_deinit) struct stages stages;
        const char *path = folder_path(state, "a.roast");

        stages_init(&stages);
        for (rlim_t limit = 8192; limit < 300000; limit = limit * 5 / 4) {
                pid_t pid = fork();
                int status;

                assert_true(pid >= 0);
                if (pid == 0) {
                        const struct rlimit size = { limit, limit };
                        struct roast_run *run = NULL;

                        signal(SIGXFSZ, SIG_IGN);
                        if (setrlimit(RLIMIT_FSIZE, &size) < 0)
                                _exit(100);
                        if (live(path, &run, NULL) < 0)
                                _exit(run ? 1 : 2);
                        _exit(0);
                }
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 2);
                if (WEXITSTATUS(status) == 2)
                        assert_int_equal(access(path, F_OK), -1);
                else
                        assert_is_a_stage(path, &stages, (long)limit);
                remove_run(path);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_writing_without_memory_keeps_what_is_committed),
                TEST(test_a_writer_goes_on_after_a_lack_of_memory),
                TEST(test_reading_without_memory_is_an_error),
                TEST(test_a_disk_that_is_full_from_some_write_on_keeps_what_is_committed),
                TEST(test_a_write_or_sync_that_fails_once_keeps_what_is_committed),
                TEST(test_reads_that_fail_keep_what_is_committed),
                TEST(test_a_clock_that_fails_does_no_harm),
                TEST(test_a_writer_goes_on_after_a_full_disk),
                TEST(test_a_copy_onto_a_full_disk_leaves_the_old_one),
                TEST(test_a_log_cut_off_anywhere_gives_an_earlier_commit),
                TEST(test_a_file_that_may_not_grow_keeps_what_is_committed),
        };

        return cmocka_run_group_tests_name("run-faults", tests, NULL, NULL);
}
