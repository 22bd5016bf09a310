/*
 * Parsl's workers
 *
 * `node` has a row for each message of a manager, which says how many workers
 * it has and, at its end, that it is not active any more. Only `resource` knows
 * the worker processes, and only by their samples.
 */

#include <inttypes.h>

#include "import/parsl.h"

static const char sql_managers[] =
        "SELECT uid, hostname, min(timestamp),"
        " max(CASE WHEN NOT active THEN timestamp END), max(worker_count), max(total_memory)"
        " FROM node WHERE run_id=?1 GROUP BY uid ORDER BY min(timestamp)";

/* Processes of one host that were seen at work between two times */
static const char sql_processes[] =
        "SELECT DISTINCT psutil_process_pid FROM resource JOIN try USING (run_id, task_id, try_id)"
        " WHERE run_id=?1 AND hostname=?2 AND timestamp>=?3 AND (?4 IS NULL OR timestamp<=?4)"
        " AND psutil_process_pid IS NOT NULL ORDER BY 1";

enum { UID, HOST, FIRST, LAST, COUNT, MEMORY };

static int add_life(const struct parsl *parsl, const struct roast_worker *worker, int64_t came_ns,
                    int64_t went_ns)
{
        int r = came_ns < 0 ? 0
                            : roast_run_add_worker_event(parsl->run, came_ns, ROAST_WORKER_CAME,
                                                         worker, parsl->error);

        if (r >= 0 && went_ns >= 0)
                r = roast_run_add_worker_event(parsl->run, went_ns, ROAST_WORKER_WENT, worker,
                                               parsl->error);
        return r;
}

static int add_manager(const struct parsl *parsl, sqlite3_stmt *manager, sqlite3_stmt *processes)
{
        const char *host = (const char *)sqlite3_column_text(manager, HOST);
        int64_t came_ns = parsl_time_ns((const char *)sqlite3_column_text(manager, FIRST));
        int64_t went_ns = parsl_time_ns((const char *)sqlite3_column_text(manager, LAST));
        int64_t count = sqlite3_column_int64(manager, COUNT), named = 0;
        struct roast_worker worker = { .host = host, .threads = 1, .memory_limit_bytes = -1 };
        char name[320];
        int r;

        sqlite3_reset(processes);
        for (int i = 0; i < 3; i++)
                sqlite3_bind_value(processes, 2 + i, sqlite3_column_value(manager, HOST + i));
        worker.name = name;
        while ((r = parsl_step(parsl, processes)) > 0) {
                worker.pid = sqlite3_column_int64(processes, 0);
                (void)snprintf(name, sizeof(name), "%.255s:%" PRId64, host ? host : "", worker.pid);
                r = add_life(parsl, &worker, came_ns, went_ns);
                if (r < 0)
                        return r;
                named++;
        }
        if (r < 0 || named >= count)
                return r;
        /* those that were never seen at work, or all where nothing was sampled */
        worker.name = (const char *)sqlite3_column_text(manager, UID);
        worker.pid = -1;
        worker.threads = count - named;
        return worker.name ? add_life(parsl, &worker, came_ns, went_ns) : 0;
}

int parsl_read_workers(const struct parsl *parsl)
{
        sqlite3_stmt *managers, *processes = NULL;
        int r = parsl_prepare(parsl, sql_managers, &managers);

        if (r >= 0) {
                r = parsl_prepare(parsl, sql_processes, &processes);
                while (r >= 0 && (r = parsl_step(parsl, managers)) > 0)
                        r = add_manager(parsl, managers, processes);
                sqlite3_finalize(processes);
                sqlite3_finalize(managers);
        }
        return r;
}
