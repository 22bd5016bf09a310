/* A JSON reader for hostile input: see json-read.h. */

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/json-read.h"
#include "util/utf8.h"

int json_reader_init(struct json_reader *in, const char *text, size_t len)
{
        *in = (struct json_reader){ .begin = text, .at = text, .end = text + len };
        in->locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
        return in->locale ? 0 : ROAST_E_NOMEM;
}

void json_reader_deinit(struct json_reader *in)
{
        buf_deinit(&in->scratch);
        if (in->locale)
                freelocale(in->locale);
        in->locale = NULL;
}

bool json_read_fail(struct json_reader *in, const char *problem)
{
        if (!in->problem) {
                in->problem = problem;
                in->problem_at = (size_t)(in->at - in->begin);
        }
        in->at = in->end;
        return false;
}

bool json_read_nomem(struct json_reader *in)
{
        in->nomem = true;
        return json_read_fail(in, "out of memory");
}

static void json_skip_blanks(struct json_reader *in)
{
        while (in->at < in->end &&
               (*in->at == ' ' || *in->at == '\n' || *in->at == '\t' || *in->at == '\r'))
                in->at++;
}

int json_reader_end(struct json_reader *in, struct roast_error *error)
{
        if (!in->problem) {
                json_skip_blanks(in);
                if (in->at < in->end)
                        json_read_fail(in, "there is more behind the value");
        }
        if (!in->problem)
                return 0;
        if (in->nomem)
                return roast_fail_nomem(error);
        return roast_fail(error, ROAST_E_FORMAT, "is not valid JSON: %s at byte %zu", in->problem,
                          in->problem_at);
}

static bool json_is_word(const struct json_reader *in, const char *word)
{
        size_t len = strlen(word);

        return (size_t)(in->end - in->at) >= len && !memcmp(in->at, word, len);
}

enum json_type json_read_type(struct json_reader *in)
{
        if (in->problem)
                return JSON_BAD;
        json_skip_blanks(in);
        if (in->at == in->end)
                return JSON_BAD;
        switch (*in->at) {
        case '{':
                return JSON_OBJECT;
        case '[':
                return JSON_ARRAY;
        case '"':
                return JSON_STRING;
        case 't':
        case 'f':
                return JSON_BOOL;
        case 'n':
                return JSON_NULL;
        case '-':
        case 'N':
        case 'I':
                return JSON_NUMBER;
        default:
                return *in->at >= '0' && *in->at <= '9' ? JSON_NUMBER : JSON_BAD;
        }
}

static bool json_enter(struct json_reader *in, enum json_type type, char closer)
{
        if (json_read_type(in) != type)
                return json_read_fail(in, type == JSON_OBJECT ? "an object is wanted"
                                                              : "an array is wanted");
        if (in->depth == JSON_READ_DEPTH_MAX)
                return json_read_fail(in, "it is nested too deeply");
        in->at++;
        in->filled[in->depth] = false;
        in->closer[in->depth] = closer;
        in->depth++;
        return true;
}

bool json_read_object(struct json_reader *in)
{
        return json_enter(in, JSON_OBJECT, '}');
}

bool json_read_array(struct json_reader *in)
{
        return json_enter(in, JSON_ARRAY, ']');
}

/* Past the comma to the next part of the container, or out of it */
static bool json_next_part(struct json_reader *in, char closer)
{
        if (in->problem)
                return false;
        json_skip_blanks(in);
        if (in->depth == 0 || in->closer[in->depth - 1] != closer || in->at == in->end)
                return json_read_fail(in, "it is cut off");
        if (*in->at == closer) {
                in->at++;
                in->depth--;
                return false;
        }
        if (in->filled[in->depth - 1]) {
                if (*in->at != ',')
                        return json_read_fail(in, "a comma is missing");
                in->at++;
        }
        in->filled[in->depth - 1] = true;
        return true;
}

bool json_read_element(struct json_reader *in)
{
        if (!json_next_part(in, ']'))
                return false;
        return json_read_type(in) != JSON_BAD || json_read_fail(in, "a value is missing");
}

bool json_read_key(struct json_reader *in, struct json_text *key)
{
        if (!json_next_part(in, '}') || !json_read_string(in, key))
                return false;
        json_skip_blanks(in);
        if (in->at == in->end || *in->at != ':')
                return json_read_fail(in, "a colon is missing");
        in->at++;
        return json_read_type(in) != JSON_BAD || json_read_fail(in, "a value is missing");
}

