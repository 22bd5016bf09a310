#pragma once
/* `roast inspect`: the tables that it prints. */

#include "roast-rootfile.h"
#include "sheet.h"

/* One row for each tree and RNTuple of a file. */
extern const struct sheet_column inspect_files_columns[];
extern const size_t inspect_files_num_columns;
void inspect_files_add(struct sheet *sheet, const struct roast_rootfile *file,
                       const struct roast_rootfile_view *view);

/* One row for each branch, or for each field. */
extern const struct sheet_column inspect_branches_columns[];
extern const size_t inspect_branches_num_columns;
void inspect_branches_add(struct sheet *sheet, const struct roast_rootfile *file,
                          const struct roast_rootfile_view *view);

/* One row for each branch or field of the range. */
extern const struct sheet_column inspect_range_columns[];
extern const size_t inspect_range_num_columns;
void inspect_range_add(struct sheet *sheet, const struct roast_rootfile *file,
                       const struct roast_rootfile_view *view);

/* The answer for people about one file; 0 or ROAST_E_NOMEM. */
int inspect_text(const struct roast_rootfile *file, const struct roast_rootfile_view *view);
/* What was left out, on stderr. */
void inspect_skipped(const struct roast_rootfile *file);
/* Names from a file may hold anything; a terminal shall not obey them. */
void inspect_print_safe(const char *text);
/* Whether the view is about this tree. */
bool inspect_wanted(const struct roast_rootfile_view *view, const char *path);
/* "ZLIB 12, NONE 3" */
char *inspect_algorithms(const struct roast_root_counts *counts);
