#pragma once
/*
 * Compressed blocks
 *
 * A compressed object is a row of blocks of at most 16,777,215 bytes each:
 *
 *   +---------+----------+--------------+------------+------
 *   | magic:2 | method:1 | compressed:3 | expanded:3 | bytes ...    sizes little-endian
 *   +---------+----------+--------------+------------+------
 *
 * magic: ZL zlib, CS raw deflate, XZ lzma, ZS zstd, L4 lz4 (behind 8 bytes of
 * big-endian XXH64 of the compressed bytes, which count as compressed).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-rootfile.h"

#define BLOCK_HEADER_BYTES 9

struct block {
        enum roast_root_algorithm algorithm;
        size_t compressed;
        size_t expanded;
};

/* Reads the header; false: this is not the begin of a block. */
bool block_parse(const uint8_t header[BLOCK_HEADER_BYTES], struct block *block);

/* Fills `to` to the last byte from all the blocks of `from`, or fails. */
int compress_expand(const uint8_t *from, size_t from_len, uint8_t *to, size_t to_len,
                    struct roast_error *error);
