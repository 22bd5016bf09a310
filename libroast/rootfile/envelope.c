/* The building blocks of RNTuple metadata: see envelope.h. */

#include <xxhash.h>

#include "rootfile/envelope.h"

#define CHECKSUM_BYTES 8
#define LOCATOR_LARGE  1

struct cursor envelope_open(const uint8_t *data, size_t len, enum envelope_type type,
                            uint64_t *checksum)
{
        struct cursor payload = { .bad = true };
        struct cursor cursor = cursor_init(data, len);
        struct cursor tail;
        uint64_t head = cursor_u64(&cursor);

        *checksum = 0;
        if (cursor_left(&cursor) < CHECKSUM_BYTES || (head & 0xffff) != (uint64_t)type ||
            head >> 16 != len)
                return payload;
        tail = cursor_init(data + len - CHECKSUM_BYTES, CHECKSUM_BYTES);
        *checksum = cursor_u64(&tail);
        if (XXH3_64bits(data, len - CHECKSUM_BYTES) != *checksum)
                return payload;
        return cursor_init(cursor.at, cursor_left(&cursor) - CHECKSUM_BYTES);
}

uint16_t frame_u16(struct cursor *cursor)
{
        uint16_t low = cursor_u8(cursor);

        return (uint16_t)(low | cursor_u8(cursor) << 8);
}

struct text frame_string(struct cursor *cursor)
{
        size_t len = cursor_u32(cursor);
        const uint8_t *at = cursor_take(cursor, len);

        return at ? (struct text){ (const char *)at, len } : (struct text){ "", 0 };
}

/* The bytes of a frame behind its size; the sign tells a list. */
static struct cursor envelope_frame_enter(struct cursor *outer, bool list)
{
        struct cursor inner = { .bad = true };
        int64_t size = (int64_t)cursor_u64(outer);
        uint64_t bytes = size < 0 ? -(uint64_t)size : (uint64_t)size;
        const uint8_t *at = NULL;

        if ((size < 0) == list && bytes >= 8 && bytes - 8 <= cursor_left(outer))
                at = cursor_take(outer, (size_t)bytes - 8);
        if (!at) {
                outer->bad = true;
                return inner;
        }
        return cursor_init(at, (size_t)bytes - 8);
}

struct cursor frame_record(struct cursor *outer)
{
        return envelope_frame_enter(outer, false);
}

struct cursor frame_list(struct cursor *outer, size_t *n)
{
        struct cursor inner = envelope_frame_enter(outer, true);

        *n = cursor_u32(&inner);
        /* The shortest item, a record without payload, takes 8 bytes. */
        if (inner.bad || *n > cursor_left(&inner) / 8) {
                outer->bad = inner.bad = true;
                *n = 0;
        }
        return inner;
}

void frame_skip(struct cursor *outer)
{
        struct cursor peek = *outer;

        envelope_frame_enter(outer, (int64_t)cursor_u64(&peek) < 0);
}

void frame_feature_flags(struct cursor *cursor)
{
        while (cursor_u64(cursor) >> 63)
                ;
}

struct locator frame_locator(struct cursor *cursor)
{
        struct locator locator = { 0 };
        uint32_t size = cursor_u32(cursor);

        if (!(size >> 31)) {
                locator.bytes = size;
        } else if (-size >> 24 == LOCATOR_LARGE) {
                locator.bytes = cursor_u64(cursor);
        } else {
                cursor->bad = true;
        }
        locator.seek = cursor_u64(cursor);
        return locator;
}
