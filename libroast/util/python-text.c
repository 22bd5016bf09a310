/* Values that Python wrote as text: see python-text.h. */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "roast-error.h"
#include "util/cleanup.h"
#include "util/python-text.h"

struct text {
        const char *at;
        const char *end;
};

void python_tuple_deinit(struct python_tuple *tuple)
{
        for (size_t i = 0; i < tuple->n; i++)
                free(tuple->items[i].text);
        *tuple = (struct python_tuple){ 0 };
}

static void python_skip_blanks(struct text *in)
{
        while (in->at < in->end && *in->at == ' ')
                in->at++;
}

static bool python_skip_one(struct text *in, char c)
{
        python_skip_blanks(in);
        if (in->at == in->end || *in->at != c)
                return false;
        in->at++;
        return true;
}

static bool python_skip_word(struct text *in, const char *word)
{
        size_t len = strlen(word);

        if ((size_t)(in->end - in->at) < len || memcmp(in->at, word, len) != 0)
                return false;
        in->at += len;
        return true;
}

/* Digits of a number to a base of up to 16; false: there are not that many */
static bool python_read_digits(struct text *in, unsigned int n, unsigned int base, int64_t *value)
{
        static const char digits[] = "0123456789abcdef";

        *value = 0;
        for (unsigned int i = 0; i < n; i++, in->at++) {
                char c = in->at < in->end ? *in->at : '\0';
                const char *digit;

                if (c >= 'A' && c <= 'F')
                        c |= 0x20;
                digit = memchr(digits, c, base);

                if (!digit)
                        return false;
                *value = *value * base + (digit - digits);
        }
        return true;
}

/* repr() escapes what cannot be printed; that is kept as it was written, but for the common ones.
 */
static int python_read_escape(struct text *in, struct buf *out)
{
        static const char from[] = "\\'\"nrt", to[] = "\\'\"\n\r\t";
        const char *found;
        struct text ahead;
        int64_t byte;

        if (in->at == in->end)
                return 0;
        found = *in->at ? strchr(from, *in->at) : NULL;
        if (found) {
                in->at++;
                return buf_put_u8(out, (uint8_t)to[found - from]) < 0 ? ROAST_E_NOMEM : 1;
        }
        ahead = (struct text){ in->at + 1, in->end };
        if (*in->at == 'x' && python_read_digits(&ahead, 2, 16, &byte) && byte && byte < 0x80) {
                in->at = ahead.at;
                return buf_put_u8(out, (uint8_t)byte) < 0 ? ROAST_E_NOMEM : 1;
        }
        return buf_put_u8(out, '\\') < 0 ? ROAST_E_NOMEM : 1;
}

static int python_read_text(struct text *in, struct python_item *item)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        char quote = *in->at++;

        while (in->at < in->end && *in->at != quote) {
                int r;

                if (!*in->at)
                        return 0;
                if (*in->at != '\\') {
                        if (buf_put_u8(&out, (uint8_t)*in->at++) < 0)
                                return ROAST_E_NOMEM;
                        continue;
                }
                in->at++;
                r = python_read_escape(in, &out);
                if (r <= 0)
                        return r;
        }
        if (in->at == in->end)
                return 0;
        in->at++;
        item->type = PYTHON_TEXT;
        item->text = buf_release_string(&out);
        return item->text ? 1 : ROAST_E_NOMEM;
}

static int python_read_integer(struct text *in, struct python_item *item)
{
        bool negative = python_skip_word(in, "-");
        const char *start = in->at;

        for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++)
                if (__builtin_mul_overflow(item->integer, 10, &item->integer) ||
                    __builtin_add_overflow(item->integer, *in->at - '0', &item->integer))
                        return 0;
        if (negative)
                item->integer = -item->integer;
        item->type = PYTHON_INT;
        return in->at > start;
}

static int python_read_item(struct text *in, struct python_item *item)
{
        *item = (struct python_item){ .type = PYTHON_NONE };
        python_skip_blanks(in);
        if (in->at == in->end)
                return 0;
        if (*in->at == '\'' || *in->at == '"')
                return python_read_text(in, item);
        return python_skip_word(in, "None") ? 1 : python_read_integer(in, item);
}

static int python_read_items(struct python_tuple *tuple, struct text *in)
{
        if (!python_skip_one(in, '('))
                return 0;
        while (!python_skip_one(in, ')')) {
                int r = tuple->n < PYTHON_TUPLE_MAX ? python_read_item(in, &tuple->items[tuple->n])
                                                    : 0;

                if (r <= 0)
                        return r;
                tuple->n++;
                if (!python_skip_one(in, ','))
                        return python_skip_one(in, ')') && in->at == in->end;
        }
        return in->at == in->end;
}

int python_tuple_read(struct python_tuple *tuple, const char *data, size_t len)
{
        struct text in = { data, data + len };
        int r;

        *tuple = (struct python_tuple){ 0 };
        r = python_read_items(tuple, &in);
        if (r <= 0)
                python_tuple_deinit(tuple);
        return r;
}

/* Behind the seconds: up to nine digits of them count */
static bool python_read_fraction(struct text *in, int64_t *ns)
{
        int64_t scale = 100000000, digit;

        *ns = 0;
        if (!python_skip_word(in, ".") && !python_skip_word(in, ","))
                return true;
        if (in->at == in->end || *in->at < '0' || *in->at > '9')
                return false;
        for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++, scale /= 10) {
                digit = *in->at - '0';
                *ns += digit * scale;
        }
        return true;
}

static bool python_read_offset(struct text *in, int64_t *seconds)
{
        int64_t hours, minutes = 0, sign;

        *seconds = 0;
        if (in->at == in->end || python_skip_word(in, "Z"))
                return in->at == in->end;
        sign = python_skip_word(in, "-") ? -1 : python_skip_word(in, "+") ? 1 : 0;
        if (!sign || !python_read_digits(in, 2, 10, &hours))
                return false;
        (void)python_skip_word(in, ":");
        if (in->at < in->end && !python_read_digits(in, 2, 10, &minutes))
                return false;
        *seconds = sign * (hours * 3600 + minutes * 60);
        return in->at == in->end && hours < 24 && minutes < 60;
}

bool python_time_read(const char *data, size_t len, int64_t *utc_ns)
{
        struct text in = { data, data + len };
        int64_t year, month, day, hour, minute, second = 0, ns, offset_s;
        struct tm tm;

        if (!python_read_digits(&in, 4, 10, &year) || !python_skip_word(&in, "-") ||
            !python_read_digits(&in, 2, 10, &month) || !python_skip_word(&in, "-") ||
            !python_read_digits(&in, 2, 10, &day) ||
            !(python_skip_word(&in, "T") || python_skip_word(&in, " ")) ||
            !python_read_digits(&in, 2, 10, &hour) || !python_skip_word(&in, ":") ||
            !python_read_digits(&in, 2, 10, &minute))
                return false;
        if (python_skip_word(&in, ":") && !python_read_digits(&in, 2, 10, &second))
                return false;
        if (!python_read_fraction(&in, &ns) || !python_read_offset(&in, &offset_s))
                return false;
        /* the years that nanoseconds reach */
        if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 ||
            hour > 23 || minute > 59 || second > 60)
                return false;
        tm = (struct tm){ .tm_year = (int)year - 1900,
                          .tm_mon = (int)month - 1,
                          .tm_mday = (int)day,
                          .tm_hour = (int)hour,
                          .tm_min = (int)minute,
                          .tm_sec = (int)second };
        *utc_ns = ((int64_t)timegm(&tm) - offset_s) * 1000000000 + ns;
        return true;
}
