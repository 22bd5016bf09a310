/* A table as Markdown and as CSV */

#include <math.h>
#include <string.h>

#include "roast-show.h"
#include "show/formats.h"
#include "util/cleanup.h"

static int formats_finish(char **ret, struct buf *out, int r, struct roast_error *error)
{
        *ret = r < 0 ? NULL : buf_release_string(out);
        return *ret ? 0 : roast_fail_nomem(error);
}

int format_markdown_cell(struct buf *out, const char *text, size_t len)
{
        int r = buf_puts(out, " ");

        for (size_t i = 0; i < len && r >= 0; i++) {
                bool control = (uint8_t)text[i] < 0x20 || text[i] == 0x7f;

                if (!control && strchr("|\\`*<[", text[i]))
                        r = buf_puts(out, "\\");
                if (r >= 0)
                        r = buf_put_u8(out, control ? ' ' : (uint8_t)text[i]);
        }
        return r < 0 ? r : buf_puts(out, " |");
}

static int formats_markdown_cell(struct buf *out, const char *text)
{
        return format_markdown_cell(out, text, strlen(text));
}

int roast_table_to_markdown(char **ret, const struct roast_table *table, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int r;

        r = buf_printf(&out, "### %s\n\n|", table->title);
        for (size_t i = 0; i < table->n_columns && r >= 0; i++)
                r = formats_markdown_cell(&out, table->columns[i].title);
        if (r >= 0)
                r = buf_puts(&out, "\n|");
        for (size_t i = 0; i < table->n_columns && r >= 0; i++)
                r = buf_puts(&out, table->columns[i].right ? " ---: |" : " --- |");
        for (size_t i = 0; i < table->n_rows * table->n_columns && r >= 0; i++) {
                const char *text = table->cells[i].text;

                if (i % table->n_columns == 0)
                        r = buf_puts(&out, "\n|");
                if (r >= 0)
                        r = formats_markdown_cell(&out, text ? text : "");
        }
        if (r >= 0)
                r = buf_puts(&out, "\n");
        return formats_finish(ret, &out, r, error);
}

int format_csv_cell(struct buf *out, const char *text, size_t len)
{
        bool plain = true;
        int r;

        for (size_t i = 0; i < len && plain; i++)
                plain = text[i] != ',' && text[i] != '"' && text[i] != '\r' && text[i] != '\n';
        if (plain)
                return buf_append(out, text, len);
        r = buf_puts(out, "\"");
        for (size_t i = 0; i < len && r >= 0; i++)
                r = text[i] == '"' ? buf_puts(out, "\"\"") : buf_put_u8(out, (uint8_t)text[i]);
        return r < 0 ? r : buf_puts(out, "\"");
}

/* Numbers as numbers, in base units, not as shown to people */
static int formats_csv_value(struct buf *out, const struct roast_cell *cell)
{
        switch (cell->type) {
        case ROAST_CELL_COUNT:
                return buf_printf(out, "%lld", (long long)cell->count);
        case ROAST_CELL_REAL:
                return isfinite(cell->real) ? buf_put_real(out, cell->real) : 0;
        case ROAST_CELL_TEXT:
                return format_csv_cell(out, cell->text, strlen(cell->text));
        case ROAST_CELL_EMPTY:
        case ROAST_CELL_ABSENT:
                break;
        }
        return 0;
}

int roast_table_to_csv(char **ret, const struct roast_table *table, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int r = 0;

        for (size_t i = 0; i < table->n_columns && r >= 0; i++)
                r = buf_printf(&out, "%s%s", i ? "," : "", table->columns[i].key);
        for (size_t i = 0; i < table->n_rows * table->n_columns && r >= 0; i++) {
                r = buf_puts(&out, i % table->n_columns ? "," : "\n");
                if (r >= 0)
                        r = formats_csv_value(&out, &table->cells[i]);
        }
        if (r >= 0)
                r = buf_puts(&out, "\n");
        return formats_finish(ret, &out, r, error);
}
