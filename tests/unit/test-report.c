/*
 * report/: the data of the page, column by column, and the page itself
 */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "alloc.h"
#include "folder.h"
#include "large.h"
#include "packed.h"
#include "report/grid.h"
#include "report/pack.h"
#include "report/samples.h"
#include "roast-report.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

static struct roast_run *sample_run(void)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(sample_fill(run, 40, NULL), 0);
        return run;
}

static struct roast_run *large_run(size_t n_chunks, size_t n_workers)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(large_fill(run, &(struct large_size){ n_chunks, n_workers, 60 }, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        return run;
}

/* ---- columns ---- */

static void test_columns_come_back_as_they_went_in(void **state)
{
        static const float reals[] = { 0, -1.5f, 3.14159274f, 1e30f, NAN };
        static const uint64_t numbers[] = { 7, 3, PACK_ABSENT, 0, 1u << 20 };
        static const struct {
                uint64_t largest;
                const char *type;
        } sizes[] = {
                { 0, "u8" },
                { 254, "u8" },
                { 255, "u16" }, /* which stands for what is absent */
                { UINT32_MAX - 1, "u32" },
                { UINT32_MAX, "u40" },
                { INT64_MAX, "u64" },
        };

        (void)state;
        for (size_t k = 0; k < ROAST_ARRAY_SIZE(sizes); k++) {
                ROAST_CLEANUP(packed_deinit) struct packed data = { 0 };
                uint64_t plain[] = { 1, sizes[k].largest, PACK_ABSENT, 0 };
                char type[32];
                struct pack pack;
                void *out;
                size_t len;

                pack_init(&pack);
                json_object(&pack.json);
                pack_reals(&pack, "reals", reals, 5);
                pack_numbers(&pack, "plain", plain, 4, 1, false);
                pack_numbers(&pack, "steps", plain, 4, 1, true);
                pack_numbers(&pack, "thousands", numbers, 5, 1000, true);
                json_end(&pack.json);
                assert_int_equal(pack_finish(&pack, &out, &len, NULL), 0);
                packed_of(&data, out, len);
                snprintf(type, sizeof(type), "\"plain\":{\"type\":\"%s\"", sizes[k].type);
                assert_has(data.json, type);
                for (size_t i = 0; i < 4; i++) {
                        assert_true(packed_number(&data, "plain", i) == plain[i]);
                        assert_true(packed_number(&data, "steps", i) == plain[i]);
                }
                for (size_t i = 0; i < 5; i++) {
                        double real = (double)reals[i], packed = packed_real(&data, "reals", i);

                        assert_true(isnan(real) ? isnan(packed)
                                                : fabs(packed - real) <= fabs(real) * 1e-4);
                        assert_true(packed_number(&data, "thousands", i) ==
                                    (numbers[i] == PACK_ABSENT ? PACK_ABSENT : numbers[i] * 1000));
                }
        }
}

/* ---- cells of time ---- */

static void test_what_is_spread_is_all_there(void **state)
{
        struct grid grid = { 0, 1e9, 8 };
        struct density density;
        float values[8];
        double sum = 0;

        (void)state;
        assert_int_equal(density_init(&density, &grid), 0);
        density_add(&density, &grid, 0.25, 0.75, 2); /* within a cell */
        density_add(&density, &grid, 1.5, 6.25, 1);  /* over several */
        density_add(&density, &grid, -3, 1, 1);      /* from before */
        density_add(&density, &grid, 7, 90, 1);      /* to behind */
        density_add(&density, &grid, 5, 5, 100);     /* nothing */
        density_add(&density, &grid, NAN, 5, 100);   /* nonsense */
        density_read(&density, &grid, 1, values);
        for (size_t i = 0; i < 8; i++)
                sum += (double)values[i];
        assert_true(fabs(sum - (0.5 * 2 + 4.75 + 1 + 1)) < 1e-6);
        assert_true(fabs((double)values[0] - 2) < 1e-6);
        assert_true(fabs((double)values[1] - 0.5) < 1e-6);
        assert_true(fabs((double)values[3] - 1) < 1e-6);
        assert_true(fabs((double)values[6] - 0.25) < 1e-6);
        density_deinit(&density);
}

static void test_rates_are_of_the_time_that_is_known(void **state)
{
        struct grid grid = { 0, 1e9, 6 };
        struct samples samples;
        float values[6];

        (void)state;
        assert_int_equal(samples_init(&samples, SAMPLES_RATE, &grid, 1, 10e9), 0);
        samples_add(&samples, 0, 500000000, 100);
        samples_add(&samples, 0, 2500000000, 500); /* 200 a second for two seconds */
        samples_add(&samples, 0, 2600000000, 10);  /* began anew: nothing is known of it */
        samples_add(&samples, 0, 3600000000, 40);
        samples_add(&samples, 0, 3000000000, 9999); /* out of order */
        assert_int_equal(samples_read(&samples, 0, 1, 1, values), 6);
        assert_true(fabs((double)values[0] - 200) < 1e-3); /* half the cell is known */
        assert_true(fabs((double)values[1] - 200) < 1e-3);
        assert_true(fabs((double)values[3] - 30) < 1e-3);
        assert_true(isnan(values[4]));
        assert_int_equal(samples_read(&samples, 0, 2, 1, values), 3);
        assert_true(fabs((double)values[0] - 200) < 1e-3);
        samples_deinit(&samples);
}

static void test_a_gauge_shows_its_peak_and_holds(void **state)
{
        struct grid grid = { 0, 1e9, 6 };
        struct samples samples;
        float values[6];

        (void)state;
        assert_int_equal(samples_init(&samples, SAMPLES_PEAK, &grid, 1, 10e9), 0);
        samples_add(&samples, 0, 100000000, 5);
        samples_add(&samples, 0, 200000000, 9);
        samples_add(&samples, 0, 300000000, 2);
        samples_add(&samples, 0, 3100000000, 4);
        samples_add(&samples, 0, 30000000000, 1); /* far behind the end, and after a gap */
        assert_int_equal(samples_read(&samples, 0, 1, 1, values), 6);
        assert_true(values[0] == 9 && values[1] == 2 && values[2] == 2 && values[3] == 4);
        assert_true(isnan(values[4]) && isnan(values[5]));
        samples_deinit(&samples);
}

static void test_a_gauge_holds_from_before_the_run(void **state)
{
        struct grid grid = { 0, 1e9, 4 };
        struct samples samples;
        float values[4];

        (void)state;
        assert_int_equal(samples_init(&samples, SAMPLES_PEAK, &grid, 1, 10e9), 0);
        samples_add(&samples, 0, -2500000000, 7);
        samples_add(&samples, 0, 2500000000, 3);
        samples_add(&samples, 0, 9500000000, 5); /* behind the end */
        assert_int_equal(samples_read(&samples, 0, 1, 1, values), 4);
        assert_true(values[0] == 7 && values[1] == 7 && values[2] == 3 && values[3] == 3);
        samples_deinit(&samples);
}

/* ---- the data of a run ---- */

static void test_every_chunk_is_there_by_worker_and_start(void **state)
{
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run = sample_run();
        double events = 0;

        (void)state;
        packed_of_run(&data, run);
        assert_has(data.json, "\"chunks\":{\"n\":40");
        for (size_t i = 0; i < 40; i++) {
                double wall_ns = (double)packed_number(&data, "wall_ns", i);

                events += (double)packed_number(&data, "num_events", i);
                assert_true(wall_ns >= 0.5e9 && wall_ns < 0.6e9);
                assert_true(fabs((double)packed_number(&data, "cpu_ns", i) - wall_ns * 0.75) <=
                            100);
                assert_true(packed_number(&data, "rss_peak_bytes", i) ==
                            PACK_ABSENT); /* it has no peak */
                assert_int_equal(packed_number(&data, "beyond", i), 0);
                if (i && packed_number(&data, "worker", i) == packed_number(&data, "worker", i - 1))
                        assert_true(packed_number(&data, "start", i) >
                                    packed_number(&data, "start", i - 1));
                else if (i)
                        assert_int_equal(packed_number(&data, "worker", i),
                                         packed_number(&data, "worker", i - 1) + 1);
        }
        assert_true(events == 40 * 25000.0);
        assert_has(data.json, "\"OSError\"");
        assert_has(data.json, "\"tcp://10.0.0.2:1003\"");
        assert_has(data.json, "root://host//store/file-9.root");
        roast_run_free(run);
}

static void test_chunks_at_the_same_time_have_lanes(void **state)
{
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run = large_run(200, 2);
        uint64_t highest = 0;

        (void)state;
        packed_of_run(&data, run);
        for (size_t i = 0; i < 200; i++)
                if (packed_number(&data, "lane", i) > highest)
                        highest = packed_number(&data, "lane", i);
        assert_int_equal(highest, 1); /* two threads a worker */
        roast_run_free(run);
}

static void test_series_are_bands_and_each_worker(void **state)
{
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run = large_run(100, 20);

        (void)state;
        packed_of_run(&data, run);
        assert_has(data.json, "\"key\":\"cpu\"");
        assert_has(data.json, "\"memory_limit_bytes\":4000000000");
        for (size_t i = 10; i < 50; i++) {
                assert_true(packed_real(&data, "min", i) <= packed_real(&data, "low", i));
                assert_true(packed_real(&data, "low", i) <= packed_real(&data, "median", i));
                assert_true(packed_real(&data, "median", i) <= packed_real(&data, "high", i));
                assert_true(packed_real(&data, "high", i) <= packed_real(&data, "max", i));
                assert_true(packed_real(&data, "min", i) > 0.9 &&
                            packed_real(&data, "max", i) < 2.1);
                assert_true(fabs(packed_real(&data, "threads", i) - 40) < 0.01);
        }
        roast_run_free(run);
}

static void test_an_empty_run_has_data_too(void **state)
{
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run;

        (void)state;
        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        packed_of_run(&data, run);
        assert_has(data.json, "\"chunks\":{\"n\":0");
        assert_has(data.json, "\"grid\":{\"n\":0");
        roast_run_free(run);
}

/* ---- the page ---- */

static void test_the_page_carries_the_data(void **state)
{
        static const char start[] = "id=\"data\">";
        ROAST_CLEANUP(cleanup_free) char *html = NULL;
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run = sample_run();
        const char *at, *end;
        size_t len;

        (void)state;
        packed_of_run(&data, run);
        assert_int_equal(roast_report_html(&html, &len, run, NULL), 0);
        assert_int_equal(strlen(html), len);
        assert_int_equal(strncmp(html, "<!doctype html>", 15), 0);
        at = strstr(html, start);
        assert_non_null(at);
        at += strlen(start);
        end = strchr(at, '<');
        assert_int_equal(strncmp(end, "</script>", 9), 0);
        assert_int_equal((end - at) % 4, 0);
        assert_int_equal(strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                    "+/="),
                         end - at);
        roast_run_free(run);
}

