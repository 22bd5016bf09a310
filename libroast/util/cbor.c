/* CBOR: see cbor.h. */

#include <math.h>
#include <string.h>

#include "util/cbor.h"

/* What the low bits of a head say: the value itself below ONE_BYTE, or where it is */
enum { ONE_BYTE = 24, EIGHT_BYTES = 27 };
/* Simple values in a byte of their own begin here. */
enum { SIMPLE_BYTE_MIN = 32 };

static int cbor_put_head(struct buf *out, enum cbor_type type, uint64_t value, unsigned int low)
{
        unsigned int n = low < ONE_BYTE ? 0 : 1u << (low - ONE_BYTE);
        uint8_t bytes[9] = { (uint8_t)(type << 5 | low) };

        for (unsigned int i = 0; i < n; i++)
                bytes[1 + i] = (uint8_t)(value >> 8 * (n - 1 - i));
        return buf_append(out, bytes, 1 + n);
}

int cbor_put(struct buf *out, enum cbor_type type, uint64_t value)
{
        unsigned int low = value < ONE_BYTE      ? (unsigned int)value
                           : value <= UINT8_MAX  ? ONE_BYTE
                           : value <= UINT16_MAX ? ONE_BYTE + 1
                           : value <= UINT32_MAX ? ONE_BYTE + 2
                                                 : EIGHT_BYTES;

        return cbor_put_head(out, type, value, low);
}

int cbor_put_int(struct buf *out, int64_t value)
{
        return value < 0 ? cbor_put(out, CBOR_NEGATIVE, ~(uint64_t)value)
                         : cbor_put(out, CBOR_UINT, (uint64_t)value);
}

int cbor_put_real(struct buf *out, double value)
{
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        return cbor_put_head(out, CBOR_SIMPLE, bits, EIGHT_BYTES);
}

int cbor_put_text(struct buf *out, const char *data, size_t len)
{
        int r = cbor_put(out, CBOR_TEXT, len);

        return r < 0 ? r : buf_append(out, data, len);
}

static struct cbor_item cbor_bad(struct cursor *in)
{
        in->bad = true;
        return (struct cbor_item){ .type = CBOR_BAD };
}

static struct cbor_item cbor_simple(struct cursor *in, struct cbor_item item, unsigned int low)
{
        if (low == ONE_BYTE && item.value < SIMPLE_BYTE_MIN)
                return cbor_bad(in);
        if (low == EIGHT_BYTES) {
                item.type = CBOR_REAL;
                memcpy(&item.real, &item.value, sizeof(item.real));
        } else if (low > ONE_BYTE) { /* a shorter float: its bits are no simple value */
                item.value = low;
        }
        return item;
}

struct cbor_item cbor_next(struct cursor *in)
{
        uint8_t byte = cursor_u8(in);
        unsigned int low = byte & 31;
        struct cbor_item item = { .type = byte >> 5, .value = low };

        if (low > EIGHT_BYTES)
                return cbor_bad(in);
        for (unsigned int i = 0; low >= ONE_BYTE && i < 1u << (low - ONE_BYTE); i++)
                item.value = (i ? item.value << 8 : 0) | cursor_u8(in);
        if (in->bad)
                return cbor_bad(in);
        switch (item.type) {
        case CBOR_BYTES:
        case CBOR_TEXT:
                if (item.value > cursor_left(in))
                        return cbor_bad(in);
                item.data = cursor_take(in, (size_t)item.value);
                return item;
        case CBOR_ARRAY: /* an item takes a byte or more */
                return item.value > cursor_left(in) ? cbor_bad(in) : item;
        case CBOR_MAP:
                return item.value > cursor_left(in) / 2 ? cbor_bad(in) : item;
        case CBOR_SIMPLE:
                return cbor_simple(in, item, low);
        default:
                return item;
        }
}

void cbor_skip(struct cursor *in, const struct cbor_item *item)
{
        uint64_t left = 0;

        /* without recursion, so that no depth is too deep */
        for (struct cbor_item now = *item; now.type != CBOR_BAD; now = cbor_next(in)) {
                left += now.type == CBOR_ARRAY ? now.value
                        : now.type == CBOR_MAP ? 2 * now.value
                                               : now.type == CBOR_TAG;
                if (left > cursor_left(in))
                        in->bad = true;
                if (left == 0 || in->bad)
                        return;
                left--;
        }
}

bool cbor_is(const struct cbor_item *item, const char *text)
{
        return item->type == CBOR_TEXT && item->value == strlen(text) &&
               !memcmp(item->data, text, item->value);
}

double cbor_number(const struct cbor_item *item)
{
        switch (item->type) {
        case CBOR_UINT:
                return (double)item->value;
        case CBOR_NEGATIVE:
                return -1 - (double)item->value;
        case CBOR_REAL:
                return item->real;
        default:
                return (double)NAN;
        }
}

void cbor_each_pair(const void *data, size_t len, cbor_pair_visitor visit, void *context)
{
        struct cursor in = cursor_init(data, len);
        struct cbor_item map = cbor_next(&in);

        for (uint64_t i = 0; map.type == CBOR_MAP && i < map.value; i++) {
                struct cbor_item key = cbor_next(&in), value;
                const uint8_t *begin = in.at;

                if (key.type != CBOR_TEXT)
                        return;
                value = cbor_next(&in);
                cbor_skip(&in, &value);
                if (in.bad)
                        return;
                visit((const char *)key.data, (size_t)key.value, begin, (size_t)(in.at - begin),
                      context);
        }
}

bool cbor_is_filled_map(const void *data, size_t len)
{
        struct cursor in = cursor_init(data, len);
        struct cbor_item item = cbor_next(&in);

        return item.type == CBOR_MAP && item.value > 0;
}
