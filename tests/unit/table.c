/* Tables of samples: see table.h */

#include "unit.h"

#include <stdlib.h>

#include "sample.h"
#include "table.h"
#include "util/size.h"

void table_init(struct table *table, size_t n, size_t k)
{
        *table = (struct table){ .n = n, .k = k };
        table->cells = calloc((1 + k) * n + 1, sizeof(*table->cells));
        assert_non_null(table->cells);
        for (size_t i = 0; i < k; i++)
                table->series[i] = table->cells + (1 + i) * n;
}

void table_deinit(struct table *table)
{
        free(table->cells);
}

int table_encode(const struct table *table, struct buf *out, struct roast_error *error)
{
        return block_encode(out, table->cells, table->series, table->n, table->k, error);
}

void assert_block_is_table(const struct block *block, const struct table *table)
{
        assert_int_equal(block->n, table->n);
        assert_int_equal(block->k, table->k);
        assert_non_null(block->times);
        if (table->n == 0)
                return;
        assert_memory_equal(block->times, table->cells, table->n * sizeof(int64_t));
        for (size_t i = 0; i < table->k; i++)
                assert_memory_equal(block_series(block, i), table->series[i],
                                    table->n * sizeof(int64_t));
}

/* ---- columns as workers have them, and worse ---- */

static void fill_counter(int64_t *column, size_t n, uint64_t *seed)
{
        unsigned int bits = (unsigned int)sample_below(seed, 30);

        column[0] = (int64_t)sample_below(seed, UINT64_C(1) << 40);
        for (size_t i = 1; i < n; i++)
                column[i] = column[i - 1] + (int64_t)sample_below(seed, UINT64_C(1) << bits);
}

static void fill_walk(int64_t *column, size_t n, uint64_t *seed)
{
        int64_t unit = (int64_t)(1 + sample_below(seed, 5000));

        for (size_t i = 1; i < n; i++)
                column[i] = column[i - 1] + unit * ((int64_t)sample_below(seed, 65) - 32);
}

static void fill_gauge(int64_t *column, size_t n, uint64_t *seed)
{
        for (size_t i = 1; i < n; i++)
                column[i] =
                        sample_below(seed, 5) ? column[i - 1] : (int64_t)sample_below(seed, 100000);
}

static void fill_sparse(int64_t *column, size_t n, uint64_t *seed)
{
        for (size_t i = 1; i < n; i++)
                column[i] = column[i - 1] + (sample_below(seed, 50) == 0);
}

static void fill_extremes(int64_t *column, size_t n, uint64_t *seed)
{
        static const int64_t extremes[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX };

        for (size_t i = 0; i < n; i++)
                column[i] = extremes[sample_below(seed, ROAST_ARRAY_SIZE(extremes))];
}

void table_fill_noise(int64_t *column, size_t n, uint64_t *seed)
{
        for (size_t i = 0; i < n; i++)
                column[i] = (int64_t)sample_random(seed);
}

static void fill_constant(int64_t *column, size_t n, uint64_t *seed)
{
        int64_t value = (int64_t)sample_random(seed);

        for (size_t i = 0; i < n; i++)
                column[i] = value;
}

static void (*const fills[])(int64_t *column, size_t n, uint64_t *seed) = {
        fill_counter,  fill_walk,        fill_gauge,    fill_sparse,
        fill_extremes, table_fill_noise, fill_constant,
};

static void fill_times(int64_t *times, size_t n, int64_t interval, uint64_t *seed)
{
        times[0] = 1794772988859;
        for (size_t i = 1; i < n; i++)
                times[i] = times[i - 1] + interval + (int64_t)sample_below(seed, 3) - 1;
}

void table_init_random(struct table *table, size_t n, size_t k, uint64_t *seed)
{
        table_init(table, n, k);
        if (n == 0)
                return;
        fill_times(table->cells, n, 100, seed);
        for (size_t i = 1; i <= k; i++)
                fills[sample_below(seed, ROAST_ARRAY_SIZE(fills))](table->cells + i * n, n, seed);
}
