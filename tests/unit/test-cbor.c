/* util/cbor: CBOR from hostile bytes; record/cbor-json: the blobs of a record as JSON */

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "record/cbor-json.h"
#include "record/cbor-source.h"
#include "sample.h"
#include "util/cbor.h"
#include "util/cleanup.h"
#include "util/size.h"

/* The only item of bytes, which are copied so that a read past their end is seen by sanitizers */
static struct cbor_item read_one(const void *bytes, size_t len, bool *skipped)
{
        uint8_t *copy = malloc(len + !len);
        struct cursor in = cursor_init(copy, len);
        struct cbor_item item;

        assert_non_null(copy);
        memcpy(copy, bytes, len);
        item = cbor_next(&in);
        cbor_skip(&in, &item);
        *skipped = !in.bad && cursor_left(&in) == 0;
        item.data = NULL;
        free(copy);
        return item;
}

static void test_what_was_put_is_read(void **state)
{
        static const int64_t numbers[] = { 0,          23,        24,       255, 256,
                                           65535,      65536,     -1,       -24, 4294967295,
                                           4294967296, INT64_MIN, INT64_MAX };
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct cursor in;
        struct cbor_item item;

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(numbers); i++)
                assert_int_equal(cbor_put_int(&out, numbers[i]), 0);
        assert_int_equal(cbor_put_real(&out, -2.5), 0);
        assert_int_equal(cbor_put_text(&out, "name", 4), 0);
        assert_int_equal(cbor_put(&out, CBOR_SIMPLE, CBOR_NULL), 0);
        in = cursor_init(out.data, out.len);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(numbers); i++) {
                item = cbor_next(&in);
                assert_int_equal(item.type, numbers[i] < 0 ? CBOR_NEGATIVE : CBOR_UINT);
                assert_int_equal(item.type == CBOR_UINT ? (int64_t)item.value
                                                        : ~(int64_t)item.value,
                                 numbers[i]);
                assert_true(cbor_number(&item) == (double)numbers[i]);
        }
        item = cbor_next(&in);
        assert_true(item.type == CBOR_REAL && cbor_number(&item) == -2.5);
        item = cbor_next(&in);
        assert_true(cbor_is(&item, "name") && !cbor_is(&item, "nam") && !cbor_is(&item, "names"));
        assert_true(isnan(cbor_number(&item)));
        item = cbor_next(&in);
        assert_true(item.type == CBOR_SIMPLE && item.value == CBOR_NULL);
        assert_true(!in.bad && cursor_left(&in) == 0);
        assert_int_equal(cbor_next(&in).type, CBOR_BAD);
        assert_true(in.bad);
}

static void test_well_formed_items_are_skipped_whole(void **state)
{
        static const struct {
                const char *bytes;
                size_t len;
        } items[] = {
                { "\x00", 1 },
                { "\x45"
                  "bytes",
                  6 },
                { "\x64"
                  "text",
                  5 },
                { "\x82\x01\x81\x02", 4 },
                { "\xa2\x01\x02\x61k\xa1\x03\x04", 8 },
                { "\xc2\x42\x01\x00", 4 },     /* a big integer */
                { "\xc1\xc1\x81\xc1\x05", 5 }, /* tags of tags */
                { "\xf9\x3c\x00", 3 },         /* floats that nobody here writes */
                { "\xfa\x3f\x80\x00\x00", 5 },
                { "\xf7", 1 }, /* undefined */
                { "\xf8\x20", 2 },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(items); i++) {
                bool skipped;

                assert_int_not_equal(read_one(items[i].bytes, items[i].len, &skipped).type,
                                     CBOR_BAD);
                if (!skipped)
                        fail_msg("item %zu was not skipped", i);
        }
}

static void test_an_item_that_is_cut_anywhere_is_bad(void **state)
{
        static const char whole[] = "\xa3\x61k\x82\x18\x2a\x43xyz\x62no\xfb\x40\x04\0\0\0\0\0\0"
                                    "\x63"
                                    "big\xc2\x42\x01\x00";
        const size_t n = sizeof(whole) - 1;
        bool skipped;

        (void)state;
        read_one(whole, n, &skipped);
        assert_true(skipped);
        for (size_t len = 0; len < n; len++) {
                read_one(whole, len, &skipped);
                if (skipped)
                        fail_msg("%zu of %zu bytes were taken for all", len, n);
        }
}

