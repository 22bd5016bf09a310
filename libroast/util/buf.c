/* Growing byte buffers and sticky-error cursors: see buf.h. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roast-error.h"
#include "util/buf.h"
#include "util/size.h"

void buf_deinit(struct buf *buf)
{
        free(buf->data);
        *buf = (struct buf)BUF_INIT;
}

void buf_clear(struct buf *buf)
{
        buf->len = 0;
}

int buf_reserve(struct buf *buf, size_t more)
{
        size_t need, cap;
        uint8_t *data;

        if (!size_add(buf->len, more, &need))
                return ROAST_E_NOMEM;
        if (need <= buf->cap)
                return 0;
        cap = buf->cap < 64 ? 64 : buf->cap;
        while (cap < need)
                if (!size_mul(cap, 2, &cap))
                        return ROAST_E_NOMEM;
        data = realloc(buf->data, cap);
        if (!data)
                return ROAST_E_NOMEM;
        buf->data = data;
        buf->cap = cap;
        return 0;
}

int buf_append(struct buf *buf, const void *data, size_t len)
{
        int r = buf_reserve(buf, len);

        if (r < 0)
                return r;
        if (len)
                memcpy(buf->data + buf->len, data, len);
        buf->len += len;
        return 0;
}

int buf_puts(struct buf *buf, const char *string)
{
        return buf_append(buf, string, strlen(string));
}

int buf_printf(struct buf *buf, const char *format, ...)
{
        va_list args;
        int n, r;

        va_start(args, format);
        n = vsnprintf(NULL, 0, format, args);
        va_end(args);
        if (n < 0)
                return ROAST_E_INVALID;
        r = buf_reserve(buf, (size_t)n + 1);
        if (r < 0)
                return r;
        va_start(args, format);
        vsnprintf((char *)buf->data + buf->len, (size_t)n + 1, format, args);
        va_end(args);
        buf->len += (size_t)n;
        return 0;
}

int buf_put_u8(struct buf *buf, uint8_t value)
{
        return buf_append(buf, &value, 1);
}

static int buf_put_le(struct buf *buf, uint64_t value, size_t n)
{
        uint8_t bytes[8];

        for (size_t i = 0; i < n; i++)
                bytes[i] = (uint8_t)(value >> (8 * i));
        return buf_append(buf, bytes, n);
}

int buf_put_u32(struct buf *buf, uint32_t value)
{
        return buf_put_le(buf, value, 4);
}

int buf_put_u64(struct buf *buf, uint64_t value)
{
        return buf_put_le(buf, value, 8);
}

int buf_put_f64(struct buf *buf, double value)
{
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        return buf_put_u64(buf, bits);
}

int buf_put_varint(struct buf *buf, uint64_t value)
{
        uint8_t bytes[10];
        size_t n = 0;

        while (value >= 0x80) {
                bytes[n++] = (uint8_t)(value | 0x80);
                value >>= 7;
        }
        bytes[n++] = (uint8_t)value;
        return buf_append(buf, bytes, n);
}

int buf_put_zigzag(struct buf *buf, int64_t value)
{
        return buf_put_varint(buf, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

/*
 * Most figures are whole nanoseconds or bytes: a decimal of at most nine places and fifteen digits
 * is the shortest text of the number that it reads back as.
 */
static size_t buf_format_decimal(char text[40], double value)
{
        double scaled = value * 1e9;
        int64_t whole;
        size_t len;

        if (!(fabs(scaled) < 1e15) || (fabs(value) < 1e-4 && value != 0) ||
            (value == 0 && signbit(value)))
                return 0;
        whole = (int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5));
        if ((double)whole / 1e9 != value)
                return 0;
        len = (size_t)sprintf(text, "%s%lld.%09lld", whole < 0 ? "-" : "",
                              (long long)(llabs(whole) / 1000000000),
                              (long long)(llabs(whole) % 1000000000));
        while (text[len - 1] == '0')
                len--;
        return text[len - 1] == '.' ? len - 1 : len;
}

int buf_put_real(struct buf *buf, double value)
{
        char text[40], *point;
        size_t len = buf_format_decimal(text, value);

        if (len)
                return buf_append(buf, text, len);
        for (int digits = 15; digits <= 17; digits++) {
                snprintf(text, sizeof(text), "%.*g", digits, value);
                if (strtod(text, NULL) == value)
                        break;
        }
        point = text + strspn(text, "-0123456789");
        len = strcspn(point, "0123456789e");
        if (len) { /* whatever the locale has between the digits */
                memmove(point + 1, point + len, strlen(point + len) + 1);
                *point = '.';
        }
        return buf_puts(buf, text);
}

int buf_put_bytes(struct buf *buf, const void *data, size_t len)
{
        int r = buf_put_varint(buf, len);

        return r < 0 ? r : buf_append(buf, data, len);
}

char *buf_release_string(struct buf *buf)
{
        char *string;

        if (buf_put_u8(buf, 0) < 0)
                return NULL;
        string = (char *)buf->data;
        *buf = (struct buf)BUF_INIT;
        return string;
}

const uint8_t *cursor_take(struct cursor *cursor, size_t len)
{
        const uint8_t *view = cursor->at;

        if (cursor->bad || (size_t)(cursor->end - cursor->at) < len) {
                cursor->bad = true;
                return NULL;
        }
        cursor->at += len;
        return view;
}

static uint64_t buf_take_le(struct cursor *cursor, size_t n)
{
        const uint8_t *bytes = cursor_take(cursor, n);
        uint64_t value = 0;

        if (!bytes)
                return 0;
        for (size_t i = 0; i < n; i++)
                value |= (uint64_t)bytes[i] << (8 * i);
        return value;
}

uint8_t cursor_u8(struct cursor *cursor)
{
        return (uint8_t)buf_take_le(cursor, 1);
}

uint32_t cursor_u32(struct cursor *cursor)
{
        return (uint32_t)buf_take_le(cursor, 4);
}

uint64_t cursor_u64(struct cursor *cursor)
{
        return buf_take_le(cursor, 8);
}

double cursor_f64(struct cursor *cursor)
{
        uint64_t bits = cursor_u64(cursor);
        double value;

        memcpy(&value, &bits, sizeof(value));
        return value;
}

uint64_t cursor_varint(struct cursor *cursor)
{
        uint64_t value = 0;

        for (unsigned int shift = 0; shift < 64; shift += 7) {
                uint8_t byte = cursor_u8(cursor);

                if (cursor->bad)
                        return 0;
                if (shift == 63 && byte > 1)
                        break;
                value |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return value;
        }
        cursor->bad = true;
        return 0;
}

int64_t cursor_zigzag(struct cursor *cursor)
{
        uint64_t value = cursor_varint(cursor);

        return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

const uint8_t *cursor_bytes(struct cursor *cursor, size_t *len)
{
        uint64_t n = cursor_varint(cursor);
        const uint8_t *view;

        *len = 0;
        if (n > cursor_left(cursor)) {
                cursor->bad = true;
                return NULL;
        }
        view = cursor_take(cursor, (size_t)n);
        if (view)
                *len = (size_t)n;
        return view;
}
