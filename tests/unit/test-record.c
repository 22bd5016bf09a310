/* record/: tables of chunk records, and their bytes */

#include "unit.h"

#include <stdio.h>

#include "record/chunk.h"
#include "rows.h"
#include "sample.h"
#include "util/cleanup.h"

/* ---- round trips ---- */

static void round_trip(const struct rows *rows)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_error error = { 0 };

        chunk_table_init(&table);
        assert_int_equal(encode_rows(rows, &bytes, &error), 0);
        if (chunk_table_decode(&table, bytes.data, bytes.len, &error) < 0)
                fail_msg("%s", error.message);
        assert_int_equal(table.n, rows->n);
        assert_valid(&table);
        assert_rows(&table, 0, rows);
}

static void test_any_table_comes_back_as_it_was(void **state)
{
        uint64_t seed = 1;

        (void)state;
        for (size_t i = 0; i < 400; i++) {
                ROAST_CLEANUP(rows_deinit) struct rows rows;

                rows_init_random(&rows, sample_below(&seed, 40), &seed);
                round_trip(&rows);
        }
}

static void test_no_rows_and_one_row_are_tables_too(void **state)
{
        uint64_t seed = 2;

        (void)state;
        for (size_t i = 0; i < 300; i++) {
                ROAST_CLEANUP(rows_deinit) struct rows rows;

                rows_init_random(&rows, i % 3, &seed);
                round_trip(&rows);
        }
}

static void test_many_rows_come_back(void **state)
{
        ROAST_CLEANUP(rows_deinit) struct rows rows;
        uint64_t seed = 3;

        (void)state;
        rows_init_random(&rows, 5000, &seed);
        round_trip(&rows);
}

/* As coffea's reductions do: tables are appended to each other in any order. */
static void test_tables_are_merged_by_decoding_one_after_the_other(void **state)
{
        uint64_t seed = 4;

        (void)state;
        for (size_t i = 0; i < 100; i++) {
                ROAST_CLEANUP(rows_deinit) struct rows one, two;
                ROAST_CLEANUP(buf_deinit) struct buf a = BUF_INIT, b = BUF_INIT, both = BUF_INIT;
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table, again;

                rows_init_random(&one, sample_below(&seed, 10), &seed);
                rows_init_random(&two, sample_below(&seed, 10), &seed);
                assert_int_equal(encode_rows(&one, &a, NULL), 0);
                assert_int_equal(encode_rows(&two, &b, NULL), 0);
                chunk_table_init(&table);
                assert_int_equal(chunk_table_decode(&table, a.data, a.len, NULL), 0);
                assert_int_equal(chunk_table_decode(&table, b.data, b.len, NULL), 0);
                assert_int_equal(chunk_table_decode(&table, a.data, a.len, NULL), 0);
                assert_int_equal(chunk_table_encode(&table, &both, NULL), 0);
                chunk_table_init(&again);
                assert_int_equal(chunk_table_decode(&again, both.data, both.len, NULL), 0);
                assert_int_equal(again.n, 2 * one.n + two.n);
                assert_rows(&again, 0, &one);
                assert_rows(&again, one.n, &two);
                assert_rows(&again, one.n + two.n, &one);
                assert_valid(&again);
        }
}

