#pragma once
/*
 * The files of a run, and what was read of them
 *
 * Chunks come one after the other, each with its branches; what a file comes to
 * is known when all have come.
 */

#include "metrics/bytes.h"
#include "metrics/collect.h"
#include "metrics/coverage.h"
#include "metrics/stat.h"

struct files {
        struct collect *collect;
        size_t *slots;                   /* by the id of a name: index + 1 in the summary's files */
        struct coverage_file *coverages; /* of each of them */
        size_t cap_files;
        uint32_t *numbers; /* by the id of a name: number of the branch + 1 */
        uint32_t n_branches;
        uint32_t *branches; /* of the chunk at hand */
        size_t n;
        size_t cap;
        double needed_bytes; /* compressed, of the baskets its range needs */
        int64_t *sizes;      /* of each of its branches; negative: not known */
        size_t cap_summed;   /* branches of the summary */
        struct byte_walk bytes;
        struct stat_sum branches_percent;
        struct stat_sum bytes_percent;
        double compressed; /* of all chunks' branches, as far as both are known */
        double uncompressed;
};

int files_init(struct files *files, struct collect *collect, struct roast_error *error);
void files_deinit(struct files *files);
/* A branch of the chunk at hand: the columns of a row of table branch */
int files_branch(struct files *files, const struct run_value *values, struct roast_error *error);
/* The chunk itself, when all its branches have come: the columns of a row of table chunk */
int files_chunk(struct files *files, const struct run_value *values, size_t dataset,
                struct roast_error *error);
/* No chunk: forgets the branches that came. */
void files_pass(struct files *files);
/* When all chunks have come: the figures of the files, and the metrics. */
int files_set(struct files *files, struct roast_error *error);
