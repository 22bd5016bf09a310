/* import/: measurement directories, TaskVine's logs and Parsl's database while calls fail */

#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "plans.h"
#include "roast-export.h"
#include "roast-run.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

static int append(const void *data, size_t len, void *context, struct roast_error *error)
{
        return buf_append(context, data, len) < 0 ? roast_fail_nomem(error) : 0;
}

/* All rows of what was imported */
static int ask(struct buf *out, const char *path, struct roast_error *error)
{
        static const struct roast_export_options wanted[] = {
                { ROAST_EXPORT_JSONL, ROAST_EXPORT_CHUNKS, false },
                { ROAST_EXPORT_JSONL, ROAST_EXPORT_TASKS, false },
                { ROAST_EXPORT_JSON, ROAST_EXPORT_METRICS, false },
        };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        int r = roast_run_open_any(&run, path, error);

        for (size_t i = 0; r >= 0 && i < ROAST_ARRAY_SIZE(wanted); i++)
                r = roast_export(run, &wanted[i], append, out, error);
        return r;
}

static void test_a_measurement_directory(void **state)
{
        const char *folder = folder_path(state, "measurement");
        ROAST_CLEANUP(cleanup_free) char *inside = NULL;
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(sample_fill(run, 12, NULL), 0);
        assert_int_equal(roast_export_v1(run, folder, NULL, NULL), 0);
        roast_run_free(run);
        assert_true(asprintf(&inside, "%s/run.roast", folder) > 0);
        assert_int_equal(unlink(inside), 0); /* so that the JSON is read */
        plans_play(ask, folder);
}

static void copy_file(const char *from, const char *to)
{
        FILE *in = fopen(from, "r"), *out = fopen(to, "w");
        int c;

        assert_non_null(in);
        assert_non_null(out);
        while ((c = getc(in)) != EOF)
                assert_true(putc(c, out) != EOF);
        assert_int_equal(fclose(out), 0);
        (void)fclose(in);
}

/* Two runs, so that a fault could lead to the older one, which has no graph */
static void test_logs_of_taskvine(void **state)
{
        static const char *const names[] = { "transactions", "taskgraph" };
        static const char *const runs[] = { "2026-01-01", "2026-02-02" };
        const char *data = getenv("ROAST_TEST_DATA");

        assert_non_null(data);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(runs); i++) {
                char folder[4096], from[4200], to[4200];

                assert_int_equal(mkdir(folder_path(state, runs[i]), 0700), 0);
                (void)snprintf(folder, sizeof(folder), "%s/vine-logs", folder_path(state, runs[i]));
                assert_int_equal(mkdir(folder, 0700), 0);
                for (size_t k = 0; k < 1 + i; k++) {
                        (void)snprintf(from, sizeof(from), "%s/vine-logs/%s", data, names[k]);
                        (void)snprintf(to, sizeof(to), "%s/%s", folder, names[k]);
                        copy_file(from, to);
                }
        }
        plans_play(ask, *state);
}

static const char parsl_sql[] =
        "CREATE TABLE workflow(run_id TEXT, workflow_name TEXT, time_began TEXT,"
        " time_completed TEXT, host TEXT);"
        "CREATE TABLE task(run_id TEXT, task_id INTEGER, task_func_name TEXT);"
        "CREATE TABLE try(run_id TEXT, task_id INTEGER, try_id INTEGER, hostname TEXT,"
        " task_try_time_returned TEXT, task_fail_history TEXT);"
        "CREATE TABLE status(run_id TEXT, task_id INTEGER, try_id INTEGER, task_status_name TEXT,"
        " timestamp TEXT);"
        "CREATE TABLE node(run_id TEXT, uid TEXT, hostname TEXT, timestamp TEXT, active BOOLEAN,"
        " worker_count INTEGER);"
        "CREATE TABLE resource(run_id TEXT, task_id INTEGER, try_id INTEGER, timestamp TEXT,"
        " psutil_process_pid INTEGER, psutil_process_time_user REAL,"
        " psutil_process_time_system REAL);"
        "INSERT INTO workflow VALUES('a','parsl','2026-11-15 21:00:00.5',"
        "'2026-11-15 21:01:00.5','client');"
        "INSERT INTO node VALUES('a','m','worker','2026-11-15 21:00:01',1,2),"
        "('a','m','worker','2026-11-15 21:00:59',0,2);"
        "INSERT INTO task VALUES('a',0,'process'),('a',1,'process'),('a',2,'process');"
        "INSERT INTO try VALUES('a',0,0,'worker','2026-11-15 21:00:06',NULL),"
        "('a',1,0,'worker','2026-11-15 21:00:07','ValueError(\"no\")'),"
        "('a',1,1,'worker',NULL,NULL),('a',2,0,'worker',NULL,'lost');"
        "INSERT INTO status VALUES('a',0,0,'running','2026-11-15 21:00:02'),"
        "('a',0,0,'running_ended','2026-11-15 21:00:05'),('a',0,0,'exec_done',"
        "'2026-11-15 21:00:06'),('a',1,0,'running','2026-11-15 21:00:02'),"
        "('a',1,0,'fail_retryable','2026-11-15 21:00:07'),('a',1,1,'running',"
        "'2026-11-15 21:00:08'),('a',2,0,'failed','2026-11-15 21:00:09');"
        "INSERT INTO resource VALUES('a',0,0,'2026-11-15 21:00:03',41,1.5,0.25),"
        "('a',0,0,'2026-11-15 21:00:04',41,2.5,0.5),('a',1,0,'2026-11-15 21:00:03',42,1,1);";

static void test_the_database_of_parsl(void **state)
{
        const char *path = folder_path(state, "monitoring.db");
        sqlite3 *db;

        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_exec(db, parsl_sql, NULL, NULL, NULL) != SQLITE_OK)
                fail_msg("%s", sqlite3_errmsg(db));
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        plans_play(ask, path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_a_measurement_directory),
                TEST(test_logs_of_taskvine),
                TEST(test_the_database_of_parsl),
        };

        return cmocka_run_group_tests_name("import-faults", tests, NULL, NULL);
}
