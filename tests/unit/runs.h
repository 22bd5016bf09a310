#pragma once
/* Run files for the tests of run/, and what they are asked */

#include <sys/types.h>

#include "roast-run.h"

#define CHUNKS 40

struct roast_run *create(const char *path);
struct roast_run *open_run(const char *path);
void fill(struct roast_run *run);
/* A finished run file */
const char *finished_run(void **state, const char *name);
/* The summary as text */
char *summary_of(struct roast_run *run);
/* NULL with the error set if there is none */
char *try_summary_of_file(const char *path, struct roast_error *error);
char *summary_of_file(const char *path);
/* The file is refused, by open or by the first look at its figures, and the message names it. */
void assert_refused(const char *path, int code, const char *words);
void sql(const char *path, const char *statements);
/* The first column of the first row, as an integer */
long long sql_int(const char *path, const char *query);
off_t size_of(const char *path);
size_t count_files(const char *directory);
/* Runs a function in a child, as nobody where we are root; it returns 0 when all was well. */
void as_nobody(int (*function)(const char *path), const char *path);
