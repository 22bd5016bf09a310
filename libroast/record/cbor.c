/* Blobs of a chunk record between CBOR and JSON: see cbor.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/cbor.h"
#include "util/cleanup.h"

enum { UINT, NEGATIVE, BYTES, TEXT_STRING, ARRAY, MAP, TAG, SIMPLE };
enum { SIMPLE_FALSE = 20, SIMPLE_TRUE = 21, SIMPLE_NULL = 22, SIMPLE_F64 = 27 };

static int put_head(struct buf *out, unsigned int major, uint64_t value)
{
        uint8_t bytes[9];
        unsigned int n = value < 24            ? 0
                         : value <= UINT8_MAX  ? 1
                         : value <= UINT16_MAX ? 2
                         : value <= UINT32_MAX ? 4
                                               : 8;
        static const uint8_t codes[] = { 0, 24, 25, 0, 26, 0, 0, 0, 27 };

        bytes[0] = (uint8_t)(major << 5 | (n ? codes[n] : (uint8_t)value));
        for (unsigned int i = 0; i < n; i++)
                bytes[1 + i] = (uint8_t)(value >> 8 * (n - 1 - i));
        return buf_append(out, bytes, 1 + n);
}

int cbor_put_map(struct buf *out, size_t n)
{
        return put_head(out, MAP, n);
}

int cbor_put_text(struct buf *out, const char *data, size_t len)
{
        int r = put_head(out, TEXT_STRING, len);

        return r < 0 ? r : buf_append(out, data, len);
}

static int put_number(struct buf *out, const struct json_number *number)
{
        uint8_t bytes[9] = { SIMPLE << 5 | SIMPLE_F64 };
        uint64_t bits;

        if (number->whole)
                return number->integer < 0 ? put_head(out, NEGATIVE, ~(uint64_t)number->integer)
                                           : put_head(out, UINT, (uint64_t)number->integer);
        memcpy(&bits, &number->real, sizeof(bits));
        for (int i = 0; i < 8; i++)
                bytes[1 + i] = (uint8_t)(bits >> 8 * (7 - i));
        return buf_append(out, bytes, sizeof(bytes));
}

/* The parts first, for their number stands before them */
static bool put_container(struct buf *out, struct json_reader *in, bool is_map)
{
        ROAST_CLEANUP(buf_deinit) struct buf parts = BUF_INIT;
        struct json_text key;
        size_t n = 0;

        if (is_map ? !json_read_object(in) : !json_read_array(in))
                return false;
        while (is_map ? json_read_key(in, &key) : json_read_element(in)) {
                if (is_map && cbor_put_text(&parts, key.data, key.len) < 0)
                        return json_read_nomem(in);
                if (!cbor_of_json(&parts, in))
                        return false;
                n++;
        }
        if (in->problem)
                return false;
        if (put_head(out, is_map ? MAP : ARRAY, n) < 0 ||
            buf_append(out, parts.data, parts.len) < 0)
                return json_read_nomem(in);
        return true;
}

bool cbor_of_json(struct buf *out, struct json_reader *in)
{
        struct json_number number;
        struct json_text text;
        bool truth;

        switch (json_read_type(in)) {
        case JSON_OBJECT:
                return put_container(out, in, true);
        case JSON_ARRAY:
                return put_container(out, in, false);
        case JSON_STRING:
                if (!json_read_string(in, &text))
                        return false;
                return cbor_put_text(out, text.data, text.len) == 0 || json_read_nomem(in);
        case JSON_NUMBER:
                if (!json_read_number(in, &number))
                        return false;
                return put_number(out, &number) == 0 || json_read_nomem(in);
        case JSON_BOOL:
                if (!json_read_bool(in, &truth))
                        return false;
                return put_head(out, SIMPLE, truth ? SIMPLE_TRUE : SIMPLE_FALSE) == 0 ||
                       json_read_nomem(in);
        default:
                if (!json_read_skip(in))
                        return false;
                return put_head(out, SIMPLE, SIMPLE_NULL) == 0 || json_read_nomem(in);
        }
}

/* One level of JSON is kept for each level of CBOR, and some for what stands around them. */
#define DEPTH_MAX (JSON_DEPTH_MAX - 6)

struct head {
        unsigned int major;
        unsigned int low;
        uint64_t value;
};

static struct head take_head(struct cursor *in)
{
        uint8_t byte = cursor_u8(in);
        struct head head = { byte >> 5, byte & 31, byte & 31 };

        if (head.low >= 24 && head.low <= 27) {
                head.value = 0;
                for (unsigned int i = 0; i < 1u << (head.low - 24); i++)
                        head.value = head.value << 8 | cursor_u8(in);
        } else if (head.low > 27) {
                in->bad = true;
        }
        return head;
}

static void write_value(struct json *json, struct cursor *in, unsigned int depth);

static void write_bytes(struct json *json, const uint8_t *data, size_t len)
{
        static const char digits[] = "0123456789abcdef";
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;

        for (size_t i = 0; i < len; i++)
                if (buf_put_u8(&text, (uint8_t)digits[data[i] >> 4]) < 0 ||
                    buf_put_u8(&text, (uint8_t)digits[data[i] & 15]) < 0)
                        json->error = ROAST_E_NOMEM;
        json_string_n(json, text.data ? (const char *)text.data : "", text.len);
}

