/* Opening a ROOT file: the steps, and the list of what was left out. */

#include <stdlib.h>
#include <string.h>

#include "rootfile/ntuple.h"
#include "rootfile/tree.h"
#include "util/array.h"
#include "util/cleanup.h"

/*
 * How much a file may make us keep and expand: ample for real files (a tree
 * object of 1 MB expands to some 10 MB), and out of reach for a bomb.
 */
#define LIMIT_BASE     (64u << 20)
#define LIMIT_PER_BYTE 64
#define LIMIT_MAX      (1u << 30)

const char *roast_root_algorithm_name(enum roast_root_algorithm algorithm)
{
        static const char *const names[ROAST_ROOT_ALGORITHMS] = {
                [ROAST_ROOT_LZ4] = "LZ4",   [ROAST_ROOT_LZMA] = "LZMA",
                [ROAST_ROOT_NONE] = "NONE", [ROAST_ROOT_OLD] = "OLD",
                [ROAST_ROOT_ZLIB] = "ZLIB", [ROAST_ROOT_UNKNOWN] = "UNKNOWN",
                [ROAST_ROOT_ZSTD] = "ZSTD",
        };

        return names[algorithm];
}

int rootfile_fail_arena(const struct rootfile *file, struct roast_error *error)
{
        if (!file->arena.over)
                return roast_fail_nomem(error);
        return roast_fail(error, ROAST_E_CORRUPT, "its metadata are larger than any file needs");
}

int rootfile_skip(struct rootfile *file, const char *path, const char *what,
                  const struct roast_error *why, struct roast_error *error)
{
        struct roast_rootfile *public = &file->public;
        struct roast_root_skipped *list = (struct roast_root_skipped *)public->skipped;
        const char *reason;

        if (why->code == ROAST_E_NOMEM)
                return roast_fail(error, why->code, "%s", why->message);
        if (ARRAY_ROOM(list, public->num_skipped, file->skipped_cap) < 0)
                return roast_fail_nomem(error);
        public->skipped = list;
        reason = arena_text(&file->arena, why->message, strlen(why->message));
        if (!reason)
                return rootfile_fail_arena(file, error);
        list[public->num_skipped++] = (struct roast_root_skipped){ path, what, why->code, reason };
        return 0;
}

static int rootfile_read_found(struct rootfile *file, const struct found *found, size_t n,
                               struct roast_error *error)
{
        struct roast_rootfile *public = &file->public;
        struct roast_root_tree *trees = arena_take(&file->arena, n, sizeof(*trees));
        struct roast_root_ntuple *ntuples = arena_take(&file->arena, n, sizeof(*ntuples));

        if (!trees || !ntuples)
                return rootfile_fail_arena(file, error);
        public->trees = trees;
        public->ntuples = ntuples;
        for (size_t i = 0; i < n; i++) {
                struct arena_mark mark = arena_mark(&file->arena);
                size_t num_skipped = public->num_skipped;
                struct roast_error why;
                int r;

                if (found[i].kind == FOUND_TREE) {
                        r = tree_read(file, &found[i], &trees[public->num_trees], &why);
                        public->num_trees += r >= 0;
                } else {
                        r = ntuple_read(file, &found[i], &ntuples[public->num_ntuples], &why);
                        public->num_ntuples += r >= 0;
                }
                if (r >= 0)
                        continue;
                /* With the memory goes what was noted about parts of it. */
                arena_release(&file->arena, &mark);
                public->num_skipped = num_skipped;
                r = rootfile_skip(file, found[i].path, found[i].class_name, &why, error);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* An empty answer must mean an empty file. */
static int rootfile_check_answer(const struct roast_rootfile *public, struct roast_error *error)
{
        if (public->num_trees || public->num_ntuples)
                return 0;
        for (size_t i = 0; i < public->num_skipped; i++) {
                const struct roast_root_skipped *skipped = &public->skipped[i];

                if (skipped->code != ROAST_E_VERSION)
                        return roast_fail(error, skipped->code, "%s \"%.200s\": %s", skipped->what,
                                          skipped->path, skipped->reason);
        }
        return 0;
}

/* The rest of a file that was cut off may be whole; it is told all the same. */
static int rootfile_check_end(struct rootfile *file, struct roast_error *error)
{
        struct roast_error why;

        if (file->public.end <= file->public.size)
                return 0;
        roast_fail(&why, ROAST_E_CORRUPT, "cut off: %llu of %llu bytes are there",
                   (unsigned long long)file->public.size, (unsigned long long)file->public.end);
        return rootfile_skip(file, "", "TFile", &why, error);
}

static int rootfile_read(struct rootfile *file, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct found *found = NULL;
        size_t limit = LIMIT_MAX, n = 0;
        int r;

        r = source_open(&file->source, file->public.path, error);
        if (r < 0)
                return r;
        file->public.size = file->source.size;
        if (file->source.size < (LIMIT_MAX - LIMIT_BASE) / LIMIT_PER_BYTE)
                limit = LIMIT_BASE + LIMIT_PER_BYTE * (size_t)file->source.size;
        file->arena.left = limit;
        file->expand_left = limit;
        r = directory_walk(file, &found, &n, error);
        if (r < 0)
                return r;
        r = rootfile_check_end(file, error);
        if (r < 0)
                return r;
        r = rootfile_read_found(file, found, n, error);
        if (r < 0)
                return r;
        return rootfile_check_answer(&file->public, error);
}

int roast_rootfile_open(struct roast_rootfile **ret, const char *path,
                        const struct roast_rootfile_options *options, struct roast_error *error)
{
        struct rootfile *file = calloc(1, sizeof(*file));
        int r;

        if (!file)
                return roast_fail_nomem(error);
        file->source.fd = -1;
        if (options)
                file->options = *options;
        file->public.path = strdup(path);
        r = file->public.path ? rootfile_read(file, error) : roast_fail_nomem(error);
        file->public.reads = file->source.reads;
        file->public.bytes_read = file->source.bytes_read;
        source_deinit(&file->source);
        if (r < 0) {
                roast_rootfile_free(&file->public);
                return r;
        }
        *ret = &file->public;
        return 0;
}

struct roast_rootfile *roast_rootfile_free(struct roast_rootfile *public)
{
        struct rootfile *file = (struct rootfile *)public;

        if (!file)
                return NULL;
        arena_deinit(&file->arena);
        free((void *)public->skipped);
        free((void *)public->path);
        free(file);
        return NULL;
}
