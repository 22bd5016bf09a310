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
 * sectors, percentages that come in tenths). A residual is coded as
 *
 *     changed? sign length       top    rest
 *     1        1    log2(width)  1      length - 2 bits
 *
 * as far as needed: nothing follows "unchanged"; only a column that also falls has
 * signs; `length` is the number of bits of |r|, `width` the largest length
 * in the column; `top` is the bit below the leading one. All but the rest,
 * which goes to the plain bits, are decisions of the range coder, each with its
 * own model. The models start anew with each column.
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

/*
 * Describes n values so that column_encode() can store them, and leaves the
 * n - 1 residuals in `residuals`.
 */
void column_measure(struct column *column, int64_t *residuals, const int64_t *values, size_t n);

void column_encode(const struct column *column, struct range_encoder *range,
                   struct bit_writer *bits, const int64_t *residuals, size_t n);

/* values[0] is given, the n - 1 others are made. */
void column_decode(const struct column *column, struct range_decoder *range,
                   struct bit_reader *bits, int64_t *values, size_t n);

/* values[0] is given: the others follow at the same step, or as those of another column do. */
void column_run(int64_t *values, uint64_t step, size_t n);
void column_shift(int64_t *values, const int64_t *other, size_t n);
