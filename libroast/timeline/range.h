#pragma once
/*
 * Adaptive binary range coder, and the plain bits beside it
 *
 * A decision is one bit that both sides predict with the same model: a
 * probability that moves towards what it sees. Its first steps are those of a
 * frequency count (the estimator of Krichevsky and Trofimov, 1981), so that
 * even a block of a few rows profits; later steps are 1/32 of the way, so that
 * it forgets. Coding is that of Martin (1979) with the renormalisation in
 * words of 32 bits: `range` stays at or above 2^32, and a carry out of `low`
 * runs back through the words that are already written.
 *
 * Bits that no model can predict go to a stream of their own and cost a shift.
 *
 * The functions for one decision are inline since they are the whole cost of
 * the codec: the state must live in registers across a column.
 */

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/buf.h"

/* Probability of a set bit in 1/65536, never 0 or 65536; how many bits were seen, up to a limit. */
struct model {
        uint16_t p;
        uint16_t seen;
};

#define MODEL_SEEN_MAX 31
#define MODEL_INIT     { 1 << 15, 0 }

/* The step after `seen` bits: 65536 / (seen + 1.6) */
extern const uint16_t model_step[MODEL_SEEN_MAX + 1];

static inline void model_update(struct model *model, bool bit)
{
        uint32_t p = model->p, step = model_step[model->seen];

        p = bit ? p + (((65536 - p) * step) >> 16) : p - ((p * step) >> 16);
        model->p = (uint16_t)p;
        model->seen = (uint16_t)(model->seen + (model->seen < MODEL_SEEN_MAX));
}

/* Appends the code to `out`; `error` is the first failure to do so, and sticks. */
struct range_encoder {
        uint64_t low;
        uint64_t range;
        struct buf *out;
        size_t start;
        int error;
};

void range_encoder_init(struct range_encoder *encoder, struct buf *out);
/* Completes the code, whose length is a multiple of 4 bytes. */
int range_encoder_finish(struct range_encoder *encoder);
void range_encoder_carry(struct range_encoder *encoder);
void range_encoder_shift(struct range_encoder *encoder);

static inline void range_encode(struct range_encoder *encoder, struct model *model, bool bit)
{
        uint64_t bound = (encoder->range >> 16) * model->p;

        if (bit) {
                encoder->range = bound;
        } else {
                encoder->range -= bound;
                if (__builtin_add_overflow(encoder->low, bound, &encoder->low))
                        range_encoder_carry(encoder);
        }
        model_update(model, bit);
        if (!(encoder->range >> 32))
                range_encoder_shift(encoder);
}

/* The decoder reads zeroes past the end; range_decoder_finish() tells if it came out even. */
struct range_decoder {
        uint64_t code;
        uint64_t range;
        const uint8_t *at;
        const uint8_t *end;
        size_t missing;
};

int range_decoder_init(struct range_decoder *decoder, const void *data, size_t len);
bool range_decoder_finish(const struct range_decoder *decoder);

static inline uint32_t range_decoder_word(struct range_decoder *decoder)
{
        uint32_t word;

        if (decoder->at == decoder->end) {
                decoder->missing++;
                return 0;
        }
        memcpy(&word, decoder->at, sizeof(word));
        decoder->at += sizeof(word);
        return be32toh(word);
}

static inline bool range_decode(struct range_decoder *decoder, struct model *model)
{
        uint64_t bound = (decoder->range >> 16) * model->p;
        bool bit = decoder->code < bound;

        if (bit) {
                decoder->range = bound;
        } else {
                decoder->range -= bound;
                decoder->code -= bound;
        }
        model_update(model, bit);
        if (!(decoder->range >> 32)) {
                decoder->range <<= 32;
                decoder->code = decoder->code << 32 | range_decoder_word(decoder);
        }
        return bit;
}
