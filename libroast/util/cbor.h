#pragma once
/*
 * Reading CBOR (RFC 8949): what the Python side kept of dicts
 *
 * Items of definite length, numbers up to 64 bits and doubles are read; what
 * else a file may hold is skipped where it is well formed. A reader that has met
 * bad bytes stays at its end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cbor {
        const uint8_t *at;
        const uint8_t *end;
};

enum cbor_type { CBOR_BAD, CBOR_NUMBER, CBOR_TEXT, CBOR_ARRAY, CBOR_MAP, CBOR_OTHER };

struct cbor_item {
        enum cbor_type type;
        double number;
        const char *text; /* its bytes, which have no end of their own */
        uint64_t n;       /* bytes of a text, items of an array, pairs of a map */
};

static inline struct cbor cbor_of(const void *data, size_t len)
{
        const uint8_t *at = data;

        return (struct cbor){ at, at ? at + len : at };
}

/* The head of the next item; what is inside an array or a map follows as items of its own. */
struct cbor_item cbor_next(struct cbor *in);
/* Passes over what is inside of an item that was read. False: bad bytes. */
bool cbor_skip(struct cbor *in, const struct cbor_item *item);
bool cbor_is(const struct cbor_item *item, const char *text);
