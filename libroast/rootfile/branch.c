/*
 * TBranch and its subclasses
 *
 * A subclass (TBranchElement, TBranchObject, ...) begins with its TBranch, and
 * nothing else of it is needed. Not so TBranchClones, which is listed as
 * skipped, like every version that is not known.
 */

#include <stdlib.h>
#include <string.h>

#include "rootfile/tree.h"

#define DEPTH_MAX        64
#define BRANCH_BYTES_MIN 100 /* its names and numbers, without any basket */

/* The members of TBranch, in the order in which its versions have them. */
struct branch_members {
        struct text name;
        struct cursor branches;
        struct basket_arrays arrays;
        struct text file_name;
};

static int64_t branch_take_count(struct cursor *cursor, uint16_t version)
{
        return version >= 10 ? wire_i64(cursor) : wire_f64_count(cursor);
}

static void branch_take_arrays(struct cursor *cursor, uint16_t version,
                               struct basket_arrays *arrays)
{
        size_t n = arrays->max_baskets;

        arrays->entry_size = version >= 10 ? 8 : 4;
        cursor_u8(cursor);
        arrays->bytes = wire_array(cursor, n, 4);
        cursor_u8(cursor);
        arrays->entry = wire_array(cursor, n, arrays->entry_size);
        arrays->seek_size = cursor_u8(cursor) == 2 || version >= 10 ? 8 : 4;
        arrays->seek = wire_array(cursor, n, arrays->seek_size);
}

/* One leaf of a plain branch tells its type; the array of leaves is skipped in any case. */
static void branch_take_leaves(struct tree_reader *reader, struct cursor *cursor, bool plain,
                               struct roast_root_branch *branch)
{
        struct wire_pointer leaf;
        size_t n;
        struct cursor leaves = wire_tobjarray(cursor, &n);

        if (!plain || n != 1)
                return;
        leaf = wire_pointer(&leaves, reader->body);
        if (leaf.class_name.len)
                branch->type = leaf_type(reader, &leaf);
}

static struct branch_members branch_members_parse(struct tree_reader *reader, struct cursor *cursor,
                                                  uint16_t version,
                                                  struct roast_root_branch *branch)
{
        struct branch_members members = { .name = wire_tnamed(cursor).name };
        const uint8_t *branches_at;
        int32_t max_baskets;

        if (version >= 8)
                wire_skip(cursor); /* fill attributes */
        branch->compress_setting = wire_i32(cursor);
        cursor_take(cursor, 8); /* basket size, length of entry offsets */
        members.arrays.write_basket = wire_i32(cursor);
        cursor_take(cursor, version >= 10 ? 8 : 4); /* entry number */
        if (version >= 13)
                wire_skip(cursor); /* I/O features */
        cursor_take(cursor, 4);    /* offset */
        max_baskets = wire_i32(cursor);
        if (max_baskets < 0)
                cursor->bad = true;
        else
                members.arrays.max_baskets = (size_t)max_baskets;
        if (version >= 7)
                cursor_take(cursor, 4); /* split level */
        branch->entries = branch_take_count(cursor, version);
        if (version >= 11)
                cursor_take(cursor, 8); /* first entry */
        branch->uncompressed_bytes = branch_take_count(cursor, version);
        branch->zip_bytes = branch_take_count(cursor, version);
        branches_at = cursor->at;
        wire_skip(cursor);
        members.branches = cursor_init(branches_at, (size_t)(cursor->at - branches_at));
        branch_take_leaves(reader, cursor, strcmp(branch->class_name, "TBranch") == 0, branch);
        members.arrays.embedded = *cursor;
        wire_skip(cursor); /* the baskets */
        branch_take_arrays(cursor, version, &members.arrays);
        members.file_name = wire_string(cursor);
        return members;
}

static const struct roast_root_branch *branch_at(const struct tree_reader *reader, size_t number)
{
        return (const struct roast_root_branch *)(const void *)reader->branches.data + number;
}

static int branch_fill_one(struct tree_reader *reader, struct cursor *cursor, uint16_t version,
                           size_t parent, struct roast_root_branch *branch,
                           struct cursor *sub_branches, struct roast_error *error)
{
        struct arena *arena = &reader->file->arena;
        struct branch_members members = branch_members_parse(reader, cursor, version, branch);
        int r;

