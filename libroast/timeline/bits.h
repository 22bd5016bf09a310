#pragma once
/*
 * A stream of plain bits, lowest first
 *
 * What a column's models cannot predict costs a shift here and nothing else.
 * The reader returns zeroes past the end; bits_reader_finish() tells if it read
 * exactly what was written, padding included.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/buf.h"
#include "util/compat.h"

/* `error` is the first failure to append to `out`, and sticks. */
struct bits_writer {
        uint64_t word;
        unsigned int used; /* bits of `word`, below 64 */
        struct buf *out;
        int error;
};

struct bits_reader {
        const uint8_t *data;
        size_t len;
        uint64_t at; /* in bits */
};

void bits_writer_put_word(struct bits_writer *writer);
int bits_writer_finish(struct bits_writer *writer);
bool bits_reader_finish(const struct bits_reader *reader);
uint64_t bits_reader_tail(const struct bits_reader *reader);

/* The lower `count` bits of `value`, whose other bits are zero; count is below 64. */
static inline void bits_write(struct bits_writer *writer, uint64_t value, unsigned int count)
{
        unsigned int used = writer->used;

        writer->word |= value << used;
        writer->used += count;
        if (writer->used < 64)
                return;
        bits_writer_put_word(writer);
        writer->word = used ? value >> (64 - used) : 0;
        writer->used -= 64;
}

/* At most 56 bits, which one load always covers. */
static inline uint64_t bits_read_some(struct bits_reader *reader, unsigned int count)
{
        uint64_t byte = reader->at / 8, word;

        if (byte + 8 <= reader->len) {
                memcpy(&word, reader->data + byte, sizeof(word));
                word = le64toh(word);
        } else {
                word = bits_reader_tail(reader);
        }
        word >>= reader->at % 8;
        reader->at += count;
        return word & ((UINT64_C(1) << count) - 1);
}

static inline uint64_t bits_read(struct bits_reader *reader, unsigned int count)
{
        uint64_t low;

        if (count <= 56)
                return bits_read_some(reader, count);
        low = bits_read_some(reader, 32);
        return low | bits_read_some(reader, count - 32) << 32;
}
