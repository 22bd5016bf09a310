/*
 * show/: tables and their formats, units for people
 *
 * The golden files are tests/data/show-*; `UPDATE_GOLDEN=1 meson test -C build show`
 * writes them anew, and git shows what changed.
 */

#include "unit.h"

#include <locale.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "roast-show.h"
#include "roast-units.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

/* ---- runs to show ---- */

static struct roast_run *sample_run(void)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(sample_fill(run, 40, NULL), 0);
        return run;
}

static struct roast_run *empty_run(void)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        return run;
}

/* Names as nobody should have, but somebody will */
static const char *const hostile[] = {
        "a|b\\|c",
        "line\nbreak\r\n",
        "comma, \"quote\"",
        "\x1b[2J\x1b[31mred",
        "bad \xff utf-8 \xc3",
        "\xce\xbc\xce\xbc \xe4\xbd\xa0\xe5\xa5\xbd",
        "<script>alert(1)</script> *bold* `code` [link](x)",
        "",
        "=1+1",
        "%s%n\t",
};

static struct roast_run *hostile_run(void)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        int64_t values[SECTION_N_FIELDS] = { [SECTION_KIND] = SECTION_TIME, [SECTION_COUNT] = 1 };
        struct roast_run *run = empty_run();

        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(hostile); i++) {
                size_t len = strlen(hostile[i]);

                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, i, CHUNK_OUTCOME, CHUNK_FINISHED);
                chunk_table_set(&table, i, CHUNK_WALL_NS, (int64_t)(i + 1) * 1000);
                chunk_table_set(&table, i, CHUNK_NUM_EVENTS, (int64_t)i);
                assert_int_equal(chunk_table_set_text(&table, i, CHUNK_DATASET, hostile[i], len),
                                 0);
                values[SECTION_TOTAL_NS] = (int64_t)(100 - i) * 1000000;
                assert_int_equal(chunk_table_add_section(&table, hostile[i], len, values), 0);
                if (len) {
                        assert_int_equal(roast_run_fact_text(run, hostile[i], hostile[i], NULL), 0);
                        assert_int_equal(
                                roast_run_fact_absent(run, "report.entries", hostile[i], NULL), 0);
                }
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL),
                         (int)ROAST_ARRAY_SIZE(hostile));
        assert_int_equal(roast_run_commit(run, NULL), 0);
        return run;
}

/* Everything that is shown of a run */
struct shown {
        struct roast_run *run;
        struct roast_summary summary;
        struct roast_tables tables;
};

static void show(struct shown *shown, struct roast_run *run)
{
        shown->run = run;
        assert_int_equal(roast_summary_of_run(&shown->summary, run, NULL), 0);
        assert_int_equal(roast_tables_make(&shown->tables, &shown->summary, NULL), 0);
}

static void shown_deinit(struct shown *shown)
{
        roast_tables_deinit(&shown->tables);
        roast_summary_deinit(&shown->summary);
        roast_run_free(shown->run);
}

/* ---- formats ---- */

static int to_text(char **ret, const struct roast_table *table, struct roast_error *error)
{
        return roast_table_to_text(ret, table, &(struct roast_text_options){ 0 }, error);
}

static int to_color(char **ret, const struct roast_table *table, struct roast_error *error)
{
        return roast_table_to_text(ret, table, &(struct roast_text_options){ true, 60 }, error);
}

typedef int (*to_string)(char **ret, const struct roast_table *table, struct roast_error *error);

/* All tables in a format, one after the other; the caller frees. */
static char *all_tables(const struct shown *shown, to_string format)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;

        for (size_t i = 0; i < shown->tables.n; i++) {
                ROAST_CLEANUP(cleanup_free) char *text = NULL;

                assert_int_equal(format(&text, &shown->tables.tables[i], NULL), 0);
                assert_int_equal(buf_printf(&out, "%s%s", i ? "\n" : "", text), 0);
        }
        return buf_release_string(&out);
}

static char *to_json(const struct shown *shown)
{
        char *text = NULL;

        assert_int_equal(
                roast_show_to_json(&text, shown->run, &shown->summary, &shown->tables, NULL), 0);
        return text;
}

/* ---- golden files ---- */