        if (cursor->bad)
                return roast_fail(error, ROAST_E_CORRUPT, "branch \"%.*s\" is damaged",
                                  members.name.len < 200 ? (int)members.name.len : 200,
                                  members.name.at);
        branch->name = arena_text(arena, members.name.at, members.name.len);
        branch->path = branch->name;
        if (parent != NO_PARENT)
                branch->path = arena_join(arena, branch_at(reader, parent)->path, '/',
                                          members.name.at, members.name.len);
        if (!branch->name || !branch->path)
                return rootfile_fail_arena(reader->file, error);
        if (members.file_name.len) {
                branch->elsewhere = arena_text(arena, members.file_name.at, members.file_name.len);
                if (!branch->elsewhere)
                        return rootfile_fail_arena(reader->file, error);
        }
        r = baskets_read(reader, &members.arrays, branch, error);
        if (r < 0)
                return r;
        *sub_branches = members.branches;
        return 0;
}

/* Names what is left out; the tree goes on without it. */
static int branch_skip(struct tree_reader *reader, const char *class_name, uint16_t version,
                       struct roast_error *error)
{
        struct roast_error why;

        roast_fail(&why, ROAST_E_VERSION,
                   "a branch of class %s with TBranch version %u is not known", class_name,
                   version);
        return rootfile_skip(reader->file, reader->path, class_name, &why, error);
}

static int branch_read(struct tree_reader *reader, const struct wire_pointer *pointer,
                       size_t parent, unsigned int depth, struct roast_error *error)
{
        size_t number = reader->branches.len / sizeof(struct roast_root_branch);
        struct roast_root_branch branch = { .parent = parent == NO_PARENT ? number : parent };
        struct cursor cursor = pointer->object, sub_branches, members;
        uint16_t version;
        int r;

        branch.class_name =
                arena_text(&reader->file->arena, pointer->class_name.at, pointer->class_name.len);
        if (!branch.class_name)
                return rootfile_fail_arena(reader->file, error);
        members = wire_enter(&cursor, &version);
        if (strcmp(branch.class_name, "TBranchClones") == 0)
                return branch_skip(reader, branch.class_name, version, error);
        if (strcmp(branch.class_name, "TBranch") != 0)
                members = wire_enter(&members, &version);
        if (members.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "a branch is damaged");
        if (version < 6 || version > 13)
                return branch_skip(reader, branch.class_name, version, error);
        r = branch_fill_one(reader, &members, version, parent, &branch, &sub_branches, error);
        if (r < 0)
                return r;
        if (buf_append(&reader->branches, &branch, sizeof(branch)) < 0)
                return roast_fail_nomem(error);
        return branches_read(reader, &sub_branches, number, depth + 1, error);
}

/* Makes room for as many as can be there; references may ask for the same ones over and over. */
static int branch_expect(struct tree_reader *reader, size_t n, size_t bytes,
                         struct roast_error *error)
{
        if (n > bytes / BRANCH_BYTES_MIN)
                n = bytes / BRANCH_BYTES_MIN;
        if (reader->branches.len > reader->file->arena.left)
                return roast_fail(error, ROAST_E_CORRUPT, "it has more branches than fit");
        if (buf_reserve(&reader->branches, n * sizeof(struct roast_root_branch)) < 0)
                return roast_fail_nomem(error);
        return 0;
}

int branches_read(struct tree_reader *reader, struct cursor *members, size_t parent,
                  unsigned int depth, struct roast_error *error)
{
        struct cursor branches;
        size_t n;
        int r;

        if (depth > DEPTH_MAX)
                return roast_fail(error, ROAST_E_CORRUPT, "branches are nested too deeply");
        branches = wire_tobjarray(members, &n);
        r = branch_expect(reader, n, cursor_left(&branches), error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                struct wire_pointer pointer = wire_pointer(&branches, reader->body);

                if (branches.bad)
                        break;
                if (pointer.class_name.len == 0)
                        continue;
                r = branch_read(reader, &pointer, parent, depth, error);
                if (r < 0)
                        return r;
        }
        if (members->bad || branches.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "its list of branches is damaged");
        return 0;
}
