#pragma once
/*
 * Chunk records, many at a time
 *
 * A table holds the records of any number of chunks by columns: one int64 per
 * field and chunk. Text and blob fields hold the number of an interned string.
 * CHUNK_ABSENT stands for a value that is not known (absent is not zero).
 * Sections and branches of all chunks stand one after the other in columns of
 * their own; chunk i has those from first[i] to first[i + 1].
 *
 * The same bytes, chunk_table_encode(), travel from the worker (a table with
 * one row), through coffea's reductions (tables appended to each other) and
 * into the run.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"
#include "util/buf.h"
#include "util/intern.h"

#define CHUNK_ABSENT INT64_MIN

/* More rows than this in one encoded table are refused, on both sides. */
#define CHUNK_ROWS_MAX (1u << 22)

enum chunk_field {
#define CHUNK(id, ...) CHUNK_##id,
#include "record/fields.def"
#undef CHUNK
        CHUNK_N_FIELDS
};

enum section_field {
#define SECTION(id, ...) SECTION_##id,
#include "record/fields.def"
#undef SECTION
        SECTION_N_FIELDS
};

enum chunk_type { CHUNK_TYPE_INT, CHUNK_TYPE_TEXT, CHUNK_TYPE_BLOB };

struct chunk_field_info {
        const char *name;
        enum chunk_type type;
};

extern const struct chunk_field_info chunk_fields[CHUNK_N_FIELDS];

enum chunk_outcome {
#define OUTCOME(id, number, ...) CHUNK_##id = (number),
#include "record/outcomes.def"
#undef OUTCOME
        CHUNK_N_OUTCOMES
};

extern const char *const chunk_outcomes[CHUNK_N_OUTCOMES];
/* The outcome of a name; CHUNK_ABSENT: there is none. */
int64_t chunk_outcome_of(const char *name);

enum chunk_peak_source { CHUNK_PEAK_EXACT = 0, CHUNK_PEAK_SAMPLED = 1 };

enum { SECTION_TIME = 1, SECTION_MEMORY = 2, SECTION_BYTES_READ = 4 };

/* Things that belong to chunks, one after the other: sections or branches */
struct chunk_parts {
        size_t n;
        size_t cap;
        size_t n_columns;
        int64_t *columns[1 + SECTION_N_FIELDS]; /* the name, then the fields */
        size_t *first;                          /* [rows + 1] */
};

struct chunk_table {
        size_t n;
        size_t cap;
        int64_t *columns[CHUNK_N_FIELDS];
        struct chunk_parts sections; /* name and the section fields */
        struct chunk_parts branches; /* name and bytes */
        struct intern strings;
};

void chunk_table_init(struct chunk_table *table);
void chunk_table_deinit(struct chunk_table *table);
/* Without rows and strings, but with the memory for them. */
void chunk_table_clear(struct chunk_table *table);

/* Adds a chunk of which nothing is known yet; returns 0 or ROAST_E_NOMEM. It is row n - 1. */
int chunk_table_add(struct chunk_table *table);
int chunk_table_set_text(struct chunk_table *table, size_t row, enum chunk_field field,
                         const void *data, size_t len);
/* Sections and branches are added to the last row. */
int chunk_table_add_section(struct chunk_table *table, const char *name, size_t len,
                            const int64_t values[SECTION_N_FIELDS]);
int chunk_table_add_branch(struct chunk_table *table, const char *name, size_t len, int64_t bytes);

/* Adds a row of another table, with its sections and branches. */
int chunk_table_copy_row(struct chunk_table *table, const struct chunk_table *from, size_t row);

static inline void chunk_table_set(struct chunk_table *table, size_t row, enum chunk_field field,
                                   int64_t value)
{
        table->columns[field][row] = value;
}

static inline int64_t chunk_table_get(const struct chunk_table *table, size_t row,
                                      enum chunk_field field)
{
        return table->columns[field][row];
}

/* The text of a text or blob field; NULL when absent. */
const char *chunk_table_text(const struct chunk_table *table, size_t row, enum chunk_field field,
                             size_t *len);

int chunk_table_encode(const struct chunk_table *table, struct buf *out, struct roast_error *error);
/* How many rows encoded bytes say they have, without decoding them; negative: not such bytes. */
int64_t chunk_table_peek(const void *data, size_t len, struct roast_error *error);
/* Appends the encoded rows; on failure the table is as it was. */
int chunk_table_decode(struct chunk_table *table, const void *data, size_t len,
                       struct roast_error *error);

/* Used by the codec: room for more rows or parts, all absent, without counting them yet. */
int chunk_table_reserve(struct chunk_table *table, size_t more);
int chunk_parts_reserve(struct chunk_parts *parts, size_t more);
