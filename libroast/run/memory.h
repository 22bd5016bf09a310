#pragma once
/*
 * The rows of a run in memory
 *
 * Rows are only added, and stay where they are: there is nothing to seal, to log
 * or to take back. Which of them are committed is the run's affair.
 */

#include "run/seal.h"

struct memory;

struct memory *memory_new(void); /* NULL: no memory */
void memory_free(struct memory *memory);
/* Adds a row to a table, by its number in run/schema.h; its id is the next one. */
int memory_add(struct memory *memory, unsigned int table, const struct run_value *values, size_t n);
/* The first n values of a row that is there. Strings end in a NUL, and stay as long as the run. */
void memory_read(const struct memory *memory, unsigned int table, int64_t id,
                 struct run_value *values, size_t n);
