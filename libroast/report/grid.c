/* Cells of time: see grid.h. */

#include "report/grid.h"

#include <stdlib.h>

#include "roast-error.h"

int density_init(struct density *density, const struct grid *grid)
{
        density->edges = calloc(grid->n + 1, sizeof(*density->edges));
        density->steps = calloc(grid->n + 2, sizeof(*density->steps));
        return density->edges && density->steps ? 0 : ROAST_E_NOMEM;
}

void density_deinit(struct density *density)
{
        free(density->edges);
        free(density->steps);
}

void density_add(struct density *density, const struct grid *grid, double from, double to,
                 double height)
{
        double end = (double)grid->n;
        size_t first, last;

        from = from < 0 ? 0 : from;
        to = to > end ? end : to;
        if (!(from < to))
                return;
        first = (size_t)from;
        last = (size_t)to;
        if (first == last) {
                density->edges[first] += (to - from) * height;
                return;
        }
        density->edges[first] += ((double)(first + 1) - from) * height;
        density->steps[first + 1] += height;
        density->steps[last] -= height;
        if (last < grid->n)
                density->edges[last] += (to - (double)last) * height;
}

void density_read(const struct density *density, const struct grid *grid, double factor,
                  float *values)
{
        double height = 0;

        for (size_t i = 0; i < grid->n; i++) {
                height += density->steps[i];
                values[i] = (float)((height + density->edges[i]) * factor);
        }
}
