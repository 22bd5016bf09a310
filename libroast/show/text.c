/* A table for the terminal, through libsmartcols */

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libsmartcols.h>

#include "roast-show.h"
#include "show/build.h"
#include "util/cleanup.h"

static const char *text_color_of(enum roast_emphasis emphasis)
{
        switch (emphasis) {
        case ROAST_STRONG:
                return "\033[1m";
        case ROAST_DIM:
                return "\033[2m";
        case ROAST_ALERT:
                return "\033[31m";
        case ROAST_PLAIN:
                break;
        }
        return NULL;
}

#define FIGURE_MIN 8 /* characters of a line of a reason, on however narrow a terminal */

static bool text_has_reasons(const struct roast_table *table)
{
        return fit_has_reasons(&table->columns[table->n_columns - 1], table->n_columns);
}

/* Reasons for which there is no room go on in the next line. */
static int text_break_reasons(struct roast_table *table, size_t width)
{
        size_t names = fit_width(table->columns[0].title), room;

        for (size_t row = 0; row < table->n_rows; row++) {
                const char *name = table->cells[row * 2].text;

                if (name && fit_width(name) > names)
                        names = fit_width(name);
        }
        room = width > names + 1 + FIGURE_MIN ? width - names - 1 : FIGURE_MIN;
        for (size_t row = 0; row < table->n_rows; row++) {
                struct roast_cell *cell = &table->cells[row * 2 + 1];
                char *lines;

                if (!cell->text || fit_width(cell->text) <= room)
                        continue;
                lines = fit_lines(cell->text, room);
                if (!lines)
                        return ROAST_E_NOMEM;
                free(cell->text);
                cell->text = lines;
        }
        return 0;
}

static int text_add_columns(struct libscols_table *out, const struct roast_table *table, bool lines)
{
        struct libscols_column *column = NULL;

        for (size_t i = 0; i < table->n_columns; i++) {
                column = scols_table_new_column(out, table->columns[i].title, 0,
                                                table->columns[i].right ? SCOLS_FL_RIGHT : 0);
                if (!column)
                        return ROAST_E_NOMEM;
        }
        if (!lines)
                return 0;
        if (scols_column_set_flags(column, scols_column_get_flags(column) | SCOLS_FL_WRAP) < 0 ||
            scols_column_set_safechars(column, "\n") < 0 ||
            scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
                                      NULL) < 0)
                return ROAST_E_NOMEM;
        return 0;
}

static int text_add_row(struct libscols_table *out, const struct roast_table *table, size_t row)
{
        struct libscols_line *line = scols_table_new_line(out, NULL);

        if (!line)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < table->n_columns; i++) {
                const struct roast_cell *cell = &table->cells[row * table->n_columns + i];
                const char *color = text_color_of(cell->emphasis);

                if (scols_line_set_data(line, i, cell->text ? cell->text : "") < 0)
                        return ROAST_E_NOMEM;
                if (color && scols_cell_set_color(scols_line_get_cell(line, i), color) < 0)
                        return ROAST_E_NOMEM;
        }
        return 0;
}

static int text_fill(struct libscols_table *out, const struct roast_table *table,
                     const struct roast_text_options *options)
{
        struct libscols_cell *title = scols_table_get_title(out);
        int r;

        scols_table_enable_colors(out, options->color);
        scols_table_set_termforce(out,
                                  options->width ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
        if (options->width)
                scols_table_set_termwidth(out, options->width);
        if (scols_cell_set_data(title, table->title) < 0)
                return ROAST_E_NOMEM;
        if (options->color && scols_cell_set_color(title, "\033[1m") < 0)
                return ROAST_E_NOMEM;
        r = text_add_columns(out, table, options->width && text_has_reasons(table));
        for (size_t row = 0; row < table->n_rows && r >= 0; row++)
                r = text_add_row(out, table, row);
        return r;
}

/* Blanks that fill up the last column */
static void text_strip_blanks(char *text)
{
        char *to = text;

        for (const char *from = text; *from; from++) {
                if (*from == '\n')
                        while (to > text && to[-1] == ' ')
                                to--;
                *to++ = *from;
        }
        *to = '\0';
}

/* libsmartcols takes strings in the encoding of the locale; ours are UTF-8 everywhere. */
static int text_print(struct libscols_table *out, char **text)
{
        locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before = (locale_t)0;
        int r;

        if (utf8)
                before = uselocale(utf8);
        r = scols_print_table_to_string(out, text);
        if (utf8) {
                uselocale(before);
                freelocale(utf8);
        }
        return r;
}

/* What was left out, and how to see it */
static int text_tail(char **ret, const struct roast_table *table)
{
        if (!table->n_left_out)
                return asprintf(ret, "%s", "");
        return asprintf(ret, "... and %zu more: --table %s shows them\n", table->n_left_out,
                        table->name);
}

int roast_table_to_text(char **ret, const struct roast_table *whole,
                        const struct roast_text_options *options, struct roast_error *error)
{
        const struct roast_room room = { .width = options->width, .gap = 1, .rows = options->rows };
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        ROAST_CLEANUP(cleanup_free) char *more = NULL;
        struct libscols_table *out;
        int r;

        r = roast_table_fit(&table, whole, &room, error);
        if (r < 0)
                return r;
        if (options->width && text_has_reasons(&table) &&
            text_break_reasons(&table, options->width) < 0)
                return roast_fail_nomem(error);
        out = scols_new_table();
        if (!out)
                return roast_fail_nomem(error);
        r = text_fill(out, &table, options);
        if (r >= 0)
                r = text_print(out, &text);
        scols_unref_table(out);
        if (text_tail(&more, &table) < 0)
                more = NULL;
        if (r < 0 || !text || !more || asprintf(ret, "%s\n%s", text, more) < 0)
                return roast_fail_nomem(error);
        text_strip_blanks(*ret);
        return 0;
}
