#pragma once
/* The oracle of the chunk record: rows as plain structs, random ones, and how a table has them */

#include "record/chunk.h"

#define PARTS_MAX 5

struct string {
        bool here;
        size_t len;
        char data[40];
};

struct part {
        struct string name;
        int64_t values[SECTION_N_FIELDS];
};

struct row {
        int64_t ints[CHUNK_N_FIELDS];
        struct string strings[CHUNK_N_FIELDS];
        size_t n_sections, n_branches;
        struct part sections[PARTS_MAX];
        struct part branches[PARTS_MAX];
};

struct rows {
        struct row *rows;
        size_t n;
};

void rows_deinit(struct rows *rows);
void rows_init_random(struct rows *rows, size_t n, uint64_t *seed);
int add_row(struct chunk_table *table, const struct row *row);
int encode_rows(const struct rows *rows, struct buf *out, struct roast_error *error);
/* The table's rows from `at` on are those rows. */
void assert_rows(const struct chunk_table *table, size_t at, const struct rows *rows);
/* Whatever the bytes were: every number of a string is one. */
void assert_valid(const struct chunk_table *table);
