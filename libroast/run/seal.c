/* Seals over rows, by XXH3: see seal.h. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "roast-error.h"
#include "run/seal.h"

struct seal {
        XXH3_state_t state; /* wants 64-byte alignment */
        struct buf row;
};

struct seal *seal_new(unsigned int table)
{
        struct seal *seal = aligned_alloc(_Alignof(struct seal), sizeof(*seal));

        if (!seal)
                return NULL;
        memset(seal, 0, sizeof(*seal));
        seal_restart(seal, table);
        return seal;
}

void seal_free(struct seal *seal)
{
        if (!seal)
                return;
        buf_deinit(&seal->row);
        free(seal);
}

void seal_restart(struct seal *seal, uint64_t hash)
{
        XXH3_64bits_reset_withSeed(&seal->state, hash);
}

/* A type and a number */
#define NUMBER_BYTES (1 + sizeof(uint64_t))

/* There is room for NUMBER_BYTES. */
static int put_value(struct buf *row, const struct run_value *value)
{
        uint64_t number = (uint64_t)value->integer;

        row->data[row->len++] = (uint8_t)value->type;
        switch (value->type) {
        case RUN_NULL:
                return 0;
        case RUN_REAL:
                memcpy(&number, &value->real, sizeof(number));
                break;
        case RUN_INT:
                break;
        case RUN_STRING:
        case RUN_BYTES:
                number = value->len;
                break;
        }
        number = htole64(number);
        memcpy(row->data + row->len, &number, sizeof(number));
        row->len += sizeof(number);
        if (value->type != RUN_STRING && value->type != RUN_BYTES)
                return 0;
        return buf_append(row, value->data, value->len);
}

int seal_note(struct seal *seal, const struct run_value *values, size_t n)
{
        int r = 0;

        buf_clear(&seal->row);
        for (size_t i = 0; i < n && r >= 0; i++) {
                if (seal->row.cap - seal->row.len < NUMBER_BYTES)
                        r = buf_reserve(&seal->row, NUMBER_BYTES);
                if (r >= 0)
                        r = put_value(&seal->row, &values[i]);
        }
        return r;
}

void seal_add(struct seal *seal)
{
        XXH3_64bits_update(&seal->state, seal->row.data, seal->row.len);
}

uint64_t seal_hash(const struct seal *seal)
{
        return XXH3_64bits_digest(&seal->state);
}

uint64_t run_hash(uint64_t seed, const void *data, size_t len)
{
        return XXH3_64bits_withSeed(data, len, seed);
}
