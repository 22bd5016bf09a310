#pragma once
/* The parts of roast_openmetrics() that have a file of their own */

#include "roast-show.h"
#include "show/exposition.h"

/* Sums over the workers that are here now; each: and a sample of every worker */
void openmetrics_workers(struct exposition *e, const struct roast_workers *workers, bool each);
