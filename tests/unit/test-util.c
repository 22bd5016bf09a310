/* util/: buffers, cursors, arrays, the JSON writer */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "roast-error.h"
#include "util/array.h"
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

static void test_a_real_number_has_the_fewest_digits_that_read_back(void **state)
{
        static const double values[] = { 0,       -0.0,    0.1,      -0.5,     1e-4,    9.9e-5,
                                         1e-9,    123456,  999999.9, 1e6,      1e15,    1e-300,
                                         1.0 / 3, 2e5 / 7, 0.000123, 0.3 - .2, 1e9 + .5 };
        uint64_t seed = 88172645463325252;

        (void)state;
        for (int i = 0; i < 200000; i++) {
                ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
                char text[40];
                double value;

                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                value = (size_t)i < sizeof(values) / sizeof(values[0]) ? values[i]
                        : i % 2 ? (double)(int64_t)(seed >> (seed % 60)) / 1e9
                                : (double)(int64_t)seed / (double)(seed % 1000 + 1);
                for (int digits = 15; digits <= 17; digits++) {
                        snprintf(text, sizeof(text), "%.*g", digits, value);
                        if (strtod(text, NULL) == value)
                                break;
                }
                assert_int_equal(buf_put_real(&buf, value), 0);
                assert_int_equal(buf.len, strlen(text));
                assert_memory_equal(buf.data, text, buf.len);
        }
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

static void test_json_of_any_bytes_is_utf8_without_control_characters(void **state)
{
        uint64_t seed = 1;

        (void)state;
        for (size_t round = 0; round < 2000; round++) {
                ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
                struct json json = { .out = &buf, .compact = true };
                char bytes[24];

                for (size_t i = 0; i < sizeof(bytes); i++) {
                        seed = seed * 6364136223846793005u + 1442695040888963407u;
                        bytes[i] = (char)(seed >> (round % 2 ? 33 : 56));
                }
                json_string_n(&json, bytes, sizeof(bytes));
                assert_true(json.error >= 0);
                for (size_t i = 0, n; i < buf.len; i += n) {
                        n = utf8_length(buf.data + i, buf.len - i);
                        assert_true(n > 0 && buf.data[i] >= 0x20);
                }
                assert_true(buf.data[0] == '"' && buf.data[buf.len - 1] == '"');
        }
}

static void test_json_is_indented_and_empty_containers_stay_on_their_line(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct json json = { .out = &buf };

        (void)state;
        json_array(&json);
        json_object(&json);
        json_key(&json, "a");
        json_array(&json);
        json_end(&json);
        json_key(&json, "b");
        json_null(&json);
        json_end(&json);
        json_int(&json, INT64_MIN);
        json_end(&json);
        text = buf_release_string(&buf);
        assert_string_equal(text, "[\n  {\n    \"a\": [],\n    \"b\": null\n  },\n"
                                  "  -9223372036854775808\n]");
}

static void test_json_that_is_nested_too_deep_or_not_at_all_is_an_error(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        struct json deep = { .out = &buf }, flat = { .out = &buf };

        (void)state;
        for (int i = 0; i < JSON_DEPTH_MAX; i++)
                json_array(&deep);
        assert_true(deep.error >= 0);
        json_object(&deep);
        json_int(&deep, 1);
        assert_int_equal(deep.error, ROAST_E_INVALID);
        json_end(&flat);
        assert_int_equal(flat.error, ROAST_E_INVALID);
}

static void test_a_buffer_without_memory_is_as_it_was(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        char big[100];

        (void)state;
        memset(big, 'x', sizeof(big));
        assert_int_equal(buf_puts(&buf, "before"), 0);
        alloc_fail_after(0);
        assert_int_equal(buf_append(&buf, big, sizeof(big)), ROAST_E_NOMEM);
        assert_int_equal(buf_printf(&buf, "%90s", ""), ROAST_E_NOMEM);
        assert_int_equal(buf_reserve(&buf, SIZE_MAX), ROAST_E_NOMEM);
        assert_int_equal(buf_reserve(&buf, SIZE_MAX / 2), ROAST_E_NOMEM);
        alloc_fail_after(-1);
        assert_int_equal(buf.len, 6);
        assert_memory_equal(buf.data, "before", 6);
        assert_int_equal(buf_append(&buf, NULL, 0), 0);
}

static void test_an_array_grows_with_what_is_in_it(void **state)
{
        ROAST_CLEANUP(cleanup_free) uint32_t *numbers = NULL;
        size_t cap = 0;

        (void)state;
        for (uint32_t n = 0; n < 1000; n++) {
                assert_int_equal(ARRAY_ROOM(numbers, n, cap), 0);
                assert_true(n < cap);
                numbers[n] = n;
        }
        assert_int_equal(ARRAY_ROOM(numbers, 100000, cap), 0);
        assert_true(cap > 100000);
        for (uint32_t n = 0; n < 1000; n++)
                assert_int_equal(numbers[n], n);
}

static void test_an_array_that_cannot_grow_is_as_it_was(void **state)
{
        ROAST_CLEANUP(cleanup_free) uint32_t *numbers = calloc(4, sizeof(*numbers));
        uint32_t *before = numbers;
        size_t cap = 4, huge = SIZE_MAX / 2 + 1;

        (void)state;
        assert_int_equal(ARRAY_ROOM(numbers, SIZE_MAX, cap), ROAST_E_NOMEM);
        assert_int_equal(ARRAY_ROOM(numbers, SIZE_MAX / sizeof(*numbers), cap), ROAST_E_NOMEM);
        assert_int_equal(array_grow(&numbers, huge, &huge, 1), ROAST_E_NOMEM);
        alloc_fail_after(0);
        assert_int_equal(ARRAY_ROOM(numbers, 4, cap), ROAST_E_NOMEM);
        alloc_fail_after(-1);
        assert_ptr_equal(numbers, before);
        assert_int_equal(cap, 4);
        assert_true(huge == SIZE_MAX / 2 + 1);
}

static void test_a_message_that_is_too_long_is_cut(void **state)
{
        struct roast_error error = { 0 };
        char path[2000];

        (void)state;
        memset(path, 'p', sizeof(path));
        path[sizeof(path) - 1] = '\0';
        assert_int_equal(roast_fail(&error, ROAST_E_IO, "%s", path), ROAST_E_IO);
        assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
        assert_int_equal(roast_fail_nomem(NULL), ROAST_E_NOMEM);
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
                cmocka_unit_test(test_a_real_number_has_the_fewest_digits_that_read_back),
                cmocka_unit_test(test_json_is_valid_whatever_the_strings_are),
                cmocka_unit_test(test_json_of_any_bytes_is_utf8_without_control_characters),
                cmocka_unit_test(test_json_is_indented_and_empty_containers_stay_on_their_line),
                cmocka_unit_test(test_json_that_is_nested_too_deep_or_not_at_all_is_an_error),
                cmocka_unit_test(test_a_buffer_without_memory_is_as_it_was),
                cmocka_unit_test(test_an_array_grows_with_what_is_in_it),
                cmocka_unit_test(test_an_array_that_cannot_grow_is_as_it_was),
                cmocka_unit_test(test_a_message_that_is_too_long_is_cut),
                cmocka_unit_test(test_utf8_refuses_what_is_not_well_formed),
                cmocka_unit_test(test_an_error_carries_its_code_and_one_sentence),
        };

        return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
