#pragma once
/* A TTree as bytes, of any version, for the tests. */

#include "rootmaker.h"

struct roottree {
        uint16_t tree_version;   /* 20 if 0 */
        uint16_t branch_version; /* 13 if 0 */
        int32_t max_baskets;     /* what the branch says; 2 if 0 */
        uint64_t seek;           /* of its first basket; 0: none on disk */
        int64_t entries;
        uint32_t missing_branches; /* that the array counts and does not have */
};

/* A tree "t" with one float branch "x". */
void roottree_put(struct buf *out, const struct roottree *tree);
