#pragma once
/* The table of where the wall time of chunks went */

#include "roast-show.h"

extern const struct roast_column split_columns[];
#define SPLIT_N_COLUMNS 4

int split_fill(struct roast_table *table, const struct roast_summary *summary);
