#pragma once
/*
 * What is known of a value before it is read
 *
 * Values that follow from others in the ordinary case are stored as the difference
 * to what they would be: the last part of the wall time is what the others leave, a
 * section that ran once has min = max = total, what was requested is what the
 * branches need. The columns are stored in the order of predict_at(), so that the
 * others are there.
 */

#include "record/chunk.h"

/*
 * The column that is stored at a place: the order of fields.def, but the file comes first, as much
 * depends on it, and what was requested before what was read.
 */
enum chunk_field predict_at(int place);

/* Adds (sign 1) or takes away (sign -1) the prediction of rows from..to of a column. */
void predict_chunks(const struct chunk_table *table, enum chunk_field field, size_t from, size_t to,
                    int64_t *values, int sign);
void predict_sections(const struct chunk_parts *parts, size_t column, size_t from, size_t to,
                      int64_t *values, int sign);

/* The column whose value is the context of this one's: CHUNK_FILE, CHUNK_WORKER, or none (-1) */
int predict_context(enum chunk_field field);