static char *read_file(const char *path)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        FILE *file = fopen(path, "r");
        char block[4096];
        size_t n;

        if (!file)
                return NULL;
        while ((n = fread(block, 1, sizeof(block), file)) > 0)
                assert_int_equal(buf_append(&out, block, n), 0);
        fclose(file);
        return buf_release_string(&out);
}

static void assert_golden(const char *name, const char *text)
{
        const char *directory = getenv("ROAST_TEST_DATA"), *update = getenv("UPDATE_GOLDEN");
        ROAST_CLEANUP(cleanup_free) char *path = NULL;
        ROAST_CLEANUP(cleanup_free) char *golden = NULL;

        assert_true(asprintf(&path, "%s/%s", directory ? directory : "tests/data", name) > 0);
        if (update && *update) {
                FILE *file = fopen(path, "w");

                assert_non_null(file);
                fputs(text, file);
                assert_int_equal(fclose(file), 0);
        }
        golden = read_file(path);
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

static void test_a_run_is_shown_as_in_the_golden_files(void **state)
{
        (void)state;
        assert_all_golden("sample", sample_run());
}

static void test_an_empty_run_is_shown_with_its_reasons(void **state)
{
        (void)state;
        assert_all_golden("empty", empty_run());
}

static void test_hostile_names_are_shown_as_in_the_golden_files(void **state)
{
        (void)state;
        assert_all_golden("hostile", hostile_run());
}

/* ---- escaping ---- */

static void test_no_name_reaches_the_terminal_as_a_command(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;

        (void)state;
        show(&shown, hostile_run());
        text = all_tables(&shown, to_text);
        for (const char *c = text; *c; c++)
                assert_true((unsigned char)*c >= 0x20 || *c == '\n');
}

/* RFC 4180, read by the book; returns behind the field, or NULL at the end. */
static const char *csv_field(const char *at, char *field)
{
        if (*at != '"') {
                while (*at && !strchr(",\n", *at))
                        *field++ = *at++;
        } else {
                for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
                        at += *at == '"';
                        *field++ = *at;
                }
                at++;
        }
        *field = '\0';
        return *at ? at + 1 : NULL;
}

static void test_csv_reads_back_as_the_cells(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;

        (void)state;
        show(&shown, hostile_run());
        for (size_t i = 0; i < shown.tables.n; i++) {
                const struct roast_table *table = &shown.tables.tables[i];
                ROAST_CLEANUP(cleanup_free) char *csv = NULL;
                const char *at;
                char field[500];

                assert_int_equal(roast_table_to_csv(&csv, table, NULL), 0);
                at = csv;
                for (size_t c = 0; c < table->n_columns; c++) {
                        at = csv_field(at, field);
                        assert_string_equal(field, table->columns[c].key);
                }
                for (size_t c = 0; c < table->n_rows * table->n_columns; c++) {
                        const struct roast_cell *cell = &table->cells[c];

                        assert_non_null(at);
                        at = csv_field(at, field);
                        if (cell->type == ROAST_CELL_TEXT)
                                assert_string_equal(field, cell->text);
                        else if (cell->type == ROAST_CELL_REAL)
                                assert_true(strtod(field, NULL) == cell->real);
                        else if (cell->type == ROAST_CELL_COUNT)
                                assert_true(strtoll(field, NULL, 10) == cell->count);
                        else
                                assert_string_equal(field, "");
                }
                assert_string_equal(at, "");
        }
}

static void test_markdown_has_a_line_for_each_row(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;

        (void)state;
        show(&shown, hostile_run());
        for (size_t i = 0; i < shown.tables.n; i++) {
                const struct roast_table *table = &shown.tables.tables[i];
                ROAST_CLEANUP(cleanup_free) char *text = NULL;
                size_t lines = 0, bars = 0;

                assert_int_equal(roast_table_to_markdown(&text, table, NULL), 0);
                for (const char *c = text; *c; c++) {
                        lines += *c == '\n';
                        bars += *c == '|';
                        if (*c == '\\')
                                c++; /* escaped: it ends nothing */
                }
                /* title, blank, head, rule */
                assert_int_equal(lines, table->n_rows + 4);
                assert_int_equal(bars, (table->n_rows + 2) * (table->n_columns + 1));
        }
}

