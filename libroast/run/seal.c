/* Seals over rows, by XXH3: see seal.h. */

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

static int put_value(struct buf *row, const struct run_value *value)
{
        int r = buf_put_u8(row, (uint8_t)value->type);

        if (r < 0)
                return r;
        switch (value->type) {
        case RUN_NULL:
                return 0;
        case RUN_INT:
                return buf_put_u64(row, (uint64_t)value->integer);
        case RUN_REAL:
                return buf_put_f64(row, value->real);
        case RUN_STRING:
        case RUN_BYTES:
                break;
        }
        r = buf_put_u64(row, value->len);
        return r < 0 ? r : buf_append(row, value->data, value->len);
}

int seal_note(struct seal *seal, const struct run_value *values, size_t n)
{
        int r = 0;

        buf_clear(&seal->row);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = put_value(&seal->row, &values[i]);
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