/* One chunk, one branch, of which the bytes are not known: in all columns the same. */
static void test_parts_that_are_all_alike_come_back(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table, again;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_error error = { 0 };

        (void)state;
        chunk_table_init(&table);
        for (size_t i = 0; i < 3000; i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                assert_int_equal(chunk_table_add_branch(&table, "Muon_pt", 7, CHUNK_ABSENT), 0);
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        chunk_table_init(&again);
        if (chunk_table_decode(&again, bytes.data, bytes.len, &error) < 0)
                fail_msg("%s", error.message);
        assert_int_equal(again.branches.n, 3000);
        assert_valid(&again);
}

static void test_parts_that_are_all_alike_are_read_back_whatever_their_number(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table, again;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

        (void)state;
        chunk_table_init(&table);
        chunk_table_init(&again);
        assert_int_equal(chunk_table_add(&table), 0);
        for (size_t i = 0; i < 100000; i++)
                assert_int_equal(chunk_table_add_branch(&table, "x", 1, CHUNK_ABSENT), 0);
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(chunk_table_decode(&again, bytes.data, bytes.len, NULL), 0);
        assert_int_equal(again.branches.n, 100000);
        assert_true(bytes.len < 100000 / 50);
}

static void test_a_table_is_appended_to_the_buffer(void **state)
{
        ROAST_CLEANUP(rows_deinit) struct rows rows;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        uint64_t seed = 5;

        (void)state;
        rows_init_random(&rows, 30, &seed);
        assert_int_equal(buf_puts(&bytes, "before"), 0);
        assert_int_equal(encode_rows(&rows, &bytes, NULL), 0);
        assert_memory_equal(bytes.data, "before", 6);
        chunk_table_init(&table);
        assert_int_equal(chunk_table_decode(&table, bytes.data + 6, bytes.len - 6, NULL), 0);
        assert_rows(&table, 0, &rows);
}

static void test_parts_need_a_chunk(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        assert_int_equal(chunk_table_add_branch(&table, "x", 1, 0), ROAST_E_STATE);
}

/* A chunk of the demo: what a worker sends for each. */
static void test_a_record_is_small(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf one = BUF_INIT, many = BUF_INIT;

        (void)state;
        chunk_table_init(&table);
        assert_int_equal(sample_chunks(&table, 1), 0);
        assert_int_equal(chunk_table_encode(&table, &one, NULL), 0);
        assert_in_range(one.len, 50, 250);
        assert_int_equal(sample_chunks(&table, 999), 0);
        assert_int_equal(chunk_table_encode(&table, &many, NULL), 0);
        assert_in_range(many.len, 1, 1000 * 20);
}

/* ---- interned strings ---- */

static void test_appended_strings_are_found_once_there_is_an_index(void **state)
{
        ROAST_CLEANUP(intern_deinit) struct intern intern = { 0 };
        char text[32];
        size_t len;

        (void)state;
        assert_int_equal(intern_index(&intern), 0);
        for (int i = 0; i < 1000; i++)
                assert_int_equal(
                        intern_append(&intern, text, (size_t)snprintf(text, sizeof(text), "%d", i)),
                        0);
        assert_int_equal(intern_append(&intern, "7", 1), 0); /* as a damaged file may have it */
        assert_int_equal(intern_index(&intern), 0);
        assert_int_equal(intern_find(&intern, "999", 3), 999);
        assert_int_equal(intern_find(&intern, "7", 1), 7);
        assert_int_equal(intern_find(&intern, "1000", 4), ROAST_E_NOENT);
        assert_string_equal(strndupa(intern_get(&intern, 1000, &len), 1), "7");
        assert_int_equal(intern_put(&intern, "42", 2), 42);
        assert_int_equal(intern_put(&intern, "new", 3), 1001);
        for (int i = 0; i < 2000; i++) /* one that was put finds what was appended, too */
                assert_int_equal(intern_append(&intern, text,
                                               (size_t)snprintf(text, sizeof(text), "x%d", i)),
                                 0);
        assert_int_equal(intern_put(&intern, "x5", 2), 1007);
}

static void test_strings_are_known_by_the_order_of_their_appearance(void **state)
{
        ROAST_CLEANUP(intern_deinit) struct intern intern = { 0 };
        char text[16];
        size_t len;

        (void)state;
        for (int round = 0; round < 2; round++)
                for (int i = 0; i < 1000; i++)
                        assert_int_equal(intern_put(&intern, text,
                                                    (size_t)snprintf(text, sizeof(text), "%d", i)),
                                         i);
        assert_string_equal(strndupa(intern_get(&intern, 999, &len), 3), "999");
        intern_truncate(&intern, 10);
        assert_int_equal(intern.n, 10);
        assert_int_equal(intern_put(&intern, "5", 1), 5);
        assert_int_equal(intern_put(&intern, "500", 3), 10);
        intern_truncate(&intern, 0);
        assert_int_equal(intern_put(&intern, "", 0), 0);
        assert_string_equal(strndupa(intern_get(&intern, 0, &len), 0), "");
        assert_int_equal(len, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_any_table_comes_back_as_it_was),
                cmocka_unit_test(test_no_rows_and_one_row_are_tables_too),
                cmocka_unit_test(test_many_rows_come_back),
                cmocka_unit_test(test_tables_are_merged_by_decoding_one_after_the_other),
                cmocka_unit_test(test_parts_that_are_all_alike_come_back),
                cmocka_unit_test(test_parts_that_are_all_alike_are_read_back_whatever_their_number),
                cmocka_unit_test(test_a_table_is_appended_to_the_buffer),
                cmocka_unit_test(test_parts_need_a_chunk),
                cmocka_unit_test(test_a_record_is_small),
                cmocka_unit_test(test_appended_strings_are_found_once_there_is_an_index),
                cmocka_unit_test(test_strings_are_known_by_the_order_of_their_appearance),
        };

        return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
