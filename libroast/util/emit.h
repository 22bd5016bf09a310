#pragma once
/*
 * Values pushed one after the other, whoever takes them
 *
 * The documented dicts are made by one piece of code and taken by several: a JSON
 * writer, Python's objects, the cells of a table.
 *
 *     emit_object(emit);
 *     emit_key(emit, "events");
 *     emit_int(emit, 42);
 *     emit_end(emit);
 *
 * A key that is not a word of the program is announced by emit_next_is_key() and
 * is then the next value, which may be a tuple or a time. Errors are kept: check
 * `error` at the end, or between two pieces by emit_step().
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "roast-error.h"

enum emit_type {
        EMIT_OBJECT,
        EMIT_ARRAY,
        EMIT_TUPLE, /* an array of `len` values that stays as it is */
        EMIT_END,   /* of the last of these */
        EMIT_KEY,   /* `text`, a word of the program */
        EMIT_NEXT_IS_KEY,
        EMIT_INT,
        EMIT_WHOLE, /* `real`: an integer beyond every int64 */
        EMIT_REAL,
        EMIT_TEXT,
        EMIT_BOOL,
        EMIT_NULL,
        EMIT_TIME, /* `integer`: nanoseconds UTC */
        EMIT_CBOR, /* `text`: the value that it holds */
};

struct emit_value {
        enum emit_type type;
        int64_t integer;
        double real;
        const char *text; /* which has no end of its own, but for a key */
        size_t len;
};

struct emit {
        void (*put)(struct emit *emit, const struct emit_value *value);
        /* Between two pieces: 0, or an error that ends it; NULL: nothing to do */
        int (*step)(struct emit *emit, struct roast_error *error);
        int error; /* ROAST_E_*; from then on nothing more happens */
};

static inline void emit_object(struct emit *emit)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_OBJECT });
}

static inline void emit_array(struct emit *emit)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_ARRAY });
}

static inline void emit_tuple(struct emit *emit, size_t n)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_TUPLE, .len = n });
}

static inline void emit_end(struct emit *emit)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_END });
}

static inline void emit_key(struct emit *emit, const char *key)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_KEY, .text = key });
}

static inline void emit_next_is_key(struct emit *emit)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_NEXT_IS_KEY });
}

static inline void emit_int(struct emit *emit, int64_t value)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_INT, .integer = value });
}

/* A sum of whole numbers */
static inline void emit_whole(struct emit *emit, double value)
{
        if (fabs(value) < 9e18)
                emit_int(emit, (int64_t)value);
        else
                emit->put(emit, &(struct emit_value){ .type = EMIT_WHOLE, .real = value });
}

static inline void emit_real(struct emit *emit, double value)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_REAL, .real = value });
}

static inline void emit_null(struct emit *emit)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_NULL });
}

/* NULL: null */
static inline void emit_text_n(struct emit *emit, const char *data, size_t len)
{
        enum emit_type type = data ? EMIT_TEXT : EMIT_NULL;

        emit->put(emit, &(struct emit_value){ .type = type, .text = data, .len = len });
}

static inline void emit_text(struct emit *emit, const char *text)
{
        emit_text_n(emit, text, text ? strlen(text) : 0);
}

static inline void emit_bool(struct emit *emit, bool value)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_BOOL, .integer = value });
}

static inline void emit_time(struct emit *emit, int64_t utc_ns)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_TIME, .integer = utc_ns });
}

static inline void emit_cbor(struct emit *emit, const void *data, size_t len)
{
        emit->put(emit, &(struct emit_value){ .type = EMIT_CBOR, .text = data, .len = len });
}

/* Between two pieces of something large: 0, or an error that ends it */
static inline int emit_step(struct emit *emit, struct roast_error *error)
{
        if (emit->step)
                return emit->step(emit, error);
        return emit->error < 0 ? emit->error : 0;
}

/* A key that is a name from outside; NULL: null */
static inline void emit_name_n(struct emit *emit, const char *name, size_t len)
{
        emit_next_is_key(emit);
        emit_text_n(emit, name, len);
}

static inline void emit_name(struct emit *emit, const char *name)
{
        emit_name_n(emit, name, name ? strlen(name) : 0);
}

/* Pairs; `known` says whether there is a value, which is null otherwise */
static inline void emit_pair_int(struct emit *emit, const char *key, int64_t value)
{
        emit_key(emit, key);
        emit_int(emit, value);
}

static inline void emit_pair_real(struct emit *emit, const char *key, double value)
{
        emit_key(emit, key);
        emit_real(emit, value);
}

static inline void emit_pair_text(struct emit *emit, const char *key, const char *text)
{
        emit_key(emit, key);
        emit_text(emit, text);
}

static inline void emit_pair_bool(struct emit *emit, const char *key, bool value)
{
        emit_key(emit, key);
        emit_bool(emit, value);
}

static inline void emit_pair_known(struct emit *emit, const char *key, bool known, double value)
{
        emit_key(emit, key);
        if (known)
                emit_real(emit, value);
        else
                emit_null(emit);
}

static inline void emit_pair_whole(struct emit *emit, const char *key, bool known, double value)
{
        emit_key(emit, key);
        if (known)
                emit_whole(emit, value);
        else
                emit_null(emit);
}

static inline void emit_pair_count(struct emit *emit, const char *key, bool known, int64_t value)
{
        emit_key(emit, key);
        if (known)
                emit_int(emit, value);
        else
                emit_null(emit);
}
