/* record/: the codes under the bytes of chunk records */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "record/chunk.h"
#include "record/rice.h"
#include "record/uuid.h"
#include "util/cleanup.h"

static uint64_t next_random(uint64_t *seed)
{
        *seed ^= *seed >> 12;
        *seed ^= *seed << 25;
        *seed ^= *seed >> 27;
        return *seed * UINT64_C(2685821657736338717);
}

static uint64_t below(uint64_t *seed, uint64_t limit)
{
        return next_random(seed) % limit;
}

/* Any number, of any length; now and then an extreme one */
static int64_t any_value(uint64_t *seed)
{
        static const int64_t edges[] = { CHUNK_ABSENT, INT64_MIN + 1, INT64_MAX, 0, -1, 1 };

        if (!below(seed, 8))
                return edges[below(seed, 6)];
        return (int64_t)(next_random(seed) >> below(seed, 64));
}

/* The ways in which values of a column follow each other */
static int64_t styled_value(uint64_t *seed, unsigned int style, size_t row)
{
        switch (style) {
        case 0:
                return CHUNK_ABSENT;
        case 1:
                return 7;
        case 2:
                return (int64_t)row * 4096;
        case 3:
                return below(seed, 10) ? 0 : any_value(seed);
        case 4:
                return 1000000 + (int64_t)below(seed, 1000);
        default:
                return any_value(seed);
        }
}

static size_t any_name(uint64_t *seed, char *name)
{
        static const char uuid[] = "eb1027c4-e125-11f1-b38b-02fc00000001";

        if (!below(seed, 10)) {
                memcpy(name, uuid, sizeof(uuid));
                name[below(seed, 2) * 3] = below(seed, 2) ? 'E' : 'a';
                return sizeof(uuid) - 1;
        }
        return (size_t)snprintf(name, 40, "name %u", (unsigned int)below(seed, 12));
}

static void add_parts(struct chunk_table *table, uint64_t *seed, unsigned int style)
{
        size_t n_sections = below(seed, 5), n_branches = below(seed, 5);
        int64_t values[SECTION_N_FIELDS];
        char name[40];

        for (size_t i = 0; i < n_sections; i++) {
                size_t len = any_name(seed, name);

                for (size_t j = 0; j < SECTION_N_FIELDS; j++)
                        values[j] = styled_value(seed, (style + (unsigned int)j) % 7, table->n);
                assert_int_equal(chunk_table_add_section(table, name, len, values), 0);
        }
        for (size_t i = 0; i < n_branches; i++) {
                size_t len = any_name(seed, name);

                assert_int_equal(chunk_table_add_branch(table, name, len,
                                                        styled_value(seed, style, table->n)),
                                 0);
        }
}

static void table_fill(struct chunk_table *table, uint64_t *seed, size_t rows)
{
        unsigned int style = (unsigned int)below(seed, 7);
        char name[40];

        for (size_t row = 0; row < rows; row++) {
                assert_int_equal(chunk_table_add(table), 0);
                for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++) {
                        if (chunk_fields[i].type == CHUNK_TYPE_INT)
                                chunk_table_set(table, table->n - 1, i,
                                                styled_value(seed, (style + i) % 7, row));
                        else if (below(seed, 3))
                                assert_int_equal(chunk_table_set_text(table, table->n - 1, i, name,
                                                                      any_name(seed, name)),
                                                 0);
                }
                add_parts(table, seed, style);
        }
}

static void assert_text_equal(const struct chunk_table *a, int64_t x, const struct chunk_table *b,
                              int64_t y)
{
        const char *left, *right;
        size_t left_len, right_len;

        assert_int_equal(x == CHUNK_ABSENT, y == CHUNK_ABSENT);
        if (x == CHUNK_ABSENT)
                return;
        left = intern_get(&a->strings, (size_t)x, &left_len);
        right = intern_get(&b->strings, (size_t)y, &right_len);
        assert_int_equal(left_len, right_len);
        assert_memory_equal(left, right, left_len);
}

static void assert_parts_equal(const struct chunk_table *a, const struct chunk_parts *x,
                               const struct chunk_table *b, const struct chunk_parts *y,
                               size_t row_a, size_t row_b)
{
        size_t n = x->first[row_a + 1] - x->first[row_a];

        assert_int_equal(n, y->first[row_b + 1] - y->first[row_b]);
        for (size_t i = 0; i < n; i++) {
                size_t at_x = x->first[row_a] + i, at_y = y->first[row_b] + i;

                assert_text_equal(a, x->columns[0][at_x], b, y->columns[0][at_y]);
                for (size_t j = 1; j < x->n_columns; j++)
                        assert_true(x->columns[j][at_x] == y->columns[j][at_y]);
        }
}