/* The first value of a query with one text parameter */
static char *ask(sqlite3 *db, const char *query, const char *text)
{
        sqlite3_stmt *stmt = NULL;
        char *answer = NULL;

        assert_int_equal(sqlite3_prepare_v2(db, query, -1, &stmt, NULL), SQLITE_OK);
        sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
        if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
                answer = strdup((const char *)sqlite3_column_text(stmt, 0));
        sqlite3_finalize(stmt);
        assert_non_null(answer);
        return answer;
}

static void assert_answer(sqlite3 *db, const char *query, const char *text, const char *expected)
{
        ROAST_CLEANUP(cleanup_free) char *answer = ask(db, query, text);

        assert_string_equal(answer, expected);
}

/* SQLite reads JSON too. */
static void test_json_is_valid_and_has_its_documented_shape(void **state)
{
        struct roast_run *(*const runs[])(void) = { sample_run, empty_run, hostile_run };
        sqlite3 *db;

        (void)state;
        assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(runs); i++) {
                ROAST_CLEANUP(shown_deinit) struct shown shown;
                ROAST_CLEANUP(cleanup_free) char *json = NULL;

                show(&shown, runs[i]());
                json = to_json(&shown);
                assert_answer(db, "SELECT json_valid(?)", json, "1");
                assert_answer(db, "SELECT group_concat(key) FROM json_each(?)", json,
                              "run,metrics,absent,estimated,custom,time_ledger,tables");
                assert_answer(db,
                              "SELECT count(*) FROM json_each(?1,'$.metrics') m"
                              " JOIN json_each(?1,'$.absent') a ON a.key=m.key",
                              json, "0");
                for (size_t t = 0; t < shown.tables.n; t++) {
                        ROAST_CLEANUP(cleanup_free) char *one = NULL;

                        assert_int_equal(roast_table_to_json(&one, &shown.tables.tables[t], NULL),
                                         0);
                        assert_answer(db, "SELECT json_valid(?)", one, "1");
                }
                if (i == 0) {
                        assert_answer(db, "SELECT json_extract(?,'$.metrics.total_events')", json,
                                      "900000");
                        assert_answer(db, "SELECT json_type(?,'$.metrics.elapsed_time_seconds')",
                                      json, "real");
                        assert_answer(db, "SELECT json_extract(?,'$.run.facts.\"run.name\"')", json,
                                      "sample");
                        assert_answer(db, "SELECT json_extract(?,'$.run.finished')", json, "1");
                }
        }
        sqlite3_close(db);
}

static void test_numbers_have_a_point_in_every_locale(void **state)
{
        static const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                               "nl_NL.UTF-8", "ps_AF.UTF-8" };
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        const char *found = NULL;

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(locales) && !found; i++)
                found = setlocale(LC_NUMERIC, locales[i]);
        if (!found) {
                print_message("no locale with a decimal comma is installed\n");
                skip();
        }
        assert_int_equal(buf_put_real(&out, 1234.5), 0);
        assert_int_equal(buf_put_real(&out, -1.5e-300), 0);
        setlocale(LC_NUMERIC, "C");
        assert_int_equal(out.len, 6 + 9);
        assert_memory_equal(out.data, "1234.5-1.5e-300", out.len);
}

static void test_numbers_read_back_from_the_fewest_digits(void **state)
{
        static const struct {
                double value;
                const char *text;
        } numbers[] = {
                { 0, "0" },
                { -0.0, "-0" },
                { 0.1, "0.1" },
                { 6.36, "6.36" },
                { 1e300, "1e+300" },
                { 1.0 / 3, "0.333333333333333315" },
                { 5e-324, "4.94065645841247e-324" },
                { 123456789, "123456789" },
        };
        uint64_t seed = 3;

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(numbers); i++) {
                ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
                ROAST_CLEANUP(cleanup_free) char *text = NULL;

                assert_int_equal(buf_put_real(&out, numbers[i].value), 0);
                text = buf_release_string(&out);
                assert_true(strtod(text, NULL) == numbers[i].value);
                assert_true(strlen(text) <= strlen(numbers[i].text));
        }
        for (size_t i = 0; i < 10000; i++) {
                ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
                uint64_t bits = sample_random(&seed);
                double value;

                memcpy(&value, &bits, sizeof(value));
                if (!isfinite(value))
                        continue;
                assert_int_equal(buf_put_real(&out, value), 0);
                assert_int_equal(buf_put_u8(&out, 0), 0);
                assert_true(strtod((const char *)out.data, NULL) == value);
        }
}

