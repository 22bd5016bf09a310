/* TTree: see tree.h. */

#include <stdlib.h>
#include <string.h>

#include "rootfile/tree.h"
#include "util/cleanup.h"

/* Members of the tree that only help to count its clusters. */
struct cluster_rule {
        int64_t auto_flush;
        uint32_t num_ranges;
        struct cursor range_end; /* last entry of each */
        struct cursor range_size;
};

/* The version whose entry counts are doubles, from before ROOT 3. */
static void members_5(struct cursor *cursor, struct roast_root_tree *tree)
{
        tree->entries = wire_f64_count(cursor);
        tree->tot_bytes = wire_f64_count(cursor);
        tree->zip_bytes = wire_f64_count(cursor);
        cursor_take(cursor, 8 + 7 * 4); /* saved bytes; timer interval to estimate */
}

static void members_16(struct cursor *cursor, uint16_t version, struct roast_root_tree *tree,
                       struct cluster_rule *rule)
{
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
                rule->num_ranges = wire_u32(cursor);
        cursor_take(cursor, 4 * 8); /* max. entries, entry loop, virtual size; auto save */
        if (version >= 18)
                rule->auto_flush = wire_i64(cursor);
        cursor_take(cursor, 8); /* estimate */
        if (version >= 19) {
                cursor_u8(cursor);
                rule->range_end = wire_array(cursor, rule->num_ranges, 8);
                cursor_u8(cursor);
                rule->range_size = wire_array(cursor, rule->num_ranges, 8);
        }
        if (version >= 20)
                wire_skip(cursor); /* I/O features */
}

static int64_t count_clusters(struct cluster_rule *rule, int64_t entries)
{
        int64_t begin = 0, clusters = 0;

        for (uint32_t i = 0; i < rule->num_ranges; i++) {
                int64_t last = wire_i64(&rule->range_end);
                int64_t size = wire_i64(&rule->range_size);

                if (size <= 0 || last < begin || last >= entries)
                        return 0;
                clusters += (last - begin) / size + 1;
                begin = last + 1;
        }
        if (begin >= entries)
                return clusters;
        if (rule->auto_flush <= 0)
                return 0;
        return clusters + (entries - begin - 1) / rule->auto_flush + 1;
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

/* Moves the branches into the arena, once their number is known. */
static int tree_finish(struct tree_reader *reader, struct roast_root_tree *tree,
                       struct roast_error *error)
{
        struct rootfile *file = reader->file;
        struct roast_root_branch *branches;

        branches = arena_take(&file->arena, reader->branches.len, 1);
        if (!branches)
                return rootfile_fail_arena(file, error);
        if (reader->branches.len)
                memcpy(branches, reader->branches.data, reader->branches.len);
        tree->branches = branches;
        tree->num_branches = reader->branches.len / sizeof(*branches);
        for (size_t i = 0; i < tree->num_branches; i++)
                tree->num_top_branches += branches[i].path == branches[i].name;
        return file->options.without_algorithms
                       ? 0
                       : baskets_look(file, branches, tree->num_branches, error);
}

static int tree_members(struct tree_reader *reader, struct cursor members, uint16_t version,
                        struct roast_root_tree *tree, struct roast_error *error)
{
        struct arena *arena = &reader->file->arena;
        struct cluster_rule rule = { 0 };
        struct wire_named named;
        int r;

        if (!members.bad && version != 5 && (version < 16 || version > 20))
                return roast_fail(error, ROAST_E_VERSION, "TTree version %u is not known", version);
        named = wire_tnamed(&members);
        for (int i = 0; i < 3; i++)
                wire_skip(&members); /* attributes of lines, areas, markers */
        if (version == 5)
                members_5(&members, tree);
        else
                members_16(&members, version, tree, &rule);
        if (members.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "the tree object is damaged");
        tree->name = arena_text(arena, named.name.at, named.name.len);
        tree->title = arena_text(arena, named.title.at, named.title.len);
        if (!tree->name || !tree->title)
                return rootfile_fail_arena(reader->file, error);
        tree->num_clusters = count_clusters(&rule, tree->entries);
        r = branches_read(reader, &members, "", 0, error);
        return r < 0 ? r : tree_finish(reader, tree, error);
}

static void reader_deinit(struct tree_reader *reader)
{
        buf_deinit(&reader->branches);
}

int tree_read(struct rootfile *file, const struct found *found, struct roast_root_tree *tree,
              struct roast_error *error)
{
        ROAST_CLEANUP(body_deinit) struct body body = { 0 };
        ROAST_CLEANUP(reader_deinit)
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
        return 0;
}
