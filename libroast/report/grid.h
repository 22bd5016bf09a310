#pragma once
/* Cells of time: what the curves of the page are drawn over */

#include <stddef.h>
#include <stdint.h>

/* More cells than a screen has pixels show nothing more. */
#define GRID_CELLS_MAX 1200

struct grid {
        int64_t zero_utc_ns;
        double step_ns;
        size_t n;
};

/*
 * An amount that is spread evenly over stretches of time: both ends of a
 * stretch are added to their cells, and the cells between as a difference that
 * is summed up at the end, so that a long stretch costs no more than a short one.
 */
struct density {
        double *edges;
        double *steps; /* n + 1 */
};

/* From an instant to the place on the grid, in cells; not held to its ends */
static inline double grid_place(const struct grid *grid, int64_t utc_ns)
{
        return ((double)utc_ns - (double)grid->zero_utc_ns) / grid->step_ns;
}

int density_init(struct density *density, const struct grid *grid);
void density_deinit(struct density *density);
/* Adds `height` (an amount per cell) from one place to another. */
void density_add(struct density *density, const struct grid *grid, double from, double to,
                 double height);
/* The mean height in each cell, times a factor */
void density_read(const struct density *density, const struct grid *grid, double factor,
                  float *values);
