/* Units for people */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "roast-metrics.h"
#include "roast-units.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

static void test_bytes(void **state)
{
        static const struct {
                double bytes;
                const char *text;
        } rows[] = {
                { 0, "0 B" },
                { 1, "1 B" },
                { 999, "999 B" },
                { 999.4, "999 B" },
                { 999.6, "1.00 kB" },
                { 1000, "1.00 kB" },
                { 1024, "1.02 kB" },
                { 999994, "999.99 kB" },
                { 999996, "1.00 MB" },
                { 1.5e9, "1.50 GB" },
                { 2.5e15, "2.50 PB" },
                { 9.2e18, "9.20 EB" },
                { 1e22, "10000.00 EB" },
                { -1500, "-1.50 kB" },
        };
        char text[ROAST_UNITS_MAX];

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++)
                assert_string_equal(roast_format_bytes(text, sizeof(text), rows[i].bytes),
                                    rows[i].text);
}

static void test_seconds(void **state)
{
        static const struct {
                double seconds;
                const char *text;
        } rows[] = {
                { 0, "0.0s" },
                { 1e-9, "1ns" },
                { 999e-9, "999ns" },
                { 999.6e-9, "1.0us" },
                { 1e-6, "1.0us" },
                { 21.2e-6, "21.2us" },
                { 0.0009999, "999.9us" },
                { 0.00099996, "1.0ms" },
                { 0.012, "12.0ms" },
                { 0.9999, "999.9ms" },
                { 0.99996, "1.0s" },
                { 1, "1.0s" },
                { 59.94, "59.9s" },
                { 60, "1m 0s" },
                { 187.9, "3m 7s" },
                { 3599.9, "59m 59s" },
                { 3723, "1h 2m 3s" },
                { 360000, "100h 0m 0s" },
                { -0.5, "-500.0ms" },
                { -75, "-75.0s" },
                { 1e20, "1e+20s" },
        };
        char text[ROAST_UNITS_MAX];

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++)
                assert_string_equal(roast_format_seconds(text, sizeof(text), rows[i].seconds),
                                    rows[i].text);
}

static void test_counts(void **state)
{
        static const struct {
                int64_t count;
                const char *text;
        } rows[] = {
                { 0, "0" },
                { 999, "999" },
                { 1000, "1,000" },
                { -1000, "-1,000" },
                { -999, "-999" },
                { 123456789, "123,456,789" },
                { INT64_MAX, "9,223,372,036,854,775,807" },
                { INT64_MIN, "-9,223,372,036,854,775,808" },
        };
        char text[ROAST_UNITS_MAX];

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++)
                assert_string_equal(roast_format_count(text, sizeof(text), rows[i].count),
                                    rows[i].text);
}

static void test_times_of_day(void **state)
{
        char text[ROAST_UNITS_MAX];

        (void)state;
        assert_string_equal(roast_format_utc(text, sizeof(text), 0), "1970-01-01 00:00:00 UTC");
        assert_string_equal(roast_format_utc(text, sizeof(text), SAMPLE_START_UTC_NS),
                            "2026-11-15 20:03:08 UTC");
        assert_string_equal(roast_format_utc(text, sizeof(text), INT64_MAX),
                            "2262-04-11 23:47:16 UTC");
        assert_string_equal(roast_format_utc(text, 5, 0), "?");
}

static void test_metrics_are_formatted_by_their_unit(void **state)
{
        static const struct {
                enum roast_metric metric;
                double value;
                const char *text;
        } rows[] = {
                { ROAST_DATA_RATE_GBPS, 1.234, "1.23 Gbps" },
                { ROAST_DATA_RATE_GBPS, 0.00123, "0.00123 Gbps" },
                { ROAST_DATA_RATE_GBPS, 0, "0.00 Gbps" },
                { ROAST_DATA_RATE_MB_PER_S, 6, "6.0 MB/s" },
                { ROAST_EVENT_RATE_ELAPSED_KHZ, 90.04, "90.0 kHz" },
                { ROAST_EVENT_RATE_CORE_KHZ, 15, "15.0 kHz/core" },
                { ROAST_EVENT_RATE_CORE_HZ, 15, "15.0 Hz/core" },
                { ROAST_EVENT_RATE_ELAPSED_KHZ, 0.0437, "0.0437 kHz" }, /* and not 0.0 */
                { ROAST_EVENT_RATE_ELAPSED_KHZ, 0.0996, "0.1 kHz" },
                { ROAST_EVENT_RATE_ELAPSED_KHZ, 0, "0.0 kHz" },
                { ROAST_EVENT_RATE_CORE_KHZ, 0.04, "0.04 kHz/core" },
                { ROAST_DATA_RATE_MB_PER_S, 0.012, "0.012 MB/s" },
                { ROAST_SPEEDUP_FACTOR, 0.023, "0.023x" },
                { ROAST_AVG_WORKERS, 0.04, "0.04" },
                { ROAST_CORE_EFFICIENCY, 0.271, "27.1%" },
                { ROAST_IO_OVERHEAD_PCT, 60, "60.0%" },
                { ROAST_SPEEDUP_FACTOR, 1.625, "1.6x" },
                { ROAST_AVG_WORKERS, 2.5, "2.5" },
                { ROAST_TOTAL_EVENTS, 900000, "900,000" },
                { ROAST_CHUNK_EVENTS_MEAN, 25000, "25,000" },
                { ROAST_CHUNK_EVENTS_MEAN, 25000.5, "25000.5" },
                { ROAST_CHUNK_EVENTS_MEAN, 1e19, "1e+19" },
                { ROAST_CHUNK_MEM_DELTA_MEAN_MB, 1, "1.05 MB" },
                { ROAST_TOTAL_BYTES_READ, 6e7, "60.00 MB" },
                { ROAST_ELAPSED_TIME_SECONDS, 10, "10.0s" },
        };
        char text[ROAST_UNITS_MAX];

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };

                roast_metric_set_real(&set, rows[i].metric, rows[i].value);
                assert_string_equal(roast_format_value(text, sizeof(text), rows[i].metric,
                                                       &set.values[rows[i].metric]),
                                    rows[i].text);
        }
}

