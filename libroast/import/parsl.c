/* Parsl's monitoring.db as a run: see parsl.h. */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "import/import.h"
#include "import/parsl.h"
#include "run/file.h"
#include "util/text.h"

int64_t parsl_time_ns(const char *text)
{
        struct tm tm = { 0 };
        const char *rest = text ? strptime(text, "%Y-%m-%d %H:%M:%S", &tm) : NULL;
        int64_t seconds, ns = 0;

        if (!rest)
                return -1;
        if (*rest == '.') {
                int64_t unit = 100000000;

                for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
                        ns += (*rest - '0') * unit;
        }
        seconds = timegm(&tm);
        return *rest || seconds < 0 || seconds > INT64_MAX / 2000000000 ? -1
                                                                        : seconds * 1000000000 + ns;
}

static int parsl_fail(const struct parsl *parsl)
{
        int rc = sqlite3_errcode(parsl->db), refused = run_refused_read(parsl->db);

        if (rc == SQLITE_NOMEM)
                return roast_fail_nomem(parsl->error);
        if (rc == SQLITE_IOERR || (rc == SQLITE_CORRUPT && refused))
                return roast_fail(parsl->error, ROAST_E_IO, "%s: cannot be read: %s", parsl->path,
                                  refused ? strerror(refused) : sqlite3_errmsg(parsl->db));
        return roast_fail(parsl->error, rc == SQLITE_CORRUPT ? ROAST_E_CORRUPT : ROAST_E_FORMAT,
                          "%s: cannot be read as Parsl's monitoring.db: %s", parsl->path,
                          sqlite3_errmsg(parsl->db));
}

int parsl_prepare(const struct parsl *parsl, const char *sql, sqlite3_stmt **ret)
{
        sqlite3_stmt *statement;

        if (sqlite3_prepare_v2(parsl->db, sql, -1, &statement, NULL) != SQLITE_OK)
                return parsl_fail(parsl);
        if (parsl->run_id &&
            sqlite3_bind_text(statement, 1, parsl->run_id, -1, SQLITE_STATIC) != SQLITE_OK) {
                sqlite3_finalize(statement);
                return parsl_fail(parsl);
        }
        *ret = statement;
        return 0;
}

int parsl_step(const struct parsl *parsl, sqlite3_stmt *statement)
{
        int rc = sqlite3_step(statement);

        return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : parsl_fail(parsl);
}

int parsl_check_texts(const struct parsl *parsl)
{
        return sqlite3_errcode(parsl->db) == SQLITE_NOMEM ? roast_fail_nomem(parsl->error) : 0;
}

/* Whether it has the tables of Parsl: 1 or 0, or an error if that cannot be said */
static int parsl_has_tables(const struct parsl *parsl)
{
        static const char sql[] =
                "SELECT count(*) FROM sqlite_schema WHERE type='table'"
                " AND name IN ('workflow','task','try','status','node','resource')";
        sqlite3_stmt *statement = NULL;
        int r = 0;

        if (sqlite3_prepare_v2(parsl->db, sql, -1, &statement, NULL) == SQLITE_OK &&
            sqlite3_step(statement) == SQLITE_ROW)
                r = sqlite3_column_int(statement, 0) == 6;
        else if (sqlite3_errcode(parsl->db) == SQLITE_NOMEM || run_refused_read(parsl->db))
                r = parsl_fail(parsl);
        sqlite3_finalize(statement);
        return r;
}

