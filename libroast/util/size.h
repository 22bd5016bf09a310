#pragma once
/*
 * Checked sizes: every length that comes from outside goes through these.
 * They return false when the result does not fit.
 */

#include <stdbool.h>
#include <stddef.h>

static inline bool size_add(size_t a, size_t b, size_t *sum)
{
        return !__builtin_add_overflow(a, b, sum);
}

static inline bool size_mul(size_t a, size_t b, size_t *product)
{
        return !__builtin_mul_overflow(a, b, product);
}

#define ROAST_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
