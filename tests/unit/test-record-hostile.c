/* record/: bytes from elsewhere, and no memory */

#include "unit.h"

#include <stdlib.h>

#include "alloc.h"
#include "record/chunk.h"
#include "rows.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

/* ---- bytes from elsewhere ---- */

/* A table with rows of its own, to which damaged bytes are appended. */
struct target {
        struct rows rows;
        struct chunk_table table;
        size_t n_strings;
};

static void target_init(struct target *target, uint64_t *seed)
{
        chunk_table_init(&target->table);
        rows_init_random(&target->rows, 3, seed);
        for (size_t i = 0; i < 3; i++)
                assert_int_equal(add_row(&target->table, &target->rows.rows[i]), 0);
        target->n_strings = target->table.strings.n;
}

static void target_deinit(struct target *target)
{
        rows_deinit(&target->rows);
        chunk_table_deinit(&target->table);
}

static void assert_untouched(const struct target *target)
{
        assert_int_equal(target->table.n, 3);
        assert_int_equal(target->table.strings.n, target->n_strings);
        assert_valid(&target->table);
        assert_rows(&target->table, 0, &target->rows);
}

static void test_bytes_that_were_cut_off_are_refused(void **state)
{
        ROAST_CLEANUP(target_deinit) struct target target;
        uint64_t seed = 6;

        (void)state;
        target_init(&target, &seed);
        for (size_t i = 0; i < 20; i++) {
                ROAST_CLEANUP(rows_deinit) struct rows rows;
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

                rows_init_random(&rows, sample_below(&seed, 8), &seed);
                assert_int_equal(encode_rows(&rows, &bytes, NULL), 0);
                for (size_t len = 0; len < bytes.len; len++) {
                        /* a copy of that length, so that a read past its end is noticed */
                        ROAST_CLEANUP(cleanup_free) uint8_t *copy = malloc(len + !len);
                        struct roast_error error = { 0 };

                        memcpy(copy, bytes.data, len);
                        assert_true(chunk_table_decode(&target.table, copy, len, &error) < 0);
                        assert_true(error.code < 0 && error.message[0]);
                        assert_int_equal(target.table.n, 3);
                }
                assert_untouched(&target);
                assert_int_equal(buf_put_u8(&bytes, 0), 0);
                assert_true(chunk_table_decode(&target.table, bytes.data, bytes.len, NULL) < 0);
        }
        assert_untouched(&target);
}

static void test_flipped_bits_give_an_error_or_a_table(void **state)
{
        uint64_t seed = 7;

        (void)state;
        for (size_t i = 0; i < 3000; i++) {
                ROAST_CLEANUP(target_deinit) struct target target;
                ROAST_CLEANUP(rows_deinit) struct rows rows;
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

                target_init(&target, &seed);
                /* small ones are not compressed: the flip reaches the columns */
                rows_init_random(&rows, sample_below(&seed, i % 2 ? 2 : 30), &seed);
                assert_int_equal(encode_rows(&rows, &bytes, NULL), 0);
                for (size_t flips = 1 + sample_below(&seed, 4); flips-- > 0;)
                        bytes.data[sample_below(&seed, bytes.len)] ^=
                                (uint8_t)(1u << sample_below(&seed, 8));
                if (chunk_table_decode(&target.table, bytes.data, bytes.len, NULL) < 0) {
                        assert_untouched(&target);
                } else {
                        assert_valid(&target.table);
                        assert_rows(&target.table, 0, &target.rows);
                }
        }
}

static void assert_decode_fails(const char *bytes, size_t len, int code)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_error error = { 0 };

        chunk_table_init(&table);
        assert_int_equal(chunk_table_decode(&table, bytes, len, &error), code);
        assert_int_equal(error.code, code);
        assert_true(error.message[0] != '\0');
}

static void test_what_is_no_record_is_refused_by_its_kind(void **state)
{
        (void)state;
        assert_decode_fails("", 0, ROAST_E_FORMAT);
        assert_decode_fails("RC", 2, ROAST_E_FORMAT);
        assert_decode_fails("XX\x02\x00\x00", 5, ROAST_E_FORMAT);
        assert_decode_fails("RC\x7f\x00\x00", 5, ROAST_E_VERSION);
        /* an unknown form, a length that is not there */
        assert_decode_fails("RC\x03\x02\x00", 5, ROAST_E_CORRUPT);
        assert_decode_fails("RC\x03\x00\x01", 5, ROAST_E_CORRUPT);
        /* no payload at all, a compressed one of nothing */
        assert_decode_fails("RC\x03\x00\x00", 5, ROAST_E_CORRUPT);
        assert_decode_fails("RC\x03\x01\x05", 5, ROAST_E_CORRUPT);
        /* no rows: strings, the ends of the columns, of the sections, of the branches */
        assert_decode_fails("RC\x03\x00\x06\x00\x00\x00\x00\x00\x00", 11, ROAST_E_CORRUPT);
        /* a column that does not exist, one that comes twice, a shape that does not exist */
        assert_decode_fails("RC\x03\x00\x09\x00\x00\x7f\x00\x00\x00\x00\x00\x00", 14,
                            ROAST_E_CORRUPT);
        assert_decode_fails("RC\x03\x00\x0b\x00\x00\x05\x00\x00\x05\x00\x00\x00\x00\x00", 16,
                            ROAST_E_CORRUPT);
        assert_decode_fails("RC\x03\x00\x08\x00\x00\x05\x03\x00\x00\x00\x00", 13, ROAST_E_CORRUPT);
}

