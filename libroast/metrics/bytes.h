#pragma once
/* Bytes of chunks by their sources: needed by baskets, requested by uproot, read by the kernel */

#include "metrics/stat.h"
#include "roast-metrics.h"
#include "run/run.h"

/* A chunk that finished, as its row of the run has it */
void bytes_add_chunk(struct roast_bytes *bytes, const struct run_value *values);
void bytes_add(struct roast_bytes *bytes, const struct roast_bytes *more);
/* Sets the base facts; 0 or ROAST_E_NOMEM. */
int bytes_set(struct roast_metric_set *set, const struct roast_bytes *bytes);
