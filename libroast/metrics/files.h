#pragma once
/*
 * Files, and the bytes of their chunks by their sources
 *
 * A row is a tree of a file within a dataset. Its chunks say what their branches
 * need (compressed bytes of baskets), what uproot requested, and what the kernel
 * counted for the process; and what the whole tree has, of which the branches
 * that any chunk touched count once.
 *
 * A chunk that begins within a basket reads it again, if the chunk before it is
 * in the run too. That is exact while the chunks of a file touch the same
 * branches, and estimated where they differ.
 */

#include "metrics/collect.h"
#include "metrics/coverage.h"

struct file_row;   /* what is kept beside a file of the summary while chunks are walked over */
struct cut_chunk;  /* a chunk that begins within baskets */
struct last_chunk; /* the last one seen of a worker */

struct files {
        struct collect *collect;
        struct file_row *rows; /* as many as the summary has files */
        size_t cap;
        size_t *slots;           /* by the number of the file's name: its first row + 1 */
        struct last_chunk *last; /* by the number of the worker's name */
        struct run_seen ends;    /* where chunks that finished end, by row */
        struct cut_chunk *cuts;
        size_t n_cuts, cap_cuts;
        uint32_t *of_chunk; /* by id - 1: row + 1 of a chunk that finished, else 0 */
        size_t cap_chunks;
        bool mixed; /* chunks of some row touched different branches */
};

/* Each returns 0 or ROAST_E_NOMEM. */
int files_init(struct files *files, struct collect *collect);
/* A chunk's row of the run, and what became of it; no graphs. */
int files_add(struct files *files, int64_t id, const struct run_value *values, int64_t outcome);
/* Sums by file, dataset (slots: as in chunks.c) and run, and the metrics. Rows have no numbers
 * from then on: files are sorted, those with the most time first. */
int files_end(struct files *files, const size_t *dataset_slots);
void files_deinit(struct files *files);

/* The chunk that a row which was added is an attempt at */
uint64_t files_key(const struct files *files, const struct run_value *values);
/* When all have been added: whether an attempt at that chunk finished */
bool files_finished(const struct files *files, uint64_t key);
/* The row of a chunk that finished, or -1 */
int64_t files_of_chunk(const struct files *files, int64_t id);
/* Whether the chunks of a row touched different branches; if so, all of them together did: */
bool files_is_mixed(const struct files *files, size_t row);
void files_set_touched(struct files *files, size_t row, const struct coverage *coverage);