/* Rows of `a` are those of `b` from `from` on. */
static void assert_rows_equal(const struct chunk_table *a, const struct chunk_table *b, size_t from)
{
        assert_int_equal(b->n, from + a->n);
        for (size_t row = 0; row < a->n; row++) {
                for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++) {
                        int64_t x = chunk_table_get(a, row, i);
                        int64_t y = chunk_table_get(b, from + row, i);

                        if (chunk_fields[i].type == CHUNK_TYPE_INT)
                                assert_true(x == y);
                        else
                                assert_text_equal(a, x, b, y);
                }
                assert_parts_equal(a, &a->sections, b, &b->sections, row, from + row);
                assert_parts_equal(a, &a->branches, b, &b->branches, row, from + row);
        }
}

static void test_a_copied_row_is_the_same(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table, copy;
        uint64_t seed = 5;

        (void)state;
        chunk_table_init(&table);
        chunk_table_init(&copy);
        table_fill(&table, &seed, 40);
        for (size_t row = 0; row < table.n; row++)
                assert_int_equal(chunk_table_copy_row(&copy, &table, row), 0);
        assert_rows_equal(&table, &copy, 0);
        chunk_table_clear(&copy);
        assert_int_equal(copy.n, 0);
        for (size_t row = 0; row < table.n; row++)
                assert_int_equal(chunk_table_copy_row(&copy, &table, row), 0);
        assert_rows_equal(&table, &copy, 0);
}

static void test_many_equal_rows_are_believed(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table, read;
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        struct roast_error error = { 0 };

        (void)state;
        chunk_table_init(&table);
        chunk_table_init(&read);
        for (size_t i = 0; i < 100000; i++)
                assert_int_equal(chunk_table_add(&table), 0);
        assert_int_equal(chunk_table_encode(&table, &buf, &error), 0);
        assert_int_equal(chunk_table_decode(&read, buf.data, buf.len, &error), 0);
        assert_rows_equal(&table, &read, 0);
        /* but not without the bytes that stand for them */
        assert_int_equal(chunk_table_decode(&read, buf.data, 50, &error), ROAST_E_CORRUPT);
}

static void test_rice_codes_are_as_long_as_they_say(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        struct bits_writer out = { .out = &buf };
        struct rice encoder = { 0 }, counter = { 0 }, decoder = { 0 };
        uint64_t seed = 23, n_bits = 0, values[2000];
        struct bits_reader in;

        (void)state;
        for (size_t i = 0; i < 2000; i++) {
                values[i] = next_random(&seed) >> below(&seed, 64);
                n_bits += rice_put(&counter, values[i], NULL);
                rice_put(&encoder, values[i], &out);
        }
        assert_int_equal(bits_writer_finish(&out), 0);
        assert_int_equal((n_bits + 7) / 8, buf.len);
        in = (struct bits_reader){ .data = buf.data, .len = buf.len };
        for (size_t i = 0; i < 2000; i++)
                assert_true(rice_get(&decoder, &in) == values[i]);
        assert_int_equal(in.at, n_bits);
}

static void test_only_what_comes_back_is_packed_as_a_uuid(void **state)
{
        static const char *const others[] = {
                "EB1027C4-e125-11f1-b38b-02fc00000001",
                "eb1027c4xe125-11f1-b38b-02fc00000001",
                "gb1027c4-e125-11f1-b38b-02fc00000001",
                "eb1027c4-e125-11f1-b38b-02fc0000000",
        };
        static const char good[] = "eb1027c4-e125-11f1-b38b-02fc0000000f";
        char text[UUID_TEXT];
        uint8_t bytes[16];

        (void)state;
        assert_true(uuid_pack(good, sizeof(good) - 1, bytes));
        uuid_unpack(bytes, text);
        assert_memory_equal(text, good, UUID_TEXT);
        for (size_t i = 0; i < 4; i++)
                assert_false(uuid_pack(others[i], strlen(others[i]), bytes));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_copied_row_is_the_same),
                cmocka_unit_test(test_many_equal_rows_are_believed),
                cmocka_unit_test(test_rice_codes_are_as_long_as_they_say),
                cmocka_unit_test(test_only_what_comes_back_is_packed_as_a_uuid),
        };

        return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
