#pragma once
/*
 * Growing byte buffers, and cursors that read them back
 *
 * A buffer is an embedded object: BUF_INIT (or zeroes) is the empty buffer,
 * buf_deinit() frees it. Appending returns 0 or ROAST_E_NOMEM; on failure the
 * buffer is as it was.
 *
 * A cursor reads hostile bytes: reading past the end sets `bad`, returns zero,
 * and every later read returns zero too, so a decoder checks once at its end.
 *
 * Integers are little-endian or LEB128 varints; signed ones are zigzag-coded.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
        uint8_t *data;
        size_t len;
        size_t cap;
};

#define BUF_INIT                                                                                   \
        {                                                                                          \
                NULL, 0, 0                                                                         \
        }

void buf_deinit(struct buf *buf);
void buf_clear(struct buf *buf);
int buf_reserve(struct buf *buf, size_t more);
int buf_append(struct buf *buf, const void *data, size_t len);
int buf_puts(struct buf *buf, const char *string);
int buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
int buf_put_u8(struct buf *buf, uint8_t value);
int buf_put_u32(struct buf *buf, uint32_t value);
int buf_put_u64(struct buf *buf, uint64_t value);
int buf_put_f64(struct buf *buf, double value);
int buf_put_varint(struct buf *buf, uint64_t value);
int buf_put_zigzag(struct buf *buf, int64_t value);
/*
 * A finite number in the fewest of 15 to 17 digits that read back as the same
 * number, with a point in every locale.
 */
int buf_put_real(struct buf *buf, double value);
/* length as a varint, then the bytes */
int buf_put_bytes(struct buf *buf, const void *data, size_t len);

/* The contents as a C string that the caller frees; the buffer is empty afterwards. NULL: no
 * memory. */
char *buf_release_string(struct buf *buf);

struct cursor {
        const uint8_t *at;
        const uint8_t *end;
        bool bad;
};

static inline struct cursor cursor_init(const void *data, size_t len)
{
        return (struct cursor){ data, (const uint8_t *)data + len, false };
}

static inline size_t cursor_left(const struct cursor *cursor)
{
        return cursor->bad ? 0 : (size_t)(cursor->end - cursor->at);
}

uint8_t cursor_u8(struct cursor *cursor);
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);
double cursor_f64(struct cursor *cursor);
uint64_t cursor_varint(struct cursor *cursor);
int64_t cursor_zigzag(struct cursor *cursor);
/* A view of the next `len` bytes; NULL when there are not that many. */
const uint8_t *cursor_take(struct cursor *cursor, size_t len);
/* The counterpart of buf_put_bytes(): a view and its length. */
const uint8_t *cursor_bytes(struct cursor *cursor, size_t *len);
