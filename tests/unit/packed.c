/* The data of the page, read back: see packed.h. */

#include "packed.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/text.h"

void packed_deinit(struct packed *packed)
{
        free(packed->bytes);
        free(packed->json);
}

void packed_of(struct packed *packed, void *bytes, size_t len)
{
        const uint8_t *at = bytes;
        size_t json_len = (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16;

        assert_true(len >= 4 + json_len);
        assert_int_equal(json_len % 4, 0);
        *packed = (struct packed){ bytes, text_copy((const char *)at + 4, json_len),
                                   at + 4 + json_len };
        assert_non_null(packed->json);
}

void packed_of_run(struct packed *packed, struct roast_run *run)
{
        struct roast_error error = { 0 };
        void *bytes;
        size_t len;

        if (roast_report_data(&bytes, &len, run, &error) < 0)
                fail_msg("%s", error.message);
        packed_of(packed, bytes, len);
}

struct column {
        const uint8_t *planes;
        size_t n;
        size_t size;
        uint64_t unit;
        bool delta;
};

static struct column column_of(const struct packed *packed, const char *key)
{
        char name[64], type[8], rest[128] = "";
        struct column column = { .unit = 1 };
        const char *at;
        size_t place;
        int found;

        snprintf(name, sizeof(name), "\"%s\":{\"type\":", key);
        at = strstr(packed->json, name);
        assert_non_null(at);
        found = sscanf(at + strlen(name), "\"%7[a-z0-9]\",\"n\":%zu,\"at\":%zu%127[^}]", type,
                       &column.n, &place, rest);
        assert_true(found >= 3);
        column.planes = packed->columns + place;
        column.size = strtoul(type + 1, NULL, 10) / 8;
        assert_true(column.size >= 1 && column.size <= 8);
        column.delta = strstr(rest, "\"delta\":true");
        at = strstr(rest, "\"unit\":");
        if (at)
                column.unit = strtoull(at + 7, NULL, 10);
        return column;
}

uint64_t packed_unit(const struct packed *packed, const char *key)
{
        return column_of(packed, key).unit;
}

uint64_t packed_number(const struct packed *packed, const char *key, size_t i)
{
        struct column column = column_of(packed, key);
        uint64_t value = 0, highest = UINT64_MAX >> (64 - 8 * column.size);

        assert_true(i < column.n);
        for (size_t k = column.delta ? 0 : i; k <= i; k++) {
                uint64_t own = 0;

                for (size_t byte = 0; byte < column.size; byte++)
                        own |= (uint64_t)column.planes[byte * column.n + k] << (8 * byte);
                value = (value + own) & highest;
        }
        return value == highest ? PACK_ABSENT : value * column.unit;
}

double packed_real(const struct packed *packed, const char *key, size_t i)
{
        uint32_t bits = (uint32_t)packed_number(packed, key, i);
        float value;

        memcpy(&value, &bits, sizeof(value));
        return (double)value;
}
