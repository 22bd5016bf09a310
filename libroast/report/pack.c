/* Data of the page being put together: see pack.h. */

#include "report/pack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/size.h"

/* Of the 24 of a float: four digits are left, which pack better. */
#define DROPPED_BITS 10

void pack_init(struct pack *pack)
{
        *pack = (struct pack){ .json = { .compact = true } };
        pack->json.out = &pack->header;
}

void pack_deinit(struct pack *pack)
{
        buf_deinit(&pack->header);
        buf_deinit(&pack->columns);
}

/* Describes a column and returns the place for its bytes; NULL: it has none, or no memory. */
static uint8_t *pack_column(struct pack *pack, const char *key, char kind, size_t n, size_t size,
                            uint64_t unit, bool delta)
{
        struct json *json = &pack->json;
        char type[8];
        uint8_t *place;

        snprintf(type, sizeof(type), "%c%zu", kind, 8 * size);
        json_key(json, key);
        json_object(json);
        json_pair(json, "type", type);
        json_pair_int(json, "n", (int64_t)n);
        json_pair_int(json, "at", (int64_t)pack->columns.len);
        if (unit != 1)
                json_pair_int(json, "unit", (int64_t)unit);
        if (delta)
                json_pair_bool(json, "delta", true);
        json_end(json);
        if (!n)
                return NULL;
        if (buf_reserve(&pack->columns, n * size) < 0) {
                json->error = ROAST_E_NOMEM;
                return NULL;
        }
        place = pack->columns.data + pack->columns.len;
        pack->columns.len += n * size;
        return place;
}

static void pack_put_planes(uint8_t *place, size_t n, size_t size, size_t i, uint64_t value)
{
        for (size_t byte = 0; byte < size; byte++)
                place[byte * n + i] = (uint8_t)(value >> (8 * byte));
}

/* Rounded to the nearest; NaN and infinities stay what they are. */
static uint32_t pack_round_to(uint32_t number, unsigned int dropped)
{
        if ((number & 0x7f800000u) == 0x7f800000u)
                return number;
        return (number + (UINT32_C(1) << (dropped - 1))) & ~((UINT32_C(1) << dropped) - 1);
}

void pack_reals(struct pack *pack, const char *key, const float *values, size_t n)
{
        uint8_t *place = pack_column(pack, key, 'f', n, sizeof(*values), 1, false);

        for (size_t i = 0; place && i < n; i++) {
                float value = isnan(values[i]) ? NAN : values[i];
                uint32_t number;

                memcpy(&number, &value, sizeof(number));
                pack_put_planes(place, n, sizeof(number), i, pack_round_to(number, DROPPED_BITS));
        }
}

/* Bytes that hold the largest number, and one that is higher for what is absent */
static size_t pack_size_of(const uint64_t *values, size_t n)
{
        uint64_t largest = 0;
        size_t size = 1;

        for (size_t i = 0; i < n; i++)
                if (values[i] > largest && values[i] != PACK_ABSENT)
                        largest = values[i];
        while (size < sizeof(largest) && largest >= (UINT64_C(1) << (8 * size)) - 1)
                size++;
        return size;
}

void pack_numbers(struct pack *pack, const char *key, const uint64_t *values, size_t n,
                  uint64_t unit, bool delta)
{
        size_t size = pack_size_of(values, n);
        uint8_t *place = pack_column(pack, key, 'u', n, size, unit, delta);
        uint64_t before = 0;

        for (size_t i = 0; place && i < n; i++) {
                pack_put_planes(place, n, size, i, values[i] - before);
                before = delta ? values[i] : 0;
        }
}

int pack_finish(struct pack *pack, void **data, size_t *len, struct roast_error *error)
{
        size_t json_len = pack->header.len, padded, total;
        uint8_t *out;

        if (pack->json.error < 0)
                return roast_fail_nomem(error);
        padded = (json_len + 3) / 4 * 4;
        if (padded > UINT32_MAX || !size_add(4 + padded, pack->columns.len, &total))
                return roast_fail(error, ROAST_E_INVALID, "the run is too large for a report");
        out = malloc(total);
        if (!out)
                return roast_fail_nomem(error);
        for (unsigned int byte = 0; byte < 4; byte++)
                out[byte] = (uint8_t)(padded >> (8 * byte));
        memcpy(out + 4, pack->header.data, json_len);
        memset(out + 4 + json_len, ' ', padded - json_len);
        if (pack->columns.len)
                memcpy(out + 4 + padded, pack->columns.data, pack->columns.len);
        *data = out;
        *len = total;
        pack_deinit(pack);
        return 0;
}
