#pragma once
/* The parts of a chunk record that hold others, and how its values are put: see put-record.h */

#include "v1/put-record.h"

/* What stands for a value that is not known, in a dict that has all its keys */
enum put_fallback { PUT_NULL, PUT_ZERO, PUT_NOTHING };

static inline void put_absent(struct emit *emit, const struct v1_record *record, const char *key,
                              enum put_fallback fallback)
{
        if (!record->fallbacks || fallback == PUT_NOTHING)
                return;
        emit_key(emit, key);
        if (fallback == PUT_ZERO)
                emit_int(emit, 0);
        else
                emit_null(emit);
}

/* Not finite: not known */
static inline void put_real(struct emit *emit, const struct v1_record *record, const char *key,
                            double value, enum put_fallback fallback)
{
        if (isfinite(value))
                emit_pair_real(emit, key, value);
        else if (fallback == PUT_ZERO && record->fallbacks)
                emit_pair_real(emit, key, 0);
        else
                put_absent(emit, record, key, fallback);
}

static inline void put_int(struct emit *emit, const struct v1_record *record, const char *key,
                           int64_t value, enum put_fallback fallback)
{
        if (value != CHUNK_ABSENT)
                emit_pair_int(emit, key, value);
        else
                put_absent(emit, record, key, fallback);
}

/* A sum of whole numbers, which the earlier package had as 0 where nothing was known */
static inline void put_whole(struct emit *emit, const struct v1_record *record, const char *key,
                             double value)
{
        if (isfinite(value))
                emit_pair_whole(emit, key, true, value);
        else
                put_absent(emit, record, key, PUT_ZERO);
}

size_t put_n_branches(const struct v1_record *record);
double put_branch_sum(const struct v1_record *record); /* of those that are known; NaN: none */

/* Each puts one key of record.def. */
void put_accessed_branches(struct emit *emit, const struct v1_record *record, const char *key);
void put_num_branches_accessed(struct emit *emit, const struct v1_record *record, const char *key);
void put_accessed_bytes(struct emit *emit, const struct v1_record *record, const char *key);
void put_branch_bytes(struct emit *emit, const struct v1_record *record, const char *key);
void put_timing(struct emit *emit, const struct v1_record *record, const char *key);
void put_memory(struct emit *emit, const struct v1_record *record, const char *key);
void put_bytes(struct emit *emit, const struct v1_record *record, const char *key);
void put_sections(struct emit *emit, const struct v1_record *record, const char *key);
void put_memory_sections(struct emit *emit, const struct v1_record *record, const char *key);
void put_custom_metrics(struct emit *emit, const struct v1_record *record, const char *key);
/* The user's fields that have names of their own */
void put_own_fields(struct emit *emit, const struct v1_record *record);
