/* show/html: tables for notebooks, where names may be anything */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "roast-show.h"
#include "sample.h"
#include "util/cleanup.h"

static const struct roast_column columns[] = {
        { .key = "name", .title = "A <b>", .right = false },
        { .key = "value", .title = "Value", .right = true },
        { .key = "note", .title = "Note", .right = false },
};

static char *html_of(struct roast_table *table)
{
        struct roast_tables tables = { .tables = table, .n = 1 };
        char *html;

        assert_int_equal(roast_tables_to_html(&html, &tables, NULL), 0);
        return html;
}

static int count(const char *text, const char *part)
{
        int n = 0;

        for (; (text = strstr(text, part)); text++)
                n++;
        return n;
}

static void test_text_stays_text(void **state)
{
        struct roast_cell cells[] = { { .text = (char *)"<script>alert(1)</script>" },
                                      { .text = (char *)"1 & 2", .emphasis = ROAST_ALERT },
                                      { .text = NULL, .emphasis = ROAST_DIM } };
        struct roast_table table = { .title = (char *)"\"T\"",
                                     .columns = columns,
                                     .n_columns = 3,
                                     .cells = cells,
                                     .n_rows = 1 };
        ROAST_CLEANUP(cleanup_free) char *html = html_of(&table);

        (void)state;
        assert_has_not(html, "<script");
        assert_has_not(html, "A <b>");
        assert_has(html, "&lt;script&gt;");
        assert_has(html, "1 &amp; 2");
        assert_int_equal(count(html, "<th "), 3);
        assert_int_equal(count(html, "text-align:right"), 2);
        assert_int_equal(count(html, "color:#c0392b"), 1);
}

/* One row more is shown rather than a line that says so. */
static void test_a_long_table_is_cut(void **state)
{
        struct roast_cell cells[40] = { { .text = NULL } };
        struct roast_table table = {
                .title = (char *)"t", .columns = columns, .n_columns = 2, .cells = cells
        };

        (void)state;
        for (size_t rows = 15; rows <= 17; rows++) {
                ROAST_CLEANUP(cleanup_free) char *html = NULL;

                table.n_rows = rows;
                html = html_of(&table);
                assert_int_equal(count(html, "<tr>"), rows == 17 ? 16 : rows);
                assert_int_equal(count(html, "and 2 more rows"), rows == 17);
                assert_int_equal(count(html, "<th "), 0); /* a name and its value */
        }
}

static void test_the_headline_says_how_the_run_ended(void **state)
{
        struct roast_tables none = { 0 };
        struct roast_run *run;
        char *html;

        (void)state;
        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(roast_show_to_html(&html, run, &none, NULL), 0);
        assert_has(html, "Run without a name");
        assert_has(html, "at an unknown time");
        free(html);
        assert_int_equal(roast_run_fact_text(run, "run.name", "a<b", NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", SAMPLE_START_UTC_NS, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "run.outcome", "failed", NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "run.error", "ValueError: <no>", NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_show_to_html(&html, run, &none, NULL), 0);
        assert_has(html, "a&lt;b");
        assert_has(html, "2026-11-15");
        assert_has(html, "ValueError: &lt;no&gt;");
        free(html);
        roast_run_free(run);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_text_stays_text),
                cmocka_unit_test(test_a_long_table_is_cut),
                cmocka_unit_test(test_the_headline_says_how_the_run_ended),
        };

        return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}
