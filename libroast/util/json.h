#pragma once
/*
 * A JSON writer into a buffer
 *
 * The writer puts the commas, the indentation and the escapes; the caller gives
 * values in order. Errors are kept: check `error` once at the end.
 *
 *     struct json json = { .out = &buf };
 *     json_object(&json);
 *     json_pair_int(&json, "events", 42);
 *     json_end(&json);
 *
 * Strings are bytes that should be UTF-8; what is not becomes U+FFFD, so the
 * output is always valid. NaN and infinities have no JSON form: they are null.
 */

#include <stdbool.h>
#include <stdint.h>

#include "util/buf.h"

#define JSON_DEPTH_MAX 16

/*
 * What becomes of bytes that are not UTF-8: U+FFFD, or what Python has for them, "\\udc80" to
 * "\\udcff"; and of surrogates that are encoded as if they were characters: these.
 */
enum json_surrogates { JSON_NO_SURROGATES, JSON_ESCAPED_SURROGATES, JSON_ALL_SURROGATES };

struct json {
        struct buf *out;
        bool compact; /* one line, no blanks */
        enum json_surrogates surrogates;
        int error;
        unsigned int depth;
        char closer[JSON_DEPTH_MAX];
        bool filled[JSON_DEPTH_MAX];
        bool after_key;
};

void json_object(struct json *json);
void json_array(struct json *json);
void json_end(struct json *json);
void json_key(struct json *json, const char *key);
void json_key_n(struct json *json, const char *key, size_t len);
void json_string(struct json *json, const char *string);
void json_string_n(struct json *json, const char *string, size_t len);
void json_int(struct json *json, int64_t value);
void json_double(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
void json_raw(struct json *json, const char *text); /* a value that is JSON already */
/* A key and its value; for a string that is NULL, null */
void json_pair(struct json *json, const char *key, const char *string);
void json_pair_int(struct json *json, const char *key, int64_t value);
void json_pair_double(struct json *json, const char *key, double value);
void json_pair_bool(struct json *json, const char *key, bool value);
