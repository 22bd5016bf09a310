#pragma once
/* The table of where the time of worker threads went */

#include "roast-show.h"

extern const struct roast_column ledger_columns[];
#define LEDGER_N_COLUMNS 7

int ledger_fill(struct roast_table *table, const struct roast_summary *summary);
