/*
 * CBOR and JSON from any bytes
 *
 * As CBOR an input is skipped as a whole or is bad, its pairs lie inside of it,
 * and it is written as valid JSON. What JSON holds, be it that or the input
 * itself, survives the way through CBOR.
 */

#include <stdlib.h>
#include <string.h>

#include "record/cbor-json.h"
#include "record/cbor-source.h"
#include "util/cbor.h"
#include "util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bounds {
        const uint8_t *begin;
        const uint8_t *end;
};

static void check_pair(const char *key, size_t key_len, const void *value, size_t value_len,
                       void *context)
{
        const struct bounds *bounds = context;
        struct cursor in = cursor_init(value, value_len);
        struct cbor_item item = cbor_next(&in);

        cbor_skip(&in, &item);
        if ((const uint8_t *)key < bounds->begin ||
            (const uint8_t *)key + key_len > (const uint8_t *)value || value_len == 0 ||
            (const uint8_t *)value + value_len > bounds->end || in.bad || cursor_left(&in))
                abort();
        cbor_each_pair(value, value_len, check_pair, context);
}

static void write_json(struct buf *out, const void *data, size_t size)
{
        struct json json = { .out = out, .compact = true };

        cbor_to_json(&json, data, size);
        if (json.error < 0)
                abort();
}

/* Whether the text is JSON; then `cbor` has the same value. */
static bool read_json(struct buf *cbor, const void *data, size_t size)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct source_json json;
        struct json_reader in;
        bool good;

        if (buf_append(&text, data, size) < 0 || buf_put_u8(&text, 0) < 0 ||
            json_reader_init(&in, (const char *)text.data, size) < 0)
                abort();
        good = cbor_of_source(cbor, source_json_init(&json, &in)) &&
               json_reader_end(&in, NULL) == 0;
        json_reader_deinit(&in);
        return good;
}

static void check_round_trip(const struct buf *cbor)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf again = BUF_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf text_again = BUF_INIT;

        write_json(&text, cbor->data, cbor->len);
        if (!read_json(&again, text.data, text.len))
                abort();
        write_json(&text_again, again.data, again.len);
        if (text.len != text_again.len || memcmp(text.data, text_again.data, text.len) != 0)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf cbor = BUF_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf of_text = BUF_INIT;
        struct cursor in = cursor_init(data, size);
        struct cbor_item item = cbor_next(&in);

        cbor_skip(&in, &item);
        if (in.at < data || in.at > data + size)
                abort();
        cbor_each_pair(data, size, check_pair, &(struct bounds){ data, data + size });
        write_json(&text, data, size);
        if (!read_json(&cbor, text.data, text.len))
                abort();
        check_round_trip(&cbor);
        if (read_json(&of_text, data, size))
                check_round_trip(&of_text);
        return 0;
}
