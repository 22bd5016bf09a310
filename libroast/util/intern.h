#pragma once
/*
 * Interned strings: each distinct byte string once, known by a small number
 *
 * Numbers count from 0 in the order of first appearance. The views that
 * intern_get() returns are valid until the next intern_put().
 */

#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

struct intern {
        struct buf bytes;
        size_t *ends;    /* ends[i]: where string i ends in bytes */
        uint32_t *slots; /* open addressing: number + 1, 0 is free */
        size_t n;
        size_t cap;     /* of ends */
        size_t n_slots; /* a power of two, or 0 */
};

void intern_deinit(struct intern *intern);
/* Forgets the strings, but keeps the memory. */
void intern_clear(struct intern *intern);
/* The string's number, or ROAST_E_NOMEM. */
int64_t intern_put(struct intern *intern, const void *data, size_t len);
/* A string that is known to be another than all before: quicker. 0 or ROAST_E_NOMEM. */
int intern_append(struct intern *intern, const void *data, size_t len);
/* Has intern_find() know what was appended. 0 or ROAST_E_NOMEM. */
int intern_index(struct intern *intern);
/* The same of a string that must be there; ROAST_E_NOENT if it is not. */
int64_t intern_find(const struct intern *intern, const void *data, size_t len);
/* Forgets the strings from number n on. */
void intern_truncate(struct intern *intern, size_t n);
const char *intern_get(const struct intern *intern, size_t number, size_t *len);
