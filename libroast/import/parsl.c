/* Parsl's monitoring.db as a run: see parsl.h. */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "import/import.h"
#include "import/parsl.h"
#include "util/size.h"

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

int parsl_each(const struct parsl *parsl, const char *sql,
               int (*add)(const struct parsl *parsl, const struct run_value *row))
{
        struct foreign_rows rows;
        int r = foreign_query(&rows, parsl->db, sql, parsl->run_id, parsl->error);

        while (r >= 0 && (r = foreign_next(&rows, parsl->error)) > 0)
                r = add(parsl, rows.values);
        foreign_end(&rows);
        return r;
}

/* Opens the database; 1, 0 if it is none or not one of Parsl's, or an error. */
static int parsl_open(struct foreign **ret, const char *path, struct roast_error *error)
{
        static const char *const tables[] = { "workflow", "task", "try",
                                              "status",   "node", "resource" };
        int r = foreign_open(ret, path, "Parsl's monitoring.db", error);

        return r > 0 ? foreign_has_tables(*ret, tables, ROAST_ARRAY_SIZE(tables), error) : r;
}

static int parsl_recognises(const char *path, struct roast_error *error)
{
        struct foreign *db = NULL;
        int r = parsl_open(&db, path, error);

        foreign_close(db);
        return r;
}

enum { RUN_ID, NAME, BEGAN, COMPLETED, HOST, N_RUNS, N_TASKS };

static const char sql_workflow[] = "SELECT run_id, workflow_name, time_began, time_completed, host,"
                                   " (SELECT count(*) FROM workflow),"
                                   " (SELECT count(*) FROM task WHERE task.run_id=workflow.run_id)"
                                   " FROM workflow ORDER BY time_began DESC LIMIT 1";

static int parsl_add_facts(const struct parsl *parsl, const struct run_value *workflow)
{
        const char *name = foreign_text(&workflow[NAME]);
        const char *host = foreign_text(&workflow[HOST]);
        int64_t start_ns = parsl_time_ns(foreign_text(&workflow[BEGAN]));
        int64_t end_ns = parsl_time_ns(foreign_text(&workflow[COMPLETED]));
        struct roast_run *run = parsl->run;
        struct roast_error *error = parsl->error;
        int r;

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
                r = roast_run_fact_int(run, "parsl.tasks", workflow[N_TASKS].integer, error);
        if (r >= 0)
                r = roast_run_fact_int(run, "parsl.workflows", workflow[N_RUNS].integer, error);
        return r;
}

/* The latest workflow: which it is, and what is known of it */
static int parsl_read_workflow(struct parsl *parsl, const char *path)
{
        struct foreign_rows rows;
        int r = foreign_query(&rows, parsl->db, sql_workflow, NULL, parsl->error);

        if (r >= 0)
                r = foreign_next(&rows, parsl->error);
        if (r == 0)
                r = roast_fail(parsl->error, ROAST_E_FORMAT, "%s: has no workflow", path);
        if (r > 0) {
                const char *id = foreign_text(&rows.values[RUN_ID]);

                parsl->run_id = strdup(id ? id : "");
                r = parsl->run_id ? parsl_add_facts(parsl, rows.values)
                                  : roast_fail_nomem(parsl->error);
        }
        foreign_end(&rows);
        return r;
}

static int parsl_import(struct roast_run *run, const char *path, struct roast_error *error)
{
        struct parsl parsl = { .run = run, .error = error };
        int r = parsl_open(&parsl.db, path, error);

        if (r == 0)
                r = roast_fail(error, ROAST_E_IO, "%s: cannot be opened", path);
        if (r > 0)
                r = parsl_read_workflow(&parsl, path);
        if (r >= 0)
                r = parsl_read_workers(&parsl);
        if (r >= 0)
                r = parsl_read_tries(&parsl);
        free(parsl.run_id);
        foreign_close(parsl.db);
        return r < 0 ? r : 0;
}

const struct importer import_parsl = { "Parsl's monitoring.db", parsl_recognises, parsl_import };
