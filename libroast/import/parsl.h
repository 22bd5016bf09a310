#pragma once
/*
 * Parsl's monitoring.db
 *
 * An SQLite database that several workflows may share: the latest one is read.
 * Its times are naive local times of the submitting host; they are taken for
 * UTC, and durations do not depend on that.
 */

#include <sqlite3.h>
#include <stdint.h>

#include "roast-run.h"

struct parsl {
        sqlite3 *db;
        const char *path;
        char *run_id;
        struct roast_run *run;
        struct roast_error *error;
};

/* "2026-11-15 19:27:36.760937" in nanoseconds since 1970, or -1 */
int64_t parsl_time_ns(const char *text);

/* The next row: 1, or 0 behind the last. */
int parsl_step(const struct parsl *parsl, sqlite3_stmt *statement);
/* A statement over the workflow that is read: its id is ?1. */
int parsl_prepare(const struct parsl *parsl, const char *sql, sqlite3_stmt **ret);

/* After the texts of a row have been asked for: ROAST_E_NOMEM if one is missing for that reason. */
int parsl_check_texts(const struct parsl *parsl);

int parsl_read_workers(const struct parsl *parsl);
int parsl_read_tries(const struct parsl *parsl);
