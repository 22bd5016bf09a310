#pragma once
/*
 * Rows of a table straight from the pages of the file
 *
 * SQLite hands out a row one column and several calls at a time: two thirds of
 * the time of a walk over a large run. A finished run is one plain file, whose
 * format is documented and does not change
 * (https://www.sqlite.org/fileformat2.html): a table is a tree of pages with its
 * rows, in the order of their ids, in the leaves. SQLite opens the file, takes
 * back what a dead writer left, and holds the lock; only the rows are read here.
 */

#include <sqlite3.h>

#include "run/seal.h"

struct pages;

/*
 * Begins a walk, within a transaction of db. Returns 1, or 0 where only SQLite
 * knows what the rows are: in memory, or with a log beside the file; else a
 * negative error: ROAST_E_NOMEM, ROAST_E_IO, ROAST_E_CORRUPT.
 */
int pages_open(struct pages **ret, sqlite3 *db, const char *table);
void pages_free(struct pages *pages);
/*
 * The next row: 1, or 0 behind the last, or a negative error. Its n values
 * behind the id are valid until the next call, of the first 64 only those whose bit is set in
 * wanted; strings do not end in a NUL.
 */
int pages_next(struct pages *pages, int64_t *id, struct run_value *values, size_t n,
               uint64_t wanted);
