#pragma once
/*
 * Fits of the scaling laws to pairs of cores and throughput
 *
 * n / X(n) = (1 + sigma (n - 1) + kappa n (n - 1)) / lambda is linear in 1, n - 1
 * and n (n - 1): least squares of the relative deviations have one solution. No
 * coefficient may be negative: of all sets of coefficients that are allowed to
 * be other than zero, the one that fits best counts (C. L. Lawson and R. J.
 * Hanson, Solving Least Squares Problems, 1974, ch. 23).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-scaling.h"

struct law {
        double lambda;
        double sigma;
        double kappa;
};

/* Returns the root mean square of the relative deviations. n is at least 1. */
double law_fit(struct law *law, const double *cores, const double *rates, size_t n, bool usl);
double law_at(const struct law *law, double cores);
/* The fit of a law with intervals from 1,000 draws of its own deviations; 0 or ROAST_E_NOMEM */
int law_fit_with_intervals(struct roast_scaling_fit *fit, const double *cores, const double *rates,
                           size_t n, bool usl, uint64_t seed);