/* Lengths that promise much: rows, strings, sections, what is compressed. */
static void test_a_hostile_header_allocates_no_more_than_its_bytes_are_worth(void **state)
{
        static const struct {
                const char *bytes;
                size_t len;
        } headers[] = {
                { "RC\x03\x00\xff\xff\xff\x7f", 8 },
                { "RC\x03\x01\xff\xff\xff\x7f\x28\xb5\x2f\xfd\x00", 13 },
                /* 2^27 bytes in a frame that says so */
                { "RC\x03\x01\x80\x80\x80\x40\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x08\x00\x00\x00",
                  20 },
                { "RC\x03\x00\x05\xff\xff\xff\x01\x00", 10 },
                { "RC\x03\x00\x06\x00\xff\xff\xff\xff\x0f", 11 },
                { "RC\x03\x00\x09\x01\x00\x00\xff\xff\xff\xff\x0f\x00", 14 },
                { "RC\x03\x00\x09\x01\x00\x00\xff\x07\x00\x00\x00\x00", 14 },
                { "RC\x03\x00\x0e\x01\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 19 },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(headers); i++) {
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                struct roast_error error = { 0 };

                chunk_table_init(&table);
                alloc_fail_after(-1);
                assert_int_equal(
                        chunk_table_decode(&table, headers[i].bytes, headers[i].len, &error),
                        ROAST_E_CORRUPT);
                assert_true(alloc_largest() < 1 << 20);
        }
}

/* ---- no memory ---- */

/* Some chunks, and so many names that these are compressed */
static void init_compressed(struct chunk_table *table)
{
        char name[32];

        chunk_table_init(table);
        assert_int_equal(sample_chunks(table, 50), 0);
        for (int i = 0; i < 1500; i++) {
                snprintf(name, sizeof(name), "a name that is alike %d", i);
                assert_true(intern_put(&table->strings, name, strlen(name)) >= 0);
        }
}

static void test_flipped_bits_in_what_is_compressed_are_noticed_or_harmless(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table source;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        size_t refused = 0;
        uint64_t seed = 12;

        (void)state;
        init_compressed(&source);
        assert_int_equal(chunk_table_encode(&source, &bytes, NULL), 0);
        assert_true(bytes.len < source.strings.bytes.len); /* it is compressed */
        for (size_t i = 0; i < 500; i++) {
                ROAST_CLEANUP(target_deinit) struct target target;
                uint8_t *byte = &bytes.data[sample_below(&seed, bytes.len)];
                uint8_t flip = (uint8_t)(1u << sample_below(&seed, 8));

                target_init(&target, &seed);
                *byte ^= flip;
                if (chunk_table_decode(&target.table, bytes.data, bytes.len, NULL) < 0) {
                        assert_untouched(&target);
                        refused++;
                } else {
                        assert_valid(&target.table);
                }
                *byte ^= flip;
        }
        assert_true(refused > 100);
        for (size_t len = 0; len < bytes.len; len += 1 + len / 50) {
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

                chunk_table_init(&table);
                assert_true(chunk_table_decode(&table, bytes.data, len, NULL) < 0);
        }
}

static void test_encoding_without_memory_leaves_the_buffer_as_it_was(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        bool failed = true;

        (void)state;
        init_compressed(&table);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
                struct roast_error error = { 0 };
                int r;

                assert_int_equal(buf_puts(&bytes, "before"), 0);
                alloc_fail_after(count);
                r = chunk_table_encode(&table, &bytes, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_memory_equal(bytes.data, "before", 6);
                if (r < 0) {
                        assert_int_equal(r, ROAST_E_NOMEM);
                        assert_int_equal(bytes.len, 6);
                } else { /* without memory zstd does not compress */
                        assert_true(bytes.len > 6);
                }
                assert_true(count < 100);
        }
}

static void test_decoding_without_memory_leaves_the_table_as_it_was(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table source;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        uint64_t seed = 8;
        bool failed = true;

        (void)state;
        init_compressed(&source);
        assert_int_equal(chunk_table_encode(&source, &bytes, NULL), 0);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(target_deinit) struct target target;
                struct roast_error error = { 0 };
                int r;

                target_init(&target, &seed);
                alloc_fail_after(count);
                r = chunk_table_decode(&target.table, bytes.data, bytes.len, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                if (failed)
                        assert_untouched(&target);
                assert_int_equal(chunk_table_decode(&target.table, bytes.data, bytes.len, NULL), 0);
                assert_rows(&target.table, 0, &target.rows);
                assert_valid(&target.table);
                assert_true(count < 1000);
        }
}

static void test_building_without_memory_is_an_error(void **state)
{
        uint64_t seed = 9;
        ROAST_CLEANUP(rows_deinit) struct rows rows;
        bool failed = true;

        (void)state;
        rows_init_random(&rows, 20, &seed);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                int r = 0;

                chunk_table_init(&table);
                alloc_fail_after(count);
                for (size_t i = 0; i < rows.n && r >= 0; i++)
                        r = add_row(&table, &rows.rows[i]);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                assert_valid(&table);
                assert_true(count < 1000);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_bytes_that_were_cut_off_are_refused),
                cmocka_unit_test(test_flipped_bits_give_an_error_or_a_table),
                cmocka_unit_test(test_what_is_no_record_is_refused_by_its_kind),
                cmocka_unit_test(test_a_hostile_header_allocates_no_more_than_its_bytes_are_worth),
                cmocka_unit_test(test_flipped_bits_in_what_is_compressed_are_noticed_or_harmless),
                cmocka_unit_test(test_encoding_without_memory_leaves_the_buffer_as_it_was),
                cmocka_unit_test(test_decoding_without_memory_leaves_the_table_as_it_was),
                cmocka_unit_test(test_building_without_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("record-hostile", tests, NULL, NULL);
}
