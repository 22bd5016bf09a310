#pragma once
/* `roast inspect`: the tables that it prints. */

#include "roast-rootfile.h"
#include "roast-show.h"

/*
 * One row for each tree and RNTuple of a file; for each branch or field; for
 * each of those that a range is about. A table begins with the column of the
 * file, or where there is but one file with the next.
 */
enum inspect_what { INSPECT_TREES, INSPECT_BRANCHES, INSPECT_RANGE };

/* What the view asks for. */
enum inspect_what inspect_what(const struct roast_rootfile_view *view);
struct roast_table inspect_table(enum inspect_what what, bool one_file);
/* 0 or ROAST_E_NOMEM */
int inspect_add(struct roast_table *table, enum inspect_what what,
                const struct roast_rootfile *file, const struct roast_rootfile_view *view);

/* A share of the whole as a bar. */
void inspect_share(struct roast_cell *cell, int64_t part, int64_t whole);
void inspect_bytes(struct roast_cell *cell, int64_t bytes);
/* a / b; nothing if b is 0 */
void inspect_ratio(struct roast_cell *cell, int64_t a, int64_t b);

/* The answer for people about one file; returns the exit code. */
int inspect_text(const struct roast_rootfile *file, const struct roast_rootfile_view *view);
/* Whether the view is about this tree. */
bool inspect_wanted(const struct roast_rootfile_view *view, const char *path);
