/* TTree: see tree.h. */

#include <stdlib.h>
#include <string.h>

#include "rootfile/tree.h"
#include "util/cleanup.h"

/* The version whose entry counts are doubles, from before ROOT 3. */
static void tree_members_5(struct cursor *cursor, struct roast_root_tree *tree)
{
        tree->entries = wire_f64_count(cursor);
        tree->tot_bytes = wire_f64_count(cursor);
        tree->zip_bytes = wire_f64_count(cursor);
        cursor_take(cursor, 8 + 7 * 4); /* saved bytes; timer interval to estimate */
}

static void tree_members_16(struct cursor *cursor, uint16_t version, struct roast_root_tree *tree)
{
        uint32_t num_ranges = 0;

        tree->entries = wire_i64(cursor);
        tree->tot_bytes = wire_i64(cursor);
        tree->zip_bytes = wire_i64(cursor);
        cursor_take(cursor, 8); /* saved bytes */
        if (version >= 18)
                cursor_take(cursor, 8); /* flushed bytes */
        cursor_take(cursor, 8 + 3 * 4); /* weight; timer interval, scan field, update */
        if (version >= 17)
                cursor_take(cursor, 4); /* default length of entry offsets */
        if (version >= 19)
                num_ranges = wire_u32(cursor);
        cursor_take(cursor, 4 * 8); /* max. entries, entry loop, virtual size; auto save */
        if (version >= 18)
                cursor_take(cursor, 8); /* auto flush */
        cursor_take(cursor, 8);         /* estimate */
        for (int i = 0; version >= 19 && i < 2; i++) {
                cursor_u8(cursor);
                wire_array(cursor, num_ranges, 8); /* ends and sizes of cluster ranges */
        }
        if (version >= 20)
                wire_skip(cursor); /* I/O features */
}

static bool tree_has_border(const struct roast_root_branch *branch, int64_t entry)
{
        size_t low = 0, high = branch->num_baskets;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (branch->baskets[middle].first_entry < entry)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < branch->num_baskets && branch->baskets[low].first_entry == entry;
}

/*
 * Clusters are what lies between entries where all branches begin a basket. The
 * branch with the fewest baskets tells the candidates.
 */
static size_t tree_count_clusters(const struct roast_root_tree *tree)
{
        const struct roast_root_branch *fewest = NULL;
        size_t clusters = 0;

        for (size_t i = 0; i < tree->num_branches; i++) {
                const struct roast_root_branch *branch = &tree->branches[i];

                if (branch->num_baskets && (!fewest || branch->num_baskets < fewest->num_baskets))
                        fewest = branch;
        }
        for (size_t b = 0; fewest && b < fewest->num_baskets; b++) {
                bool common = true;

                for (size_t i = 0; i < tree->num_branches && common; i++)
                        common =
                                tree->branches[i].num_baskets == 0 ||
                                tree_has_border(&tree->branches[i], fewest->baskets[b].first_entry);
                clusters += common;
        }
        return clusters;
}

static void tree_sum(struct roast_root_tree *tree)
{
        for (size_t i = 0; i < tree->num_branches; i++) {
                const struct roast_root_branch *branch = &tree->branches[i];

                tree->compressed_bytes += branch->compressed_bytes;
                if (__builtin_add_overflow(tree->uncompressed_bytes, branch->uncompressed_bytes,
                                           &tree->uncompressed_bytes))
                        tree->uncompressed_bytes = INT64_MAX;
                tree->num_baskets += branch->num_baskets;
                tree->num_embedded += branch->num_embedded;
                for (size_t a = 0; a < ROAST_ROOT_ALGORITHMS; a++) {
                        tree->algorithms.of[a] += branch->algorithms.of[a];
                        tree->blocks.of[a] += branch->blocks.of[a];
                }
        }
}

/* Hands the branches over to the arena. */
static int tree_finish(struct tree_reader *reader, struct roast_root_tree *tree,
                       struct roast_error *error)
{
        struct rootfile *file = reader->file;
        struct roast_root_branch *branches;

        tree->num_branches = reader->branches.len / sizeof(*branches);
        branches = arena_adopt(&file->arena, &reader->branches);
        if (!branches)
                return rootfile_fail_arena(file, error);
        tree->branches = branches;
        for (size_t i = 0; i < tree->num_branches; i++)
                tree->num_top_branches += branches[i].parent == i;
        return file->options.without_algorithms
                       ? 0
                       : baskets_look(file, branches, tree->num_branches, error);
}

static int tree_members(struct tree_reader *reader, struct cursor members, uint16_t version,
                        struct roast_root_tree *tree, struct roast_error *error)
{
        struct arena *arena = &reader->file->arena;
        struct wire_named named;
        int r;

        if (members.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "the tree object is damaged");
        if (version != 5 && (version < 16 || version > 20))
                return roast_fail(error, ROAST_E_VERSION, "TTree version %u is not known", version);
        named = wire_tnamed(&members);
        for (int i = 0; i < 3; i++)
                wire_skip(&members); /* attributes of lines, areas, markers */
        if (version == 5)
                tree_members_5(&members, tree);
        else
                tree_members_16(&members, version, tree);
        if (members.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "the tree object is damaged");
        tree->name = arena_text(arena, named.name.at, named.name.len);
        tree->title = arena_text(arena, named.title.at, named.title.len);
        if (!tree->name || !tree->title)
                return rootfile_fail_arena(reader->file, error);
        r = branches_read(reader, &members, NO_PARENT, 0, error);
        return r < 0 ? r : tree_finish(reader, tree, error);
}

static void tree_reader_deinit(struct tree_reader *reader)
{
        buf_deinit(&reader->branches);
}

int tree_read(struct rootfile *file, const struct found *found, struct roast_root_tree *tree,
              struct roast_error *error)
{
        ROAST_CLEANUP(body_deinit) struct body body = { 0 };
        ROAST_CLEANUP(tree_reader_deinit)
        struct tree_reader reader = { .file = file, .body = &body, .path = found->path };
        struct cursor cursor, members;
        uint16_t version;
        int r;

        *tree = (struct roast_root_tree){
                .path = found->path,
                .class_name = found->class_name,
                .cycle = found->key.cycle,
                .other_cycles = found->other_cycles,
                .num_other_cycles = found->num_other_cycles,
                .metadata_bytes = found->key.nbytes,
                .metadata_objlen = found->key.objlen,
        };
        r = body_load(file, &found->key, &body, error);
        if (r < 0)
                return r;
        cursor = cursor_init(body.data, body.len);
        members = wire_enter(&cursor, &version);
        if (strcmp(found->class_name, "TTree") != 0) /* a TNtuple begins with its TTree */
                members = wire_enter(&members, &version);
        r = tree_members(&reader, members, version, tree, error);
        if (r < 0)
                return r;
        tree_sum(tree);
        tree->num_clusters = tree_count_clusters(tree);
        return 0;
}
