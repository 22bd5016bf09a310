#pragma once
/*
 * Adaptive binary range coder
 *
 * A decision is one bit that both sides predict with the same model: a
 * probability that moves towards what it sees. Its first steps are those of a
 * frequency count (about the estimator of Krichevsky and Trofimov, 1981), so that
 * even a block of a few rows profits; from then on it goes 1/32 of the way, and
 * so forgets what is long past. Coding is that of Martin (1979), renormalised
 * in words of 32 bits: `range` is at or above 2^32 between decisions, and a
 * carry out of `low` runs back through the words that are already written.
 *
 * The functions for one decision are inline since they are nearly the whole
 * cost of the codec: the state must stay in registers across a column.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/buf.h"
#include "util/compat.h"

/* The probability of a set bit in 1/65536, and how many bits were seen, up to a limit. */
struct range_model {
        uint16_t p;
        uint16_t seen;
};

#define RANGE_MODEL_INIT                                                                           \
        {                                                                                          \
                1 << 15, 0                                                                         \
        }
#define RANGE_SEEN_MAX 31
#define RANGE_P_MIN    32
#define RANGE_P_MAX    (65536 - 32)

/* How far to go after `seen` bits, in 1/65536: 1 / (seen + 1.6) */
extern const int32_t range_step[RANGE_SEEN_MAX + 1];

/*
 * The target is RANGE_P_MAX or RANGE_P_MIN. No step goes past its target, so p
 * stays between them. The product fits: at the first and largest step p is a half.
 */
static inline void range_learn(struct range_model *model, int32_t target)
{
        int32_t p = model->p;

        model->p = (uint16_t)(p + ((target - p) * range_step[model->seen] >> 16));
        model->seen = (uint16_t)(model->seen + (model->seen < RANGE_SEEN_MAX));
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

static inline void range_encode(struct range_encoder *encoder, struct range_model *model, bool bit)
{
        uint64_t bound = (encoder->range >> 16) * model->p;

        if (bit) {
                encoder->range = bound;
        } else {
                encoder->range -= bound;
                if (__builtin_add_overflow(encoder->low, bound, &encoder->low))
                        range_encoder_carry(encoder);
        }
        range_learn(model, bit ? RANGE_P_MAX : RANGE_P_MIN);
        if (!(encoder->range >> 32))
                range_encoder_shift(encoder);
}

/* Reads zeroes past the end; range_decoder_finish() tells if the code came out even. */
struct range_decoder {
        uint64_t code;
        uint64_t range;
        const uint8_t *at;
        const uint8_t *end;
        size_t missing;
};

/* False if the length is not one that a code can have. */
bool range_decoder_init(struct range_decoder *decoder, const void *data, size_t len);
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

static inline void range_decoder_shift(struct range_decoder *decoder)
{
        decoder->range <<= 32;
        decoder->code = decoder->code << 32 | range_decoder_word(decoder);
}

static inline bool range_decode(struct range_decoder *decoder, struct range_model *model)
{
        uint64_t bound = (decoder->range >> 16) * model->p;
        bool bit = decoder->code < bound;

        if (bit) {
                decoder->range = bound;
                range_learn(model, RANGE_P_MAX);
        } else {
                decoder->range -= bound;
                decoder->code -= bound;
                range_learn(model, RANGE_P_MIN);
        }
        if (!(decoder->range >> 32))
                range_decoder_shift(decoder);
        return bit;
}

/* The same without a branch, for bits that a processor guesses badly. */
static inline bool range_decode_even(struct range_decoder *decoder, struct range_model *model)
{
        uint64_t bound = (decoder->range >> 16) * model->p;
        uint64_t above = decoder->range - bound;
        bool bit = decoder->code < bound;
        uint64_t mask = -(uint64_t)bit;

        decoder->range = above ^ ((above ^ bound) & mask);
        decoder->code -= bound & ~mask;
        range_learn(model, RANGE_P_MIN + ((RANGE_P_MAX - RANGE_P_MIN) & (int32_t)mask));
        if (!(decoder->range >> 32))
                range_decoder_shift(decoder);
        return bit;
}