static int json_hex_value(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits behind \u; negative: they are not */
static int32_t json_hex_digits(const struct json_reader *in, const char *at)
{
        int32_t value = 0;

        if (in->end - at < 4)
                return -1;
        for (int i = 0; i < 4; i++) {
                int digit = json_hex_value(at[i]);

                if (digit < 0)
                        return -1;
                value = value << 4 | digit;
        }
        return value;
}

static int json_put_character(struct buf *out, uint32_t c)
{
        uint8_t bytes[4];

        if (c < 0x80)
                return buf_put_u8(out, (uint8_t)c);
        if (c >= 0xdc80 && c <= 0xdcff) /* a byte that was not UTF-8, as Python keeps it */
                return buf_put_u8(out, (uint8_t)(c & 0xff));
        if (c >= 0xd800 && c <= 0xdfff)
                c = 0xfffd;
        if (c < 0x800) {
                bytes[0] = (uint8_t)(0xc0 | c >> 6);
                bytes[1] = (uint8_t)(0x80 | (c & 0x3f));
                return buf_append(out, bytes, 2);
        }
        if (c < 0x10000) {
                bytes[0] = (uint8_t)(0xe0 | c >> 12);
                bytes[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
                bytes[2] = (uint8_t)(0x80 | (c & 0x3f));
                return buf_append(out, bytes, 3);
        }
        bytes[0] = (uint8_t)(0xf0 | c >> 18);
        bytes[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
        bytes[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        bytes[3] = (uint8_t)(0x80 | (c & 0x3f));
        return buf_append(out, bytes, 4);
}

/* Behind the backslash */
static bool json_read_escape(struct json_reader *in)
{
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        const char *found;
        int32_t c, low;

        if (in->at < in->end && *in->at == 'u') {
                c = json_hex_digits(in, in->at + 1);
                if (c < 0)
                        return json_read_fail(in, "an escape is not right");
                in->at += 5;
                if (c >= 0xd800 && c < 0xdc00 && json_is_word(in, "\\u")) {
                        low = json_hex_digits(in, in->at + 2);
                        if (low >= 0xdc00 && low <= 0xdfff) {
                                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                                in->at += 6;
                        }
                }
                return json_put_character(&in->scratch, (uint32_t)c) == 0 || json_read_nomem(in);
        }
        found = in->at < in->end && *in->at ? strchr(from, *in->at) : NULL;
        if (!found)
                return json_read_fail(in, "an escape is not right");
        in->at++;
        return buf_put_u8(&in->scratch, (uint8_t)to[found - from]) == 0 || json_read_nomem(in);
}

/* Over characters that stand for themselves; they are not UTF-8: false */
static bool json_skip_plain(struct json_reader *in)
{
        while (in->at < in->end && *in->at != '"' && *in->at != '\\') {
                unsigned char c = (unsigned char)*in->at;
                size_t n =
                        c < 0x80 ? c >= 0x20
                                 : utf8_length((const uint8_t *)in->at, (size_t)(in->end - in->at));

                if (n == 0)
                        return json_read_fail(in, c < 0x20 ? "a control character in a string"
                                                           : "a string is not UTF-8");
                in->at += n;
        }
        return in->at < in->end || json_read_fail(in, "a string is cut off");
}

bool json_read_string(struct json_reader *in, struct json_text *text)
{
        const char *start;

        *text = (struct json_text){ .data = "" };
        if (json_read_type(in) != JSON_STRING)
                return json_read_fail(in, "a string is wanted");
        start = ++in->at;
        if (!json_skip_plain(in))
                return false;
        if (*in->at == '"') { /* the rule: no escapes */
                *text = (struct json_text){ start, (size_t)(in->at - start) };
                in->at++;
                return true;
        }
        buf_clear(&in->scratch);
        while (*in->at != '"') {
                if (buf_append(&in->scratch, start, (size_t)(in->at - start)) < 0)
                        return json_read_nomem(in);
                in->at++;
                if (!json_read_escape(in))
                        return false;
                start = in->at;
                if (!json_skip_plain(in))
                        return false;
        }
        if (buf_append(&in->scratch, start, (size_t)(in->at - start)) < 0)
                return json_read_nomem(in);
        in->at++;
        *text = (struct json_text){ (const char *)in->scratch.data, in->scratch.len };
        return true;
}

static bool json_is_digit(const struct json_reader *in)
{
        return in->at < in->end && *in->at >= '0' && *in->at <= '9';
}

static bool json_skip_digits(struct json_reader *in)
{
        if (!json_is_digit(in))
                return json_read_fail(in, "a number is not right");
        while (json_is_digit(in))
                in->at++;
        return true;
}

static bool json_read_named(struct json_reader *in, struct json_number *number)
{
        static const struct {
                const char *word;
                double value;
        } names[] = { { "NaN", (double)NAN },
                      { "Infinity", (double)INFINITY },
                      { "-Infinity", (double)-INFINITY } };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (json_is_word(in, names[i].word)) {
                        in->at += strlen(names[i].word);
                        number->real = names[i].value;
                        return true;
                }
        return false;
}

/* The digits from `at` on as an integer, if they fit */
static bool json_read_whole(const char *at, const char *end, int64_t *value)
{
        bool negative = *at == '-';

        *value = 0;
        for (at += negative; at < end; at++) {
                int64_t digit = *at - '0';

                if (__builtin_mul_overflow(*value, 10, value) ||
                    __builtin_sub_overflow(*value, digit, value))
                        return false;
        }
        return negative || !__builtin_sub_overflow(0, *value, value);
}

bool json_read_number(struct json_reader *in, struct json_number *number)
{
        const char *start;
        bool whole = true;

        *number = (struct json_number){ 0 };
        if (json_read_type(in) != JSON_NUMBER)
                return json_read_fail(in, "a number is wanted");
        if (json_read_named(in, number))
                return true;
        start = in->at;
        if (*in->at == '-')
                in->at++;
        if (in->at < in->end && *in->at == '0')
                in->at++;
        else if (!json_skip_digits(in))
                return false;
        if (json_is_digit(in))
                return json_read_fail(in, "a number begins with 0");
        if (in->at < in->end && *in->at == '.') {
                whole = false;
                in->at++;
                if (!json_skip_digits(in))
                        return false;
        }
        if (in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
                whole = false;
                in->at++;
                if (in->at < in->end && (*in->at == '+' || *in->at == '-'))
                        in->at++;
                if (!json_skip_digits(in))
                        return false;
        }
        number->whole = whole && json_read_whole(start, in->at, &number->integer);
        number->real = number->whole ? (double)number->integer
                                     : strtod_l(start, NULL, (locale_t)in->locale);
        return true;
}

bool json_read_bool(struct json_reader *in, bool *value)
{
        *value = false;
        if (json_read_type(in) != JSON_BOOL ||
            !(json_is_word(in, "true") || json_is_word(in, "false")))
                return json_read_fail(in, "true or false is wanted");
        *value = *in->at == 't';
        in->at += *value ? 4 : 5;
        return true;
}

/* A value that holds no others */
static bool json_skip_scalar(struct json_reader *in)
{
        struct json_number number;
        struct json_text text;
        bool value;

        switch (json_read_type(in)) {
        case JSON_STRING:
                return json_read_string(in, &text);
        case JSON_NUMBER:
                return json_read_number(in, &number);
        case JSON_BOOL:
                return json_read_bool(in, &value);
        case JSON_NULL:
                if (!json_is_word(in, "null"))
                        return json_read_fail(in, "a value is not right");
                in->at += 4;
                return true;
        default:
                return json_read_fail(in, "a value is missing");
        }
}

/* Over a value, or into it if it is a container */
static bool json_skip_one(struct json_reader *in)
{
        switch (json_read_type(in)) {
        case JSON_OBJECT:
                return json_read_object(in);
        case JSON_ARRAY:
                return json_read_array(in);
        default:
                return json_skip_scalar(in);
        }
}

bool json_read_skip(struct json_reader *in)
{
        unsigned int depth = in->depth;
        struct json_text key;

        if (!json_skip_one(in))
                return false;
        while (in->depth > depth) {
                bool more = in->closer[in->depth - 1] == '}' ? json_read_key(in, &key)
                                                             : json_read_element(in);

                if (more && !json_skip_one(in))
                        return false;
                if (in->problem)
                        return false;
        }
        return true;
}

bool json_text_is(const struct json_text *text, const char *string)
{
        size_t len = strlen(string);

        return text->len == len && !memcmp(text->data, string, len);
}
