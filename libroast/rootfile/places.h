#pragma once
/*
 * The first bytes at many places of a file
 *
 * Baskets and pages tell their compression in their first bytes. Places are
 * visited in ascending order; neighbours that lie close together are read at
 * once, and what lies between distant ones is not read.
 */

#include "rootfile/source.h"

struct place {
        uint64_t seek;
        size_t index; /* of whatever is there */
};

void places_sort(struct place *places, size_t n);

/*
 * Bytes at places[i], at most `len`, fewer at the end of the file; returns how
 * many, or an error.
 */
int places_view(struct source *source, const struct place *places, size_t n, size_t i, size_t len,
                const uint8_t **view, struct roast_error *error);
