#pragma once
/* The table of the metrics that users registered */

#include "roast-show.h"

/* Columns: metric, value */
int things_fill_custom(struct roast_table *table, const struct roast_summary *summary);
