/* Which units shared their conditions: see clusters.h. */

#include <stdlib.h>

#include "analyze/clusters.h"
#include "analyze/statistics.h"
#include "roast-error.h"
#include "util/cleanup.h"

#define BATCHES     32 /* wanted */
#define BATCHES_MIN 16
#define BATCH_UNITS 8 /* at least, where that leaves BATCHES_MIN */

/* Workers by the number of their first appearance */
struct workers {
        uint32_t *slots; /* by id: number + 1 */
        uint32_t *units; /* by number */
        size_t n;
};

static int clusters_count_workers(struct workers *workers, const uint32_t *worker, size_t n)
{
        uint32_t largest = 0;

        for (size_t i = 0; i < n; i++)
                if (worker[i] > largest)
                        largest = worker[i];
        workers->slots = calloc((size_t)largest + 1, sizeof(uint32_t));
        workers->units = calloc((size_t)largest + 1, sizeof(uint32_t));
        if (!workers->slots || !workers->units)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n; i++) {
                if (!workers->slots[worker[i]])
                        workers->slots[worker[i]] = (uint32_t)++workers->n;
                workers->units[workers->slots[worker[i]] - 1]++;
        }
        return 0;
}

/* Where each unit stands in time */
static int clusters_order_by_start(uint32_t **order, const int64_t *start_utc_ns, size_t n)
{
        ROAST_CLEANUP(cleanup_free) double *starts = malloc((n + 1) * sizeof(*starts));
        ROAST_CLEANUP(cleanup_free) void *scratch = malloc(stat_sort_scratch(n + 1));

        *order = malloc((n + 1) * sizeof(**order));
        if (!starts || !scratch || !*order)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n; i++)
                starts[i] = (double)start_utc_ns[i];
        stat_sort(starts, *order, n, scratch);
        return 0;
}

static size_t clusters_wanted(size_t n)
{
        size_t batches = n / BATCH_UNITS;

        if (batches > BATCHES)
                batches = BATCHES;
        if (batches < BATCHES_MIN)
                batches = BATCHES_MIN;
        return batches < n ? batches : n;
}

int clusters_make(uint16_t **ret, size_t *n_clusters, const uint32_t *worker,
                  const int64_t *start_utc_ns, size_t n)
{
        ROAST_CLEANUP(cleanup_free) uint32_t *order = NULL;
        ROAST_CLEANUP(cleanup_free) uint32_t *done = NULL;
        struct workers workers = { 0 };
        size_t stretches;
        int r;

        *n_clusters = 0;
        *ret = malloc((n + 1) * sizeof(**ret));
        r = *ret ? clusters_count_workers(&workers, worker, n) : ROAST_E_NOMEM;
        if (r >= 0)
                r = clusters_order_by_start(&order, start_utc_ns, n);
        done = calloc(workers.n + 1, sizeof(*done));
        if (!done)
                r = ROAST_E_NOMEM;
        if (r >= 0 && workers.n) {
                /* whole workers, or each in equal stretches of its units */
                stretches = (clusters_wanted(n) + workers.n - 1) / workers.n;
                for (size_t i = 0; i < n; i++) {
                        uint32_t unit = order[i], who = workers.slots[worker[unit]] - 1;
                        size_t stretch = done[who]++ * stretches / workers.units[who];
                        size_t at = who * stretches + stretch, all = workers.n * stretches;

                        (*ret)[unit] =
                                (uint16_t)(all > CLUSTERS_MAX ? at * CLUSTERS_MAX / all : at);
                }
                *n_clusters = workers.n * stretches;
                if (*n_clusters > CLUSTERS_MAX)
                        *n_clusters = CLUSTERS_MAX;
        }
        free(workers.slots);
        free(workers.units);
        return r;
}
