#pragma once
/*
 * Tables: what is shown, as data
 *
 * A table is made once from a summary; the terminal, JSON, CSV, Markdown and
 * Python's rich show the same cells.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"
#include "roast-metrics.h"
#include "roast-run.h"

enum roast_cell_type {
        ROAST_CELL_EMPTY,
        ROAST_CELL_TEXT,
        ROAST_CELL_COUNT,
        ROAST_CELL_REAL,
        ROAST_CELL_ABSENT, /* the text says why */
};

enum roast_emphasis { ROAST_PLAIN, ROAST_STRONG, ROAST_DIM, ROAST_ALERT };

struct roast_cell {
        enum roast_cell_type type;
        enum roast_emphasis emphasis;
        int64_t count;
        double real;
        char *text; /* for people; NULL only when empty */
};

struct roast_column {
        const char *key;   /* in JSON and CSV */
        const char *title; /* for people */
        bool right;        /* aligned to the right */
};

struct roast_table {
        const char *name;
        const char *title;
        const struct roast_column *columns;
        size_t n_columns;
        struct roast_cell *cells; /* row by row */
        size_t n_rows;
};

struct roast_tables {
        struct roast_table *tables;
        size_t n;
};

/* The names that --table and roast_table_make() know, NULL-terminated. */
extern const char *const roast_table_names[];

/* One table by its name; a table that has nothing to say has no rows. ROAST_E_NOENT: no such name.
 */
int roast_table_make(struct roast_table *table, const char *name,
                     const struct roast_summary *summary, struct roast_error *error);
void roast_table_deinit(struct roast_table *table);

/* All tables that have rows. */
int roast_tables_make(struct roast_tables *tables, const struct roast_summary *summary,
                      struct roast_error *error);
void roast_tables_deinit(struct roast_tables *tables);

/* Each returns a string that the caller frees in *ret. */
struct roast_text_options {
        bool color;
        size_t width; /* of the terminal; 0: no limit */
};

int roast_table_to_text(char **ret, const struct roast_table *table,
                        const struct roast_text_options *options, struct roast_error *error);
int roast_table_to_markdown(char **ret, const struct roast_table *table, struct roast_error *error);
int roast_table_to_csv(char **ret, const struct roast_table *table, struct roast_error *error);
int roast_table_to_json(char **ret, const struct roast_table *table, struct roast_error *error);
/* {"run": ..., "metrics": ..., "absent": ..., "estimated": ..., "time_ledger": ..., "tables": ...}
 */
int roast_show_to_json(char **ret, struct roast_run *run, const struct roast_summary *summary,
                       const struct roast_tables *tables, struct roast_error *error);
