/* The stream of plain bits, as far as it is not inline: see bits.h. */

#include "timeline/bits.h"

void bits_writer_put_word(struct bits_writer *writer)
{
        if (writer->error >= 0)
                writer->error = buf_put_u64(writer->out, writer->word);
}

int bits_writer_finish(struct bits_writer *writer)
{
        for (unsigned int i = 0; i < writer->used && writer->error >= 0; i += 8)
                writer->error = buf_put_u8(writer->out, (uint8_t)(writer->word >> i));
        return writer->error;
}

/* The last bytes, where a whole word would reach beyond the end. */
uint64_t bits_reader_tail(const struct bits_reader *reader)
{
        uint64_t word = 0;

        for (uint64_t i = reader->at / 8; i < reader->len; i++)
                word |= (uint64_t)reader->data[i] << (8 * (i - reader->at / 8));
        return word;
}

bool bits_reader_finish(const struct bits_reader *reader)
{
        return (reader->at + 7) / 8 == reader->len;
}
