/* UUIDs: see uuid.h. */

#include "record/uuid.h"

static bool uuid_is_dash(size_t at)
{
        return at == 8 || at == 13 || at == 18 || at == 23;
}

static int uuid_digit(char c)
{
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool uuid_pack(const char *text, size_t len, uint8_t bytes[16])
{
        size_t n = 0;

        if (len != UUID_TEXT)
                return false;
        for (size_t i = 0; i < UUID_TEXT; i++) {
                int value = uuid_digit(text[i]);

                if (uuid_is_dash(i) ? text[i] != '-' : value < 0)
                        return false;
                if (uuid_is_dash(i))
                        continue;
                bytes[n / 2] = (uint8_t)(n % 2 ? bytes[n / 2] | value : value << 4);
                n++;
        }
        return true;
}

void uuid_unpack(const uint8_t bytes[16], char text[UUID_TEXT])
{
        size_t n = 0;

        for (size_t i = 0; i < UUID_TEXT; i++) {
                if (uuid_is_dash(i)) {
                        text[i] = '-';
                } else {
                        text[i] = "0123456789abcdef"[bytes[n / 2] >> (n % 2 ? 0 : 4) & 15];
                        n++;
                }
        }
}
