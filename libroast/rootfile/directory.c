/* The file header and the directories: see directory.h. */

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "rootfile/directory.h"
#include "util/cleanup.h"

#define DEPTH_MAX         64
#define HEADER_AHEAD      4096
#define HEADER_BYTES      45 /* up to fCompress, with 8-byte places */
#define DIRECTORY_BYTES   42 /* up to fSeekKeys, with 8-byte places */
#define FILE_VERSION_64   1000000
#define RECORD_VERSION_64 1000

struct walk {
        struct rootfile *file;
        struct buf found;       /* of struct found */
        struct buf classes;     /* of const char *, one a key */
        struct buf directories; /* of const char * */
        void *visited;          /* tree of places: tsearch(3) */
};

static int directory_read(struct walk *walk, const char *path, uint64_t at, unsigned int depth,
                          struct roast_error *error);

static void directory_nothing(void *place)
{
        (void)place;
}

static void directory_walk_deinit(struct walk *walk)
{
        buf_deinit(&walk->found);
        buf_deinit(&walk->classes);
        buf_deinit(&walk->directories);
        tdestroy(walk->visited, directory_nothing);
}

static int directory_compare_places(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

/* 1: seen for the first time, 0: been there. */
static int directory_visit(struct walk *walk, uint64_t place, struct roast_error *error)
{
        uint64_t *node = arena_take(&walk->file->arena, 1, sizeof(*node));
        uint64_t **entry;

        if (!node)
                return rootfile_fail_arena(walk->file, error);
        *node = place;
        entry = tsearch(node, &walk->visited, directory_compare_places);
        if (!entry)
                return roast_fail_nomem(error);
        return *entry == node;
}

static int directory_found_add(struct walk *walk, enum found_kind kind, const char *path,
                               const char *class_name, const struct key *key,
                               struct roast_error *error)
{
        struct found found = { .kind = kind, .path = path, .class_name = class_name, .key = *key };

        if (buf_append(&walk->found, &found, sizeof(found)) < 0)
                return roast_fail_nomem(error);
        return 0;
}

static int directory_subdirectory_read(struct walk *walk, const char *path, const struct key *key,
                                       unsigned int depth, struct roast_error *error)
{
        struct roast_error why;
        int r;

        if (buf_append(&walk->directories, &path, sizeof(path)) < 0)
                return roast_fail_nomem(error);
        if (depth == DEPTH_MAX)
                r = roast_fail(&why, ROAST_E_CORRUPT, "directories are nested too deeply");
        else
                r = directory_read(walk, path, key->seek + key->keylen, depth + 1, &why);
        if (r < 0)
                return rootfile_skip(walk->file, path, "TDirectory", &why, error);
        return 0;
}

static int directory_key_take(struct walk *walk, const char *directory, const struct key *key,
                              unsigned int depth, struct roast_error *error)
{
        struct rootfile *file = walk->file;
        const char *class_name = arena_text(&file->arena, key->class_name.at, key->class_name.len);
        const char *path = arena_join(&file->arena, directory, '/', key->name.at, key->name.len);

        if (!class_name || !path)
                return rootfile_fail_arena(file, error);
        file->public.num_keys++;
        if (buf_append(&walk->classes, &class_name, sizeof(class_name)) < 0)
                return roast_fail_nomem(error);
        if (strcmp(class_name, "TTree") == 0 || strcmp(class_name, "TNtuple") == 0 ||
            strcmp(class_name, "TNtupleD") == 0)
                return directory_found_add(walk, FOUND_TREE, path, class_name, key, error);
        if (strcmp(class_name, "ROOT::RNTuple") == 0 ||
            strcmp(class_name, "ROOT::Experimental::RNTuple") == 0)
                return directory_found_add(walk, FOUND_NTUPLE, path, class_name, key, error);
        if (strcmp(class_name, "TDirectory") == 0 || strcmp(class_name, "TDirectoryFile") == 0)
                return directory_subdirectory_read(walk, path, key, depth, error);
        return 0;
}

/* The record of keys: its own key, their number, the keys. */
static int directory_keys_read(struct walk *walk, const char *path, struct cursor cursor,
                               unsigned int depth, struct roast_error *error)
{
        struct cursor at = cursor;
        struct key own = key_parse(&at);
        uint32_t n;
        int r;

        cursor_take(&cursor, own.keylen);
        n = wire_u32(&cursor);
        if (at.bad || cursor.bad || n > cursor_left(&cursor) / KEY_BYTES_MIN)
                return roast_fail(error, ROAST_E_CORRUPT, "its list of keys is damaged");
        for (uint32_t i = 0; i < n; i++) {
                struct key key = key_parse(&cursor);

                if (cursor.bad)
                        return roast_fail(error, ROAST_E_CORRUPT, "key %u of %u is damaged", i + 1,
                                          n);
                r = directory_key_take(walk, path, &key, depth, error);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int directory_read(struct walk *walk, const char *path, uint64_t at, unsigned int depth,
                          struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint8_t *keys = NULL;
        struct rootfile *file = walk->file;
        const uint8_t *view = NULL;
        struct cursor cursor;
        uint32_t nbytes_keys;
        uint64_t seek_keys;
        bool is64;
        int r;

        r = directory_visit(walk, at, error);
        if (r < 0)
                return r;
        if (r == 0)
                return roast_fail(error, ROAST_E_CORRUPT, "directories form a loop");
        r = source_view(&file->source, at, DIRECTORY_BYTES, DIRECTORY_BYTES, &view, error);
        if (r < 0)
                return r;
        cursor = cursor_init(view, DIRECTORY_BYTES);
        is64 = wire_u16(&cursor) > RECORD_VERSION_64;
        cursor_take(&cursor, 8); /* times of creation and change */
        nbytes_keys = wire_u32(&cursor);
        cursor_take(&cursor, 4);   /* bytes of the name */
        wire_place(&cursor, is64); /* this directory */
        wire_place(&cursor, is64); /* its parent */
        seek_keys = wire_place(&cursor, is64);
        if (seek_keys == 0 || nbytes_keys == 0) {
                if (depth > 0)
                        return 0; /* never filled */
                return roast_fail(error, ROAST_E_CORRUPT, "no list of keys: it was never closed");
        }
        r = stored_load(file, seek_keys, nbytes_keys, nbytes_keys, &keys, error);
        if (r < 0)
                return r;
        return directory_keys_read(walk, path, cursor_init(keys, nbytes_keys), depth, error);
}

static int directory_header_read(struct rootfile *file, uint32_t *nbytes_name,
                                 struct roast_error *error)
{
        struct roast_rootfile *public = &file->public;
        const uint8_t *view = NULL;
        struct cursor cursor;
        int r;

        r = source_view(&file->source, 0, HEADER_BYTES, HEADER_AHEAD, &view, error);
        if (r < 0 && r != ROAST_E_CORRUPT)
                return r;
        if (r < 0 || memcmp(view, "root", 4) != 0)
                return roast_fail(error, ROAST_E_FORMAT, "not a ROOT file");
        cursor = cursor_init(view + 4, HEADER_BYTES - 4);
        public->version = wire_i32(&cursor);
        public->is64 = public->version >= FILE_VERSION_64;
        public->begin = wire_u32(&cursor);
        public->end = wire_place(&cursor, public->is64);
        wire_place(&cursor, public->is64); /* list of free places */
        cursor_take(&cursor, 8);           /* its length, its number */
        *nbytes_name = wire_u32(&cursor);
        public->units = cursor_u8(&cursor);
        public->compress_setting = wire_i32(&cursor);
        return 0;
}

static int directory_compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int directory_classes_count(struct walk *walk, struct roast_error *error)
{
        struct roast_rootfile *public = &walk->file->public;
        const char **names = (const char **)(void *)walk->classes.data;
        size_t n = walk->classes.len / sizeof(*names), count = 0;
        struct roast_root_class *classes;

        if (n == 0)
                return 0;
        qsort(names, n, sizeof(*names), directory_compare_names);
        for (size_t i = 0; i < n; i++)
                count += i == 0 || strcmp(names[i], names[i - 1]) != 0;
        classes = arena_take(&walk->file->arena, count, sizeof(*classes));
        if (!classes)
                return rootfile_fail_arena(walk->file, error);
        public->classes = classes;
        public->num_classes = count;
        classes--;
        for (size_t i = 0; i < n; i++) {
                if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
                        (++classes)->name = names[i];
                classes->keys++;
        }
        return 0;
}

static int directory_compare_found(const void *a, const void *b)
{
        const struct found *x = *(struct found *const *)a, *y = *(struct found *const *)b;
        int order = strcmp(x->path, y->path);

        if (order == 0)
                order = (int)x->kind - (int)y->kind;
        return order ? order : x->key.cycle - y->key.cycle;
}

static bool directory_same_object(const struct found *a, const struct found *b)
{
        return a->kind == b->kind && strcmp(a->path, b->path) == 0;
}

/* Keeps the highest cycle of each object; the others become its other_cycles. */
static int directory_cycles_merge(struct walk *walk, struct found *found, size_t *n,
                                  struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct found **order = calloc(*n + 1, sizeof(struct found *));
        size_t kept = 0;

        if (!order)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < *n; i++)
                order[i] = &found[i];
        qsort(order, *n, sizeof(*order), directory_compare_found);
        for (size_t i = 0, first = 0; i < *n; i++) {
                int32_t *cycles;

                if (i + 1 < *n && directory_same_object(order[i], order[i + 1]))
                        continue;
                cycles = arena_take(&walk->file->arena, i - first, sizeof(*cycles));
                if (!cycles)
                        return rootfile_fail_arena(walk->file, error);
                for (size_t j = first; j < i; j++) {
                        cycles[j - first] = order[j]->key.cycle;
                        order[j]->path = NULL;
                }
                order[i]->other_cycles = cycles;
                order[i]->num_other_cycles = i - first;
                first = i + 1;
        }
        for (size_t i = 0; i < *n; i++)
                if (found[i].path)
                        found[kept++] = found[i];
        *n = kept;
        return 0;
}

static int directory_walk_finish(struct walk *walk, struct found **ret, size_t *n,
                                 struct roast_error *error)
{
        struct roast_rootfile *public = &walk->file->public;
        int r;

        public->directories =
                arena_copy(&walk->file->arena, walk->directories.data, walk->directories.len);
        if (!public->directories)
                return rootfile_fail_arena(walk->file, error);
        public->num_directories = walk->directories.len / sizeof(const char *);
        r = directory_classes_count(walk, error);
        if (r < 0)
                return r;
        *n = walk->found.len / sizeof(**ret);
        r = directory_cycles_merge(walk, (struct found *)(void *)walk->found.data, n, error);
        if (r < 0)
                return r;
        *ret = (struct found *)(void *)walk->found.data;
        walk->found = (struct buf)BUF_INIT;
        return 0;
}

int directory_walk(struct rootfile *file, struct found **ret, size_t *n, struct roast_error *error)
{
        ROAST_CLEANUP(directory_walk_deinit) struct walk walk = { .file = file };
        uint32_t nbytes_name = 0;
        int r;

        r = directory_header_read(file, &nbytes_name, error);
        if (r < 0)
                return r;
        r = directory_read(&walk, "", file->public.begin + nbytes_name, 0, error);
        if (r < 0)
                return r;
        return directory_walk_finish(&walk, ret, n, error);
}
