#pragma once
/*
 * Runs of any size whose times are drawn, to hold statistics against what is true
 *
 * Chunk i is the same chunk (file, entries, events) in every run of the same size and chunk
 * size; its cost is scale * (1 + spread * normal) times what the chunk costs by itself. The
 * same options make the same run on every machine.
 */

#include "roast-run.h"

struct synthetic {
        size_t chunks;
        uint64_t seed;
        double scale;         /* of every time; 1: the usual */
        double spread;        /* relative deviation from chunk to chunk */
        size_t workers;       /* of one thread each */
        int64_t chunk_events; /* 0: 25,000 */
        double waiting;       /* share of the wall time in the run queue */
        double drift;         /* slow relative wave over the run */
        int64_t late_ns;      /* so long after its beginning the workers come */
};

int synthetic_fill(struct roast_run *run, const struct synthetic *options,
                   struct roast_error *error);

/*
 * How many pairs of runs are drawn: few, because the tests should be quick, under the sanitizers
 * too; bench/bench_compare.py asks for the 2,000 that the promises speak of.
 */
size_t synthetic_pairs(void);