static void test_lengths_that_cannot_be_are_bad(void **state)
{
        static const struct {
                const char *bytes;
                size_t len;
        } items[] = {
                { "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 9 }, /* bytes */
                { "\x7b\xff\xff\xff\xff\xff\xff\xff\xff", 9 }, /* text */
                { "\x9b\xff\xff\xff\xff\xff\xff\xff\xff", 9 }, /* an array */
                { "\xbb\xff\xff\xff\xff\xff\xff\xff\xff", 9 }, /* a map */
                { "\xbb\x80\0\0\0\0\0\0\x01\0\0\0\0", 13 },    /* twice that is 2 */
                { "\xbb\x80\0\0\0\0\0\0\0", 9 },               /* and twice that is 0 */
                { "\x62x", 2 },
                { "\x82\x01", 2 },
                { "\xa1\x01", 2 },
                { "\x1c", 1 }, /* lengths that are not defined */
                { "\x1f", 1 },
                { "\x9f\x01\xff", 3 }, /* of no definite length */
                { "\xf8\x14", 2 },     /* false, in more bytes than it takes */
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(items); i++) {
                bool skipped;

                if (read_one(items[i].bytes, items[i].len, &skipped).type != CBOR_BAD)
                        fail_msg("item %zu was read", i);
        }
}

/* A million levels, closed or not, with one item each or all that fit */
static void test_no_depth_is_too_deep_to_skip(void **state)
{
        static const uint8_t heads[] = { 0x81, 0xc1, 0x84 };
        const size_t n = 1000000;

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(heads); i++) {
                ROAST_CLEANUP(cleanup_free) uint8_t *bytes = malloc(n);
                bool skipped;

                assert_non_null(bytes);
                memset(bytes, heads[i], n);
                read_one(bytes, n, &skipped);
                assert_false(skipped);
                bytes[n - 1] = 0;
                read_one(bytes, n, &skipped);
                assert_int_equal(skipped, heads[i] != 0x84);
        }
}

static void test_nothing_is_written_as_json_beyond_its_depth(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out, .compact = true };
        uint8_t bytes[100];

        (void)state;
        memset(bytes, 0x81, sizeof(bytes));
        bytes[sizeof(bytes) - 1] = 0;
        cbor_to_json(&json, bytes, sizeof(bytes));
        assert_int_equal(json.error, 0);
        assert_int_equal(buf_put_u8(&out, 0), 0);
        assert_string_equal((const char *)out.data, "[[[[[[[[[[null]]]]]]]]]]");
}

struct pairs {
        size_t n;
        size_t bytes;
};

static void count_pair(const char *key, size_t key_len, const void *value, size_t value_len,
                       void *context)
{
        struct pairs *pairs = context;

        (void)key;
        (void)value;
        pairs->n++;
        pairs->bytes += key_len + value_len;
}

static void test_pairs_come_up_to_where_a_map_is_damaged(void **state)
{
        struct pairs pairs = { 0 };

        (void)state;
        cbor_each_pair("\xa2\x61"
                       "a\x01\x61"
                       "b\x82\x01\x02",
                       9, count_pair, &pairs);
        assert_true(pairs.n == 2 && pairs.bytes == 6);
        pairs = (struct pairs){ 0 };
        cbor_each_pair("\xa2\x61"
                       "a\x01\x61"
                       "b\x82\x01",
                       8, count_pair, &pairs);
        assert_int_equal(pairs.n, 1);
        cbor_each_pair("\xa2\x61"
                       "a\x01\x02\x03",
                       6, count_pair, &pairs); /* 2 is no name */
        assert_int_equal(pairs.n, 2);
        cbor_each_pair("\x82\x61"
                       "a\x01",
                       4, count_pair, &pairs);
        cbor_each_pair("", 0, count_pair, &pairs);
        assert_int_equal(pairs.n, 2);
        assert_true(cbor_is_filled_map("\xa1\x01\x02", 3));
        assert_false(cbor_is_filled_map("\xa0", 1));
        assert_false(cbor_is_filled_map("\x81\x01", 2));
        assert_false(cbor_is_filled_map("\xa1", 1));
}

static void write_json(struct buf *out, const void *data, size_t len)
{
        struct json json = { .out = out, .compact = true };

        cbor_to_json(&json, data, len);
        assert_int_equal(json.error, 0);
        assert_int_equal(buf_put_u8(out, 0), 0);
}

