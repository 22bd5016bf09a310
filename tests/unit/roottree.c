/* A TTree as bytes: see roottree.h. */

#include <stdlib.h>
#include <string.h>

#include "roottree.h"

#define NEW_CLASS 0xffffffffu

static void put_tobject(struct buf *out)
{
        maker_put(out, 1, 2);
        maker_put(out, 0, 4);
        maker_put(out, 0x02000000, 4);
}

static void put_tnamed(struct buf *out, const char *name, const char *title)
{
        struct buf members = BUF_INIT;

        put_tobject(&members);
        maker_string(&members, name);
        maker_string(&members, title);
        maker_wrap(out, 1, &members);
        buf_deinit(&members);
}

/* Attributes, features: anything that is skipped by its byte count. */
static void put_opaque(struct buf *out)
{
        struct buf members = BUF_INIT;

        maker_put(&members, 0, 7);
        maker_wrap(out, 1, &members);
        buf_deinit(&members);
}

/* A TObjArray with one object of a new class, or none, and the lie that there are more. */
static void put_array(struct buf *out, const char *class_name, const struct buf *object,
                      uint32_t missing)
{
        struct buf members = BUF_INIT;

        put_tobject(&members);
        maker_string(&members, "");
        maker_put(&members, (class_name ? 1 : 0) + missing, 4);
        maker_put(&members, 0, 4);
        if (class_name) {
                maker_put(&members, 0x40000000u | (4 + strlen(class_name) + 1 + object->len), 4);
                maker_put(&members, NEW_CLASS, 4);
                if (buf_append(&members, class_name, strlen(class_name) + 1) < 0 ||
                    buf_append(&members, object->data, object->len) < 0)
                        abort();
        }
        maker_wrap(out, 3, &members);
        buf_deinit(&members);
}

static void put_leaf(struct buf *out)
{
        struct buf leaf = BUF_INIT, base = BUF_INIT;

        put_tnamed(&leaf, "x", "x");
        maker_put(&leaf, 1, 4); /* length */
        maker_put(&leaf, 4, 4);
        maker_put(&leaf, 0, 4);
        maker_put(&leaf, 0, 2);
        maker_put(&leaf, 0, 4); /* no counter */
        maker_wrap(&base, 2, &leaf);
        maker_put(&base, 0, 8);
        maker_wrap(out, 1, &base);
        buf_deinit(&leaf);
        buf_deinit(&base);
}

static void put_branch(struct buf *out, const struct roottree *tree)
{
        int32_t max_baskets = tree->max_baskets ? tree->max_baskets : 2;
        struct buf members = BUF_INIT, leaf = BUF_INIT;

        put_leaf(&leaf);
        put_tnamed(&members, "x", "x/F");
        put_opaque(&members);
        maker_put(&members, 101, 4); /* compression */
        maker_put(&members, 32000, 4);
        maker_put(&members, 0, 4);
        maker_put(&members, tree->seek ? 1 : 0, 4); /* write basket */
        maker_put(&members, (uint64_t)tree->entries, 8);
        put_opaque(&members);
        maker_put(&members, 0, 4);
        maker_put(&members, (uint64_t)max_baskets, 4);
        maker_put(&members, 0, 4);
        maker_put(&members, (uint64_t)tree->entries, 8);
        maker_put(&members, 0, 8);
        maker_put(&members, 400, 8);
        maker_put(&members, 100, 8);
        put_array(&members, NULL, NULL, 0);
        put_array(&members, "TLeafF", &leaf, 0);
        put_array(&members, NULL, NULL, 0);
        maker_put(&members, 1, 1);
        maker_put(&members, 100, 4);
        maker_put(&members, 0, 4);
        maker_put(&members, 1, 1);
        maker_put(&members, 0, 8);
        maker_put(&members, (uint64_t)tree->entries, 8);
        maker_put(&members, 1, 1);
        maker_put(&members, tree->seek, 8);
        maker_put(&members, 0, 8);
        maker_string(&members, "");
        maker_wrap(out, tree->branch_version ? tree->branch_version : 13, &members);
        buf_deinit(&members);
        buf_deinit(&leaf);
}

void roottree_put(struct buf *out, const struct roottree *tree)
{
        struct buf members = BUF_INIT, branch = BUF_INIT;

        put_branch(&branch, tree);
        put_tnamed(&members, "t", "a tree");
        for (int i = 0; i < 3; i++)
                put_opaque(&members);
        maker_put(&members, (uint64_t)tree->entries, 8);
        maker_put(&members, 400, 8);
        maker_put(&members, 100, 8);
        maker_put(&members, 0, 8 + 8 + 8 + 4 * 4); /* saved to default offset length */
        maker_put(&members, 0, 4);                 /* cluster ranges */
        maker_put(&members, 0, 4 * 8);
        maker_put(&members, 10, 8); /* auto flush */
        maker_put(&members, 0, 8);
        maker_put(&members, 0, 2); /* two empty arrays */
        put_opaque(&members);
        put_array(&members, "TBranch", &branch, tree->missing_branches);
        put_array(&members, NULL, NULL, 0);
        maker_wrap(out, tree->tree_version ? tree->tree_version : 20, &members);
        buf_deinit(&members);
        buf_deinit(&branch);
}
