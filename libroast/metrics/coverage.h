#pragma once
/*
 * How much of a file was read, from what its chunks say
 *
 * A chunk says which branches it touched, how many compressed bytes these
 * branches have in the whole file, and both as a share of the file. Chunks of
 * one file may touch different branches: what counts is the union, whatever the
 * order in which they arrive.
 *
 * The bytes of a union are known where those of each branch are, or where the
 * sets are nested or disjoint. Where they overlap, the bytes of a set are taken
 * as spread evenly over its branches, and the result is estimated.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coverage_set {
        uint32_t *branches; /* numbers, ascending */
        size_t n;
        double bytes;
};

/* All-zero is a file of which nothing was read. */
struct coverage_file {
        struct coverage_set *sets;
        size_t n;
        double *bytes; /* of each branch, by number; 0: not known */
        size_t n_bytes;
        double branches_percent; /* the largest that a chunk named */
        double bytes_percent;
};

struct coverage {
        size_t branches;
        double branches_percent;
        double bytes;
        double bytes_percent;
        bool estimated;
};

void coverage_file_deinit(struct coverage_file *file);
/*
 * What chunks say: a set of branches (sorted in place) with its bytes, and the shares. NaN: not
 * said. 0 or ROAST_E_NOMEM.
 */
int coverage_file_add(struct coverage_file *file, uint32_t *branches, size_t n, double bytes,
                      double branches_percent, double bytes_percent);
/* The bytes of one branch; what is not positive is not known. 0 or ROAST_E_NOMEM. */
int coverage_file_branch(struct coverage_file *file, uint32_t branch, double bytes);
/* Totals are of the file's tree; not positive: not known. n_branches: all numbers are below it. */
int coverage_of_file(struct coverage *coverage, struct coverage_file *file, size_t n_branches,
                     double total_branches, double total_bytes);
