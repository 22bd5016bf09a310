#pragma once
/*
 * The file header and the directories
 *
 * The walk goes depth first in the order of the keys. It visits a directory
 * once, whatever loops the file has, and finds the trees and RNTuples.
 */

#include "rootfile/key.h"

enum found_kind { FOUND_TREE, FOUND_NTUPLE };

struct found {
        enum found_kind kind;
        const char *path;
        const char *class_name;
        struct key key; /* without its texts */
        const int32_t *other_cycles;
        size_t num_other_cycles;
};

/* Fills the header, keys, classes and directories of the public object. */
int directory_walk(struct rootfile *file, struct found **ret, size_t *n, struct roast_error *error);
