#pragma once
/*
 * Seals: the checksum of the rows of a table between two commits
 *
 * Writer and reader feed the same rows in the same order; the reader compares
 * the result with what the writer stored (docs/format.md, "Append only, and
 * sealed").
 */

#include <stdint.h>

#include <sqlite3.h>

#include "util/buf.h"

enum run_type { RUN_NULL = 0, RUN_INT = 1, RUN_REAL = 2, RUN_STRING = 3, RUN_BYTES = 4 };

struct run_value {
        enum run_type type;
        int64_t integer;
        double real;
        const void *data; /* string or bytes */
        size_t len;
};

struct seal;

struct seal *seal_new(unsigned int table);
void seal_free(struct seal *seal);
/* Starts the next stretch, after `hash` (the table's number for the first). */
void seal_restart(struct seal *seal, uint64_t hash);
/* Notes the bytes of a row; seal_add() then takes them in, and cannot fail. */
int seal_note(struct seal *seal, const struct run_value *values, size_t n);
void seal_add(struct seal *seal);
uint64_t seal_hash(const struct seal *seal);

/* A hash of some bytes, after another hash */
uint64_t run_hash(uint64_t seed, const void *data, size_t len);
