#pragma once
/* Tables of things that may be many: files, and the metrics that users registered */

#include "roast-show.h"

extern const struct roast_column things_file_columns[];
#define THINGS_N_FILE_COLUMNS 9

int things_fill_files(struct roast_table *table, const struct roast_summary *summary);
/* Columns: metric, value */
int things_fill_custom(struct roast_table *table, const struct roast_summary *summary);
