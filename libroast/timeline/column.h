#pragma once
/*
 * One column of a block: differences, coded by adaptive models
 *
 * A column is its first value and the differences between neighbours, taken
 * modulo 2^64, so that every int64 sequence has them. A difference d is stored
 * as the residual r in
 *
 *     d = drift + scale * r
 *
 * where `drift` is the usual step (of the time column: the sampling interval)
 * and `scale` the greatest common divisor of what remains (bytes that come in
 * sectors, percentages that come in tenths). Of a residual are stored
 *
 *     changed   1 decision                     r is not zero
 *     length    log2(width), rounded up        bits of |r|, from 1 to the width
 *     rest      length - 1 plain bits          what follows the leading one of |r|
 *     sign      1 plain bit                    only in a column that also falls
 *
 * and of a zero only `changed`. Decisions go to the range coder: `changed` has
 * two models, by what it was in the row before, `length` one for each node of
 * a binary tree. The models start anew with every column.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/bits.h"
#include "timeline/range.h"

struct column {
        uint64_t drift;
        uint64_t scale;     /* at least 1 */
        unsigned int width; /* 0 to 64; 0: all residuals are zero */
        bool falls;         /* some residuals are negative */
};

/* The median of some differences, evenly spread; 0 for less than two values. */
uint64_t column_usual_step(const int64_t *values, size_t n);

/* Whether two columns of n values, at least one, differ by a constant. */
bool column_alike(const int64_t *a, const int64_t *b, size_t n);

/*
 * Describes n values, at least one, and leaves their n - 1 residuals. The drift
 * is given, all else is found.
 */
void column_measure(struct column *column, int64_t *residuals, const int64_t *values, size_t n);

void column_encode(const struct column *column, struct range_encoder *code,
                   struct bits_writer *bits, const int64_t *residuals, size_t n);

/* The first value is given, the n - 1 others are made. */
void column_decode(const struct column *column, struct range_decoder *code,
                   struct bits_reader *bits, int64_t *values, size_t n);

/* The first value is given: the others follow at the same step, or as those of another column do.
 */
void column_run(int64_t *values, uint64_t step, size_t n);
void column_shift(int64_t *values, const int64_t *other, size_t n);
