/* Rows of named values in any format: see export.h. */

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "show/formats.h"

static void rows_check(struct rows *rows, int r)
{
        if (r < 0)
                rows->out->json.error = r;
}

/* Columns that the format has */
static bool rows_has_column(const struct rows *rows, size_t i)
{
        return rows_are_json(rows) || !rows->columns[i].nested;
}

void rows_begin(struct rows *rows, struct out *out, enum roast_export_format format,
                const struct rows_column *columns, size_t n_columns)
{
        bool first = true;

        *rows = (struct rows){
                .out = out, .format = format, .columns = columns, .n_columns = n_columns
        };
        if (format == ROAST_EXPORT_JSON)
                out_puts(out, "[");
        if (rows_are_json(rows))
                return;
        if (format == ROAST_EXPORT_MARKDOWN)
                out_puts(out, "|");
        for (size_t i = 0; i < n_columns; i++) {
                const char *key = columns[i].key;

                if (!rows_has_column(rows, i))
                        continue;
                if (format == ROAST_EXPORT_MARKDOWN) {
                        rows_check(rows, format_markdown_cell(&out->buf, key, strlen(key)));
                } else {
                        out_puts(out, first ? "" : ",");
                        rows_check(rows, format_csv_cell(&out->buf, key, strlen(key)));
                }
                first = false;
        }
        out_puts(out, "\n");
        if (format != ROAST_EXPORT_MARKDOWN)
                return;
        out_puts(out, "|");
        for (size_t i = 0; i < n_columns; i++)
                out_puts(out, rows_has_column(rows, i) ? " --- |" : "");
        out_puts(out, "\n");
}

void rows_end(struct rows *rows)
{
        if (rows->format == ROAST_EXPORT_JSON)
                out_puts(rows->out, rows->any ? "\n]\n" : "]\n");
}

void rows_row(struct rows *rows)
{
        struct json *json = &rows->out->json;

        rows->at = 0;
        if (rows->format == ROAST_EXPORT_JSON && !rows->inside)
                out_puts(rows->out, rows->any ? ",\n" : "\n");
        rows->any = true;
        if (rows_are_json(rows))
                json_object(json);
        else if (rows->format == ROAST_EXPORT_MARKDOWN)
                out_puts(rows->out, "|");
}

void rows_row_end(struct rows *rows)
{
        while (rows->at < rows->n_columns)
                rows_absent(rows);
        if (rows_are_json(rows))
                json_end(&rows->out->json);
        if (rows->format != ROAST_EXPORT_JSON)
                out_puts(rows->out, "\n");
}

/* The text of a cell, whatever it was */
static void rows_put_cell(struct rows *rows, const char *data, size_t len)
{
        struct buf *buf = &rows->out->buf;

        if (rows->format == ROAST_EXPORT_MARKDOWN) {
                rows_check(rows, format_markdown_cell(buf, data, len));
        } else {
                if (rows->at > 0)
                        out_puts(rows->out, ",");
                rows_check(rows, format_csv_cell(buf, data, len));
        }
}

static void rows_put_key(struct rows *rows)
{
        json_key(&rows->out->json, rows->columns[rows->at].key);
}

void rows_absent(struct rows *rows)
{
        if (!rows_are_json(rows) && rows_has_column(rows, rows->at))
                rows_put_cell(rows, "", 0);
        rows->at++;
}

void rows_int(struct rows *rows, int64_t value)
{
        char text[24];

        if (rows_are_json(rows)) {
                rows_put_key(rows);
                json_int(&rows->out->json, value);
        } else {
                rows_put_cell(rows, text,
                              (size_t)snprintf(text, sizeof(text), "%lld", (long long)value));
        }
        rows->at++;
}

void rows_real(struct rows *rows, double value)
{
        struct buf *buf = &rows->out->buf;

        if (!isfinite(value)) {
                rows_absent(rows);
                return;
        }
        if (rows_are_json(rows)) {
                rows_put_key(rows);
                json_double(&rows->out->json, value);
        } else {
                /* digits, a point, a sign and an e need no quotes in either format */
                if (rows->format == ROAST_EXPORT_MARKDOWN)
                        out_puts(rows->out, " ");
                else if (rows->at > 0)
                        out_puts(rows->out, ",");
                rows_check(rows, buf_put_real(buf, value));
                if (rows->format == ROAST_EXPORT_MARKDOWN)
                        out_puts(rows->out, " |");
        }
        rows->at++;
}

void rows_text(struct rows *rows, const char *data, size_t len)
{
        if (!data) {
                rows_absent(rows);
                return;
        }
        if (rows_are_json(rows)) {
                rows_put_key(rows);
                json_string_n(&rows->out->json, data, len);
        } else {
                rows_put_cell(rows, data, len);
        }
        rows->at++;
}

void rows_string(struct rows *rows, const char *string)
{
        rows_text(rows, string, string ? strlen(string) : 0);
}

struct json *rows_nested(struct rows *rows)
{
        if (!rows_are_json(rows)) {
                rows->at++;
                return NULL;
        }
        rows_put_key(rows);
        rows->at++;
        return &rows->out->json;
}

/* ---- the pairs of a row as they are pushed ---- */

static void rows_find_column(struct rows *rows, const char *key)
{
        size_t at = rows->at;

        while (at < rows->n_columns && strcmp(rows->columns[at].key, key) != 0)
                at++;
        rows->passed = at == rows->n_columns || rows->columns[at].nested;
        while (at < rows->n_columns && rows->at < at)
                rows_absent(rows);
}

static void rows_put_value(struct rows *rows, const struct emit_value *value)
{
        if (value->type == EMIT_INT)
                rows_int(rows, value->integer);
        else if (value->type == EMIT_REAL || value->type == EMIT_WHOLE)
                rows_real(rows, value->real);
        else if (value->type == EMIT_TEXT)
                rows_text(rows, value->text, value->len);
        else if (value->type == EMIT_BOOL)
                rows_string(rows, value->integer ? "true" : "false");
        else
                rows_absent(rows);
}

static void rows_put_emitted(struct emit *emit, const struct emit_value *value)
{
        struct rows *rows = (struct rows *)(void *)((char *)emit - offsetof(struct rows, cells));

        if (value->type == EMIT_OBJECT || value->type == EMIT_ARRAY || value->type == EMIT_TUPLE)
                rows->depth++;
        else if (value->type == EMIT_END)
                rows->depth--;
        else if (rows->depth > 0)
                return;
        else if (value->type == EMIT_KEY)
                rows_find_column(rows, value->text);
        else if (value->type == EMIT_NEXT_IS_KEY)
                rows->passed = true; /* names from outside are none of the columns */
        else if (!rows->passed)
                rows_put_value(rows, value);
}

struct emit *rows_emit(struct rows *rows)
{
        if (!rows_are_json(rows)) {
                rows->cells.put = rows_put_emitted;
                return &rows->cells;
        }
        if (!rows->json.json)
                emit_json_init(&rows->json, &rows->out->json);
        return &rows->json.emit;
}
