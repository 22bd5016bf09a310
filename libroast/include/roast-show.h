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
        unsigned char level; /* of a row's name: above 0 it is part of a row before it */
        int64_t count;
        double real;
        char *text; /* for people; NULL only when empty */
};

/* What becomes of a text for which there is no room */
enum roast_cut { ROAST_CUT_NEVER, ROAST_CUT_END, ROAST_CUT_START };

struct roast_column {
        const char *key;    /* in JSON and CSV */
        const char *title;  /* for people */
        bool right;         /* aligned to the right */
        unsigned char rank; /* 0: always shown; the highest goes first on a narrow terminal */
        enum roast_cut cut;
};

struct roast_table {
        const char *name;
        const char *title;
        const struct roast_column *columns;
        size_t n_columns;
        struct roast_cell *cells; /* row by row */
        size_t n_rows;
        struct roast_column *own_columns; /* of a table that was fitted */
        size_t n_left_out;                /* rows, likewise */
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

/* All tables that have rows, but those with a row for each file. */
int roast_tables_make(struct roast_tables *tables, const struct roast_summary *summary,
                      struct roast_error *error);
void roast_tables_deinit(struct roast_tables *tables);

/* The room that there is for a table; all-zero is no limit */
struct roast_room {
        size_t width; /* in characters */
        size_t gap;   /* what is between two columns */
        size_t rows;
};

/* The table with the columns, the rows and as much of the names as there is room for. */
int roast_table_fit(struct roast_table *fitted, const struct roast_table *table,
                    const struct roast_room *room, struct roast_error *error);

/* Each returns a string that the caller frees in *ret. */
struct roast_text_options {
        bool color;
        size_t width; /* of the terminal; 0: no limit */
        size_t rows;  /* at most so many; 0: all */
};

int roast_table_to_text(char **ret, const struct roast_table *table,
                        const struct roast_text_options *options, struct roast_error *error);
int roast_table_to_markdown(char **ret, const struct roast_table *table, struct roast_error *error);
int roast_table_to_csv(char **ret, const struct roast_table *table, struct roast_error *error);
int roast_table_to_json(char **ret, const struct roast_table *table, struct roast_error *error);
/*
 * For a notebook: elements without scripts, long tables cut; the second has a line about the run.
 */
int roast_tables_to_html(char **ret, const struct roast_tables *tables, struct roast_error *error);
int roast_show_to_html(char **ret, struct roast_run *run, const struct roast_tables *tables,
                       struct roast_error *error);
/*
 * {"run": ..., "metrics": ..., "absent": ..., "estimated": ..., "custom": ...,
 * "time_ledger": ..., "tables": ...};
 * tables may be NULL.
 */
int roast_show_to_json(char **ret, struct roast_run *run, const struct roast_summary *summary,
                       const struct roast_tables *tables, struct roast_error *error);

/*
 * OpenMetrics, for Prometheus: names, units and help come from the registry, in base units.
 * The caller frees *ret.
 */
struct roast_openmetrics {
        const struct roast_run_about *about;
        const struct roast_summary *summary;
        const struct roast_workers *workers; /* NULL: nothing is told of them */
        bool per_worker;                     /* a label for each; else only their sums */
};

int roast_openmetrics(char **ret, size_t *len, const struct roast_openmetrics *source,
                      struct roast_error *error);
