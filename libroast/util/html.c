/* Text inside of HTML: see html.h. */

#include "util/html.h"

int html_put(struct buf *out, const char *text)
{
        int r = 0;

        for (; *text && r >= 0; text++) {
                switch (*text) {
                case '&':
                        r = buf_puts(out, "&amp;");
                        break;
                case '<':
                        r = buf_puts(out, "&lt;");
                        break;
                case '>':
                        r = buf_puts(out, "&gt;");
                        break;
                case '"':
                        r = buf_puts(out, "&quot;");
                        break;
                case '\'':
                        r = buf_puts(out, "&#39;");
                        break;
                default:
                        r = buf_put_u8(
                                out, (uint8_t)*text < 0x20 || *text == 0x7f ? ' ' : (uint8_t)*text);
                }
        }
        return r;
}
