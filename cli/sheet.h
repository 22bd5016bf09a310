#pragma once
/*
 * A table for the terminal or as CSV
 *
 * Columns are a constant array; rows are filled cell by cell from the left. A
 * number keeps its exact value for CSV and has a form for people.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

struct sheet_column {
        const char *key;   /* in CSV */
        const char *title; /* for people */
        bool right;        /* aligned to the right */
};

struct sheet {
        const struct sheet_column *columns;
        size_t num_columns;
        size_t hidden;    /* leading columns that people need not see */
        struct buf cells; /* of struct sheet_cell, row by row */
        bool failed;      /* no memory: the table cannot be shown */
};

void sheet_deinit(struct sheet *sheet);
void sheet_text(struct sheet *sheet, const char *text);
void sheet_count(struct sheet *sheet, int64_t count);
void sheet_bytes(struct sheet *sheet, int64_t bytes);
/* A share of the whole as a bar; in CSV the number. */
void sheet_bar(struct sheet *sheet, double share);
/* a / b with one digit; nothing if b is 0 */
void sheet_ratio(struct sheet *sheet, int64_t a, int64_t b);

/* Each returns 0, or ROAST_E_NOMEM. */
int sheet_print_text(const struct sheet *sheet);
int sheet_print_csv(const struct sheet *sheet);
