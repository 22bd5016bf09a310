#pragma once
/* Series of workers, sample by sample, on a grid */

#include "report/grid.h"
#include "roast-error.h"

enum samples_kind {
        SAMPLES_RATE, /* of a counter: what was added in a cell, by the time that is known of it */
        SAMPLES_PEAK, /* of a gauge: the highest in a cell; between two samples the first holds */
};

/* One series of all workers; NaN and zero: nothing is known */
struct samples {
        enum samples_kind kind;
        const struct grid *grid;
        size_t n_workers;
        double gap_ns;   /* two samples further apart say nothing about the time between */
        float *amounts;  /* worker by worker, grid->n each */
        float *known;    /* of a rate: the part of the cell that is known */
        int64_t *before; /* by worker: its last sample, when and what */
        int64_t *before_ns;
};

int samples_init(struct samples *samples, enum samples_kind kind, const struct grid *grid,
                 size_t n_workers, double gap_ns);
void samples_deinit(struct samples *samples);
void samples_add(struct samples *samples, size_t worker, int64_t utc_ns, int64_t value);
/*
 * The values of a worker, `fold` cells put together; a rate is per second, both times `factor`.
 * Returns how many there are.
 */
size_t samples_read(const struct samples *samples, size_t worker, size_t fold, double factor,
                    float *values);
