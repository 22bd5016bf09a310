/*
 * A table cut to the width of a terminal
 *
 * Columns that may be shortened give way first, down to what still tells one
 * row from another; then columns go, those of the highest rank first. Where that
 * is not enough, names give way. What is left stands in the order it had.
 */

#include <stdlib.h>
#include <string.h>

#include "show/build.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "util/utf8.h"

#define COLUMNS_MAX 32
#define FLEX_MIN    24 /* characters of a name that is shortened */
#define NAME_MIN    4  /* likewise, where nothing else is left */

#define ELLIPSIS "\xe2\x80\xa6"

size_t fit_width(const char *text)
{
        size_t n = 0, left = strlen(text);

        while (left) {
                size_t len = utf8_length((const uint8_t *)text, left);

                len = len ? len : 1;
                text += len;
                left -= len;
                n++;
        }
        return n;
}

bool fit_has_reasons(const struct roast_column *last, size_t n_columns)
{
        return n_columns == 2 && !last->right && last->cut == ROAST_CUT_NEVER;
}

/* Where the last (or first) n characters of a text begin (or end) */
static const char *fit_skip(const char *text, size_t n)
{
        size_t left = strlen(text);

        while (n-- && left) {
                size_t len = utf8_length((const uint8_t *)text, left);

                len = len ? len : 1;
                text += len;
                left -= len;
        }
        return text;
}

char *fit_lines(const char *text, size_t width)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *words = strdup(text);
        char *rest = words, *word;
        size_t at = 0;
        int r = words ? 0 : ROAST_E_NOMEM;

        while (r >= 0 && (word = strsep(&rest, " \n"))) {
                size_t left = fit_width(word);

                if (!left)
                        continue;
                if (at)
                        r = buf_puts(&out, at + 1 + left <= width ? " " : "\n");
                at = at && at + 1 + left <= width ? at + 1 : 0;
                for (; r >= 0 && left > width; left -= width) {
                        size_t len = (size_t)(fit_skip(word, width) - word);

                        r = buf_printf(&out, "%.*s\n", (int)len, word);
                        word += len;
                }
                if (r >= 0)
                        r = buf_puts(&out, word);
                at += left;
        }
        return r < 0 ? NULL : buf_release_string(&out);
}

struct fit {
        const struct roast_table *table;
        size_t n_rows;
        bool shown[COLUMNS_MAX];
        size_t widths[COLUMNS_MAX];
        size_t least[COLUMNS_MAX]; /* how narrow each may become */
};

/* A column that no row fills is not shown. */
static void fit_measure(struct fit *fit)
{
        const struct roast_table *table = fit->table;

        for (size_t i = 0; i < table->n_columns; i++) {
                fit->widths[i] = fit_width(table->columns[i].title);
                fit->shown[i] = fit->n_rows == 0 && fit->widths[i] > 0;
                for (size_t row = 0; row < fit->n_rows; row++) {
                        const char *text = table->cells[row * table->n_columns + i].text;
                        size_t width = text ? fit_width(text) : 0;

                        if (width > fit->widths[i])
                                fit->widths[i] = width;
                        fit->shown[i] = fit->shown[i] || width > 0;
                }
                fit->least[i] = table->columns[i].cut == ROAST_CUT_NEVER ? SIZE_MAX : FLEX_MIN;
        }
}

static size_t fit_total(const struct fit *fit, size_t gap, size_t *flexible)
{
        size_t sum = 0, n = 0;

        *flexible = 0;
        for (size_t i = 0; i < fit->table->n_columns; i++) {
                if (!fit->shown[i])
                        continue;
                sum += fit->widths[i];
                n++;
                if (fit->widths[i] > fit->least[i])
                        *flexible += fit->widths[i] - fit->least[i];
        }
        return sum + (n ? n - 1 : 0) * gap;
}

/* Hides the least important column; false: all that are left are always shown. */
static bool fit_drop(struct fit *fit)
{
        size_t worst = COLUMNS_MAX;

        for (size_t i = 0; i < fit->table->n_columns; i++)
                if (fit->shown[i] && fit->table->columns[i].rank &&
                    (worst == COLUMNS_MAX ||
                     fit->table->columns[i].rank >= fit->table->columns[worst].rank))
                        worst = i;
        if (worst == COLUMNS_MAX)
                return false;
        fit->shown[worst] = false;
        return true;
}

