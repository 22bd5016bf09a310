#pragma once
/* The file object while it is being read. */

#include "roast-rootfile.h"
#include "rootfile/arena.h"
#include "rootfile/source.h"

struct rootfile {
        struct roast_rootfile public; /* first, so that either pointer is the other */
        struct roast_rootfile_options options;
        struct source source;
        struct arena arena;
        size_t expand_left; /* bytes that may still be decompressed */
        size_t skipped_cap;
};

/* For when the arena gives nothing more. */
int rootfile_fail_arena(const struct rootfile *file, struct roast_error *error);

/* Notes that something was left out. Fails only without memory. */
int rootfile_skip(struct rootfile *file, const char *path, const char *what,
                  const struct roast_error *why, struct roast_error *error);
