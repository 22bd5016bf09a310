#pragma once
/*
 * A JSON reader for hostile input
 *
 * It goes over the text once, in order, and keeps nothing: the caller asks for
 * the next key, element or value, and skips what it does not want. It takes
 * what RFC 8259 allows, and the bare NaN, Infinity and -Infinity that Python
 * writes. Depth is limited to JSON_READ_DEPTH_MAX. The first error stays, and
 * every later call fails, so that a walk is checked once at its end.
 *
 *     json_reader_init(&in, text, len);
 *     json_read_object(&in);
 *     while (json_read_key(&in, &key))
 *             if (json_text_is(&key, "events"))
 *                     json_read_number(&in, &number);
 *             else
 *                     json_read_skip(&in);
 *     r = json_reader_end(&in, error);
 *     json_reader_deinit(&in);
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"
#include "util/buf.h"

#define JSON_READ_DEPTH_MAX 64

/* Valid until the next string or key is read; not ended by a NUL. */
struct json_text {
        const char *data;
        size_t len;
};

struct json_number {
        bool whole; /* without point and exponent, and in the range of integer */
        int64_t integer;
        double real; /* may be NaN or infinite */
};

enum json_type {
        JSON_BAD, /* no value comes next */
        JSON_OBJECT,
        JSON_ARRAY,
        JSON_STRING,
        JSON_NUMBER,
        JSON_BOOL,
        JSON_NULL,
};

struct json_reader {
        const char *begin;
        const char *at;
        const char *end;
        struct buf scratch; /* strings with escapes, decoded */
        void *locale;       /* numbers have a point in every locale */
        const char *problem;
        size_t problem_at;
        bool nomem;
        unsigned int depth;
        bool filled[JSON_READ_DEPTH_MAX];
        char closer[JSON_READ_DEPTH_MAX];
};

/* text[len] must be there and be zero. ROAST_E_NOMEM, or 0 */
int json_reader_init(struct json_reader *in, const char *text, size_t len);
void json_reader_deinit(struct json_reader *in);
/* Nothing but blanks may be left: 0, ROAST_E_FORMAT with what is wrong and where, or no memory. */
int json_reader_end(struct json_reader *in, struct roast_error *error);
/* What the caller found wrong, here, or that it has no memory; they return false. */
bool json_read_fail(struct json_reader *in, const char *problem);
bool json_read_nomem(struct json_reader *in);

enum json_type json_read_type(struct json_reader *in);

/* Enters an object or array; json_read_key() or json_read_element() leaves it at its end. */
bool json_read_object(struct json_reader *in);
bool json_read_array(struct json_reader *in);
/* Whether there is another one; its value is to be read or skipped before the next call. */
bool json_read_key(struct json_reader *in, struct json_text *key);
bool json_read_element(struct json_reader *in);

/*
 * Text is well-formed UTF-8, but for the bytes that Python wrote as the lone surrogates U+DC80 to
 * U+DCFF, which are those bytes again; other lone surrogates become U+FFFD.
 */
bool json_read_string(struct json_reader *in, struct json_text *text);
bool json_read_number(struct json_reader *in, struct json_number *number);
bool json_read_bool(struct json_reader *in, bool *value);
/* Any value, checked as if it were read */
bool json_read_skip(struct json_reader *in);

bool json_text_is(const struct json_text *text, const char *string);
