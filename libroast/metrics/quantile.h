#pragma once
/*
 * Quantiles of many numbers, exactly
 *
 * All numbers are kept. A quantile is found by selection, not by sorting: C. A.
 * R. Hoare, "Algorithm 65: Find", Communications of the ACM 4 (1961). Between
 * two ranks it is interpolated linearly, as NumPy does.
 */

#include <stddef.h>

/* All-zero is empty. */
struct quantile {
        double *values;
        size_t n;
        size_t cap;
};

void quantile_deinit(struct quantile *quantile);
/* Takes a number, which must be finite. 0 or ROAST_E_NOMEM. */
int quantile_add(struct quantile *quantile, double value);
/* The quantile of a share from 0 to 1; NaN without numbers. Changes their order. */
double quantile_of(struct quantile *quantile, double share);
