#pragma once
/*
 * TTree, its branches and their baskets
 *
 * Members are read in the order of the class version; what comes behind them is
 * skipped by the byte count. Known: TTree 5 and 16 to 20, TBranch 6 to 13.
 */

#include "rootfile/directory.h"

/* A tree while it is being read. */
struct tree_reader {
        struct rootfile *file;
        const struct body *body;
        const char *path;
        struct buf branches; /* of struct roast_root_branch */
};

int tree_read(struct rootfile *file, const struct found *found, struct roast_root_tree *tree,
              struct roast_error *error);

#define NO_PARENT SIZE_MAX

/* Appends the branches of a TObjArray, depth first; `parent` is a number or NO_PARENT. */
int branches_read(struct tree_reader *reader, struct cursor *members, size_t parent,
                  unsigned int depth, struct roast_error *error);

/* The type of a plain leaf in words, or NULL. */
const char *leaf_type(struct tree_reader *reader, const struct wire_pointer *leaf);

/* Where the branch's arrays say that its baskets are. */
struct basket_arrays {
        size_t max_baskets;
        int32_t write_basket;
        struct cursor bytes;
        struct cursor entry;
        struct cursor seek;
        size_t entry_size; /* 4 or 8 */
        size_t seek_size;
        struct cursor embedded; /* TObjArray of TBasket */
};

int baskets_read(struct tree_reader *reader, struct basket_arrays *arrays,
                 struct roast_root_branch *branch, struct roast_error *error);

#define HEAD_FIXED_BYTES 18  /* of a basket's key: all but its texts and places */
#define HEAD_BYTES       256 /* a whole key with names of usual length, and a block header */

struct basket_head {
        uint32_t nbytes;
        uint32_t objlen;
        uint16_t keylen;
};

struct basket_head basket_head_parse(const uint8_t bytes[HEAD_FIXED_BYTES]);

/* Looks at the keys of all baskets on disk: algorithms, blocks, sizes. */
int baskets_look(struct rootfile *file, struct roast_root_branch *branches, size_t n,
                 struct roast_error *error);