static void test_a_page_is_written_whole_or_not_at_all(void **state)
{
        struct roast_error error = { 0 };
        struct roast_run *run = sample_run();
        const char *path = folder_path(state, "page.html");
        struct stat status;

        assert_int_equal(roast_report_write(run, path, &error), 0);
        assert_int_equal(roast_report_write(run, path, &error), 0);
        assert_int_equal(stat(path, &status), 0);
        assert_true(status.st_size > 50000);
        assert_int_equal(roast_report_write(run, "/dev/null", &error), ROAST_E_INVALID);
        assert_int_equal(roast_report_write(run, "/nowhere/at/all.html", &error), ROAST_E_IO);
        assert_has(error.message, "/nowhere/at/all.html");
        roast_run_free(run);
}

static void test_a_page_does_not_replace_a_run(void **state)
{
        const char *path = folder_path(state, "run.roast"), *page = folder_path(state, "page.html");
        const char *log = folder_path(state, "page.html-wal");
        struct roast_error error = { 0 };
        struct roast_run *run = sample_run(), *kept;

        assert_int_equal(roast_run_copy_new(run, path, NULL), 0);
        assert_int_equal(roast_report_write(run, path, &error), ROAST_E_STATE);
        assert_has(error.message, "run.roast: is a run, and is not overwritten");
        assert_int_equal(roast_run_open(&kept, path, NULL), 0);
        assert_int_equal(roast_report_write(kept, path, &error), ROAST_E_STATE);
        assert_has(error.message, "run.roast: is what is read, and is not overwritten");
        roast_run_free(kept);

        folder_put_text(page, ""); /* of a run that has just begun, all is in its log */
        assert_int_equal(roast_report_write(run, page, &error), 0);
        folder_put_text(log, "rows");
        assert_int_equal(roast_report_write(run, page, &error), ROAST_E_STATE);
        roast_run_free(run);

        path = folder_path(state, "growing.roast");
        assert_int_equal(roast_run_create(&run, path, NULL), 0);
        assert_int_equal(sample_fill(run, 3, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_report_write(run, path, &error), ROAST_E_STATE);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        assert_int_equal(roast_run_check(run, NULL, NULL, NULL), 0);
        roast_run_free(run);
}

static void test_running_out_of_memory_is_an_error(void **state)
{
        struct roast_run *run = sample_run();
        long count = 0;
        int r = -1;

        (void)state;
        for (; r < 0 && count < 100000; count += 1 + count / 40) {
                struct roast_error error = { 0 };
                char *html = NULL;
                size_t len;

                alloc_fail_after(count);
                r = roast_report_html(&html, &len, run, &error);
                alloc_fail_after(-1);
                if (r < 0)
                        assert_true(error.code == r);
                free(html);
        }
        assert_int_equal(r, 0);
        assert_true(count > 100);
        roast_run_free(run);
}

/* Comparing itself may fail too: test-compare has that. */
static void test_a_page_of_several_runs_without_memory_is_an_error(void **state)
{
        struct roast_run *const runs[] = { sample_run(), sample_run() };
        const size_t groups[] = { 0, 1 };
        struct roast_comparison comparison;
        long count = 0;
        int r = -1;

        (void)state;
        assert_int_equal(roast_compare(&comparison, runs, groups, 2, NULL), 0);
        for (; r < 0 && count < 10000; count++) {
                struct roast_error error = { 0 };
                char *html = NULL;
                size_t len;

                alloc_fail_after(count);
                r = roast_report_comparison(&html, &len, &comparison, &error);
                alloc_fail_after(-1);
                if (r < 0)
                        assert_true(error.code == r);
                free(html);
        }
        assert_int_equal(r, 0);
        assert_true(count > 10);
        roast_comparison_deinit(&comparison);
        roast_run_free(runs[0]);
        roast_run_free(runs[1]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_page_of_several_runs_without_memory_is_an_error),
                cmocka_unit_test(test_columns_come_back_as_they_went_in),
                cmocka_unit_test(test_what_is_spread_is_all_there),
                cmocka_unit_test(test_rates_are_of_the_time_that_is_known),
                cmocka_unit_test(test_a_gauge_shows_its_peak_and_holds),
                cmocka_unit_test(test_a_gauge_holds_from_before_the_run),
                cmocka_unit_test(test_every_chunk_is_there_by_worker_and_start),
                cmocka_unit_test(test_chunks_at_the_same_time_have_lanes),
                cmocka_unit_test(test_series_are_bands_and_each_worker),
                cmocka_unit_test(test_an_empty_run_has_data_too),
                cmocka_unit_test(test_the_page_carries_the_data),
                cmocka_unit_test_setup_teardown(test_a_page_does_not_replace_a_run, folder_make,
                                                folder_remove),
                cmocka_unit_test_setup_teardown(test_a_page_is_written_whole_or_not_at_all,
                                                folder_make, folder_remove),
                cmocka_unit_test(test_running_out_of_memory_is_an_error),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
