#pragma once
/*
 * Keys of the documented dict of a chunk
 *
 * It is read in two places, from a Python dict and from the JSON of a
 * measurement, and exports write it. The lists end with a key that is NULL.
 */

#include "record/chunk.h"

struct documented_number {
        const char *key;
        enum chunk_field field;
        double unit; /* of the field in one of the dict's */
};

extern const struct documented_number documented_numbers[];
/* Those of "wall_split" */
extern const struct documented_number documented_split[];
/* Keys that follow from others */
extern const char *const documented_derived[];
