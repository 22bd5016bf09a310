#pragma once
/*
 * A chunk record as the documented dict, in the order of record.def
 *
 * The keys of the earlier package come first, then those of the metrics reference
 * and what else is measured; last the user's own fields. One of these that has the
 * name of another key is found under `custom_metrics`.
 */

#include "record/chunk.h"
#include "util/emit.h"

#define V1_MIB 1048576.0

struct v1_record {
        const struct chunk_table *table;
        size_t row;
        int64_t chunk_id;
        /*
         * Whether the dict has all its keys, as users of the earlier package rely on: what is not
         * known is 0 in the keys that it had, and null in others. Otherwise it is left out.
         */
        bool fallbacks;
};

/* The pairs of a record; the object around them is the caller's. */
void v1_put_record(struct emit *emit, const struct v1_record *record);

/* Key i, and whether it holds an object or a list; NULL: there are no more. */
const char *v1_record_key(size_t i, bool *nested);

/* A number of a record; NaN if it is absent. */
double v1_record_real(const struct chunk_table *table, size_t row, enum chunk_field field,
                      double unit);
const char *v1_record_outcome(const struct chunk_table *table, size_t row);
/* {name: seconds}: what its sections took */
void v1_put_section_times(struct emit *emit, const struct v1_record *record);
