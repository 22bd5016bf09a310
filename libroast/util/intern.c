/* Interned strings: a byte buffer, the ends of the strings, an open hash table over both. */

#include <stdlib.h>
#include <string.h>

#include "roast-error.h"
#include "util/array.h"
#include "util/intern.h"

#define INTERN_MAX (UINT32_MAX - 1)

void intern_deinit(struct intern *intern)
{
        buf_deinit(&intern->bytes);
        free(intern->ends);
        free(intern->slots);
        *intern = (struct intern){ 0 };
}

void intern_clear(struct intern *intern)
{
        buf_clear(&intern->bytes);
        intern->n = 0;
        if (intern->n_slots)
                memset(intern->slots, 0, intern->n_slots * sizeof(*intern->slots));
}

static uint64_t intern_mix(uint64_t hash, uint64_t word)
{
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        return hash ^ hash >> 32;
}

/* Eight bytes at a time. The last round brings what is in the high bits down to all the others. */
static uint64_t intern_hash_bytes(const uint8_t *data, size_t len)
{
        uint64_t hash = len, word = 0;

        for (; len >= sizeof(word); data += sizeof(word), len -= sizeof(word)) {
                memcpy(&word, data, sizeof(word));
                hash = intern_mix(hash, word);
        }
        word = 0;
        if (len)
                memcpy(&word, data, len);
        return intern_mix(intern_mix(hash, word), 0);
}

const char *intern_get(const struct intern *intern, size_t number, size_t *len)
{
        size_t start = number ? intern->ends[number - 1] : 0;

        *len = intern->ends[number] - start;
        /* without data there is only the empty string */
        return intern->bytes.data ? (const char *)intern->bytes.data + start : "";
}

static uint32_t *intern_find_slot(const struct intern *intern, const void *data, size_t len)
{
        size_t at = intern_hash_bytes(data, len) & (intern->n_slots - 1);

        for (;; at = (at + 1) & (intern->n_slots - 1)) {
                const char *other;
                size_t other_len;

                if (!intern->slots[at])
                        return &intern->slots[at];
                other = intern_get(intern, intern->slots[at] - 1, &other_len);
                if (other_len == len && (len == 0 || !memcmp(other, data, len)))
                        return &intern->slots[at];
        }
}

int64_t intern_find(const struct intern *intern, const void *data, size_t len)
{
        uint32_t number = intern->n_slots ? *intern_find_slot(intern, data, len) : 0;

        return number ? (int64_t)number - 1 : ROAST_E_NOENT;
}

/* Slots that are all free get the strings that there are. */
static void intern_fill_slots(struct intern *intern)
{
        for (size_t i = 0; i < intern->n; i++) {
                size_t len;
                const char *data = intern_get(intern, i, &len);
                uint32_t *slot = intern_find_slot(intern, data, len);

                if (!*slot)
                        *slot = (uint32_t)(i + 1);
        }
}

/* So many that the strings, and one more, take half of them at most */
int intern_index(struct intern *intern)
{
        size_t n_slots = intern->n_slots ? intern->n_slots : 16;
        uint32_t *old = intern->slots;

        while (intern->n >= n_slots / 2)
                n_slots *= 2;
        if (n_slots == intern->n_slots)
                return 0;
        intern->slots = calloc(n_slots, sizeof(*intern->slots));
        if (!intern->slots) {
                intern->slots = old;
                return ROAST_E_NOMEM;
        }
        intern->n_slots = n_slots;
        free(old);
        intern_fill_slots(intern);
        return 0;
}

void intern_truncate(struct intern *intern, size_t n)
{
        if (n >= intern->n)
                return;
        intern->n = n;
        intern->bytes.len = n ? intern->ends[n - 1] : 0;
        memset(intern->slots, 0, intern->n_slots * sizeof(*intern->slots));
        intern_fill_slots(intern);
}

int intern_append(struct intern *intern, const void *data, size_t len)
{
        int r;

        if (intern->n >= INTERN_MAX || ARRAY_ROOM(intern->ends, intern->n, intern->cap) < 0)
                return ROAST_E_NOMEM;
        r = buf_append(&intern->bytes, data, len);
        if (r < 0)
                return r;
        intern->ends[intern->n++] = intern->bytes.len;
        return 0;
}

int64_t intern_put(struct intern *intern, const void *data, size_t len)
{
        uint32_t *slot;
        int r = intern_index(intern);

        if (r < 0)
                return r;
        slot = intern_find_slot(intern, data, len);
        if (!*slot) {
                r = intern_append(intern, data, len);
                if (r < 0)
                        return r;
                *slot = (uint32_t)intern->n;
        }
        return *slot - 1;
}
