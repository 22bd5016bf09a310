/* Objects as TBufferFile writes them: see wire.h. */

#include <math.h>
#include <string.h>

#include "rootfile/wire.h"
#include "util/size.h"

#define BYTE_COUNT_MASK 0x40000000u
#define CLASS_MASK      0x80000000u
#define NEW_CLASS_TAG   0xffffffffu
#define MAP_OFFSET      2
#define IS_REFERENCED   0x10u

static uint64_t wire_take_be(struct cursor *cursor, size_t n)
{
        const uint8_t *bytes = cursor_take(cursor, n);
        uint64_t value = 0;

        for (size_t i = 0; bytes && i < n; i++)
                value = value << 8 | bytes[i];
        return value;
}

uint16_t wire_u16(struct cursor *cursor)
{
        return (uint16_t)wire_take_be(cursor, 2);
}

uint32_t wire_u32(struct cursor *cursor)
{
        return (uint32_t)wire_take_be(cursor, 4);
}

uint64_t wire_u64(struct cursor *cursor)
{
        return wire_take_be(cursor, 8);
}

int32_t wire_i32(struct cursor *cursor)
{
        return (int32_t)wire_u32(cursor);
}

int64_t wire_i64(struct cursor *cursor)
{
        return (int64_t)wire_u64(cursor);
}

int64_t wire_f64_count(struct cursor *cursor)
{
        uint64_t bits = wire_u64(cursor);
        double value;

        memcpy(&value, &bits, sizeof(value));
        if (!(fabs(value) < 0x1p62)) {
                cursor->bad = true;
                return 0;
        }
        return (int64_t)value;
}

struct cursor wire_array(struct cursor *cursor, size_t n, size_t size)
{
        size_t bytes = 0;
        const uint8_t *at;

        if (!size_mul(n, size, &bytes))
                cursor->bad = true;
        at = cursor_take(cursor, bytes);
        return at ? cursor_init(at, bytes) : (struct cursor){ .bad = true };
}

uint64_t wire_place(struct cursor *cursor, bool is64)
{
        return wire_take_be(cursor, is64 ? 8 : 4);
}

struct text wire_string(struct cursor *cursor)
{
        size_t len = cursor_u8(cursor);
        const uint8_t *at;

        if (len == 255)
                len = wire_u32(cursor);
        at = cursor_take(cursor, len);
        return at ? (struct text){ (const char *)at, len } : (struct text){ "", 0 };
}

bool text_is(struct text text, const char *string)
{
        return text.len == strlen(string) && memcmp(text.at, string, text.len) == 0;
}

struct cursor wire_enter(struct cursor *outer, uint16_t *version)
{
        struct cursor inner = { .bad = true };
        uint32_t count = wire_u32(outer);
        const uint8_t *at;

        if (!(count & BYTE_COUNT_MASK) || count == NEW_CLASS_TAG)
                outer->bad = true;
        at = cursor_take(outer, count & ~BYTE_COUNT_MASK);
        if (at)
                inner = cursor_init(at, count & ~BYTE_COUNT_MASK);
        *version = wire_u16(&inner);
        if (inner.bad)
                outer->bad = true;
        return inner;
}

void wire_skip(struct cursor *outer)
{
        uint16_t version;

        wire_enter(outer, &version);
}

static void wire_skip_tobject(struct cursor *cursor)
{
        uint32_t bits;

        if (wire_u16(cursor) & (BYTE_COUNT_MASK >> 16))
                cursor_take(cursor, 4);
        cursor_take(cursor, 4);
        bits = wire_u32(cursor);
        if (bits & IS_REFERENCED)
                cursor_take(cursor, 2);
}

struct wire_named wire_tnamed(struct cursor *outer)
{
        struct wire_named named;
        uint16_t version;
        struct cursor inner = wire_enter(outer, &version);

        wire_skip_tobject(&inner);
        named.name = wire_string(&inner);
        named.title = wire_string(&inner);
        outer->bad |= inner.bad;
        return named;
}

struct cursor wire_tobjarray(struct cursor *outer, size_t *n)
{
        uint16_t version;
        struct cursor inner = wire_enter(outer, &version);
        int32_t size;

        if (version > 2)
                wire_skip_tobject(&inner);
        if (version > 1)
                wire_string(&inner);
        size = wire_i32(&inner);
        wire_u32(&inner); /* lower bound */
        /* A null pointer, the shortest element, takes 4 bytes. */
        if (size < 0 || (size_t)size > cursor_left(&inner) / 4)
                inner.bad = true;
        outer->bad |= inner.bad;
        *n = inner.bad ? 0 : (size_t)size;
        return inner;
}

static struct text wire_class_name_at(const struct body *body, size_t place)
{
        const uint8_t *at = body->data + place;
        const uint8_t *end = memchr(at, 0, body->len - place);

        return end ? (struct text){ (const char *)at, (size_t)(end - at) } : (struct text){ "", 0 };
}

/* From a tag's number to an offset in the body; false: it points elsewhere. */
static bool wire_resolve(const struct body *body, uint32_t place, size_t before, size_t *ret)
{
        if (place < body->keylen + MAP_OFFSET || place - body->keylen - MAP_OFFSET >= before)
                return false;
        *ret = place - body->keylen - MAP_OFFSET;
        return true;
}

/* The pointer at an offset of the body, which is no reference to another object again. */
static struct wire_pointer wire_pointer_at(const struct body *body, size_t offset)
{
        struct cursor cursor = cursor_init(body->data + offset, body->len - offset);
        struct wire_pointer pointer = { .class_name = { "", 0 } };
        uint32_t count = wire_u32(&cursor);
        const uint8_t *end = cursor.at;
        uint32_t tag;
        size_t place;

        if (!(count & BYTE_COUNT_MASK) || count == NEW_CLASS_TAG)
                return pointer;
        count &= ~BYTE_COUNT_MASK;
        if (count > cursor_left(&cursor))
                return pointer;
        end += count;
        tag = wire_u32(&cursor);
        if (tag == NEW_CLASS_TAG) {
                pointer.class_name = wire_class_name_at(body, (size_t)(cursor.at - body->data));
                cursor_take(&cursor, pointer.class_name.len + 1);
        } else if (tag & CLASS_MASK && wire_resolve(body, tag & ~CLASS_MASK, offset, &place) &&
                   body->len - place > 4) {
                pointer.class_name = wire_class_name_at(body, place + 4);
        }
        if (cursor.bad || cursor.at > end)
                return (struct wire_pointer){ .class_name = { "", 0 } };
        pointer.object = cursor_init(cursor.at, (size_t)(end - cursor.at));
        return pointer;
}

struct wire_pointer wire_pointer(struct cursor *outer, const struct body *body)
{
        struct wire_pointer none = { .class_name = { "", 0 } };
        const uint8_t *begin = outer->at;
        uint32_t count = wire_u32(outer);
        struct wire_pointer pointer;
        size_t offset, place;

        if (outer->bad || count == 0)
                return none;
        offset = (size_t)(begin - body->data);
        if (!(count & BYTE_COUNT_MASK)) {
                if (!wire_resolve(body, count, offset, &place))
                        return none;
                return wire_pointer_at(body, place);
        }
        cursor_take(outer, count & ~BYTE_COUNT_MASK);
        pointer = outer->bad ? none : wire_pointer_at(body, offset);
        if (pointer.class_name.len == 0)
                outer->bad = true;
        return pointer;
}