/* Opens the database; 1, 0 if it is none or not one of Parsl's, or an error. */
static int parsl_open(struct parsl *parsl)
{
        struct stat st;
        int rc;

        if (stat(parsl->path, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        rc = sqlite3_open_v2(parsl->path, &parsl->db, SQLITE_OPEN_READONLY, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_busy_timeout(parsl->db, 2000);
        if (rc == SQLITE_NOMEM || rc == SQLITE_IOERR)
                return parsl_fail(parsl);
        return rc == SQLITE_OK ? parsl_has_tables(parsl) : 0;
}

static int parsl_recognises(const char *path, struct roast_error *error)
{
        struct parsl parsl = { .path = path, .error = error };
        int r = parsl_open(&parsl);

        sqlite3_close(parsl.db); /* closing the file ourselves would end its locks */
        return r;
}

enum { RUN_ID, NAME, BEGAN, COMPLETED, HOST, N_RUNS, N_TASKS };

static const char sql_workflow[] = "SELECT run_id, workflow_name, time_began, time_completed, host,"
                                   " (SELECT count(*) FROM workflow),"
                                   " (SELECT count(*) FROM task WHERE task.run_id=workflow.run_id)"
                                   " FROM workflow ORDER BY time_began DESC LIMIT 1";

static int parsl_add_facts(const struct parsl *parsl, sqlite3_stmt *workflow)
{
        const char *name = (const char *)sqlite3_column_text(workflow, NAME);
        const char *host = (const char *)sqlite3_column_text(workflow, HOST);
        int64_t start_ns = parsl_time_ns((const char *)sqlite3_column_text(workflow, BEGAN));
        int64_t end_ns = parsl_time_ns((const char *)sqlite3_column_text(workflow, COMPLETED));
        struct roast_run *run = parsl->run;
        struct roast_error *error = parsl->error;
        int r;

        r = parsl_check_texts(parsl);
        if (r >= 0)
                r = roast_run_fact_text(run, "run.id", parsl->run_id, error);
        if (r >= 0 && name)
                r = roast_run_fact_text(run, "run.name", name, error);
        if (r >= 0 && host)
                r = roast_run_fact_text(run, "env.host", host, error);
        if (r >= 0 && start_ns >= 0)
                r = roast_run_fact_int(run, "run.start_utc_ns", start_ns, error);
        if (r >= 0 && end_ns >= 0)
                r = roast_run_fact_int(run, "run.end_utc_ns", end_ns, error);
        if (r >= 0 && end_ns >= 0)
                r = roast_run_fact_text(run, "run.outcome", "finished", error);
        if (r >= 0 && start_ns >= 0 && end_ns >= start_ns) /* a crashed one has no end */
                r = roast_run_fact_int(run, "run.elapsed_ns", end_ns - start_ns, error);
        if (r >= 0)
                r = roast_run_fact_int(run, "parsl.tasks", sqlite3_column_int64(workflow, N_TASKS),
                                       error);
        if (r >= 0)
                r = roast_run_fact_int(run, "parsl.workflows",
                                       sqlite3_column_int64(workflow, N_RUNS), error);
        return r;
}

static int parsl_import(struct roast_run *run, const char *path, struct roast_error *error)
{
        struct parsl parsl = { .path = path, .run = run, .error = error };
        sqlite3_stmt *workflow = NULL;
        int r = parsl_open(&parsl);

        if (r == 0)
                r = roast_fail(error, ROAST_E_IO, "%s: cannot be opened", path);
        if (r > 0)
                r = parsl_prepare(&parsl, sql_workflow, &workflow);
        if (r >= 0)
                r = parsl_step(&parsl, workflow);
        if (r == 0)
                r = roast_fail(error, ROAST_E_FORMAT, "%s: has no workflow", path);
        if (r > 0) {
                const char *id = (const char *)sqlite3_column_text(workflow, RUN_ID);

                parsl.run_id = text_copy(id ? id : "", id ? strlen(id) : 0);
                r = parsl.run_id ? parsl_add_facts(&parsl, workflow) : roast_fail_nomem(error);
        }
        sqlite3_finalize(workflow);
        if (r >= 0)
                r = parsl_read_workers(&parsl);
        if (r >= 0)
                r = parsl_read_tries(&parsl);
        free(parsl.run_id);
        sqlite3_close(parsl.db);
        return r < 0 ? r : 0;
}

const struct importer import_parsl = { "Parsl's monitoring.db", parsl_recognises, parsl_import };
