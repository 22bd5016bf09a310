/* A JSON writer: see json.h. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "roast-error.h"
#include "util/json.h"
#include "util/utf8.h"

/* Small pieces are the rule: they go without a call where there is room. */
static inline void json_put(struct json *json, const char *data, size_t len)
{
        struct buf *out = json->out;

        if (json->error < 0)
                return;
        if (len > out->cap - out->len) {
                json->error = buf_append(out, data, len);
                return;
        }
        memcpy(out->data + out->len, data, len);
        out->len += len;
}

static void json_newline(struct json *json)
{
        if (json->compact)
                return;
        json_put(json, "\n", 1);
        for (unsigned int i = 0; i < json->depth; i++)
                json_put(json, "  ", 2);
}

/* Before every value and key: the comma, and the line break inside a container. */
static void json_separate(struct json *json)
{
        if (json->after_key) {
                json->after_key = false;
                return;
        }
        if (json->depth == 0)
                return;
        if (json->filled[json->depth - 1])
                json_put(json, ",", 1);
        json->filled[json->depth - 1] = true;
        json_newline(json);
}

static void json_open_container(struct json *json, char opener, char closer)
{
        json_separate(json);
        if (json->depth == JSON_DEPTH_MAX) {
                json->error = ROAST_E_INVALID;
                return;
        }
        json_put(json, &opener, 1);
        json->closer[json->depth] = closer;
        json->filled[json->depth] = false;
        json->depth++;
}

void json_object(struct json *json)
{
        json_open_container(json, '{', '}');
}

void json_array(struct json *json)
{
        json_open_container(json, '[', ']');
}

void json_end(struct json *json)
{
        if (json->depth == 0) {
                json->error = ROAST_E_INVALID;
                return;
        }
        json->depth--;
        if (json->filled[json->depth])
                json_newline(json);
        json_put(json, &json->closer[json->depth], 1);
}

/* How many characters from here on stand for themselves. */
static size_t json_plain_length(const char *string, size_t len)
{
        size_t n = 0;

        while (n < len && string[n] >= 0x20 && string[n] < 0x7f && string[n] != '"' &&
               string[n] != '\\')
                n++;
        return n;
}

static void json_put_escaped(struct json *json, const char *string, size_t len)
{
        char escape[8];

        json_put(json, "\"", 1);
        for (size_t i = 0; i < len;) {
                size_t run = json_plain_length(string + i, len - i);
                size_t n = run ? run : utf8_length((const uint8_t *)string + i, len - i);
                unsigned char c = (unsigned char)string[i];

                if (n == 0 && json->surrogates == JSON_ALL_SURROGATES && c == 0xed && len - i > 2) {
                        snprintf(escape, sizeof(escape), "\\u%04x",
                                 0xd000 | (string[i + 1] & 0x3f) << 6 | (string[i + 2] & 0x3f));
                        json_put(json, escape, 6);
                        i += 3;
                } else if (n == 0 && json->surrogates) {
                        snprintf(escape, sizeof(escape), "\\udc%02x", c);
                        json_put(json, escape, 6);
                        i++;
                } else if (n == 0) {
                        json_put(json, "\xef\xbf\xbd", 3);
                        i++;
                } else if (run) {
                        json_put(json, string + i, run);
                        i += run;
                } else if (c == '"' || c == '\\') {
                        escape[0] = '\\';
                        escape[1] = (char)c;
                        json_put(json, escape, 2);
                        i++;
                } else if (c < 0x20 || c == 0x7f) {
                        snprintf(escape, sizeof(escape), "\\u%04x", c);
                        json_put(json, escape, 6);
                        i++;
                } else {
                        json_put(json, string + i, n);
                        i += n;
                }
        }
        json_put(json, "\"", 1);
}

void json_key(struct json *json, const char *key)
{
        json_key_n(json, key, strlen(key));
}

void json_key_n(struct json *json, const char *key, size_t len)
{
        json_separate(json);
        json_put_escaped(json, key, len);
        json_put(json, ":", 1);
        if (!json->compact)
                json_put(json, " ", 1);
        json->after_key = true;
}

void json_string(struct json *json, const char *string)
{
        json_string_n(json, string, strlen(string));
}

void json_string_n(struct json *json, const char *string, size_t len)
{
        json_separate(json);
        json_put_escaped(json, string, len);
}

void json_int(struct json *json, int64_t value)
{
        uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
        char text[24], *at = text + sizeof(text);

        do
                *--at = (char)('0' + rest % 10);
        while (rest /= 10);
        if (value < 0)
                *--at = '-';
        json_separate(json);
        json_put(json, at, (size_t)(text + sizeof(text) - at));
}

/* With a point or an exponent, so that it is read as a real number. */
void json_double(struct json *json, double value)
{
        size_t start;

        if (!isfinite(value)) {
                json_null(json);
                return;
        }
        json_separate(json);
        start = json->out->len;
        if (json->error >= 0)
                json->error = buf_put_real(json->out, value);
        if (json->error >= 0 && !memchr(json->out->data + start, '.', json->out->len - start) &&
            !memchr(json->out->data + start, 'e', json->out->len - start))
                json_put(json, ".0", 2);
}

void json_bool(struct json *json, bool value)
{
        json_separate(json);
        json_put(json, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *json)
{
        json_separate(json);
        json_put(json, "null", 4);
}

void json_raw(struct json *json, const char *text)
{
        json_separate(json);
        json_put(json, text, strlen(text));
}

void json_pair(struct json *json, const char *key, const char *string)
{
        json_key(json, key);
        if (string)
                json_string(json, string);
        else
                json_null(json);
}

void json_pair_int(struct json *json, const char *key, int64_t value)
{
        json_key(json, key);
        json_int(json, value);
}

void json_pair_double(struct json *json, const char *key, double value)
{
        json_key(json, key);
        json_double(json, value);
}

void json_pair_bool(struct json *json, const char *key, bool value)
{
        json_key(json, key);
        json_bool(json, value);
}
