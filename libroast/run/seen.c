/* A set of 64-bit keys: which chunk attempts have arrived already */

#include <stdlib.h>

#include "run/run.h"

void run_seen_deinit(struct run_seen *seen)
{
        free(seen->keys);
        *seen = (struct run_seen){ 0 };
}

static uint64_t *find(uint64_t *keys, size_t n_slots, uint64_t key)
{
        size_t at = (size_t)key & (n_slots - 1);

        while (keys[at] && keys[at] != key)
                at = (at + 1) & (n_slots - 1);
        return &keys[at];
}

static int grow(struct run_seen *seen)
{
        size_t n_slots = seen->n_slots ? seen->n_slots * 2 : 256;
        uint64_t *keys = calloc(n_slots, sizeof(*keys));

        if (!keys)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < seen->n_slots; i++)
                if (seen->keys[i])
                        *find(keys, n_slots, seen->keys[i]) = seen->keys[i];
        free(seen->keys);
        seen->keys = keys;
        seen->n_slots = n_slots;
        return 0;
}

int run_seen_add(struct run_seen *seen, uint64_t key)
{
        uint64_t *slot;

        if (key == 0)
                key = 1;
        if (seen->n * 2 >= seen->n_slots && grow(seen) < 0)
                return ROAST_E_NOMEM;
        slot = find(seen->keys, seen->n_slots, key);
        if (*slot)
                return 0;
        *slot = key;
        seen->n++;
        return 1;
}
