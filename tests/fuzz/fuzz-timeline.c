/*
 * Blocks of samples from any bytes
 *
 * Decoding gives an error or samples, and samples survive another round trip.
 * An input is tried as a block, as what follows the fixed bytes of a block, and
 * as samples.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/block.h"
#include "util/cleanup.h"

/* Large blocks are decoded, but encoding them again would only take time. */
#define AGAIN_MAX 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode_again(const struct block *block)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        ROAST_CLEANUP(block_deinit) struct block again = BLOCK_INIT;
        const int64_t *series[BLOCK_SERIES_MAX];

        for (size_t i = 0; i < block->k; i++)
                series[i] = block_series(block, i);
        if (block_encode(&buf, block->times, series, block->n, block->k, NULL) < 0)
                abort();
        if (block_decode(&again, buf.data, buf.len, NULL) < 0)
                abort();
        if (again.n != block->n || again.k != block->k)
                abort();
        if (block->n &&
            memcmp(again.data, block->data, (1 + block->k) * block->n * sizeof(*block->data)) != 0)
                abort();
}

/* The times alone, and the block at another time, are those of the whole. */
static void look_at_times(const void *data, size_t size, const struct block *block)
{
        ROAST_CLEANUP(buf_deinit) struct buf moved = BUF_INIT;
        ROAST_CLEANUP(block_deinit) struct block again = BLOCK_INIT;

        if (block_decode_times(&again, data, size, NULL) < 0 || again.n != block->n ||
            again.k != block->k)
                abort();
        if (again.n && memcmp(again.times, block->times, again.n * sizeof(*again.times)) != 0)
                abort();
        if (block_move(&moved, data, size, 12345, NULL) < 0 ||
            block_decode(&again, moved.data, moved.len, NULL) < 0 || again.n != block->n)
                abort();
        for (size_t i = 0; i < again.n; i++)
                if ((uint64_t)again.times[i] != (uint64_t)block->times[i] + 12345)
                        abort();
        if (again.n &&
            memcmp(again.values, block->values, again.k * again.n * sizeof(*again.values)) != 0)
                abort();
}

static void decode(const void *data, size_t size)
{
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        struct roast_error error = { 0 };

        /* alone they may be there where the rest is not */
        block_decode_times(&block, data, size, NULL);
        if (block_decode(&block, data, size, &error) < 0) {
                if (error.code >= 0 || !error.message[0] || block.n || block.k)
                        abort();
                return;
        }
        if (block.n > BLOCK_ROWS_MAX || block.k > BLOCK_SERIES_MAX)
                abort();
        if ((1 + block.k) * block.n > AGAIN_MAX)
                return;
        encode_again(&block);
        look_at_times(data, size, &block);
}

/* The first byte says how many series there are, the others are their values. */
static void encode(const uint8_t *data, size_t size)
{
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;

        if (size < 9)
                return;
        block.k = data[0] % 8;
        block.n = (size - 1) / 8 / (1 + block.k);
        block.data = calloc((1 + block.k) * block.n + 1, sizeof(*block.data));
        if (!block.data || block.n > BLOCK_ROWS_MAX)
                return;
        memcpy(block.data, data + 1, (1 + block.k) * block.n * sizeof(*block.data));
        block.times = block.data;
        block.values = block.data + block.n;
        encode_again(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;

        decode(data, size);
        if (buf_puts(&buf, "RB\x01") < 0 || buf_append(&buf, data, size) < 0)
                return 0;
        decode(buf.data, buf.len);
        encode(data, size);
        return 0;
}
