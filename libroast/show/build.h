#pragma once
/* Filling a table, cell by cell: used by the definitions of the tables */

#include "roast-show.h"

/* Starts a row; its cells are empty until they are set. NULL: no memory (the table remembers). */
struct roast_cell *build_row(struct roast_table *table);
void build_text(struct roast_cell *cell, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* The name of a row; one that is part of a row before it is set off. */
enum build_level { BUILD_TOP, BUILD_INDENT, BUILD_BULLET };
void build_name(struct roast_cell *cell, enum build_level level, const char *name);
void build_count(struct roast_cell *cell, int64_t count);
void build_real(struct roast_cell *cell, double real, const char *text);
void build_seconds(struct roast_cell *cell, double seconds);
void build_bytes(struct roast_cell *cell, double bytes);
#define BUILD_BAR_MAX 20 /* characters of a bar that stands for everything */

/* A share of 1 is 100 % */
void build_percent(struct roast_cell *cell, double share);
void build_factor(struct roast_cell *cell, double factor);
void build_bar(struct roast_cell *cell, double share);
void build_absent(struct roast_cell *cell, const char *reason);
/* Rows end in ROAST_E_NOMEM if any of the above failed. */
int build_result(const struct roast_table *table);

/* Characters of a text, each taken as one cell wide; what is no UTF-8 counts by bytes. */
size_t fit_width(const char *text);
/*
 * A text as lines of at most `width` characters that end at blanks, but where a word is longer;
 * the caller frees. NULL: no memory.
 */
char *fit_lines(const char *text, size_t width);
/* A table of names and figures, of which some may be a reason why there is none; by its last */
bool fit_has_reasons(const struct roast_column *last, size_t n_columns);
