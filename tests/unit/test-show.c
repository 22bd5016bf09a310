/*
 * show/: tables, for terminals of every width
 *
 * The golden files are tests/data/show-*; `UPDATE_GOLDEN=1 meson test -C build show`
 * writes them anew, and git shows what changed.
 */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "folder.h"
#include "shown.h"
#include "util/cleanup.h"
#include "util/size.h"

static void assert_golden(const char *name, const char *text)
{
        const char *directory = getenv("ROAST_TEST_DATA"), *update = getenv("UPDATE_GOLDEN");
        ROAST_CLEANUP(cleanup_free) char *path = NULL;
        ROAST_CLEANUP(cleanup_free) char *golden = NULL;

        assert_true(asprintf(&path, "%s/%s", directory ? directory : "tests/data", name) > 0);
        if (update && *update)
                folder_put_text(path, text);
        golden = folder_text(path);
        if (!golden)
                fail_msg("%s cannot be read: see the head of test-show.c", path);
        assert_string_equal(text, golden);
}

static void assert_all_golden(const char *name, struct roast_run *run)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        ROAST_CLEANUP(cleanup_free) char *json = NULL;
        static const struct {
                const char *end;
                to_string format;
        } formats[] = {
                { "txt", to_text },
                { "color.txt", to_color },
                { "md", roast_table_to_markdown },
                { "csv", roast_table_to_csv },
        };
        char file[64];

        show(&shown, run);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(formats); i++) {
                ROAST_CLEANUP(cleanup_free) char *text = all_tables(&shown, formats[i].format);

                snprintf(file, sizeof(file), "show-%s.%s", name, formats[i].end);
                assert_golden(file, text);
        }
        json = to_json(&shown);
        snprintf(file, sizeof(file), "show-%s.json", name);
        assert_golden(file, json);
}

/* Every table as terminals of two widths show it; all of what there is, and the first rows */
static void test_every_table_at_two_widths_is_as_in_the_golden_files(void **state)
{
        static const struct roast_text_options options[] = { { .width = 80 },
                                                             { .width = 140 },
                                                             { .width = 80, .rows = 3 } };
        ROAST_CLEANUP(shown_deinit) struct shown shown;

        (void)state;
        show(&shown, shown_sample());
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(options); i++) {
                ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
                ROAST_CLEANUP(cleanup_free) char *all = NULL;
                char file[64];

                for (size_t t = 0; roast_table_names[t]; t++) {
                        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };
                        ROAST_CLEANUP(cleanup_free) char *text = NULL;

                        assert_int_equal(roast_table_make(&table, roast_table_names[t],
                                                          &shown.summary, NULL),
                                         0);
                        assert_int_equal(roast_table_to_text(&text, &table, &options[i], NULL), 0);
                        assert_int_equal(buf_printf(&out, "%s%s", t ? "\n" : "", text), 0);
                }
                all = buf_release_string(&out);
                snprintf(file, sizeof(file), "show-sample-%zu%s.txt", options[i].width,
                         options[i].rows ? "-part" : "");
                assert_golden(file, all);
        }
}

static void test_a_run_is_shown_as_in_the_golden_files(void **state)
{
        (void)state;
        assert_all_golden("sample", shown_sample());
}

static void test_an_shown_empty_is_shown_with_its_reasons(void **state)
{
        (void)state;
        assert_all_golden("empty", shown_empty());
}

static void test_hostile_names_are_shown_as_in_the_golden_files(void **state)
{
        (void)state;
        assert_all_golden("hostile", shown_hostile());
}

/* ---- the terminal ---- */

static void test_colours_only_where_asked_for(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        ROAST_CLEANUP(cleanup_free) char *plain = NULL;
        ROAST_CLEANUP(cleanup_free) char *colored = NULL;

        (void)state;
        show(&shown, shown_sample());
        plain = all_tables(&shown, to_text);
        colored = all_tables(&shown, to_color);
        assert_null(strchr(plain, '\033'));
        assert_has(colored, "\033[1mThroughput");
        assert_has(colored, "\033[31m");
}

static size_t widest_line(const char *text)
{
        size_t widest = 0, width = 0;

        for (const char *c = text; *c; c++) {
                width = *c == '\n' ? 0 : width + ((*c & 0xc0) != 0x80);
                if (width > widest)
                        widest = width;
        }
        return widest;
}

