/* util/: buffers, cursors, the JSON writer */

#include "unit.h"

#include <math.h>

#include "roast-error.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/utf8.h"

static void test_numbers_read_back_as_they_were_written(void **state)
{
        static const uint64_t values[] = { 0, 1, 127, 128, 300, 1ull << 35, UINT64_MAX };
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        struct cursor cursor;

        (void)state;
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
                assert_int_equal(buf_put_varint(&buf, values[i]), 0);
                assert_int_equal(buf_put_zigzag(&buf, (int64_t)values[i]), 0);
                assert_int_equal(buf_put_u64(&buf, values[i]), 0);
                assert_int_equal(buf_put_f64(&buf, (double)values[i] / 3), 0);
        }
        cursor = cursor_init(buf.data, buf.len);
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
                assert_true(cursor_varint(&cursor) == values[i]);
                assert_true(cursor_zigzag(&cursor) == (int64_t)values[i]);
                assert_true(cursor_u64(&cursor) == values[i]);
                assert_true(cursor_f64(&cursor) == (double)values[i] / 3);
        }
        assert_false(cursor.bad);
        assert_int_equal(cursor_left(&cursor), 0);
}

static void test_a_cursor_past_the_end_stays_bad(void **state)
{
        static const uint8_t endless[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                           0xff, 0xff, 0xff, 0xff, 0xff };
        struct cursor cursor = cursor_init(endless, sizeof(endless));
        size_t len;

        (void)state;
        assert_int_equal(cursor_varint(&cursor), 0);
        assert_true(cursor.bad);
        assert_int_equal(cursor_u8(&cursor), 0);
        assert_null(cursor_take(&cursor, 0));

        /* a length that promises more than there is */
        cursor = cursor_init("\x05"
                             "abc",
                             4);
        assert_null(cursor_bytes(&cursor, &len));
        assert_int_equal(len, 0);
        assert_true(cursor.bad);
}

static void test_json_is_valid_whatever_the_strings_are(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct json json = { .out = &buf, .compact = true };

        (void)state;
        json_object(&json);
        json_key(&json, "a\"b");
        json_string(&json, "\x01 \xff \xc3\xa9 \\");
        json_key(&json, "list");
        json_array(&json);
        json_int(&json, -5);
        json_double(&json, 0.1);
        json_double(&json, 1e300);
        json_double(&json, 3);
        json_double(&json, (double)NAN);
        json_bool(&json, true);
        json_end(&json);
        json_key(&json, "empty");
        json_object(&json);
        json_end(&json);
        json_end(&json);
        assert_true(json.error >= 0);
        text = buf_release_string(&buf);
        assert_string_equal(text, "{\"a\\\"b\":\"\\u0001 \xef\xbf\xbd \xc3\xa9 \\\\\","
                                  "\"list\":[-5,0.1,1e+300,3.0,null,true],\"empty\":{}}");
}

static void test_utf8_refuses_what_is_not_well_formed(void **state)
{
        (void)state;
        assert_int_equal(utf8_length((const uint8_t *)"a", 1), 1);
        assert_int_equal(utf8_length((const uint8_t *)"\xe2\x82\xac", 3), 3);
        assert_int_equal(utf8_length((const uint8_t *)"\xe2\x82\xac", 2), 0);     /* cut off */
        assert_int_equal(utf8_length((const uint8_t *)"\xc0\x80", 2), 0);         /* overlong */
        assert_int_equal(utf8_length((const uint8_t *)"\xed\xa0\x80", 3), 0);     /* surrogate */
        assert_int_equal(utf8_length((const uint8_t *)"\xf4\x90\x80\x80", 4), 0); /* > 10FFFF */
}

static void test_an_error_carries_its_code_and_one_sentence(void **state)
{
        struct roast_error error = { 0 };

        (void)state;
        assert_int_equal(roast_fail(&error, ROAST_E_IO, "%s: %d", "x.roast", 7), ROAST_E_IO);
        assert_string_equal(error.message, "x.roast: 7");
        assert_int_equal(roast_fail(NULL, ROAST_E_STATE, "nobody listens"), ROAST_E_STATE);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_numbers_read_back_as_they_were_written),
                cmocka_unit_test(test_a_cursor_past_the_end_stays_bad),
                cmocka_unit_test(test_json_is_valid_whatever_the_strings_are),
                cmocka_unit_test(test_utf8_refuses_what_is_not_well_formed),
                cmocka_unit_test(test_an_error_carries_its_code_and_one_sentence),
        };

        return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
