#pragma once
/*
 * Bytes of chunks by their sources: needed by baskets, requested by uproot, read by the kernel
 *
 * A chunk that begins within a basket reads it again, if the chunk before it is
 * in the run too. That is exact while the chunks of a file touch the same
 * branches, and estimated where they differ.
 */

#include "metrics/collect.h"
#include "metrics/stat.h"

struct cut_chunk;  /* a chunk that begins within baskets */
struct last_chunk; /* the last one seen of a worker */

struct byte_walk {
        struct collect *collect;
        struct last_chunk *last; /* by the number of the worker's name */
        struct run_seen ends;    /* where chunks that finished end */
        struct cut_chunk *cuts;
        size_t n_cuts, cap_cuts;
};

/* Each returns 0 or ROAST_E_NOMEM. */
int bytes_init(struct byte_walk *walk, struct collect *collect);
/*
 * A chunk that finished, what its branches need (negative: not known), and the numbers of its file
 * and dataset in the summary.
 */
int bytes_chunk(struct byte_walk *walk, const struct run_value *values, int64_t needed, size_t file,
                size_t dataset);
/* When all chunks have come, and what was read of the files is known: the sums, and the metrics. */
int bytes_end(struct byte_walk *walk);
void bytes_deinit(struct byte_walk *walk);

/* The chunk that a row is an attempt at, and in the end whether one of them finished */
uint64_t bytes_key(const struct byte_walk *walk, const struct run_value *values);
bool bytes_finished(const struct byte_walk *walk, uint64_t key);
