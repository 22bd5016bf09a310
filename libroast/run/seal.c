/* Seals over rows, by XXH3: see seal.h. */

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "roast-error.h"
#include "run/seal.h"
#include "util/size.h"

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

static uint8_t *seal_put_u64(uint8_t *at, uint64_t value)
{
        for (int i = 0; i < 8; i++)
                at[i] = (uint8_t)(value >> 8 * i);
        return at + 8;
}

static uint8_t *seal_put_value(uint8_t *at, const struct run_value *value)
{
        uint64_t bits;

        *at++ = (uint8_t)value->type;
        switch (value->type) {
        case RUN_NULL:
                return at;
        case RUN_INT:
                return seal_put_u64(at, (uint64_t)value->integer);
        case RUN_REAL:
                memcpy(&bits, &value->real, sizeof(bits));
                return seal_put_u64(at, bits);
        case RUN_STRING:
        case RUN_BYTES:
                break;
        }
        at = seal_put_u64(at, value->len);
        if (value->len)
                memcpy(at, value->data, value->len);
        return at + value->len;
}

int seal_note(struct seal *seal, const struct run_value *values, size_t n)
{
        size_t size = 9 * n;
        uint8_t *at;

        for (size_t i = 0; i < n; i++)
                if ((values[i].type == RUN_STRING || values[i].type == RUN_BYTES) &&
                    !size_add(size, values[i].len, &size))
                        return ROAST_E_NOMEM;
        buf_clear(&seal->row);
        if (buf_reserve(&seal->row, size) < 0)
                return ROAST_E_NOMEM;
        at = seal->row.data;
        for (size_t i = 0; i < n; i++)
                at = seal_put_value(at, &values[i]);
        seal->row.len = (size_t)(at - seal->row.data);
        return 0;
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
