/* show/: JSON, CSV, Markdown and plain text say what the cells say, whatever is in them */

#include "unit.h"

#include <locale.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "shown.h"
#include "util/cleanup.h"
#include "util/size.h"

static void test_no_name_reaches_the_terminal_as_a_command(void **state)
{
        ROAST_CLEANUP(shown_deinit) struct shown shown;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;

        (void)state;
        show(&shown, shown_hostile());
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
        show(&shown, shown_hostile());
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
        show(&shown, shown_hostile());
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
        struct roast_run *(*const runs[])(void) = { shown_sample, shown_empty, shown_hostile };
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_no_name_reaches_the_terminal_as_a_command),
                cmocka_unit_test(test_csv_reads_back_as_the_cells),
                cmocka_unit_test(test_markdown_has_a_line_for_each_row),
                cmocka_unit_test(test_json_is_valid_and_has_its_documented_shape),
                cmocka_unit_test(test_numbers_have_a_point_in_every_locale),
                cmocka_unit_test(test_numbers_read_back_from_the_fewest_digits),
        };

        return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
