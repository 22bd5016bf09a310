/* util/json-read: a JSON reader for hostile input; util/python-text: what Python wrote as text */

#include "unit.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "util/cleanup.h"
#include "util/json-read.h"
#include "util/python-text.h"

/* 0, or the error; the text is copied so that a read past its end is seen by sanitizers */
static int parse(const char *text, size_t len, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *copy = malloc(len + 1);
        struct json_reader in;
        int r;

        assert_non_null(copy);
        memcpy(copy, text, len);
        copy[len] = '\0';
        assert_int_equal(json_reader_init(&in, copy, len), 0);
        (void)json_read_skip(&in);
        r = json_reader_end(&in, error);
        json_reader_deinit(&in);
        return r;
}

static void test_what_is_json_is_read(void **state)
{
        static const char *const texts[] = {
                "null",
                " true ",
                "false",
                "0",
                "-0",
                "1.5e-3",
                "1E+9",
                "\"\"",
                "[]",
                "{}",
                "[[],{},[1,2,{\"a\":[]}]]",
                "{\"a\":1,\"a\":2}",
                "\"\\u00e9\\n\\\"\\/\"",
                "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
                "[NaN,Infinity,-Infinity]",
                "123456789012345678901234567890",
                "1e999",
                "\t\r\n[ 1 , 2 ]\n",
        };

        (void)state;
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                assert_int_equal(parse(texts[i], strlen(texts[i]), NULL), 0);
}

static void test_what_is_not_json_is_refused_with_the_place(void **state)
{
        static const char *const texts[] = {
                "",           " ",           "nul",
                "nulll",      "tru",         "+1",
                "01",         "-",           "1.",
                ".5",         "1e",          "1e+",
                "0x10",       "[",           "]",
                "[1",         "[1,",         "[1,]",
                "[,1]",       "[1 2]",       "{",
                "}",          "{\"a\"",      "{\"a\":",
                "{\"a\":1",   "{\"a\":1,",   "{\"a\":1,}",
                "{a:1}",      "{\"a\" 1}",   "{1:1}",
                "[1}",        "{\"a\":1]",   "\"",
                "\"a",        "\"\\",        "\"\\x\"",
                "\"\\u12\"",  "\"\\u12g4\"", "\"a\nb\"",
                "\"\xff\"",   "\"\xc3\"",    "\"\xed\xa0\x80\"",
                "'a'",        "1 2",         "[] []",
                "nan",        "-NaN",        "Inf",
                "--1",        "{\"a\":}",    "[1e5e5]",
                "\"a\"\"b\"",
        };

        (void)state;
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                struct roast_error error = { 0 };

                if (parse(texts[i], strlen(texts[i]), &error) != ROAST_E_FORMAT)
                        fail_msg("%s was taken for JSON", texts[i]);
                assert_has(error.message, "at byte");
        }
        assert_int_equal(parse("[1,\0]", 5, NULL), ROAST_E_FORMAT);
        assert_int_equal(parse("\"a\0b\"", 5, NULL), ROAST_E_FORMAT);
}

static void test_a_text_that_is_cut_anywhere_is_refused(void **state)
{
        static const char text[] =
                "{\"a\": [1, -2.5e3, null, true, \"x\\u00e9\\n\xc3\xa9\"], \"b\": {}}";

        (void)state;
        for (size_t len = 0; len < sizeof(text) - 1; len++)
                assert_int_equal(parse(text, len, NULL), ROAST_E_FORMAT);
        assert_int_equal(parse(text, sizeof(text) - 1, NULL), 0);
}

static void test_depth_is_limited(void **state)
{
        char text[2 * (JSON_READ_DEPTH_MAX + 1)];
        struct roast_error error = { 0 };

        (void)state;
        memset(text, '[', JSON_READ_DEPTH_MAX);
        memset(text + JSON_READ_DEPTH_MAX, ']', JSON_READ_DEPTH_MAX);
        assert_int_equal(parse(text, 2 * JSON_READ_DEPTH_MAX, NULL), 0);
        memset(text, '[', sizeof(text));
        assert_int_equal(parse(text, sizeof(text), &error), ROAST_E_FORMAT);
        assert_has(error.message, "nested");
}

static void test_values_are_what_was_written(void **state)
{
        static const char text[] = "{\"n\":[9223372036854775807,-9223372036854775808,"
                                   "9223372036854775808,1.0,2.5e-3,NaN],"
                                   "\"s\":\"a\\ud83d\\ude00\\udcff\\ud800z\",\"t\":true}";
        struct json_number n[6];
        struct json_reader in;
        struct json_text key, s = { 0 };
        bool truth = false;

        (void)state;
        json_reader_init(&in, text, sizeof(text) - 1);
        assert_true(json_read_object(&in));
        assert_true(json_read_key(&in, &key));
        assert_true(json_text_is(&key, "n"));
        assert_true(json_read_array(&in));
        for (size_t i = 0; i < 6; i++) {
                assert_true(json_read_element(&in));
                assert_true(json_read_number(&in, &n[i]));
        }
        assert_false(json_read_element(&in));
        assert_true(n[0].whole && n[0].integer == INT64_MAX);
        assert_true(n[1].whole && n[1].integer == INT64_MIN);
        assert_true(!n[2].whole && n[2].real == 9223372036854775808.0);
        assert_true(!n[3].whole && n[3].real == 1);
        assert_true(n[4].real == 2.5e-3);
        assert_true(isnan(n[5].real));
        assert_true(json_read_key(&in, &key));
        assert_true(json_read_string(&in, &s));
        /* a byte that Python escaped is that byte; half a pair is not a character */
        assert_int_equal(s.len, 10);
        assert_memory_equal(s.data, "a\xf0\x9f\x98\x80\xff\xef\xbf\xbdz", 10);
        assert_true(json_read_key(&in, &key));
        assert_true(json_read_bool(&in, &truth) && truth);
        assert_false(json_read_key(&in, &key));
        assert_int_equal(json_reader_end(&in, NULL), 0);
        json_reader_deinit(&in);
}