static void test_a_narrow_terminal_is_not_overrun(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        struct roast_run *run = shown_empty();
        static const char name[] = "a-dataset-with-a-name-that-is-much-too-long-for-any-terminal";

        (void)state;
        assert_int_equal(roast_run_fact_absent(run, "report.entries", name, NULL), 0);
        assert_int_equal(sample_add_chunks(run, 9, NULL), 9);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        show(&shown, run);
        free(shown.summary.datasets[0].name);
        shown.summary.datasets[0].name = strdup(name);
        roast_tables_deinit(&shown.tables);
        assert_int_equal(roast_tables_make(&shown.tables, &shown.summary, NULL), 0);
        for (size_t i = 0; i < shown.tables.n; i++)
                for (size_t width = 70; width < 200; width += 7) {
                        const struct roast_text_options options = { false, width };
                        ROAST_CLEANUP(cleanup_free) char *text = NULL;

                        assert_int_equal(
                                roast_table_to_text(&text, &shown.tables.tables[i], &options, NULL),
                                0);
                        if (widest_line(text) > width)
                                fail_msg("%zu > %zu:\n%s", widest_line(text), width, text);
                }
}

static void test_reasons_go_on_in_the_next_line_at_blanks(void **state)
{
        const struct roast_text_options options = { false, 40 };
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        size_t n = 0;

        (void)state;
        show(&shown, shown_empty());
        for (size_t i = 0; i < shown.tables.n; i++) {
                ROAST_CLEANUP(cleanup_free) char *text = NULL;

                if (strcmp(shown.tables.tables[i].name, "timing"))
                        continue;
                assert_int_equal(
                        roast_table_to_text(&text, &shown.tables.tables[i], &options, NULL), 0);
                assert_has(text, "Elapsed Time   N/A (the run has not\n"
                                 "               finished)\n");
                n++;
        }
        assert_int_equal(n, 1);
}

/* ---- tables ---- */

static void test_every_name_of_a_table_makes_it(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        struct roast_error error = { 0 };
        struct roast_table table;
        size_t n = 0;

        (void)state;
        show(&shown, shown_sample());
        for (; roast_table_names[n]; n++) {
                assert_int_equal(
                        roast_table_make(&table, roast_table_names[n], &shown.summary, NULL), 0);
                assert_string_equal(table.name, roast_table_names[n]);
                if (n < shown.tables.n)
                        assert_string_equal(table.name, shown.tables.tables[n].name);
                assert_in_range(table.n_columns, 2, 20);
                roast_table_deinit(&table);
        }
        assert_string_equal(roast_table_names[n - 1], "files"); /* must be asked for */
        assert_int_equal(roast_table_make(&table, "nonsense", &shown.summary, &error),
                         ROAST_E_NOENT);
        assert_has(error.message, "nonsense");
}

static void test_a_table_that_has_nothing_to_say_has_no_rows(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_table table;

        (void)state;
        show(&shown, shown_empty());
        assert_int_equal(shown.tables.n, 4);
        assert_int_equal(roast_table_make(&table, "fine", &shown.summary, NULL), 0);
        assert_int_equal(table.n_rows, 0);
        assert_int_equal(to_text(&text, &table, NULL), 0);
        roast_table_deinit(&table);
}

static void test_showing_without_memory_is_an_error(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        static const to_string formats[] = { to_text, roast_table_to_markdown, roast_table_to_csv,
                                             roast_table_to_json };
        bool failed = true;

        (void)state;
        show(&shown, shown_sample());
        for (long count = 0; failed; count++) {
                struct roast_tables tables = { 0 };
                int r;

                alloc_fail_after(count);
                r = roast_tables_make(&tables, &shown.summary, NULL);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                roast_tables_deinit(&tables);
        }
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(formats); i++) {
                failed = true;
                for (long count = 0; failed; count++) {
                        ROAST_CLEANUP(cleanup_free) char *text = NULL;
                        int r;

                        alloc_fail_after(count);
                        r = formats[i](&text, &shown.tables.tables[5], NULL);
                        failed = alloc_failed();
                        alloc_fail_after(-1);
                        assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                }
        }
        failed = true;
        for (long count = 0; failed; count += 1 + count / 50) {
                ROAST_CLEANUP(cleanup_free) char *text = NULL;
                struct roast_error error = { 0 };
                int r;

                alloc_fail_after(count);
                r = roast_show_to_json(&text, shown.run, &shown.summary, &shown.tables, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                if (r >= 0)
                        assert_non_null(text);
                else if (r != ROAST_E_NOMEM)
                        fail_msg("after %ld allocations: %s", count, error.message);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_every_table_at_two_widths_is_as_in_the_golden_files),
                cmocka_unit_test(test_a_run_is_shown_as_in_the_golden_files),
                cmocka_unit_test(test_an_shown_empty_is_shown_with_its_reasons),
                cmocka_unit_test(test_hostile_names_are_shown_as_in_the_golden_files),
                cmocka_unit_test(test_colours_only_where_asked_for),
                cmocka_unit_test(test_a_narrow_terminal_is_not_overrun),
                cmocka_unit_test(test_reasons_go_on_in_the_next_line_at_blanks),
                cmocka_unit_test(test_every_name_of_a_table_makes_it),
                cmocka_unit_test(test_a_table_that_has_nothing_to_say_has_no_rows),
                cmocka_unit_test(test_showing_without_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("show", tests, NULL, NULL);
}
