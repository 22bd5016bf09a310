/* The range coder, as far as it is not inline: see range.h. */

#include "timeline/range.h"

const int32_t range_step[RANGE_SEEN_MAX + 1] = {
        40960, 25206, 18204, 14247, 11703, 9930, 8623, 7620, 6827, 6183, 5650,
        5201,  4819,  4489,  4201,  3948,  3724, 3523, 3344, 3181, 3034, 2900,
        2777,  2664,  2560,  2464,  2374,  2291, 2214, 2142, 2074, 2010,
};

void range_encoder_init(struct range_encoder *encoder, struct buf *out)
{
        *encoder = (struct range_encoder){
                .range = UINT64_MAX,
                .out = out,
                .start = out->len,
        };
}

/* The code is a fraction below 1: a carry never runs past the first byte. */
void range_encoder_carry(struct range_encoder *encoder)
{
        for (size_t at = encoder->out->len; at > encoder->start; at--)
                if (++encoder->out->data[at - 1])
                        return;
}

static void range_put_word(struct range_encoder *encoder, uint32_t word)
{
        if (encoder->error >= 0) {
                word = htobe32(word);
                encoder->error = buf_append(encoder->out, &word, sizeof(word));
        }
}

void range_encoder_shift(struct range_encoder *encoder)
{
        range_put_word(encoder, (uint32_t)(encoder->low >> 32));
        encoder->low <<= 32;
        encoder->range <<= 32;
}

/*
 * Any number in [low, low + range) will do. The range is at least 2^32, so one
 * of them has zeroes in its lower word, which need not be stored.
 */
int range_encoder_finish(struct range_encoder *encoder)
{
        if (__builtin_add_overflow(encoder->low, (uint64_t)UINT32_MAX, &encoder->low))
                range_encoder_carry(encoder);
        range_put_word(encoder, (uint32_t)(encoder->low >> 32));
        return encoder->error;
}

bool range_decoder_init(struct range_decoder *decoder, const void *data, size_t len)
{
        if (len % 4)
                return false;
        *decoder = (struct range_decoder){
                .range = UINT64_MAX,
                .at = data,
                .end = (const uint8_t *)data + len,
        };
        decoder->code = (uint64_t)range_decoder_word(decoder) << 32;
        decoder->code |= range_decoder_word(decoder);
        return true;
}

/* The decoder is one word ahead of the encoder, which left the last one out. */
bool range_decoder_finish(const struct range_decoder *decoder)
{
        return decoder->at == decoder->end && decoder->missing == 1;
}
