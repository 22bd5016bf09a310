/* util/python-text: tuples and times as Python writes them */

#include "unit.h"

#include <stdlib.h>

#include "alloc.h"
#include "roast-error.h"
#include "util/cleanup.h"
#include "util/python-text.h"
#include "util/size.h"

/* ---- tuples ---- */

static int read_tuple(struct python_tuple *tuple, const char *text)
{
        return python_tuple_read(tuple, text, strlen(text));
}

static void test_a_tuple_has_texts_numbers_and_none(void **state)
{
        ROAST_CLEANUP(python_tuple_deinit) struct python_tuple tuple = { 0 };

        (void)state;
        assert_int_equal(read_tuple(&tuple, " ( 'a', -20, None , \"it's\" ,)"), 1);
        assert_int_equal(tuple.n, 4);
        assert_int_equal(tuple.items[0].type, PYTHON_TEXT);
        assert_string_equal(tuple.items[0].text, "a");
        assert_int_equal(tuple.items[1].type, PYTHON_INT);
        assert_int_equal(tuple.items[1].integer, -20);
        assert_int_equal(tuple.items[2].type, PYTHON_NONE);
        assert_string_equal(tuple.items[3].text, "it's");
}

static void test_an_empty_tuple_is_one(void **state)
{
        ROAST_CLEANUP(python_tuple_deinit) struct python_tuple tuple = { 0 };

        (void)state;
        assert_int_equal(read_tuple(&tuple, "()"), 1);
        assert_int_equal(tuple.n, 0);
}

/* What repr() writes for bytes that cannot be printed stays as it is, but for ASCII. */
static void test_escapes_of_texts(void **state)
{
        static const struct {
                const char *written, *meant;
        } rows[] = {
                { "('a\\\\b')", "a\\b" },      { "('it\\'s')", "it's" },
                { "('\\\"')", "\"" },          { "('\\n\\r\\t')", "\n\r\t" },
                { "('\\x1b[0m')", "\x1b[0m" }, { "('\\x4A\\x4f')", "JO" },
                { "('\\xe9')", "\\xe9" },      { "('\\x00')", "\\x00" },
                { "('\\x4')", "\\x4" },        { "('\\xzz')", "\\xzz" },
                { "('\\u00e9')", "\\u00e9" },  { "('\xc3\xa9')", "\xc3\xa9" },
                { "('\\xAf')", "\\xAf" },      { "('')", "" },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                ROAST_CLEANUP(python_tuple_deinit) struct python_tuple tuple = { 0 };

                assert_int_equal(read_tuple(&tuple, rows[i].written), 1);
                assert_int_equal(tuple.n, 1);
                assert_string_equal(tuple.items[0].text, rows[i].meant);
        }
}

static void test_the_largest_number_and_the_one_after_it(void **state)
{
        ROAST_CLEANUP(python_tuple_deinit) struct python_tuple tuple = { 0 };

        (void)state;
        assert_int_equal(read_tuple(&tuple, "(9223372036854775807,)"), 1);
        assert_true(tuple.items[0].integer == INT64_MAX);
        assert_int_equal(read_tuple(&tuple, "(9223372036854775808,)"), 0);
        assert_int_equal(read_tuple(&tuple, "(92233720368547758070,)"), 0);
        assert_int_equal(tuple.n, 0);
}

static void test_what_is_no_tuple_is_told(void **state)
{
        static const char *const texts[] = {
                "",      "x",        "(",      "('a'",   "('a",    "('a\\",
                "('a',", "('a' 'b'", "(1.5,)", "(-)",    "(None",  "(True,)",
                "(1,)x", "(1)x",     "('a'))", "(1,,2)", "(Non,)", "(1, 2, 3, 4, 5, 6, 7, 8, 9)",
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(texts); i++) {
                struct python_tuple tuple;

                if (read_tuple(&tuple, texts[i]) != 0)
                        fail_msg("%s was taken for a tuple", texts[i]);
                assert_int_equal(tuple.n, 0);
        }
}

static void test_a_text_with_a_zero_byte_is_none(void **state)
{
        static const char within[] = "('a\0b',)", escaped[] = "('a\\\0b',)";
        ROAST_CLEANUP(python_tuple_deinit) struct python_tuple tuple = { 0 };

        (void)state;
        assert_int_equal(python_tuple_read(&tuple, within, sizeof(within) - 1), 0);
        assert_int_equal(python_tuple_read(&tuple, escaped, sizeof(escaped) - 1), 0);
}

