#pragma once
/*
 * Compressed blocks of samples
 *
 * A block holds n rows of k series of one worker that share their time stamps.
 * It stores integers and loses nothing: decode(encode(x)) == x for all int64.
 * What resolution the integers have is the business of who samples; see
 * docs/format-series.md, which also draws the layout.
 *
 * A block stands alone. A value is dearer in a small one: in blocks of 10 rows
 * it takes twice and in blocks of one row ten times what it takes in blocks of
 * 120, and larger ones gain little.
 *
 * Encoding and decoding take about 12 KiB of stack.
 */

#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"
#include "util/buf.h"

#define BLOCK_ROWS_MAX   65535
#define BLOCK_SERIES_MAX 255

/*
 * A decoded block. BLOCK_INIT (or zeroes) is an empty one; it can be decoded
 * into again and again and keeps its memory until block_deinit().
 */
struct block {
        size_t n;
        size_t k;
        int64_t *times;  /* n */
        int64_t *values; /* series after series: k times n */
        int64_t *data;
        size_t cap;
};

#define BLOCK_INIT                                                                                 \
        {                                                                                          \
                0                                                                                  \
        }

void block_deinit(struct block *block);

static inline const int64_t *block_series(const struct block *block, size_t index)
{
        return block->values + index * block->n;
}

/*
 * Appends the block of n rows to `out`. On failure (ROAST_E_INVALID: too many
 * rows or series; ROAST_E_NOMEM) `out` is as it was.
 */
int block_encode(struct buf *out, const int64_t *times, const int64_t *const *series, size_t n,
                 size_t k, struct roast_error *error);

/*
 * Decodes the block that is exactly data[0] to data[len - 1], from whatever
 * source. On failure the block is empty: ROAST_E_FORMAT (no block),
 * ROAST_E_VERSION, ROAST_E_CORRUPT or ROAST_E_NOMEM. It never takes more memory
 * than 8 * n * (k + 1) bytes.
 */
int block_decode(struct block *block, const void *data, size_t len, struct roast_error *error);

/*
 * The same of its times alone: k is known, but there are no values, and what is
 * behind the times is not checked.
 */
int block_decode_times(struct block *block, const void *data, size_t len,
                       struct roast_error *error);

/* Appends a block whose times are later by `offset`, and which is the same otherwise. */
int block_move(struct buf *out, const void *data, size_t len, int64_t offset,
               struct roast_error *error);
