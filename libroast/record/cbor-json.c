/* Blobs of a chunk record as JSON: see cbor-json.h. */

#include "record/cbor-json.h"
#include "roast-error.h"
#include "util/cbor.h"
#include "util/cleanup.h"

/* One level of JSON is kept for each level of CBOR, and some for what stands around them. */
#define DEPTH_MAX (JSON_DEPTH_MAX - 6)

static void cbor_write_value(struct json *json, struct cursor *in, unsigned int depth);

static void cbor_write_damaged(struct json *json, struct cursor *in)
{
        in->bad = true;
        json_null(json);
}

static void cbor_write_bytes(struct json *json, const uint8_t *data, size_t len)
{
        static const char digits[] = "0123456789abcdef";
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;

        for (size_t i = 0; i < len; i++)
                if (buf_put_u8(&text, (uint8_t)digits[data[i] >> 4]) < 0 ||
                    buf_put_u8(&text, (uint8_t)digits[data[i] & 15]) < 0)
                        json->error = ROAST_E_NOMEM;
        json_string_n(json, text.data ? (const char *)text.data : "", text.len);
}

static void cbor_write_simple(struct json *json, struct cursor *in, uint64_t value)
{
        if (value == CBOR_FALSE || value == CBOR_TRUE)
                json_bool(json, value == CBOR_TRUE);
        else if (value == CBOR_NULL)
                json_null(json);
        else
                cbor_write_damaged(json, in);
}

static void cbor_write_int(struct json *json, const struct cbor_item *item)
{
        if (item->value > INT64_MAX)
                json_double(json, cbor_number(item));
        else
                json_int(json,
                         item->type == CBOR_UINT ? (int64_t)item->value : ~(int64_t)item->value);
}

/* A big integer: JSON's readers take it for a real number anyway. */
static void cbor_write_big(struct json *json, struct cursor *in, uint64_t tag)
{
        struct cbor_item bytes = cbor_next(in);
        double value = 0;

        if (bytes.type != CBOR_BYTES || (tag != CBOR_BIG && tag != CBOR_BIG_NEGATIVE)) {
                cbor_write_damaged(json, in);
                return;
        }
        for (uint64_t i = 0; i < bytes.value; i++)
                value = value * 256 + bytes.data[i];
        json_double(json, tag == CBOR_BIG ? value : -1 - value);
}

/* A key that is no text: its JSON as text */
static void cbor_write_key(struct json *json, struct cursor *in, unsigned int depth)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct json inner = { .out = &text, .compact = true };
        struct cursor ahead = *in;
        struct cbor_item key = cbor_next(&ahead);

        if (key.type == CBOR_TEXT) {
                json_key_n(json, (const char *)key.data, (size_t)key.value);
                *in = ahead;
                return;
        }
        cbor_write_value(&inner, in, depth);
        if (inner.error < 0)
                json->error = inner.error;
        json_key_n(json, text.data ? (const char *)text.data : "", text.len);
}

static void cbor_write_container(struct json *json, struct cursor *in, const struct cbor_item *item,
                                 unsigned int depth)
{
        bool is_map = item->type == CBOR_MAP;

        if (depth == DEPTH_MAX) {
                cbor_write_damaged(json, in);
                return;
        }
        if (is_map)
                json_object(json);
        else
                json_array(json);
        for (uint64_t i = 0; i < item->value && !in->bad && json->error >= 0; i++) {
                if (is_map)
                        cbor_write_key(json, in, depth + 1);
                cbor_write_value(json, in, depth + 1);
        }
        json_end(json);
}

static void cbor_write_value(struct json *json, struct cursor *in, unsigned int depth)
{
        struct cbor_item item = cbor_next(in);

        switch (item.type) {
        case CBOR_UINT:
        case CBOR_NEGATIVE:
                cbor_write_int(json, &item);
                break;
        case CBOR_BYTES:
                cbor_write_bytes(json, item.data, (size_t)item.value);
                break;
        case CBOR_TEXT:
                json_string_n(json, (const char *)item.data, (size_t)item.value);
                break;
        case CBOR_ARRAY:
        case CBOR_MAP:
                cbor_write_container(json, in, &item, depth);
                break;
        case CBOR_TAG:
                cbor_write_big(json, in, item.value);
                break;
        case CBOR_SIMPLE:
                cbor_write_simple(json, in, item.value);
                break;
        case CBOR_REAL:
                json_double(json, item.real);
                break;
        case CBOR_BAD:
                json_null(json);
                break;
        }
}

void cbor_to_json(struct json *json, const void *data, size_t len)
{
        struct cursor in = cursor_init(data, len);

        cbor_write_value(json, &in, 0);
}