static void test_blobs_read_from_json_are_the_same_json(void **state)
{
        static const char *const texts[] = {
                "{\"a\":1,\"b\":[-1,2.5,null,true,false,\"x\"],\"c\":{\"d\":{}}}",
                "[0,23,24,255,256,65535,65536,4294967296,-9223372036854775808,9223372036854775807]",
                "\"\"",
                "{}",
                "[]",
                "1e+300",
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(texts); i++) {
                ROAST_CLEANUP(buf_deinit) struct buf cbor = BUF_INIT;
                ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
                struct source_json json;
                struct json_reader in;

                json_reader_init(&in, texts[i], strlen(texts[i]));
                assert_true(cbor_of_source(&cbor, source_json_init(&json, &in)));
                json_reader_deinit(&in);
                write_json(&out, cbor.data, cbor.len);
                assert_string_equal((const char *)out.data, texts[i]);
        }
}

static void test_what_json_has_no_form_for_is_text_or_null(void **state)
{
        static const struct {
                const char *bytes;
                size_t len;
                const char *json;
        } items[] = {
                { "\x43\x00\x7f\xff", 4, "\"007fff\"" },
                { "\xa2\x01\x02\x82\x03\x04\xf6", 7, "{\"1\":2,\"[3,4]\":null}" },
                { "\xc2\x42\x01\x00", 4, "256.0" },
                { "\xc3\x42\x01\x00", 4, "-257.0" },
                { "\xc4\x42\x01\x00", 4, "null" },
                { "\xf9\x3c\x00", 3, "null" },
                { "\x1b\xff\xff\xff\xff\xff\xff\xff\xff", 9, "1.8446744073709552e+19" },
                { "\xfb\x7f\xf8\0\0\0\0\0\0", 9, "null" },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(items); i++) {
                ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;

                write_json(&out, items[i].bytes, items[i].len);
                assert_string_equal((const char *)out.data, items[i].json);
        }
}

static void assert_json(const char *text)
{
        struct json_reader in;

        assert_int_equal(json_reader_init(&in, text, strlen(text)), 0);
        (void)json_read_skip(&in);
        assert_int_equal(json_reader_end(&in, NULL), 0);
        json_reader_deinit(&in);
}

static void test_damaged_blobs_are_valid_json(void **state)
{
        uint64_t seed = 7;

        (void)state;
        for (int i = 0; i < 20000; i++) {
                ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
                uint8_t bytes[24];
                size_t len = sample_below(&seed, sizeof(bytes) + 1);

                for (size_t j = 0; j < len; j++)
                        bytes[j] = (uint8_t)sample_random(&seed);
                write_json(&out, bytes, len);
                assert_json((const char *)out.data);
        }
}

static void test_running_out_of_memory_is_an_error(void **state)
{
        static const char text[] = "{\"a\":[1,2.5,\"x\",true,null],\"b\":{\"c\":-3}}";
        bool failed = true;

        (void)state;
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(buf_deinit) struct buf cbor = BUF_INIT;
                struct source_json json;
                struct json_reader in;
                bool good;

                assert_int_equal(json_reader_init(&in, text, sizeof(text) - 1), 0);
                alloc_fail_after(count);
                good = cbor_of_source(&cbor, source_json_init(&json, &in));
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(good, !failed);
                assert_int_equal(json_reader_end(&in, NULL), failed ? ROAST_E_NOMEM : 0);
                json_reader_deinit(&in);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_what_was_put_is_read),
                cmocka_unit_test(test_well_formed_items_are_skipped_whole),
                cmocka_unit_test(test_an_item_that_is_cut_anywhere_is_bad),
                cmocka_unit_test(test_lengths_that_cannot_be_are_bad),
                cmocka_unit_test(test_no_depth_is_too_deep_to_skip),
                cmocka_unit_test(test_nothing_is_written_as_json_beyond_its_depth),
                cmocka_unit_test(test_pairs_come_up_to_where_a_map_is_damaged),
                cmocka_unit_test(test_blobs_read_from_json_are_the_same_json),
                cmocka_unit_test(test_what_json_has_no_form_for_is_text_or_null),
                cmocka_unit_test(test_damaged_blobs_are_valid_json),
                cmocka_unit_test(test_running_out_of_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("cbor", tests, NULL, NULL);
}
