/* Well-formed UTF-8, after table 3-7 of the Unicode standard. */

#include "util/utf8.h"

size_t utf8_length(const uint8_t *at, size_t left)
{
        uint8_t low = 0x80, high = 0xbf;
        size_t len;

        if (left == 0)
                return 0;
        if (at[0] < 0x80)
                return 1;
        if (at[0] < 0xc2 || at[0] > 0xf4)
                return 0;
        len = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
        if (len > left)
                return 0;
        if (at[0] == 0xe0)
                low = 0xa0;
        else if (at[0] == 0xed)
                high = 0x9f;
        else if (at[0] == 0xf0)
                low = 0x90;
        else if (at[0] == 0xf4)
                high = 0x8f;
        if (at[1] < low || at[1] > high)
                return 0;
        for (size_t i = 2; i < len; i++)
                if ((at[i] & 0xc0) != 0x80)
                        return 0;
        return len;
}

size_t utf8_control(const char *at)
{
        const uint8_t *byte = (const uint8_t *)at;

        if ((byte[0] > 0 && byte[0] < 0x20) || byte[0] == 0x7f)
                return 1;
        return byte[0] == 0xc2 && (byte[1] & 0xe0) == 0x80 ? 2 : 0;
}