/* Shortens the widest of the columns that may be, until `over` characters are gained. */
static void fit_shorten(struct fit *fit, size_t over)
{
        while (over--) {
                size_t widest = COLUMNS_MAX;

                for (size_t i = 0; i < fit->table->n_columns; i++)
                        if (fit->shown[i] && fit->widths[i] > fit->least[i] &&
                            (widest == COLUMNS_MAX || fit->widths[i] > fit->widths[widest]))
                                widest = i;
                if (widest == COLUMNS_MAX)
                        return;
                fit->widths[widest]--;
        }
}

/*
 * The first column has names, and so has a last one of text. Reasons go on in the next line: then
 * nothing has to give way.
 */
static void fit_names_give_way(struct fit *fit)
{
        const struct roast_column *columns = fit->table->columns;
        size_t first = COLUMNS_MAX, last = 0, n = 0;

        for (size_t i = 0; i < fit->table->n_columns; i++) {
                if (!fit->shown[i])
                        continue;
                first = n++ ? first : i;
                last = i;
        }
        if (n == 0 || fit_has_reasons(&columns[last], n))
                return;
        for (size_t i = first; i <= last; i++) {
                size_t title = fit_width(columns[i].title);

                if (i == first || (i == last && !columns[i].right) ||
                    columns[i].cut != ROAST_CUT_NEVER)
                        fit->least[i] = title > NAME_MIN ? title : NAME_MIN;
        }
}

static void fit_decide(struct fit *fit, size_t width, size_t gap)
{
        size_t flexible, sum = fit_total(fit, gap, &flexible);

        while (sum > width && sum - flexible > width && fit_drop(fit))
                sum = fit_total(fit, gap, &flexible);
        if (sum > width && sum - flexible > width)
                fit_names_give_way(fit);
        if (sum > width)
                fit_shorten(fit, sum - width);
}

static char *fit_cut_text(const char *text, size_t width, enum roast_cut cut)
{
        size_t has = fit_width(text);
        char *out = NULL;

        if (has <= width)
                return strdup(text);
        if (cut == ROAST_CUT_START)
                return asprintf(&out, ELLIPSIS "%s", fit_skip(text, has - width + 1)) < 0 ? NULL
                                                                                          : out;
        return asprintf(&out, "%.*s" ELLIPSIS, (int)(fit_skip(text, width - 1) - text), text) < 0
                       ? NULL
                       : out;
}

static int fit_copy_rows(struct roast_table *fitted, const struct fit *fit)
{
        const struct roast_table *table = fit->table;

        for (size_t row = 0; row < fit->n_rows; row++) {
                struct roast_cell *to = build_row(fitted);

                if (!to)
                        return ROAST_E_NOMEM;
                for (size_t i = 0; i < table->n_columns; i++) {
                        const struct roast_cell *from = &table->cells[row * table->n_columns + i];

                        if (!fit->shown[i])
                                continue;
                        *to = *from;
                        to->text = from->text ? fit_cut_text(from->text, fit->widths[i],
                                                             table->columns[i].cut)
                                              : NULL;
                        to++;
                }
        }
        return build_result(fitted);
}

int roast_table_fit(struct roast_table *fitted, const struct roast_table *table,
                    const struct roast_room *room, struct roast_error *error)
{
        struct fit fit = { .table = table, .n_rows = table->n_rows };
        size_t n = 0;

        if (room->rows && fit.n_rows > room->rows)
                fit.n_rows = room->rows;
        *fitted = (struct roast_table){ .name = table->name,
                                        .title = table->title,
                                        .n_left_out = table->n_rows - fit.n_rows };
        fit_measure(&fit);
        if (room->width)
                fit_decide(&fit, room->width, room->gap);
        fitted->own_columns = calloc(table->n_columns, sizeof(*fitted->own_columns));
        if (!fitted->own_columns)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < table->n_columns; i++)
                if (fit.shown[i])
                        fitted->own_columns[n++] = table->columns[i];
        fitted->columns = fitted->own_columns;
        fitted->n_columns = n;
        if (fit_copy_rows(fitted, &fit) < 0) {
                roast_table_deinit(fitted);
                return roast_fail_nomem(error);
        }
        return 0;
}
