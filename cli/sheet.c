/* A table for the terminal or as CSV: see sheet.h. */

#include <langinfo.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roast-error.h"
#include "sheet.h"

#define BAR_WIDTH 20

struct sheet_cell {
        char *exact;
        char *human; /* NULL: the same */
};

static size_t sheet_num_cells(const struct sheet *sheet)
{
        return sheet->cells.len / sizeof(struct sheet_cell);
}

static const struct sheet_cell *sheet_cell_at(const struct sheet *sheet, size_t i)
{
        return (const struct sheet_cell *)(const void *)sheet->cells.data + i;
}

void sheet_deinit(struct sheet *sheet)
{
        for (size_t i = 0; i < sheet_num_cells(sheet); i++) {
                free(sheet_cell_at(sheet, i)->exact);
                free(sheet_cell_at(sheet, i)->human);
        }
        buf_deinit(&sheet->cells);
}

/* Takes both strings. */
static void sheet_add(struct sheet *sheet, char *exact, char *human)
{
        struct sheet_cell cell = { exact, human };

        if (exact && buf_append(&sheet->cells, &cell, sizeof(cell)) >= 0)
                return;
        free(exact);
        free(human);
        sheet->failed = true;
}

__attribute__((format(printf, 1, 2))) static char *print(const char *format, ...)
{
        char *text = NULL;
        va_list args;

        va_start(args, format);
        if (vasprintf(&text, format, args) < 0)
                text = NULL;
        va_end(args);
        return text;
}

void sheet_text(struct sheet *sheet, const char *text)
{
        sheet_add(sheet, strdup(text ? text : ""), NULL);
}

void sheet_count(struct sheet *sheet, int64_t count)
{
        sheet_add(sheet, print("%lld", (long long)count), NULL);
}

void sheet_bytes(struct sheet *sheet, int64_t bytes)
{
        static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
        double value = (double)bytes;
        size_t unit = 0;

        for (; value >= 999.95; unit++)
                value /= 1000;
        sheet_add(sheet, print("%lld", (long long)bytes),
                  print("%.*f %s", unit ? 1 : 0, value, units[unit]));
}

void sheet_bar(struct sheet *sheet, double share)
{
        bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
        char bar[BAR_WIDTH * 3 + 1] = "";

        for (int i = 0; i < (int)(share * BAR_WIDTH + 0.5) && i < BAR_WIDTH; i++)
                strcat(bar, utf8 ? "\xe2\x96\x88" : "#"); /* a full block */
        sheet_add(sheet, print("%.6f", share), print("%5.1f %% %s", 100 * share, bar));
}

void sheet_ratio(struct sheet *sheet, int64_t a, int64_t b)
{
        if (b == 0)
                sheet_text(sheet, "");
        else
                sheet_add(sheet, print("%.6g", (double)a / (double)b),
                          print("%.1f", (double)a / (double)b));
}

static int fill(struct libscols_table *table, const struct sheet *sheet)
{
        struct libscols_line *line = NULL;

        for (size_t c = sheet->hidden; c < sheet->num_columns; c++)
                if (!scols_table_new_column(table, sheet->columns[c].title, 0,
                                            sheet->columns[c].right ? SCOLS_FL_RIGHT : 0))
                        return ROAST_E_NOMEM;
        for (size_t i = 0; i < sheet_num_cells(sheet); i++) {
                const struct sheet_cell *cell = sheet_cell_at(sheet, i);
                size_t column = i % sheet->num_columns;

                if (column == 0)
                        line = scols_table_new_line(table, NULL);
                if (column < sheet->hidden)
                        continue;
                if (!line || scols_line_set_data(line, column - sheet->hidden,
                                                 cell->human ? cell->human : cell->exact) != 0)
                        return ROAST_E_NOMEM;
        }
        return 0;
}

int sheet_print_text(const struct sheet *sheet)
{
        struct libscols_table *table;
        int r;

        if (sheet->failed)
                return ROAST_E_NOMEM;
        table = scols_new_table();
        if (!table)
                return ROAST_E_NOMEM;
        r = fill(table, sheet);
        if (r >= 0 && scols_print_table(table) != 0)
                r = ROAST_E_NOMEM;
        scols_unref_table(table);
        return r;
}

static void print_csv_field(const char *text, bool last)
{
        if (text[strcspn(text, ",\"\r\n")]) {
                putchar('"');
                for (; *text; text++) {
                        if (*text == '"')
                                putchar('"');
                        putchar(*text);
                }
                putchar('"');
        } else {
                fputs(text, stdout);
        }
        fputs(last ? "\r\n" : ",", stdout);
}

int sheet_print_csv(const struct sheet *sheet)
{
        size_t n = sheet->num_columns;

        if (sheet->failed)
                return ROAST_E_NOMEM;
        for (size_t c = 0; c < n; c++)
                print_csv_field(sheet->columns[c].key, c + 1 == n);
        for (size_t i = 0; i < sheet_num_cells(sheet); i++)
                print_csv_field(sheet_cell_at(sheet, i)->exact, i % n + 1 == n);
        return 0;
}
