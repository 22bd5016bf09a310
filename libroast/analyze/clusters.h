#pragma once
/*
 * Which units shared their conditions
 *
 * Chunks that one worker did one after the other are a batch, as in the method
 * of batch means (B. Schmeiser, Oper. Res. 30, 1982, who advises 10 to 30 of
 * them): what drifts slower than a batch shows between batches. With many
 * workers a cluster is one of them, or a few.
 */

#include <stddef.h>
#include <stdint.h>

/* Numbers below *n_clusters, at most CLUSTERS_MAX, for n units; workers are any small numbers. */
#define CLUSTERS_MAX 64

int clusters_make(uint16_t **ret, size_t *n_clusters, const uint32_t *worker,
                  const int64_t *start_utc_ns, size_t n);
