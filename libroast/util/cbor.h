#pragma once
/*
 * CBOR (RFC 8949): how a chunk record keeps dicts
 *
 * Items have definite lengths. What nobody here writes, floats of fewer than 64
 * bits and other simple values, is passed over where it is well formed. Reading
 * goes item by item over hostile bytes: a length that cannot be makes the cursor
 * bad, and every item after that is CBOR_BAD.
 */

#include "util/buf.h"

enum cbor_type {
        /* the RFC's major types */
        CBOR_UINT,
        CBOR_NEGATIVE, /* -1 - value */
        CBOR_BYTES,
        CBOR_TEXT,
        CBOR_ARRAY,
        CBOR_MAP,
        CBOR_TAG, /* said of the item that follows */
        CBOR_SIMPLE,
        /* and what is told apart from them */
        CBOR_REAL,
        CBOR_BAD,
};

/* Values of CBOR_SIMPLE */
enum { CBOR_FALSE = 20, CBOR_TRUE = 21, CBOR_NULL = 22 };
/* Values of CBOR_TAG: an integer as bytes, most significant first */
enum { CBOR_BIG = 2, CBOR_BIG_NEGATIVE = 3 };

struct cbor_item {
        enum cbor_type type;
        uint64_t value;      /* or bytes of a string, items of an array, pairs of a map */
        double real;         /* of CBOR_REAL */
        const uint8_t *data; /* of a string, which has no end of its own */
};

/* The head of an item; what belongs to it follows. Each returns 0 or ROAST_E_NOMEM. */
int cbor_put(struct buf *out, enum cbor_type type, uint64_t value);
int cbor_put_int(struct buf *out, int64_t value);
int cbor_put_real(struct buf *out, double value);
int cbor_put_text(struct buf *out, const char *data, size_t len);

/* The next item; what is inside an array, a map or a tag follows as items of its own. */
struct cbor_item cbor_next(struct cursor *in);
/* Passes over what is inside of an item that was read. */
void cbor_skip(struct cursor *in, const struct cbor_item *item);
bool cbor_is(const struct cbor_item *item, const char *text);
/* A number of up to 64 bits; NaN: the item is none */
double cbor_number(const struct cbor_item *item);

/* The pairs of a map whose keys are text, each value as CBOR, up to where it is damaged */
typedef void (*cbor_pair_visitor)(const char *key, size_t key_len, const void *value,
                                  size_t value_len, void *context);
void cbor_each_pair(const void *data, size_t len, cbor_pair_visitor visit, void *context);
/* Whether a value is a map with anything in it */
bool cbor_is_filled_map(const void *data, size_t len);
