#pragma once
/*
 * Chunks that were recorded: two runs of the demo in chunks of 4,000 events, on a
 * machine that others used too (tests/data/recorded-chunks.csv)
 */

#include "roast-run.h"

/* Adds the chunks of a recorded run, 0 or 1. */
int recorded_add(struct roast_run *run, int recording, struct roast_error *error);
