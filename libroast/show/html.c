/*
 * Tables as HTML for a notebook
 *
 * Plain elements with their style beside them, no scripts: what a notebook may
 * show of an output that nobody has vouched for. All text is escaped.
 */

#include "util/html.h"
#include "roast-show.h"
#include "roast-units.h"
#include "run/list.h"
#include "util/cleanup.h"

/* A notebook wants a glance: longer tables are cut, and say so. */
#define ROWS_MAX 15

static int html_put_heading(struct buf *out, const struct roast_table *table)
{
        int r = buf_puts(out, "<thead><tr>");

        for (size_t i = 0; i < table->n_columns && r >= 0; i++) {
                r = buf_printf(out, "<th style=\"text-align:%s\">",
                               table->columns[i].right ? "right" : "left");
                if (r >= 0)
                        r = html_put(out, table->columns[i].title);
                if (r >= 0)
                        r = buf_puts(out, "</th>");
        }
        return r < 0 ? r : buf_puts(out, "</tr></thead>");
}

static int html_put_cell(struct buf *out, const struct roast_cell *cell, bool right)
{
        static const char *const styles[] = {
                [ROAST_PLAIN] = "",
                [ROAST_STRONG] = ";font-weight:bold",
                [ROAST_DIM] = ";opacity:.65",
                [ROAST_ALERT] = ";font-weight:bold;color:#c0392b",
        };
        int r;

        r = buf_printf(out, "<td style=\"text-align:%s;white-space:pre-wrap%s\">",
                       right ? "right" : "left", styles[cell->emphasis]);
        if (r >= 0 && cell->text)
                r = html_put(out, cell->text);
        return r < 0 ? r : buf_puts(out, "</td>");
}

static int html_put_table(struct buf *out, const struct roast_table *table)
{
        size_t n = table->n_rows > ROWS_MAX + 1 ? ROWS_MAX : table->n_rows;
        int r;

        r = buf_puts(out, "<table><caption style=\"text-align:left;font-weight:bold\">");
        if (r >= 0)
                r = html_put(out, table->title);
        if (r >= 0)
                r = buf_puts(out, "</caption>");
        if (r >= 0 && table->n_columns > 2) /* two are a name and its value */
                r = html_put_heading(out, table);
        for (size_t row = 0; row < n && r >= 0; row++) {
                r = buf_puts(out, "<tr>");
                for (size_t i = 0; i < table->n_columns && r >= 0; i++)
                        r = html_put_cell(out, &table->cells[row * table->n_columns + i],
                                          table->columns[i].right);
                if (r >= 0)
                        r = buf_puts(out, "</tr>");
        }
        if (r >= 0 && n < table->n_rows)
                r = buf_printf(out, "<tr><td colspan=\"%zu\">and %zu more rows</td></tr>",
                               table->n_columns, table->n_rows - n);
        return r < 0 ? r : buf_puts(out, "</table>");
}

static int html_finish(char **ret, struct buf *out, int r, struct roast_error *error)
{
        *ret = r < 0 ? NULL : buf_release_string(out);
        return *ret ? 0 : roast_fail_nomem(error);
}

int roast_tables_to_html(char **ret, const struct roast_tables *tables, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int r;

        r = buf_puts(&out, "<div style=\"display:flex;flex-wrap:wrap;gap:1em 2em;"
                           "align-items:flex-start\">");
        for (size_t i = 0; i < tables->n && r >= 0; i++)
                r = html_put_table(&out, &tables->tables[i]);
        if (r >= 0)
                r = buf_puts(&out, "</div>");
        return html_finish(ret, &out, r, error);
}

static int html_put_headline(struct buf *out, const struct roast_run_about *about)
{
        char start[ROAST_UNITS_MAX] = "at an unknown time";
        int r;

        if (about->start_utc_ns != INT64_MIN)
                roast_format_utc(start, sizeof(start), about->start_utc_ns);
        r = buf_puts(out, "<p><b>");
        if (r >= 0)
                r = html_put(out, about->name ? about->name : "Run without a name");
        if (r >= 0)
                r = buf_printf(out, "</b>, begun %s, ", start);
        if (r >= 0)
                r = html_put(out, run_state(about));
        if (r >= 0 && about->error)
                r = buf_puts(out, ": ");
        if (r >= 0 && about->error)
                r = html_put(out, about->error);
        return r < 0 ? r : buf_puts(out, "</p>");
}

int roast_show_to_html(char **ret, struct roast_run *run, const struct roast_tables *tables,
                       struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *body = NULL;
        struct roast_run_about about;
        int r;

        r = roast_run_about(run, &about, error);
        if (r >= 0)
                r = roast_tables_to_html(&body, tables, error);
        if (r < 0)
                return r;
        r = html_put_headline(&out, &about);
        if (r >= 0)
                r = buf_puts(&out, body);
        return html_finish(ret, &out, r, error);
}
