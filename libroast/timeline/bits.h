#pragma once
/*
 * A stream of plain bits, lowest first
 *
 * What a column's models cannot predict costs a shift here and nothing else.
 * The reader returns zeroes past the end; bit_reader_finish() tells if it read
 * exactly what was written, padding included.
 */

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/buf.h"

/* `error` is the first failure to append to `out`, and sticks. */
struct bit_writer {
        uint64_t word;
        unsigned int used; /* bits of `word`, below 64 */
        struct buf *out;
        int error;
};

struct bit_reader {
        const uint8_t *data;
        size_t len;
        uint64_t at; /* in bits */
};

void bit_writer_put_word(struct bit_writer *writer);
int bit_writer_finish(struct bit_writer *writer);
bool bit_reader_finish(const struct bit_reader *reader);
uint64_t bit_reader_tail(const struct bit_reader *reader);

/* The lower `count` bits of `value`, whose other bits are zero; count is below 64. */
static inline void bit_write(struct bit_writer *writer, uint64_t value, unsigned int count)
{
        unsigned int used = writer->used;

        writer->word |= value << used;
        writer->used += count;
        if (writer->used < 64)
                return;
        bit_writer_put_word(writer);
        writer->word = used ? value >> (64 - used) : 0;
        writer->used -= 64;
}

/* At most 56 bits, which one load always covers. */
static inline uint64_t bit_read_some(struct bit_reader *reader, unsigned int count)
{
        uint64_t byte = reader->at / 8, word;

        if (byte + 8 <= reader->len) {
                memcpy(&word, reader->data + byte, sizeof(word));
                word = le64toh(word);
        } else {
                word = bit_reader_tail(reader);
        }
        word >>= reader->at % 8;
        reader->at += count;
        return word & ((UINT64_C(1) << count) - 1);
}

static inline uint64_t bit_read(struct bit_reader *reader, unsigned int count)
{
        uint64_t low;

        if (count <= 56)
                return bit_read_some(reader, count);
        low = bit_read_some(reader, 32);
        return low | bit_read_some(reader, count - 32) << 32;
}