static void test_a_tuple_without_memory_is_an_error(void **state)
{
        static const char *const texts[] = { "('plain',)", "('\\n',)", "('\\x41',)", "('\\q',)" };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(texts); i++) {
                struct python_tuple tuple;
                int r;

                alloc_fail_after(0);
                r = read_tuple(&tuple, texts[i]);
                alloc_fail_after(-1);
                assert_int_equal(r, ROAST_E_NOMEM);
                assert_int_equal(tuple.n, 0);
        }
}

/* ---- times ---- */

#define NOON INT64_C(1794744000) /* 2026-11-15 12:00:00 UTC */

static void test_times_with_and_without_an_offset(void **state)
{
        static const struct {
                const char *text;
                int64_t utc_ns;
        } rows[] = {
                { "1970-01-01T00:00:00", 0 },
                { "2026-11-15T12:00:00", NOON * 1000000000 },
                { "2026-11-15 12:00", NOON * 1000000000 },
                { "2026-11-15T12:00:00Z", NOON * 1000000000 },
                { "2026-11-15T12:00:00.5", NOON * 1000000000 + 500000000 },
                { "2026-11-15T12:00:00,000001", NOON * 1000000000 + 1000 },
                { "2026-11-15T12:00:00.1234567891", NOON * 1000000000 + 123456789 },
                { "2026-11-15T12:00:00+01:00", (NOON - 3600) * 1000000000 },
                { "2026-11-15T12:00:00-0530", (NOON + 5 * 3600 + 1800) * 1000000000 },
                { "2026-11-15T12:00:00.25+02", (NOON - 7200) * 1000000000 + 250000000 },
                { "2026-11-15T11:59:60", NOON * 1000000000 },
                { "2024-02-29T00:00:00", INT64_C(1709164800) * 1000000000 },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                int64_t utc_ns = -1;

                if (!python_time_read(rows[i].text, strlen(rows[i].text), &utc_ns) ||
                    utc_ns != rows[i].utc_ns)
                        fail_msg("%s: %lld", rows[i].text, (long long)utc_ns);
        }
}

static void test_what_is_no_time_is_told(void **state)
{
        static const char *const texts[] = {
                "",
                "202",
                "2026",
                "2026-1",
                "2026-11",
                "2026-11-1",
                "2026-11-15",
                "2026-11-15T",
                "2026-11-15T1",
                "2026-11-15T12",
                "2026-11-15T12:0",
                "2026-11-15T12:00:",
                "2026-11-15T12:00:0",
                "2026-11-15T12:00:00.",
                "2026-11-15T12:00:00.x",
                "2026-11-15T12:00:00./",
                "2026-11-15T12:00:00Zx",
                "2026-11-15T12:00:00x",
                "2026-11-15T12:00:00+",
                "2026-11-15T12:00:00+1",
                "2026-11-15T12:00:00+01:0",
                "2026-11-15T12:00:00+01:00x",
                "2026-11-15T12:00:00+24:00",
                "2026-11-15T12:00:00+01:60",
                "2026/11-15T12:00:00",
                "2026-11/15T12:00:00",
                "2026-11-15_12:00:00",
                "2026-11-15T12.00:00",
                "20a6-11-15T12:00:00",
                "1969-12-31T23:59:59",
                "2201-01-01T00:00:00",
                "2026-00-15T12:00:00",
                "2026-13-15T12:00:00",
                "2026-11-00T12:00:00",
                "2026-11-32T12:00:00",
                "2026-11-15T24:00:00",
                "2026-11-15T12:60:00",
                "2026-11-15T12:00:61",
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(texts); i++) {
                int64_t utc_ns = -1;

                if (python_time_read(texts[i], strlen(texts[i]), &utc_ns))
                        fail_msg("%s was taken for a time: %lld", texts[i], (long long)utc_ns);
                assert_true(utc_ns == -1);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_tuple_has_texts_numbers_and_none),
                cmocka_unit_test(test_an_empty_tuple_is_one),
                cmocka_unit_test(test_escapes_of_texts),
                cmocka_unit_test(test_the_largest_number_and_the_one_after_it),
                cmocka_unit_test(test_what_is_no_tuple_is_told),
                cmocka_unit_test(test_a_text_with_a_zero_byte_is_none),
                cmocka_unit_test(test_a_tuple_without_memory_is_an_error),
                cmocka_unit_test(test_times_with_and_without_an_offset),
                cmocka_unit_test(test_what_is_no_time_is_told),
        };

        return cmocka_run_group_tests_name("python-text", tests, NULL, NULL);
}
