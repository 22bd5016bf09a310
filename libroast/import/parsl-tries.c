/*
 * Parsl's tasks: each try is an attempt
 *
 * Which chunk a task is about Parsl does not know; the error of one that failed
 * names it.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/parsl.h"
#include "record/chunk.h"
#include "util/text.h"

/*
 * The counters of `resource` belong to the worker process, which lives on: what a try used is the
 * last less the first; one sample tells nothing.
 */
static const char sql_tries[] =
        "WITH state AS (SELECT task_id, try_id,"
        " min(CASE WHEN task_status_name='running' THEN timestamp END) AS began,"
        " max(CASE WHEN task_status_name='running_ended' THEN timestamp END) AS ended,"
        " max(task_status_name IN ('exec_done','memo_done')) AS done,"
        " max(CASE WHEN task_status_name IN ('fail_retryable','failed','dep_fail')"
        " THEN task_status_name END) AS failed"
        " FROM status WHERE run_id=?1 GROUP BY task_id, try_id),"
        " used AS (SELECT task_id, try_id, min(psutil_process_pid) AS pid,"
        " CASE WHEN count(*)>1 THEN max(psutil_process_time_user+psutil_process_time_system)"
        " -min(psutil_process_time_user+psutil_process_time_system) END AS cpu_s"
        " FROM resource WHERE run_id=?1 GROUP BY task_id, try_id)"
        " SELECT task_id, try_id, task_func_name, hostname, pid, began, ended,"
        " task_try_time_returned, done, failed, cpu_s, task_fail_history"
        " FROM try JOIN task USING (run_id, task_id) LEFT JOIN state USING (task_id, try_id)"
        " LEFT JOIN used USING (task_id, try_id)"
        " WHERE run_id=?1 ORDER BY task_id, try_id";

enum { TASK, TRY, NAME, HOST, PID, BEGAN, ENDED, RETURNED, DONE, FAILED, CPU, HISTORY };

/* A number that SQLite may keep as an integer; NaN: none */
static double parsl_real(const struct run_value *value)
{
        return value->type == RUN_REAL  ? value->real
               : value->type == RUN_INT ? (double)value->integer
                                        : (double)NAN;
}

/* The type of an exception's representation: what stands before the bracket */
static char *parsl_error_type(const char *history, const char *status)
{
        size_t len = strcspn(history, "(");

        return len && history[len] ? text_copy(history, len) : strdup(status);
}

static int parsl_add_try(const struct parsl *parsl, const struct run_value *try)
{
        struct roast_task row = ROAST_TASK_INIT;
        const char *host = foreign_text(&try[HOST]), *failed = foreign_text(&try[FAILED]);
        const char *history = foreign_text(&try[HISTORY]);
        double cpu_s = parsl_real(&try[CPU]);
        char key[24], worker[320] = "";
        char *type = NULL;
        int r;

        (void)snprintf(key, sizeof(key), "%" PRId64, try[TASK].integer);
        if (try[PID].type == RUN_INT)
                (void)snprintf(worker, sizeof(worker), "%.255s:%" PRId64, host ? host : "",
                               try[PID].integer);
        row.key = key;
        row.prefix = foreign_text(&try[NAME]);
        row.worker = *worker ? worker : host;
        row.attempt = try[TRY].integer < INT64_MAX ? try[TRY].integer + 1 : -1;
        row.start_utc_ns = parsl_time_ns(foreign_text(&try[BEGAN]));
        row.stop_utc_ns = parsl_time_ns(foreign_text(&try[ENDED]));
        if (row.stop_utc_ns < 0 && row.start_utc_ns >= 0)
                row.stop_utc_ns = parsl_time_ns(foreign_text(&try[RETURNED]));
        if (row.stop_utc_ns >= row.start_utc_ns && row.start_utc_ns >= 0) {
                row.compute_start_utc_ns = row.start_utc_ns;
                row.compute_ns = row.stop_utc_ns - row.start_utc_ns;
        }
        if (cpu_s >= 0 && cpu_s < 4e9)
                row.cpu_ns = llround(cpu_s * 1e6) * 1000;
        row.outcome = CHUNK_RUNNING;
        if (try[DONE].integer)
                row.outcome = CHUNK_FINISHED;
        else if (failed)
                row.outcome = CHUNK_FAILED;
        if (row.outcome == CHUNK_FAILED) {
                type = parsl_error_type(history ? history : "", failed);
                if (!type)
                        return roast_fail_nomem(parsl->error);
                row.error_type = type;
                row.error_message = history && *history ? history : NULL;
        }
        r = roast_run_add_task(parsl->run, &row, parsl->error);
        free(type);
        return r;
}

int parsl_read_tries(const struct parsl *parsl)
{
        return parsl_each(parsl, sql_tries, parsl_add_try);
}