/* As the documented helpers of the Python package write them */
static void test_bytes_by_powers_of_1024(void **state)
{
        static const struct {
                double bytes;
                const char *text;
        } rows[] = {
                { 0, "0.00 B" },
                { 1023, "1023.00 B" },
                { 1024, "1.00 KB" },
                { 1536, "1.50 KB" },
                { 1048576, "1.00 MB" },
                { -3 * 1073741824.0, "-3.00 GB" },
                { 1125899906842624.0 * 2048, "2048.00 PB" }, /* there is no larger prefix */
                { 1e40, "8.88e+24 PB" },
        };
        char text[ROAST_UNITS_MAX];

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++)
                assert_string_equal(roast_format_bytes_1024(text, sizeof(text), rows[i].bytes),
                                    rows[i].text);
}

static void test_seconds_to_a_tenth(void **state)
{
        static const struct {
                double seconds;
                const char *text;
        } rows[] = {
                { 0, "0.0s" },      { 0.0012, "1.2ms" }, { 0.049, "49.0ms" },
                { 0.06, "0.1s" },   { 0.5, "0.5s" },     { -0.5, "-0.5s" },
                { 59.94, "59.9s" }, { 60, "1m 0s" },     { -75, "-75.0s" },
        };
        char text[ROAST_UNITS_MAX];

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++)
                assert_string_equal(
                        roast_format_seconds_coarse(text, sizeof(text), rows[i].seconds),
                        rows[i].text);
}

static void test_counts_that_do_not_fit_are_not_shown(void **state)
{
        char text[8];

        (void)state;
        assert_string_equal(roast_format_count(text, 6, 1234), "1,234");
        assert_string_equal(roast_format_count(text, 5, 1234), "");
        assert_string_equal(roast_format_count(text, 5, -123), "-123");
        assert_string_equal(roast_format_count(text, 4, -123), "");
        assert_string_equal(roast_format_count(text, 3, 98), "98");
        assert_string_equal(roast_format_count(text, 2, 98), "");
        assert_string_equal(roast_format_count(text, sizeof(text), INT64_MAX), "");
}

/* A unit of the registry is written as there, any other behind the number. */
static void test_metrics_of_the_user_in_any_unit(void **state)
{
        static const struct {
                const char *unit;
                double real;
                int64_t count;
                const char *text;
        } rows[] = {
                { "B", 1500, 0, "1.50 kB" },
                { "fraction", 0.5, 0, "50.0%" },
                { "1", 12000, 12000, "12,000" },
                { "events/J", 12.5, 0, "12.5 events/J" },
                { "jets", 12000, 12000, "12,000 jets" },
                { NULL, 0.125, 0, "0.125" },
                { NULL, 1234567, 1234567, "1,234,567" },
                { "", 2, 0, "2" },
                { "jets", 1234567, 7, "1.235e+06 jets" },
        };
        char text[ROAST_UNITS_MAX];

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                char unit[32];
                struct roast_custom custom = { .value.real = rows[i].real,
                                               .value.count = rows[i].count };

                snprintf(unit, sizeof(unit), "%s", rows[i].unit ? rows[i].unit : "");
                custom.unit = rows[i].unit ? unit : NULL;
                assert_string_equal(roast_format_custom(text, sizeof(text), &custom), rows[i].text);
        }
}

static void test_no_number_overruns_its_text(void **state)
{
        static const double values[] = { 1e308, -1e308, (double)NAN, (double)INFINITY, 5e-324 };

        (void)state;
        for (unsigned int metric = 0; metric < ROAST_N_METRICS; metric++)
                for (size_t i = 0; i < ROAST_ARRAY_SIZE(values); i++)
                        for (size_t size = 1; size <= ROAST_UNITS_MAX; size += 47) {
                                ROAST_CLEANUP(cleanup_free) char *text = malloc(size);
                                struct roast_metric_set set = { 0 };

                                roast_metric_set_real(&set, metric, values[i]);
                                roast_format_value(text, size, metric, &set.values[metric]);
                                assert_true(strlen(text) < size);
                        }
}

/* What is cut off at the end of its room reads as another number. */
static void test_a_number_of_any_size_fits(void **state)
{
        static const double values[] = { 1e308, -1e308, 1e16, -1e16, 5e-324, -5e-324 };

        (void)state;
        for (unsigned int unit = 0; unit < ROAST_N_UNITS; unit++)
                for (size_t i = 0; i < ROAST_ARRAY_SIZE(values); i++) {
                        char text[ROAST_UNITS_MAX];

                        roast_format_unit(text, sizeof(text), unit, values[i], 0);
                        assert_true(strlen(text) < ROAST_UNITS_MAX - 1);
                }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_bytes),
                cmocka_unit_test(test_seconds),
                cmocka_unit_test(test_counts),
                cmocka_unit_test(test_times_of_day),
                cmocka_unit_test(test_metrics_are_formatted_by_their_unit),
                cmocka_unit_test(test_bytes_by_powers_of_1024),
                cmocka_unit_test(test_seconds_to_a_tenth),
                cmocka_unit_test(test_counts_that_do_not_fit_are_not_shown),
                cmocka_unit_test(test_metrics_of_the_user_in_any_unit),
                cmocka_unit_test(test_no_number_overruns_its_text),
                cmocka_unit_test(test_a_number_of_any_size_fits),
        };

        return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
