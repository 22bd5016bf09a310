/* Run files for the tests of run/: see runs.h. */

#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "runs.h"
#include "sample.h"
#include "util/cleanup.h"

struct roast_run *create(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        if (roast_run_create(&run, path, &error) < 0)
                fail_msg("%s", error.message);
        return run;
}

struct roast_run *open_run(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        if (roast_run_open(&run, path, &error) < 0)
                fail_msg("%s", error.message);
        return run;
}

void fill(struct roast_run *run)
{
        struct roast_error error = { 0 };

        if (sample_fill(run, CHUNKS, &error) < 0)
                fail_msg("%s", error.message);
}

const char *finished_run(void **state, const char *name)
{
        const char *path = folder_path(state, name);
        struct roast_run *run = create(path);
        struct roast_error error = { 0 };

        fill(run);
        if (roast_run_finish(run, &error) < 0)
                fail_msg("%s", error.message);
        roast_run_free(run);
        return path;
}

char *summary_of(struct roast_run *run)
{
        struct roast_error error = { 0 };
        char *text = sample_summary(run, &error);

        if (!text)
                fail_msg("%s", error.message);
        return text;
}

char *try_summary_of_file(const char *path, struct roast_error *error)
{
        struct roast_run *run;
        char *text;

        if (roast_run_open(&run, path, error) < 0)
                return NULL;
        text = sample_summary(run, error);
        roast_run_free(run);
        return text;
}

char *summary_of_file(const char *path)
{
        struct roast_error error = { 0 };
        char *text = try_summary_of_file(path, &error);

        if (!text)
                fail_msg("%s", error.message);
        return text;
}

void assert_refused(const char *path, int code, const char *words)
{
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = try_summary_of_file(path, &error);

        assert_null(text);
        assert_int_equal(error.code, code);
        assert_has(error.message, path);
        assert_has(error.message, words);
}

void sql(const char *path, const char *statements)
{
        char *message = NULL;
        sqlite3 *db;

        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_exec(db, statements, NULL, NULL, &message) != SQLITE_OK)
                fail_msg("%s: %s", statements, message);
        sqlite3_close(db);
}

long long sql_int(const char *path, const char *query)
{
        sqlite3_stmt *stmt = NULL;
        long long value;
        sqlite3 *db;

        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_prepare_v2(db, query, -1, &stmt, NULL) != SQLITE_OK)
                fail_msg("%s: %s", query, sqlite3_errmsg(db));
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        value = sqlite3_column_int64(stmt, 0);
        sqlite3_finalize(stmt);
        sqlite3_close(db);
        return value;
}

off_t size_of(const char *path)
{
        struct stat st;

        return stat(path, &st) < 0 ? -1 : st.st_size;
}

size_t count_files(const char *directory)
{
        ROAST_CLEANUP(cleanup_free) char *command = NULL;
        ROAST_CLEANUP(cleanup_free) char *line = NULL;
        size_t n = 0, cap = 0;
        FILE *files;

        assert_true(asprintf(&command, "ls -A '%s'", directory) > 0);
        files = popen(command, "r");
        assert_non_null(files);
        while (getline(&line, &cap, files) > 0)
                n++;
        pclose(files);
        return n;
}

void as_nobody(int (*function)(const char *path), const char *path)
{
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0) {
                if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
                        _exit(100);
                _exit(function(path));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
}
