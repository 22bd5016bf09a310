/* Parsl's tasks: each try is an attempt. */

#include <inttypes.h>
#include <math.h>
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
        " task_try_time_returned, done, failed, cpu_s, task_fail_history,"
        " (SELECT task_fail_history FROM try AS other WHERE other.run_id=?1"
        " AND other.task_id=try.task_id AND task_fail_history LIKE '%WorkItem(%' LIMIT 1)"
        " FROM try JOIN task USING (run_id, task_id) LEFT JOIN state USING (task_id, try_id)"
        " LEFT JOIN used USING (task_id, try_id)"
        " WHERE run_id=?1 ORDER BY task_id, try_id";

enum { TASK, TRY, NAME, HOST, PID, BEGAN, ENDED, RETURNED, DONE, FAILED, CPU, HISTORY, ITEM };

/* What the representation of coffea's WorkItem says of a field; the caller frees. */
static char *item_text(const char *item, const char *field)
{
        const char *at = strstr(item, field), *end;

        if (!at)
                return NULL;
        at += strlen(field);
        if (*at != '\'' && *at != '"')
                return NULL;
        end = strchr(at + 1, *at);
        return end ? text_copy(at + 1, (size_t)(end - at) - 1) : NULL;
}

static int64_t item_number(const char *item, const char *field)
{
        const char *at = strstr(item, field);
        char *end;
        long long value;

        if (!at)
                return -1;
        at += strlen(field);
        value = strtoll(at, &end, 10);
        return end == at || value < 0 || value == INT64_MAX ? -1 : value;
}

struct parsl_chunk {
        char *dataset;
        char *file;
        char *tree;
};

/* An error that names the chunk is the only place where Parsl tells it. */
static void read_item(const char *history, struct parsl_chunk *chunk, struct roast_task *row)
{
        const char *item = history ? strstr(history, "WorkItem(") : NULL;

        if (!item)
                return;
        row->entry_start = item_number(item, "entrystart=");
        row->entry_stop = item_number(item, "entrystop=");
        if (row->entry_start < 0 || row->entry_stop < row->entry_start) {
                row->entry_start = row->entry_stop = -1;
                return;
        }
        chunk->dataset = item_text(item, "dataset=");
        chunk->file = item_text(item, "filename=");
        chunk->tree = item_text(item, "treename=");
        row->dataset = chunk->dataset;
        row->file = chunk->file;
        row->tree = chunk->tree;
}

static const char *column_text(sqlite3_stmt *statement, int column)
{
        return (const char *)sqlite3_column_text(statement, column);
}

/* The type of an exception's representation: what stands before the bracket */
static char *error_type(const char *history, const char *status)
{
        size_t len = strcspn(history, "(");

        return len && history[len] ? text_copy(history, len) : strdup(status);
}

static int add_try(const struct parsl *parsl, sqlite3_stmt *statement)
{
        struct roast_task row = ROAST_TASK_INIT;
        struct parsl_chunk chunk = { 0 };
        const char *host = column_text(statement, HOST), *failed = column_text(statement, FAILED);
        const char *history = column_text(statement, HISTORY);
        double cpu_s = sqlite3_column_double(statement, CPU);
        char key[24], worker[320] = "";
        char *type = NULL;
        int r;

        (void)snprintf(key, sizeof(key), "%" PRId64,
                       (int64_t)sqlite3_column_int64(statement, TASK));
        if (sqlite3_column_type(statement, PID) != SQLITE_NULL)
                (void)snprintf(worker, sizeof(worker), "%.255s:%" PRId64, host ? host : "",
                               (int64_t)sqlite3_column_int64(statement, PID));
        row.key = key;
        row.prefix = column_text(statement, NAME);
        row.worker = *worker ? worker : host;
        row.attempt = sqlite3_column_int64(statement, TRY) + 1;
        row.start_utc_ns = parsl_time_ns(column_text(statement, BEGAN));
        row.stop_utc_ns = parsl_time_ns(column_text(statement, ENDED));
        if (row.stop_utc_ns < 0 && row.start_utc_ns >= 0)
                row.stop_utc_ns = parsl_time_ns(column_text(statement, RETURNED));
        if (row.stop_utc_ns >= row.start_utc_ns && row.start_utc_ns >= 0) {
                row.compute_start_utc_ns = row.start_utc_ns;
                row.compute_ns = row.stop_utc_ns - row.start_utc_ns;
        }
        if (sqlite3_column_type(statement, CPU) != SQLITE_NULL && cpu_s >= 0 && cpu_s < 4e9)
                row.cpu_ns = llround(cpu_s * 1e6) * 1000;
        row.outcome = CHUNK_UNFINISHED;
        if (sqlite3_column_int(statement, DONE))
                row.outcome = CHUNK_FINISHED;
        else if (failed)
                row.outcome = CHUNK_FAILED;
        if (row.outcome == CHUNK_FAILED) {
                type = error_type(history ? history : "", failed);
                row.error_type = type;
                row.error_message = history && *history ? history : NULL;
        }
        read_item(column_text(statement, ITEM), &chunk, &row);
        r = roast_run_add_task(parsl->run, &row, parsl->error);
        free(chunk.dataset);
        free(chunk.file);
        free(chunk.tree);
        free(type);
        return r;
}

int parsl_read_tries(const struct parsl *parsl)
{
        sqlite3_stmt *statement;
        int r = parsl_prepare(parsl, sql_tries, &statement);

        if (r < 0)
                return r;
        while ((r = parsl_step(parsl, statement)) > 0) {
                r = add_try(parsl, statement);
                if (r < 0)
                        break;
        }
        sqlite3_finalize(statement);
        return r;
}
