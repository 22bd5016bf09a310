/* run/log: a log that was damaged is told from one whose writer died */

#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "runs.h"
#include "sample.h"
#include "util/cleanup.h"

#define COMMITS     6
#define HEADER_SIZE 32
#define FRAME_SIZE  24

struct bytes {
        uint8_t *data;
        size_t len;
};

static void bytes_deinit(struct bytes *bytes)
{
        free(bytes->data);
}

static struct bytes read_bytes(const char *path)
{
        struct bytes bytes = { .len = (size_t)size_of(path) };
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        bytes.data = malloc(bytes.len);
        assert_non_null(bytes.data);
        assert_int_equal(read(fd, bytes.data, bytes.len), bytes.len);
        close(fd);
        return bytes;
}

/* A run, and what SQLite keeps beside it */
static const char *path, *log_path, *index_path;

/* As a client leaves its run that is killed: its log */
static struct bytes killed_run(void **state)
{
        pid_t pid;
        int status;

        path = folder_path(state, "a.roast");
        log_path = folder_path(state, "a.roast-wal");
        index_path = folder_path(state, "a.roast-shm");
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                struct roast_run *run = create(path);

                for (int i = 0; i < COMMITS; i++)
                        if (sample_add_chunks(run, CHUNKS, NULL) < 0 ||
                            roast_run_commit(run, NULL) < 0)
                                _exit(1);
                kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        return read_bytes(log_path);
}

static uint32_t be32(const uint8_t *at)
{
        return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static size_t frame_size(const struct bytes *log)
{
        return FRAME_SIZE + be32(log->data + 8);
}

static size_t n_frames(const struct bytes *log)
{
        return (log->len - HEADER_SIZE) / frame_size(log);
}

/* What SQLite made of the log before is forgotten. */
static void put_log(const struct bytes *log, size_t len)
{
        folder_put(log_path, (const char *)log->data, len);
        unlink(index_path);
}

static void test_a_flipped_bit_is_damage(void **state)
{
        ROAST_CLEANUP(bytes_deinit) struct bytes log = killed_run(state);
        size_t size = frame_size(&log), n = n_frames(&log);
        /* The header; of frames the page's number, the salts, the sums, the page */
        const size_t places[] = { 9,
                                  20,
                                  HEADER_SIZE + 3,
                                  HEADER_SIZE + size + 10,
                                  HEADER_SIZE + n / 2 * size + 17,
                                  HEADER_SIZE + n / 2 * size + FRAME_SIZE + 700,
                                  HEADER_SIZE + (n - 2) * size + size - 1 };

        assert_true(n > COMMITS);
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
                log.data[places[i]] ^= 4;
                put_log(&log, log.len);
                assert_refused(path, ROAST_E_CORRUPT, "does not hold all that was committed");
                log.data[places[i]] ^= 4;
        }
        put_log(&log, log.len);
        roast_run_free(open_run(path));
}

/* As a writer leaves it that dies within a commit: nothing of the log stands behind that. */
static void test_a_last_frame_that_does_not_fit_is_none(void **state)
{
        ROAST_CLEANUP(bytes_deinit) struct bytes log = killed_run(state);

        log.data[log.len - 1] ^= 1;
        put_log(&log, log.len);
        roast_run_free(open_run(path));
        put_log(&log, log.len - 1);
        roast_run_free(open_run(path));
        put_log(&log, HEADER_SIZE);
        roast_run_free(open_run(path));
}

/* Frames of an earlier log are behind those of this one, which began anew at its start. */
static void test_frames_of_an_earlier_log_are_no_damage(void **state)
{
        ROAST_CLEANUP(bytes_deinit) struct bytes log = killed_run(state);
        size_t size = frame_size(&log), n = n_frames(&log);

        for (size_t i = n / 2; i < n; i++)
                log.data[HEADER_SIZE + i * size + 11]--; /* the first salt counts logs */
        put_log(&log, log.len);
        roast_run_free(open_run(path));
}

/* Closed, but not finished: its mode says that it has a log. */
static void test_reading_leaves_nothing_beside_a_run(void **state)
{
        const char *name = folder_path(state, "a.roast");
        struct roast_run *run = create(name);

        assert_int_equal(sample_add_chunks(run, CHUNKS, NULL), CHUNKS);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        roast_run_free(run);
        assert_int_equal(count_files(*state), 1);
        run = open_run(name);
        assert_int_equal(roast_run_check(run, NULL, NULL, NULL), 0);
        assert_int_equal(count_files(*state), 1);
        roast_run_free(run);
        assert_int_equal(count_files(*state), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_a_flipped_bit_is_damage),
                TEST(test_a_last_frame_that_does_not_fit_is_none),
                TEST(test_frames_of_an_earlier_log_are_no_damage),
                TEST(test_reading_leaves_nothing_beside_a_run),
        };

        return cmocka_run_group_tests_name("run-log", tests, NULL, NULL);
}
