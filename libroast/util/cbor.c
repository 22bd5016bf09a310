/* Reading CBOR: see cbor.h. */

#include <string.h>

#include "util/cbor.h"

enum { UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, SIMPLE };
enum { HALF = 25, SINGLE = 26, DOUBLE = 27 };

static struct cbor_item bad(struct cbor *in)
{
        in->at = in->end;
        return (struct cbor_item){ .type = CBOR_BAD };
}

/* The argument of a head: in the low bits of its first byte, or in the bytes behind it */
static bool argument(struct cbor *in, unsigned int low, uint64_t *value)
{
        size_t n = low < 24 ? 0 : (size_t)1 << (low - 24);

        *value = low;
        if (low > 27 || n > (size_t)(in->end - in->at))
                return false;
        for (size_t i = 0; i < n; i++)
                *value = (i ? *value << 8 : 0) | *in->at++;
        return true;
}

static struct cbor_item string(struct cbor *in, enum cbor_type type, uint64_t n)
{
        struct cbor_item item = { .type = type, .text = (const char *)in->at, .n = n };

        if (n > (uint64_t)(in->end - in->at))
                return bad(in);
        in->at += n;
        return item;
}

static struct cbor_item simple(unsigned int low, uint64_t bits)
{
        struct cbor_item item = { .type = CBOR_OTHER };

        if (low == DOUBLE) {
                item.type = CBOR_NUMBER;
                memcpy(&item.number, &bits, sizeof(item.number));
        }
        return item;
}

struct cbor_item cbor_next(struct cbor *in)
{
        unsigned int major, low;
        uint64_t value;

        do { /* a tag is only said of what follows */
                if (in->at == in->end)
                        return bad(in);
                major = *in->at >> 5;
                low = *in->at++ & 31;
                if (!argument(in, low, &value))
                        return bad(in);
        } while (major == TAG);
        switch (major) {
        case UNSIGNED:
                return (struct cbor_item){ .type = CBOR_NUMBER, .number = (double)value };
        case NEGATIVE:
                return (struct cbor_item){ .type = CBOR_NUMBER, .number = -1 - (double)value };
        case BYTES:
                return string(in, CBOR_OTHER, value);
        case TEXT:
                return string(in, CBOR_TEXT, value);
        case ARRAY:
                return (struct cbor_item){ .type = CBOR_ARRAY, .n = value };
        case MAP:
                return (struct cbor_item){ .type = CBOR_MAP, .n = value };
        default:
                return simple(low, value);
        }
}

bool cbor_skip(struct cbor *in, const struct cbor_item *item)
{
        uint64_t left = 0;

        for (struct cbor_item now = *item;; now = cbor_next(in)) {
                uint64_t inside = now.type == CBOR_ARRAY ? now.n
                                  : now.type == CBOR_MAP ? 2 * now.n
                                                         : 0;

                /* each item takes a byte or more */
                if (now.type == CBOR_BAD || now.n > UINT64_MAX / 4 ||
                    inside > (uint64_t)(in->end - in->at) ||
                    __builtin_add_overflow(left, inside, &left))
                        return bad(in).type != CBOR_BAD;
                if (left == 0)
                        return true;
                left--;
        }
}

bool cbor_is(const struct cbor_item *item, const char *text)
{
        return item->type == CBOR_TEXT && item->n == strlen(text) &&
               !memcmp(item->text, text, item->n);
}
