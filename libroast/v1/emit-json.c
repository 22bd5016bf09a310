/* The documented dicts as JSON: see emit-json.h. */

#include <stdio.h>

#include "record/cbor-json.h"
#include "util/utc.h"
#include "util/utf8.h"
#include "v1/emit-json.h"

static void emit_json_check(struct emit_json *self, int r)
{
        if (r < 0 && self->json->error >= 0)
                self->json->error = r;
        self->emit.error = self->json->error;
}

/* A string as repr() shows it; bytes that are not UTF-8 as the surrogates that Python has */
static int emit_json_quote(struct buf *out, const char *text, size_t len)
{
        char quote = memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';
        int r = buf_put_u8(out, (uint8_t)quote);

        for (size_t i = 0; i < len && r >= 0;) {
                size_t n = utf8_length((const uint8_t *)text + i, len - i);
                unsigned char c = (unsigned char)text[i];

                if (n == 0)
                        r = buf_printf(out, "\\udc%02x", c);
                else if (c == '\\' || c == quote)
                        r = buf_printf(out, "\\%c", c);
                else if (c < 0x20 || c == 0x7f)
                        r = buf_printf(out, "\\x%02x", c);
                else
                        r = buf_append(out, text + i, n);
                i += n ? n : 1;
        }
        return r < 0 ? r : buf_put_u8(out, (uint8_t)quote);
}

/* A value that is a key, or a part of a tuple that is one */
static void emit_json_key_text(struct emit_json *self, const char *text, size_t len, bool quoted)
{
        int r = 0;

        if (!self->in_tuple) {
                self->is_key = false;
                json_key_n(self->json, text, len);
        } else {
                if (self->repr.len > 1)
                        r = buf_puts(&self->repr, ", ");
                if (r >= 0)
                        r = quoted ? emit_json_quote(&self->repr, text, len)
                                   : buf_append(&self->repr, text, len);
        }
        emit_json_check(self, r);
}

static void emit_json_open_tuple(struct emit_json *self)
{
        if (!self->is_key) {
                json_array(self->json);
                return;
        }
        self->in_tuple = true;
        buf_clear(&self->repr);
        emit_json_check(self, buf_puts(&self->repr, "("));
}

static void emit_json_end(struct emit_json *self)
{
        if (!self->in_tuple) {
                json_end(self->json);
                return;
        }
        emit_json_check(self, buf_puts(&self->repr, ")"));
        self->in_tuple = false;
        if (self->emit.error >= 0)
                emit_json_key_text(self, (const char *)self->repr.data, self->repr.len, false);
}

static void emit_json_put_text(struct emit_json *self, const char *text, size_t len)
{
        if (self->is_key)
                emit_json_key_text(self, text, len, true);
        else
                json_string_n(self->json, text, len);
}

static void emit_json_put_time(struct emit_json *self, int64_t utc_ns)
{
        char text[32];

        utc_text(text, utc_ns);
        emit_json_put_text(self, text, strlen(text));
}

static void emit_json_put_int(struct emit_json *self, int64_t value)
{
        char text[24];

        if (!self->is_key)
                json_int(self->json, value);
        else
                emit_json_key_text(self, text,
                                   (size_t)snprintf(text, sizeof(text), "%lld", (long long)value),
                                   false);
}

static void emit_json_put(struct emit *emit, const struct emit_value *value)
{
        struct emit_json *self = (struct emit_json *)emit;
        enum json_surrogates surrogates;

        switch (value->type) {
        case EMIT_OBJECT:
                json_object(self->json);
                break;
        case EMIT_ARRAY:
                json_array(self->json);
                break;
        case EMIT_TUPLE:
                emit_json_open_tuple(self);
                break;
        case EMIT_END:
                emit_json_end(self);
                break;
        case EMIT_KEY:
                json_key(self->json, value->text);
                break;
        case EMIT_NEXT_IS_KEY:
                self->is_key = true;
                break;
        case EMIT_INT:
                emit_json_put_int(self, value->integer);
                break;
        case EMIT_WHOLE:
        case EMIT_REAL:
                json_double(self->json, value->real);
                break;
        case EMIT_TEXT:
                emit_json_put_text(self, value->text, value->len);
                break;
        case EMIT_BOOL:
                json_bool(self->json, value->integer);
                break;
        case EMIT_NULL:
                if (self->is_key)
                        emit_json_key_text(self, "None", 4, false);
                else
                        json_null(self->json);
                break;
        case EMIT_TIME:
                emit_json_put_time(self, value->integer);
                break;
        case EMIT_CBOR:
                surrogates = self->json->surrogates;
                if (surrogates)
                        self->json->surrogates =
                                JSON_ALL_SURROGATES; /* as Python puts them there */
                cbor_to_json(self->json, value->text, value->len);
                self->json->surrogates = surrogates;
                break;
        }
        emit->error = self->json->error;
}

void emit_json_init(struct emit_json *self, struct json *json)
{
        *self = (struct emit_json){ .emit = { .put = emit_json_put }, .json = json };
}

void emit_json_deinit(struct emit_json *self)
{
        buf_deinit(&self->repr);
}
