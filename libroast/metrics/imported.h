#pragma once
/*
 * Figures that a measurement of another kind came with (facts imported.KEY)
 *
 * They count only where the run's own rows do not tell: then they are given as
 * estimated, for nothing here shows how they were made.
 */

#include "roast-metrics.h"
#include "roast-run.h"

struct imported {
        bool given[ROAST_N_METRICS];
        double values[ROAST_N_METRICS];
};

/* `key` is the fact's name behind "imported."; unknown ones are passed over. */
void imported_note(struct imported *imported, const char *key, const struct roast_fact *fact);
/* Fills what is absent, after the formulas; returns how many, or ROAST_E_NOMEM. */
int imported_fill(struct roast_metric_set *set, const struct imported *imported);
