#pragma once
/* The SQLite side of a run in a file, for this folder alone */

#include <sqlite3.h>

#include "run/run.h"

/* How long another process is waited for that holds the file */
#define RUN_BUSY_MS 2000

/* Turns the last error of the database into one of ours; `what` says what was tried. */
int run_fail_sqlite(struct roast_run *run, int rc, const char *what, struct roast_error *error);
/* SQLite calls a file damaged that the system refuses to read. The errno of that, or 0. */
int run_refused_read(sqlite3 *db);
int run_exec(struct roast_run *run, const char *sql, struct roast_error *error);
/* Makes the empty file, for its owner alone; one that is there is ROAST_E_STATE. */
int run_create_file(const char *path, struct roast_error *error);
/* A run file that nobody reads before it is finished: without a log, and removed if it fails. */
int run_create_copy(struct roast_run **ret, const char *path, struct roast_error *error);
/* Removes a run file, with what SQLite may have left beside it. */
void run_remove_files(const char *path);
/* n columns of the row that a statement stands at, from the first of them on */
void run_read_values(sqlite3_stmt *stmt, int first, struct run_value *values, size_t n);
/* Begins a transaction; what another view may have left open is ended. */
int run_begin(struct roast_run *run, struct roast_error *error);
