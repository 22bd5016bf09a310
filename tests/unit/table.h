#pragma once
/* The oracle of blocks of samples: tables of plain numbers, and random ones */

#include "roast-error.h"
#include "timeline/block.h"
#include "util/buf.h"

/* The samples themselves, column after column, [0] is the time. */
struct table {
        size_t n, k;
        int64_t *cells;
        const int64_t *series[BLOCK_SERIES_MAX];
};

/* Zeroes */
void table_init(struct table *table, size_t n, size_t k);
/* Columns as workers have them, and worse */
void table_init_random(struct table *table, size_t n, size_t k, uint64_t *seed);
void table_fill_noise(int64_t *column, size_t n, uint64_t *seed);
void table_deinit(struct table *table);

int table_encode(const struct table *table, struct buf *out, struct roast_error *error);
void assert_block_is_table(const struct block *block, const struct table *table);