static void write_simple(struct json *json, struct cursor *in, const struct head *head)
{
        double real;

        if (head->low == SIMPLE_F64) {
                memcpy(&real, &head->value, sizeof(real));
                json_double(json, real);
        } else if (head->value == SIMPLE_FALSE || head->value == SIMPLE_TRUE) {
                json_bool(json, head->value == SIMPLE_TRUE);
        } else {
                in->bad |= head->value != SIMPLE_NULL;
                json_null(json);
        }
}

/* A big integer: tag 2 or 3 and its bytes; JSON's readers take it for a real number anyway. */
static void write_big(struct json *json, struct cursor *in, uint64_t tag)
{
        struct head head = take_head(in);
        const uint8_t *data;
        double value = 0;

        data = head.major == BYTES && head.value <= cursor_left(in) ? cursor_take(in, head.value)
                                                                    : NULL;
        if (!data || tag < 2 || tag > 3) {
                in->bad = true;
                json_null(json);
                return;
        }
        for (uint64_t i = 0; i < head.value; i++)
                value = value * 256 + data[i];
        json_double(json, tag == 3 ? -1 - value : value);
}

/* A key that is no text: its JSON as text */
static void write_key(struct json *json, struct cursor *in, unsigned int depth)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct json inner = { .out = &text, .compact = true };
        struct cursor ahead = *in;
        struct head head = take_head(&ahead);

        if (head.major == TEXT_STRING && head.value <= cursor_left(&ahead)) {
                const uint8_t *data = cursor_take(&ahead, head.value);

                json_key_n(json, (const char *)data, (size_t)head.value);
                *in = ahead;
                return;
        }
        write_value(&inner, in, depth);
        if (inner.error < 0)
                json->error = inner.error;
        json_key_n(json, text.data ? (const char *)text.data : "", text.len);
}

static void write_container(struct json *json, struct cursor *in, const struct head *head,
                            unsigned int depth)
{
        bool is_map = head->major == MAP;

        if (depth == DEPTH_MAX || head->value > cursor_left(in)) {
                in->bad = true;
                json_null(json);
                return;
        }
        if (is_map)
                json_object(json);
        else
                json_array(json);
        for (uint64_t i = 0; i < head->value && !in->bad && json->error >= 0; i++) {
                if (is_map)
                        write_key(json, in, depth + 1);
                write_value(json, in, depth + 1);
        }
        json_end(json);
}

static void write_value(struct json *json, struct cursor *in, unsigned int depth)
{
        struct head head = take_head(in);
        const uint8_t *data;

        if (in->bad) {
                json_null(json);
                return;
        }
        switch (head.major) {
        case UINT:
                if (head.value <= INT64_MAX)
                        json_int(json, (int64_t)head.value);
                else
                        json_double(json, (double)head.value);
                break;
        case NEGATIVE:
                if (head.value <= INT64_MAX)
                        json_int(json, ~(int64_t)head.value);
                else
                        json_double(json, -1 - (double)head.value);
                break;
        case BYTES:
        case TEXT_STRING:
                data = head.value <= cursor_left(in) ? cursor_take(in, head.value) : NULL;
                if (!data) {
                        in->bad = true;
                        json_null(json);
                } else if (head.major == BYTES) {
                        write_bytes(json, data, head.value);
                } else {
                        json_string_n(json, (const char *)data, head.value);
                }
                break;
        case ARRAY:
        case MAP:
                write_container(json, in, &head, depth);
                break;
        case TAG:
                write_big(json, in, head.value);
                break;
        default:
                write_simple(json, in, &head);
                break;
        }
}

void cbor_to_json(struct json *json, const void *data, size_t len)
{
        struct cursor in = cursor_init(data, len);

        write_value(json, &in, 0);
}

static void skip_value(struct cursor *in, unsigned int depth)
{
        struct head head = take_head(in);
        uint64_t n = head.major == MAP ? 2 * head.value : head.value;

        if (head.major == BYTES || head.major == TEXT_STRING) {
                if (head.value > cursor_left(in) || !cursor_take(in, head.value))
                        in->bad = true;
        } else if (head.major == TAG) {
                n = 1;
        }
        if (head.major != ARRAY && head.major != MAP && head.major != TAG)
                return;
        if (depth == JSON_READ_DEPTH_MAX || n / 2 > cursor_left(in))
                in->bad = true;
        for (uint64_t i = 0; i < n && !in->bad; i++)
                skip_value(in, depth + 1);
}

void cbor_each_pair(const void *data, size_t len, cbor_pair_visitor visit, void *context)
{
        struct cursor in = cursor_init(data, len);
        struct head map = take_head(&in);

        for (uint64_t i = 0; i < map.value && map.major == MAP && !in.bad; i++) {
                struct head head = take_head(&in);
                const uint8_t *key, *value;

                if (head.major != TEXT_STRING || head.value > cursor_left(&in))
                        return;
                key = cursor_take(&in, head.value);
                value = in.at;
                skip_value(&in, 0);
                if (!in.bad)
                        visit((const char *)key, head.value, value, (size_t)(in.at - value),
                              context);
        }
}

bool cbor_is_filled_map(const void *data, size_t len)
{
        struct cursor in = cursor_init(data, len);
        struct head head = take_head(&in);

        return !in.bad && head.major == MAP && head.value > 0;
}
