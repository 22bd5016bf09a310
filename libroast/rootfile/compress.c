/*
 * Compressed blocks: see compress.h
 *
 * Every decoder gets exactly the memory that the block header declares, which
 * the caller checked, and must fill it: a bomb cannot go off.
 */

#include <libdeflate.h>
#include <lz4.h>
#include <lzma.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "rootfile/compress.h"
#include "util/size.h"

#define LZMA_MEMORY_MAX (256u << 20)
#define XXH64_BYTES     8

bool block_parse(const uint8_t header[BLOCK_HEADER_BYTES], struct block *block)
{
        static const struct {
                char magic[3];
                enum roast_root_algorithm algorithm;
        } known[] = {
                { "ZL", ROAST_ROOT_ZLIB }, { "ZS", ROAST_ROOT_ZSTD }, { "L4", ROAST_ROOT_LZ4 },
                { "XZ", ROAST_ROOT_LZMA }, { "CS", ROAST_ROOT_OLD },
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(known); i++) {
                if (memcmp(header, known[i].magic, 2) != 0)
                        continue;
                block->algorithm = known[i].algorithm;
                block->compressed = (size_t)(header[3] | header[4] << 8 | header[5] << 16);
                block->expanded = (size_t)(header[6] | header[7] << 8 | header[8] << 16);
                return true;
        }
        return false;
}

static bool compress_expand_deflate(const struct block *block, const uint8_t *from, uint8_t *to)
{
        struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
        enum libdeflate_result result = LIBDEFLATE_BAD_DATA;

        if (!decompressor)
                return false;
        if (block->algorithm == ROAST_ROOT_ZLIB)
                result = libdeflate_zlib_decompress(decompressor, from, block->compressed, to,
                                                    block->expanded, NULL);
        else
                result = libdeflate_deflate_decompress(decompressor, from, block->compressed, to,
                                                       block->expanded, NULL);
        libdeflate_free_decompressor(decompressor);
        return result == LIBDEFLATE_SUCCESS;
}

static bool compress_expand_lzma(const struct block *block, const uint8_t *from, uint8_t *to)
{
        uint64_t memory_max = LZMA_MEMORY_MAX;
        size_t in = 0, out = 0;
        lzma_ret ret;

        ret = lzma_stream_buffer_decode(&memory_max, 0, NULL, from, &in, block->compressed, to,
                                        &out, block->expanded);
        return ret == LZMA_OK && out == block->expanded;
}

static bool compress_expand_lz4(const struct block *block, const uint8_t *from, uint8_t *to)
{
        XXH64_canonical_t canonical;
        size_t len;

        if (block->compressed < XXH64_BYTES)
                return false;
        len = block->compressed - XXH64_BYTES;
        memcpy(&canonical, from, XXH64_BYTES);
        from += XXH64_BYTES;
        if (XXH64(from, len, 0) != XXH64_hashFromCanonical(&canonical))
                return false;
        return LZ4_decompress_safe((const char *)from, (char *)to, (int)len,
                                   (int)block->expanded) == (int)block->expanded;
}

static bool compress_expand_block(const struct block *block, const uint8_t *from, uint8_t *to)
{
        switch (block->algorithm) {
        case ROAST_ROOT_ZLIB:
        case ROAST_ROOT_OLD:
                return compress_expand_deflate(block, from, to);
        case ROAST_ROOT_LZMA:
                return compress_expand_lzma(block, from, to);
        case ROAST_ROOT_LZ4:
                return compress_expand_lz4(block, from, to);
        case ROAST_ROOT_ZSTD:
                return ZSTD_decompress(to, block->expanded, from, block->compressed) ==
                       block->expanded;
        default:
                return false;
        }
}

int compress_expand(const uint8_t *from, size_t from_len, uint8_t *to, size_t to_len,
                    struct roast_error *error)
{
        while (to_len) {
                struct block block;

                if (from_len < BLOCK_HEADER_BYTES || !block_parse(from, &block))
                        return roast_fail(error, ROAST_E_CORRUPT,
                                          "no compressed block where one "
                                          "should begin");
                from += BLOCK_HEADER_BYTES;
                from_len -= BLOCK_HEADER_BYTES;
                if (block.compressed > from_len || block.expanded > to_len || !block.expanded)
                        return roast_fail(error, ROAST_E_CORRUPT,
                                          "a compressed block is longer than its object");
                if (!compress_expand_block(&block, from, to))
                        return roast_fail(error, ROAST_E_CORRUPT, "a %s block is damaged",
                                          roast_root_algorithm_name(block.algorithm));
                from += block.compressed;
                from_len -= block.compressed;
                to += block.expanded;
                to_len -= block.expanded;
        }
        return 0;
}