static void test_asking_for_the_wrong_kind_is_an_error_that_stays(void **state)
{
        struct json_number number;
        struct json_reader in;
        struct json_text text;

        (void)state;
        json_reader_init(&in, "[\"a\"]", 5);
        assert_false(json_read_object(&in));
        assert_false(json_read_array(&in));
        assert_false(json_read_element(&in));
        assert_false(json_read_string(&in, &text));
        assert_false(json_read_number(&in, &number));
        assert_int_equal(json_read_type(&in), JSON_BAD);
        assert_int_equal(json_reader_end(&in, NULL), ROAST_E_FORMAT);
        json_reader_deinit(&in);
}

static void test_no_memory_is_told_as_such(void **state)
{
        struct json_reader in;
        struct json_text text;

        (void)state;
        json_reader_init(&in, "\"\\n\"", 4);
        alloc_fail_after(0);
        assert_false(json_read_string(&in, &text));
        alloc_fail_after(-1);
        assert_int_equal(json_reader_end(&in, NULL), ROAST_E_NOMEM);
        json_reader_deinit(&in);
}

static int tuple(struct python_tuple *tuple, const char *text)
{
        return python_tuple_read(tuple, text, strlen(text));
}

static void test_tuples_are_read_as_python_shows_them(void **state)
{
        struct python_tuple t;

        (void)state;
        assert_int_equal(tuple(&t, "('/a\\'b\\\\.root', 0, -20000)"), 1);
        assert_int_equal(t.n, 3);
        assert_string_equal(t.items[0].text, "/a'b\\.root");
        assert_int_equal(t.items[1].type, PYTHON_INT);
        assert_int_equal(t.items[2].integer, -20000);
        python_tuple_deinit(&t);
        assert_int_equal(tuple(&t, "(\"it's\", None)"), 1);
        assert_string_equal(t.items[0].text, "it's");
        assert_int_equal(t.items[1].type, PYTHON_NONE);
        python_tuple_deinit(&t);
        assert_int_equal(tuple(&t, "('x',)"), 1);
        python_tuple_deinit(&t);
        assert_int_equal(tuple(&t, "()"), 1);
        assert_int_equal(t.n, 0);
}

static void test_what_is_no_tuple_is_not_taken_for_one(void **state)
{
        static const char *const texts[] = {
                "",
                "(",
                ")",
                "('a'",
                "('a',",
                "('a' 'b')",
                "(a)",
                "('a)",
                "(1.5)",
                "(1,2) ",
                "(1 2)",
                "(99999999999999999999)",
                "(1,2,3,4,5,6,7,8,9)",
                "(,)",
                "(-)",
                "[1]",
        };
        struct python_tuple t;

        (void)state;
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                if (tuple(&t, texts[i]) != 0)
                        fail_msg("%s was taken for a tuple", texts[i]);
}

static void test_times_are_read_with_and_without_an_offset(void **state)
{
        static const struct {
                const char *text;
                int64_t utc_ns;
        } times[] = {
                { "2026-11-15T19:52:52.098791", INT64_C(1794772372098791000) },
                { "2026-11-15 19:52:52", INT64_C(1794772372000000000) },
                { "2026-11-15T19:52:52Z", INT64_C(1794772372000000000) },
                { "2026-11-15T20:52:52.5+01:00", INT64_C(1794772372500000000) },
                { "2026-11-15T14:22:52-0530", INT64_C(1794772372000000000) },
                { "2026-11-15T19:52:52.1234567891", INT64_C(1794772372123456789) },
        };
        static const char *const bad[] = {
                "",
                "2026",
                "2026-11-15",
                "2026-13-15T00:00:00",
                "2026-11-15T25:00:00",
                "2026-11-15T19:52:52.",
                "2026-11-15T19:52:52+1",
                "2026-11-15T19:52:52 ",
                "1500-01-01T00:00:00",
                "9999-01-01T00:00:00",
                "2026-11-15T19:52:52+99:00",
        };
        int64_t utc_ns;

        (void)state;
        for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
                assert_true(python_time_read(times[i].text, strlen(times[i].text), &utc_ns));
                assert_true(utc_ns == times[i].utc_ns);
        }
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                assert_false(python_time_read(bad[i], strlen(bad[i]), &utc_ns));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_what_is_json_is_read),
                cmocka_unit_test(test_what_is_not_json_is_refused_with_the_place),
                cmocka_unit_test(test_a_text_that_is_cut_anywhere_is_refused),
                cmocka_unit_test(test_depth_is_limited),
                cmocka_unit_test(test_values_are_what_was_written),
                cmocka_unit_test(test_asking_for_the_wrong_kind_is_an_error_that_stays),
                cmocka_unit_test(test_no_memory_is_told_as_such),
                cmocka_unit_test(test_tuples_are_read_as_python_shows_them),
                cmocka_unit_test(test_what_is_no_tuple_is_not_taken_for_one),
                cmocka_unit_test(test_times_are_read_with_and_without_an_offset),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
