/* Filling a table, cell by cell */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roast-units.h"
#include "show/build.h"

struct roast_cell *build_row(struct roast_table *table)
{
        size_t n = (table->n_rows + 1) * table->n_columns;
        struct roast_cell *cells = realloc(table->cells, n * sizeof(*cells));

        if (!cells)
                return NULL;
        table->cells = cells;
        cells += table->n_rows * table->n_columns;
        memset(cells, 0, table->n_columns * sizeof(*cells));
        table->n_rows++;
        return cells;
}

void build_text(struct roast_cell *cell, const char *format, ...)
{
        va_list args;

        cell->type = ROAST_CELL_TEXT;
        va_start(args, format);
        if (vasprintf(&cell->text, format, args) < 0)
                cell->text = NULL;
        va_end(args);
}

void build_name(struct roast_cell *cell, enum build_level level, const char *name)
{
        static const char *const leads[] = {
                [BUILD_TOP] = "", [BUILD_INDENT] = "  ", [BUILD_BULLET] = "  \xe2\x80\xa2 "
        };

        build_text(cell, "%s%s", leads[level], name);
        cell->level = level != BUILD_TOP;
}

void build_count(struct roast_cell *cell, int64_t count)
{
        char text[ROAST_UNITS_MAX];

        cell->type = ROAST_CELL_COUNT;
        cell->count = count;
        cell->real = (double)count;
        cell->text = strdup(roast_format_count(text, sizeof(text), count));
}

void build_real(struct roast_cell *cell, double real, const char *text)
{
        cell->type = ROAST_CELL_REAL;
        cell->real = real;
        cell->text = strdup(text);
}

void build_seconds(struct roast_cell *cell, double seconds)
{
        char text[ROAST_UNITS_MAX];

        build_real(cell, seconds, roast_format_seconds(text, sizeof(text), seconds));
}

void build_bytes(struct roast_cell *cell, double bytes)
{
        char text[ROAST_UNITS_MAX];

        build_real(cell, bytes, roast_format_bytes(text, sizeof(text), bytes));
}

void build_percent(struct roast_cell *cell, double share)
{
        char text[ROAST_UNITS_MAX];

        snprintf(text, sizeof(text), "%.1f %%", share * 100);
        build_real(cell, share * 100, text);
}

void build_factor(struct roast_cell *cell, double factor)
{
        char text[ROAST_UNITS_MAX];

        snprintf(text, sizeof(text), factor < 1e6 ? "%.2fx" : "%.2gx", factor);
        build_real(cell, factor, text);
}

void build_bar(struct roast_cell *cell, double share)
{
        char bar[3 * BUILD_BAR_MAX + 1] = "";
        int n = share > 0 && share <= 1 ? (int)(share * BUILD_BAR_MAX + 0.5) : 0;

        for (int i = 0; i < n; i++)
                memcpy(bar + 3 * (size_t)i, "\xe2\x96\x88", 3); /* a full block */
        build_text(cell, "%s", bar);
}

void build_absent(struct roast_cell *cell, const char *reason)
{
        cell->type = ROAST_CELL_ABSENT;
        cell->emphasis = ROAST_DIM;
        if (asprintf(&cell->text, "N/A (%s)", reason) < 0)
                cell->text = NULL;
}

int build_result(const struct roast_table *table)
{
        for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
                if (table->cells[i].type != ROAST_CELL_EMPTY && !table->cells[i].text)
                        return ROAST_E_NOMEM;
        return 0;
}

void roast_table_deinit(struct roast_table *table)
{
        for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
                free(table->cells[i].text);
        free(table->cells);
        free(table->own_columns);
        *table = (struct roast_table){ 0 };
}
