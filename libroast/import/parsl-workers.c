/*
 * Parsl's workers
 *
 * `node` has a row for each message of a manager, which says how many workers
 * it has and, at its end, that it is not active any more. Only `resource` knows
 * the worker processes, and only by their samples: workers that were never seen
 * at work, or all where nothing was sampled, go by the manager's name.
 */

#include "import/parsl.h"

static const char sql_events[] =
        "WITH manager AS (SELECT uid, hostname, min(timestamp) AS came,"
        " max(CASE WHEN NOT active THEN timestamp END) AS went, max(worker_count) AS workers"
        " FROM node WHERE run_id=?1 GROUP BY uid),"
        " process AS (SELECT DISTINCT uid, manager.hostname AS hostname, came, went,"
        " psutil_process_pid AS pid"
        " FROM manager JOIN try ON try.run_id=?1 AND try.hostname=manager.hostname"
        " JOIN resource ON resource.run_id=?1 AND resource.task_id=try.task_id"
        " AND resource.try_id=try.try_id AND timestamp>=came AND (went IS NULL OR timestamp<=went)"
        " WHERE psutil_process_pid IS NOT NULL),"
        " life AS (SELECT hostname||':'||pid AS name, hostname, pid, 1 AS threads, came, went"
        " FROM process UNION ALL"
        " SELECT uid, hostname, NULL, workers-seen, came, went FROM"
        " (SELECT *, (SELECT count(*) FROM process WHERE process.uid=manager.uid) AS seen"
        " FROM manager) WHERE workers>seen)"
        " SELECT came AS time, 2, name, hostname, pid, threads FROM life UNION ALL"
        " SELECT went, 3, name, hostname, pid, threads FROM life WHERE went IS NOT NULL"
        " ORDER BY time";

enum { TIME, KIND, NAME, HOST, PID, THREADS };

static int parsl_add_event(const struct parsl *parsl, const struct run_value *event)
{
        int64_t utc_ns = parsl_time_ns(foreign_text(&event[TIME]));
        struct roast_worker worker = {
                .name = foreign_text(&event[NAME]),
                .host = foreign_text(&event[HOST]),
                .pid = run_int_or(&event[PID], -1),
                .threads = run_int_or(&event[THREADS], 0),
                .memory_limit_bytes = -1,
        };

        if (utc_ns < 0 || !worker.name)
                return 0;
        return roast_run_add_worker_event(parsl->run, utc_ns,
                                          event[KIND].integer == 2 ? ROAST_WORKER_CAME
                                                                   : ROAST_WORKER_WENT,
                                          &worker, parsl->error);
}

int parsl_read_workers(const struct parsl *parsl)
{
        return parsl_each(parsl, sql_events, parsl_add_event);
}