/* ---- the terminal ---- */

static void test_colours_only_where_asked_for(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        ROAST_CLEANUP(cleanup_free) char *plain = NULL;
        ROAST_CLEANUP(cleanup_free) char *colored = NULL;

        (void)state;
        show(&shown, sample_run());
        plain = all_tables(&shown, to_text);
        colored = all_tables(&shown, to_color);
        assert_null(strchr(plain, '\033'));
        assert_non_null(strstr(colored, "\033[1mThroughput"));
        assert_non_null(strstr(colored, "\033[31m"));
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
        struct roast_run *run = empty_run();
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

/* ---- tables ---- */

static void test_every_name_of_a_table_makes_it(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        struct roast_error error = { 0 };
        struct roast_table table;
        size_t n = 0;

        (void)state;
        show(&shown, sample_run());
        for (; roast_table_names[n]; n++) {
                assert_int_equal(
                        roast_table_make(&table, roast_table_names[n], &shown.summary, NULL), 0);
                assert_string_equal(table.name, roast_table_names[n]);
                if (n < shown.tables.n)
                        assert_string_equal(table.name, shown.tables.tables[n].name);
                assert_in_range(table.n_columns, 2, 12);
                roast_table_deinit(&table);
        }
        assert_string_equal(roast_table_names[n - 1], "files"); /* must be asked for */
        assert_int_equal(n - 1, shown.tables.n);
        assert_int_equal(roast_table_make(&table, "nonsense", &shown.summary, &error),
                         ROAST_E_NOENT);
        assert_non_null(strstr(error.message, "nonsense"));
}

static void test_a_table_that_has_nothing_to_say_has_no_rows(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_table table;

        (void)state;
        show(&shown, empty_run());
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
        show(&shown, sample_run());
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

/* ---- units for people ---- */

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
                { ROAST_CORE_EFFICIENCY, 0.271, "27.1%" },
                { ROAST_IO_OVERHEAD_PCT, 60, "60.0%" },
                { ROAST_SPEEDUP_FACTOR, 1.625, "1.6x" },
                { ROAST_AVG_WORKERS, 2.5, "2.5" },
                { ROAST_TOTAL_EVENTS, 900000, "900,000" },
                { ROAST_CHUNK_EVENTS_MEAN, 25000, "25,000" },
                { ROAST_CHUNK_EVENTS_MEAN, 25000.5, "25000.5" },
                { ROAST_CHUNK_EVENTS_MEAN, 1e19, "10000000000000000000.0" },
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_run_is_shown_as_in_the_golden_files),
                cmocka_unit_test(test_an_empty_run_is_shown_with_its_reasons),
                cmocka_unit_test(test_hostile_names_are_shown_as_in_the_golden_files),
                cmocka_unit_test(test_no_name_reaches_the_terminal_as_a_command),
                cmocka_unit_test(test_csv_reads_back_as_the_cells),
                cmocka_unit_test(test_markdown_has_a_line_for_each_row),
                cmocka_unit_test(test_json_is_valid_and_has_its_documented_shape),
                cmocka_unit_test(test_numbers_have_a_point_in_every_locale),
                cmocka_unit_test(test_numbers_read_back_from_the_fewest_digits),
                cmocka_unit_test(test_colours_only_where_asked_for),
                cmocka_unit_test(test_a_narrow_terminal_is_not_overrun),
                cmocka_unit_test(test_every_name_of_a_table_makes_it),
                cmocka_unit_test(test_a_table_that_has_nothing_to_say_has_no_rows),
                cmocka_unit_test(test_showing_without_memory_is_an_error),
                cmocka_unit_test(test_bytes),
                cmocka_unit_test(test_seconds),
                cmocka_unit_test(test_counts),
                cmocka_unit_test(test_times_of_day),
                cmocka_unit_test(test_metrics_are_formatted_by_their_unit),
                cmocka_unit_test(test_no_number_overruns_its_text),
        };

        return cmocka_run_group_tests_name("show", tests, NULL, NULL);
}
