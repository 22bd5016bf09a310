#pragma once
/*
 * Adaptive Rice codes
 *
 * A number v is coded as v >> k ones, a zero, and its k lowest bits; k follows the
 * mean of the numbers that went before in the same context (Rice 1979; the
 * adaptation is that of LOCO-I, Weinberger, Seroussi and Sapiro 2000). The first
 * number of a context is its length in 7 bits and what follows its leading one. A
 * number that would take more than RICE_ONES_MAX ones is stored as those and 64
 * plain bits.
 *
 * Coding to NULL only counts the bits.
 */

#include <stdbool.h>
#include <stdint.h>

#include "timeline/bits.h"

#define RICE_ONES_MAX 24

struct rice {
        uint64_t mean; /* times 8 */
        bool begun;
};

static inline unsigned int rice_length(uint64_t value)
{
        return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

/* About log2 of 0.69 times the mean, which is best for geometric distributions. */
static inline unsigned int rice_parameter(const struct rice *rice)
{
        return rice_length(rice->mean * 11 >> 7);
}

static inline void rice_learn(struct rice *rice, uint64_t value)
{
        if (value >> 56)
                value = UINT64_C(1) << 56;
        if (rice->begun)
                rice->mean += value - (rice->mean >> 3);
        else
                rice->mean = value << 3;
        rice->begun = true;
}

/* A number of any size by its length; returns the bits. */
uint64_t rice_put_plain(uint64_t value, struct bits_writer *out);
uint64_t rice_get_plain(struct bits_reader *in);
uint64_t rice_put(struct rice *rice, uint64_t value, struct bits_writer *out);

static inline uint64_t rice_get(struct rice *rice, struct bits_reader *in)
{
        unsigned int k = rice_parameter(rice), ones;
        uint64_t value, peeked, at = in->at;

        if (!rice->begun) {
                value = rice_get_plain(in);
        } else {
                peeked = bits_read_some(in, RICE_ONES_MAX + 1);
                ones = (unsigned int)__builtin_ctzll(~peeked);
                if (ones < RICE_ONES_MAX) {
                        in->at = at + ones + 1;
                        value = (uint64_t)ones << k | bits_read(in, k);
                } else {
                        in->at = at + RICE_ONES_MAX;
                        value = bits_read(in, 32);
                        value |= bits_read(in, 32) << 32;
                }
        }
        rice_learn(rice, value);
        return value;
}
