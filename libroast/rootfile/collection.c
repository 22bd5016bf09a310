/*
 * Collections by name
 *
 * NanoAOD and its kin have flat branches whose names begin with the collection:
 * Jet_pt, Jet_eta, and nJet as their counter. A top branch with sub-branches is
 * a collection too. What stands alone keeps its own name. Parts of a path that
 * begin with '_' are names that ROOT made up for want of any.
 */

#include <stdlib.h>
#include <string.h>

#include "roast-rootfile.h"

/* A branch or field, under the name of its collection. */
struct member {
        const char *name;
        size_t len;
        int64_t compressed;
        int64_t uncompressed;
};

static struct member collection_member_of(const char *path, int64_t compressed,
                                          int64_t uncompressed)
{
        struct member member = { path, 0, compressed, uncompressed };
        const char *name = path;

        while (*name == '_' && name[strcspn(name, "/.")])
                name += strcspn(name, "/.") + 1;
        if (*name != '_')
                member.name = name;
        member.len = strcspn(member.name, "/._");
        if (member.len == 0) {
                member.len = strlen(member.name);
        } else if (name[0] == 'n' && name[1] >= 'A' && name[1] <= 'Z' &&
                   !name[member.len + strspn(name + member.len, "_")]) {
                member.name++;
                member.len--;
        }
        return member;
}

static int collection_compare_names(const void *a, const void *b)
{
        const struct member *x = a, *y = b;
        int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

        return order ? order : (x->len > y->len) - (x->len < y->len);
}

static int collection_compare_sizes(const void *a, const void *b)
{
        const struct roast_root_collection *x = a, *y = b;

        if (x->compressed_bytes != y->compressed_bytes)
                return x->compressed_bytes < y->compressed_bytes ? 1 : -1;
        return strcmp(x->name, y->name);
}

/* Sums up the members, which it sorts and frees. */
static int collection_sum_up(struct member *members, size_t num_members,
                             struct roast_root_collection **ret, size_t *n)
{
        struct roast_root_collection *list = calloc(num_members + 1, sizeof(*list));
        size_t count = 0;

        qsort(members, num_members, sizeof(*members), collection_compare_names);
        for (size_t i = 0; list && i < num_members; i++) {
                struct roast_root_collection *last = &list[count ? count - 1 : 0];

                if (i == 0 || collection_compare_names(&members[i - 1], &members[i]) != 0) {
                        last = &list[count++];
                        last->name = strndup(members[i].name, members[i].len);
                        if (!last->name) {
                                roast_root_collections_free(list, count);
                                list = NULL;
                                break;
                        }
                }
                last->members++;
                last->compressed_bytes += members[i].compressed;
                if (__builtin_add_overflow(last->uncompressed_bytes, members[i].uncompressed,
                                           &last->uncompressed_bytes))
                        last->uncompressed_bytes = INT64_MAX;
        }
        free(members);
        if (!list)
                return ROAST_E_NOMEM;
        qsort(list, count, sizeof(*list), collection_compare_sizes);
        *ret = list;
        *n = count;
        return 0;
}

int roast_root_tree_collections(const struct roast_root_tree *tree,
                                struct roast_root_collection **ret, size_t *n)
{
        struct member *members = calloc(tree->num_branches + 1, sizeof(*members));

        if (!members)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < tree->num_branches; i++)
                members[i] = collection_member_of(tree->branches[i].path,
                                                  tree->branches[i].compressed_bytes,
                                                  tree->branches[i].uncompressed_bytes);
        return collection_sum_up(members, tree->num_branches, ret, n);
}

int roast_root_ntuple_collections(const struct roast_root_ntuple *ntuple,
                                  struct roast_root_collection **ret, size_t *n)
{
        struct member *members = calloc(ntuple->num_columns + 1, sizeof(*members));

        if (!members)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < ntuple->num_columns; i++) {
                const struct roast_root_column *column = &ntuple->columns[i];

                members[i] = collection_member_of(ntuple->fields[column->field].path,
                                                  (int64_t)column->compressed_bytes,
                                                  (int64_t)column->uncompressed_bytes);
        }
        return collection_sum_up(members, ntuple->num_columns, ret, n);
}

void roast_root_collections_free(struct roast_root_collection *collections, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(collections[i].name);
        free(collections);
}
