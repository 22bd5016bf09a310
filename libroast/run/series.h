#pragma once
/* Reading the series of a run, block by block */

#include "run/run.h"
#include "timeline/block.h"

/*
 * A verified walk over the blocks of a run
 *
 *     r = series_walk_begin(&walk, run, NULL, error);
 *     while (r >= 0 && (r = series_walk_next(&walk, error)) > 0)
 *             use(walk.block, series_walk_column(&walk, "rss_bytes", &resolution));
 *     series_walk_end(&walk);
 */
struct series_walk {
        struct run_scan scan;
        struct block block;
        const struct intern *texts; /* of the run: id - 1 */
        struct intern own;          /* where they are, unless the caller has them */
        int64_t worker_text;
        const char *columns; /* valid until the next step */
        size_t columns_len;
        size_t n_damaged; /* blocks that were passed over, since they cannot be decoded */
};

/* `texts` as run_read_texts() gives them, which outlive the walk, or NULL. */
int series_walk_begin(struct series_walk *walk, struct roast_run *run, const struct intern *texts,
                      struct roast_error *error);
int series_walk_next(struct series_walk *walk, struct roast_error *error);
/* The same, but blocks of other workers are passed over without being decoded. */
int series_walk_next_of(struct series_walk *walk, int64_t worker_text, struct roast_error *error);
void series_walk_end(struct series_walk *walk);
/* Decodes a block that was got otherwise: 1, or 0 if it is damaged, which is counted. */
int series_walk_decode(struct series_walk *walk, const void *data, size_t len,
                       struct roast_error *error);
/* Where a name stands in what a row says its columns are, and their unit; negative: nowhere. */
int series_column(const char *columns, size_t columns_len, const char *name, int64_t *resolution);
/* The series of that name in the current block, and the unit of its values; NULL: it has none. */
const int64_t *series_walk_column(const struct series_walk *walk, const char *name,
                                  int64_t *resolution);

/* The string of a column that ends in _text, which the caller frees; NULL: no memory, or no string.
 */
char *series_walk_text(const struct series_walk *walk, const struct run_value *value);

#define SERIES_MS 1000000 /* the unit of a block's times, in ns */

/* A time of a block, which may hold any: one that is out of range wraps around. */
static inline int64_t series_ns(int64_t ms)
{
        return (int64_t)((uint64_t)ms * SERIES_MS);
}

/* The text table of a run: number id - 1 is row id. Who looks for one makes an index first. */
int run_read_texts(struct roast_run *run, struct intern *texts, struct roast_error *error);
