/* A set of 64-bit keys, in the order they came: which chunk attempts have arrived already */

#include <stdlib.h>

#include "run/run.h"

void run_seen_deinit(struct run_seen *seen)
{
        free(seen->keys);
        free(seen->slots);
        *seen = (struct run_seen){ 0 };
}

/* The slot of a key, or the free one where it would go */
static size_t *seen_find(const struct run_seen *seen, uint64_t key)
{
        size_t at = (size_t)key & (seen->n_slots - 1);

        while (seen->slots[at] && seen->keys[seen->slots[at] - 1] != key)
                at = (at + 1) & (seen->n_slots - 1);
        return &seen->slots[at];
}

static void seen_index_keys(struct run_seen *seen)
{
        for (size_t i = 0; i < seen->n_slots; i++)
                seen->slots[i] = 0;
        for (size_t i = 0; i < seen->n; i++)
                *seen_find(seen, seen->keys[i]) = i + 1;
}

/* There are always twice as many slots as keys. */
static int seen_grow(struct run_seen *seen)
{
        size_t n_slots = seen->n_slots ? seen->n_slots * 2 : 256;
        uint64_t *keys = realloc(seen->keys, n_slots / 2 * sizeof(*keys));
        size_t *slots;

        if (!keys)
                return ROAST_E_NOMEM;
        seen->keys = keys;
        slots = realloc(seen->slots, n_slots * sizeof(*slots));
        if (!slots)
                return ROAST_E_NOMEM;
        seen->slots = slots;
        seen->n_slots = n_slots;
        seen_index_keys(seen);
        return 0;
}

int run_seen_add(struct run_seen *seen, uint64_t key)
{
        size_t *slot;

        if (seen->n * 2 >= seen->n_slots && seen_grow(seen) < 0)
                return ROAST_E_NOMEM;
        slot = seen_find(seen, key);
        if (*slot)
                return 0;
        seen->keys[seen->n] = key;
        *slot = ++seen->n;
        return 1;
}

bool run_seen_has(const struct run_seen *seen, uint64_t key)
{
        return seen->n_slots && *seen_find(seen, key);
}

void run_seen_truncate(struct run_seen *seen, size_t n)
{
        if (n >= seen->n)
                return;
        seen->n = n;
        seen_index_keys(seen);
}
