#pragma once
/*
 * Parsl's monitoring.db
 *
 * An SQLite database that several workflows may share: the latest one is read.
 * Its times are naive local times of the submitting host; they are taken for
 * UTC, and durations do not depend on that.
 */

#include <stdint.h>

#include "run/foreign.h"

struct parsl {
        struct foreign *db;
        char *run_id;
        struct roast_run *run;
        struct roast_error *error;
};

/* "2026-11-15 19:27:36.760937" in nanoseconds since 1970, or -1 */
int64_t parsl_time_ns(const char *text);

/* Calls `add` with each row of a statement over the workflow that is read, whose id is ?1. */
int parsl_each(const struct parsl *parsl, const char *sql,
               int (*add)(const struct parsl *parsl, const struct run_value *row));

int parsl_read_workers(const struct parsl *parsl);
int parsl_read_tries(const struct parsl *parsl);
