/* timeline/: blocks that are damaged or no blocks, and too little memory */

#include "unit.h"

#include <stdlib.h>

#include "alloc.h"
#include "roast-error.h"
#include "sample.h"
#include "table.h"
#include "timeline/block.h"
#include "util/buf.h"
#include "util/cleanup.h"

static void test_a_block_that_was_cut_off_is_refused(void **state)
{
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        uint64_t seed = 9;

        (void)state;
        for (size_t i = 0; i < 50; i++) {
                ROAST_CLEANUP(table_deinit) struct table table;
                ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;

                table_init_random(&table, 1 + sample_below(&seed, 60), 1 + sample_below(&seed, 6),
                                  &seed);
                assert_int_equal(table_encode(&table, &buf, NULL), 0);
                for (size_t len = 0; len < buf.len; len++) {
                        /* a copy of that length, so that a read past its end is noticed */
                        ROAST_CLEANUP(cleanup_free) uint8_t *copy = malloc(len + !len);

                        ROAST_CLEANUP(buf_deinit) struct buf moved = BUF_INIT;

                        memcpy(copy, buf.data, len);
                        assert_true(block_decode(&block, copy, len, NULL) < 0);
                        assert_int_equal(block.n, 0);
                        /* What is behind the times may be missing for these. */
                        if (block_decode_times(&block, copy, len, NULL) == 0) {
                                assert_int_equal(block.n, table.n);
                                assert_int_equal(block.k, table.k);
                        }
                        if (block_move(&moved, copy, len, 1, NULL) < 0)
                                assert_int_equal(moved.len, 0);
                }
                assert_int_equal(buf_put_u8(&buf, 0), 0);
                assert_int_equal(block_decode(&block, buf.data, buf.len, NULL), ROAST_E_CORRUPT);
        }
}

static void test_flipped_bits_give_an_error_or_samples(void **state)
{
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        uint64_t seed = 10;

        (void)state;
        for (size_t i = 0; i < 2000; i++) {
                ROAST_CLEANUP(table_deinit) struct table table;
                ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
                int r;

                table_init_random(&table, sample_below(&seed, 60), sample_below(&seed, 6), &seed);
                assert_int_equal(table_encode(&table, &buf, NULL), 0);
                for (size_t flips = 1 + sample_below(&seed, 4); flips-- > 0;)
                        buf.data[sample_below(&seed, buf.len)] ^=
                                (uint8_t)(1u << sample_below(&seed, 8));
                if (i % 2)
                        r = block_decode(&block, buf.data, buf.len, NULL);
                else
                        r = block_decode_times(&block, buf.data, buf.len, NULL);
                if (r < 0) {
                        assert_int_equal(block.n, 0);
                        assert_int_equal(block.k, 0);
                } else {
                        assert_true(block.n <= BLOCK_ROWS_MAX);
                        assert_true(block.k <= BLOCK_SERIES_MAX);
                }
        }
}

static void assert_decode_fails(const char *bytes, size_t len, int code)
{
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        struct roast_error error = { 0 };

        assert_int_equal(block_decode(&block, bytes, len, &error), code);
        assert_int_equal(error.code, code);
        assert_true(error.message[0] != '\0');
}

static void test_what_is_no_block_is_refused_by_its_kind(void **state)
{
        (void)state;
        assert_decode_fails("", 0, ROAST_E_FORMAT);
        assert_decode_fails("XX\x01\x00\x00", 5, ROAST_E_FORMAT);
        assert_decode_fails("RB\x02\x00\x00", 5, ROAST_E_VERSION);
        assert_decode_fails("RB\x00\x00\x00", 5, ROAST_E_CORRUPT);
        assert_decode_fails("RB\x01\x00", 4, ROAST_E_CORRUPT);
        /* 65536 rows */
        assert_decode_fails("RB\x01\x00\x80\x80\x04\x00\x00", 9, ROAST_E_CORRUPT);
        /* bytes after no rows */
        assert_decode_fails("RB\x01\x00\x00\x00", 6, ROAST_E_CORRUPT);
        /* the time column is like itself, or like one that is not there */
        assert_decode_fails("RB\x01\x00\x02\x00\x81\x00", 8, ROAST_E_CORRUPT);
        assert_decode_fails("RB\x01\x00\x02\x00\x81\x05", 8, ROAST_E_CORRUPT);
        /* an unknown head */
        assert_decode_fails("RB\x01\x00\x02\x00\x84\x00", 8, ROAST_E_CORRUPT);
        /* a width without a code, then with more plain bits than there are bytes */
        assert_decode_fails("RB\x01\x00\x02\x00\x01", 7, ROAST_E_CORRUPT);
        assert_decode_fails("RB\x01\x00\x02\x00\x01\x7f\x00\x00\x00\x00", 12, ROAST_E_CORRUPT);
}

/* ---- no memory ---- */

static void test_encoding_without_memory_leaves_the_buffer_as_it_was(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table table;
        uint64_t seed = 11;
        bool failed = true;

        (void)state;
        table_init_random(&table, 300, 12, &seed);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
                struct roast_error error = { 0 };
                int r;

                assert_int_equal(buf_puts(&buf, "before"), 0);
                alloc_fail_after(count);
                r = table_encode(&table, &buf, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                assert_memory_equal(buf.data, "before", 6);
                if (failed)
                        assert_int_equal(buf.len, 6);
                assert_true(count < 100);
        }
}

static void test_moving_without_memory_leaves_the_buffer_as_it_was(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table table;
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf moved = BUF_INIT;
        uint64_t seed = 13;
        int r;

        (void)state;
        table_init_random(&table, 100, 5, &seed);
        assert_int_equal(table_encode(&table, &buf, NULL), 0);
        for (long count = 0; count < 2; count++) {
                alloc_fail_after(count);
                r = block_move(&moved, buf.data, buf.len, 5, NULL);
                if (!alloc_failed())
                        assert_int_equal(r, 0);
                else
                        assert_int_equal(r, ROAST_E_NOMEM);
                assert_int_equal(moved.len > 0, r == 0);
                alloc_fail_after(-1);
                moved.len = 0;
        }
}

static void test_decoding_without_memory_is_an_error(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table table;
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        struct roast_error error = { 0 };
        uint64_t seed = 12;
        int r;

        (void)state;
        table_init_random(&table, 100, 5, &seed);
        assert_int_equal(table_encode(&table, &buf, NULL), 0);
        alloc_fail_after(0);
        r = block_decode(&block, buf.data, buf.len, &error);
        alloc_fail_after(-1);
        assert_int_equal(r, ROAST_E_NOMEM);
        assert_int_equal(block.n, 0);
        assert_int_equal(block_decode(&block, buf.data, buf.len, &error), 0);
        assert_block_is_table(&block, &table);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_block_that_was_cut_off_is_refused),
                cmocka_unit_test(test_flipped_bits_give_an_error_or_samples),
                cmocka_unit_test(test_what_is_no_block_is_refused_by_its_kind),
                cmocka_unit_test(test_encoding_without_memory_leaves_the_buffer_as_it_was),
                cmocka_unit_test(test_moving_without_memory_leaves_the_buffer_as_it_was),
                cmocka_unit_test(test_decoding_without_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("timeline-hostile", tests, NULL, NULL);
}
