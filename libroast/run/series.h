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
/*
 * Blocks in any order: series_walk_begin_any() in the place of series_walk_begin(), then
 * series_walk_read() of a row, which returns 1, or 0 if it is damaged. Nothing is compared with
 * the seals.
 */
int series_walk_begin_any(struct series_walk *walk, struct roast_run *run,
                          const struct intern *texts, struct roast_error *error);
int series_walk_read(struct series_walk *walk, int64_t id, struct roast_error *error);
/* Where a name stands in what a row says its columns are, and their unit; negative: nowhere. */
int series_column(const char *columns, size_t columns_len, const char *name, int64_t *resolution);
/* The series of that name in the current block, and the unit of its values; NULL: it has none. */
const int64_t *series_walk_column(const struct series_walk *walk, const char *name,
                                  int64_t *resolution);

/* The string of a column that ends in _text, which the caller frees; NULL: no memory, or no string.
 */
char *series_walk_text(const struct series_walk *walk, const struct run_value *value);

/* A block as its row describes it; what the row does not say is 0, and of stamps INT64_MIN. */
struct series_block {
        int64_t id;
        int64_t worker_text;
        int64_t columns_text;
        int64_t start_utc_ns;
        int64_t stop_utc_ns;
};

/* The blocks behind a row, in their order and not decoded; the caller frees them. */
int series_list(struct roast_run *run, int64_t after, struct series_block **ret, size_t *n,
                struct roast_error *error);

#define SERIES_MS 1000000 /* the unit of a block's times, in ns */

/* A time of a block, which may hold any: one that is out of range wraps around. */
static inline int64_t series_ns(int64_t ms)
{
        return (int64_t)((uint64_t)ms * SERIES_MS);
}

/* The text table of a run: number id - 1 is row id. Who looks for one makes an index first. */
int run_read_texts(struct roast_run *run, struct intern *texts, struct roast_error *error);
