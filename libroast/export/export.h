#pragma once
/* What the files of this folder share: where an export goes, and rows in any format */

#include "record/chunk.h"
#include "roast-export.h"
#include "run/attempts.h"
#include "util/json.h"
#include "v1/emit-json.h"

/*
 * Output that is handed over in large pieces. Errors are kept: out_end() tells.
 */
struct out {
        struct buf buf;
        struct json json; /* writes into buf, one line, no blanks */
        roast_export_writer write;
        void *context;
        int code; /* of the writer */
        struct roast_error error;
};

void out_init(struct out *out, roast_export_writer write, void *context);
void out_deinit(struct out *out);
/* Between two pieces: hands over what has come together. 0, or an error that ends the export. */
int out_step(struct out *out, struct roast_error *error);
/* Hands over what is left. */
int out_end(struct out *out, struct roast_error *error);
/* Text as it is */
void out_puts(struct out *out, const char *text);

/*
 * Rows of named values: a JSON object a row, or a line of a table
 *
 *     rows_begin(&rows, out, format, columns, n);
 *     rows_row(&rows);
 *     rows_int(&rows, 3);      one call for each column, in order
 *     rows_absent(&rows);      left out in JSON, empty elsewhere
 *     rows_row_end(&rows);
 *     rows_end(&rows);
 *
 * Nested columns are in JSON only: rows_nested() returns the writer, with the
 * key written, or NULL where there is nothing to do.
 */
struct rows_column {
        const char *key;
        bool nested;
};

struct rows {
        struct out *out;
        enum roast_export_format format;
        bool inside; /* of an array of the JSON writer, which puts the commas */
        const struct rows_column *columns;
        size_t n_columns;
        size_t at;
        bool any;
        struct emit cells;  /* what rows_emit() gives, */
        unsigned int depth; /* within a value that no column has, */
        bool passed;        /* or at one */
        struct emit_json json;
};

void rows_begin(struct rows *rows, struct out *out, enum roast_export_format format,
                const struct rows_column *columns, size_t n_columns);
void rows_end(struct rows *rows);
void rows_row(struct rows *rows);
void rows_row_end(struct rows *rows);
void rows_absent(struct rows *rows);
void rows_int(struct rows *rows, int64_t value);
void rows_real(struct rows *rows, double value); /* not finite: absent */
void rows_text(struct rows *rows, const char *data, size_t len);
void rows_string(struct rows *rows, const char *string);
struct json *rows_nested(struct rows *rows);
/* Takes the pairs of a row, in the order of the columns; what is no column is in JSON only. */
struct emit *rows_emit(struct rows *rows);

static inline bool rows_are_json(const struct rows *rows)
{
        return rows->format == ROAST_EXPORT_JSON || rows->format == ROAST_EXPORT_JSONL;
}

/* One function for each thing that is exported. */
int export_metrics(struct roast_run *run, const struct roast_export_options *options,
                   struct out *out, struct roast_error *error);
int export_chunks(struct roast_run *run, const struct roast_export_options *options,
                  struct out *out, struct roast_error *error);
int export_sections(struct roast_run *run, const struct roast_export_options *options,
                    struct out *out, struct roast_error *error);
int export_files(struct roast_run *run, const struct roast_export_options *options, struct out *out,
                 struct roast_error *error);
int export_tasks(struct roast_run *run, const struct roast_export_options *options, struct out *out,
                 struct roast_error *error);
int export_series(struct roast_run *run, const struct roast_export_options *options,
                  struct out *out, struct roast_error *error);
int export_openmetrics(struct roast_run *run, const struct roast_export_options *options,
                       struct out *out, struct roast_error *error);
int export_trace(struct roast_run *run, const struct roast_export_options *options, struct out *out,
                 struct roast_error *error);
