#pragma once
/*
 * One figure of two runs, or of two groups of runs: medians, change, test
 *
 * A contrast gets the values, says how they differ and how sure that is, and
 * knows nothing of what they mean.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of one run: one for each unit, with the cluster that the unit is in */
struct contrast_side {
        double *values;
        uint16_t *cluster;
        size_t n;
        size_t n_clusters;
};

enum contrast_scale {
        CONTRAST_RATIO,      /* change is b / a - 1 */
        CONTRAST_DIFFERENCE, /* change is (b - a) / reference */
};

struct contrast {
        double a, a_low, a_high;
        double b, b_low, b_high;
        double change, change_low, change_high;
        double p;
        const char *test;
        size_t n;
        const char *why; /* "" if it was tested */
};

/* Units that came to the same share their index if `paired`. 0 or ROAST_E_NOMEM. */
int contrast_runs(struct contrast *contrast, const struct contrast_side *a,
                  const struct contrast_side *b, bool paired, enum contrast_scale scale,
                  double reference, uint64_t seed);
/* Each value is a run; for a ratio they become their logarithms. */
void contrast_groups(struct contrast *contrast, double *a, size_t n_a, double *b, size_t n_b,
                     enum contrast_scale scale, double reference);
