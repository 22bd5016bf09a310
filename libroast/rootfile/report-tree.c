/* The JSON answer: trees and their branches. */

#include <stdlib.h>
#include <string.h>

#include "rootfile/report.h"
#include "util/cleanup.h"

#define BORDERS_SHOWN 6

static int64_t report_border(const struct roast_root_branch *branch, size_t i)
{
        return i < branch->num_baskets ? branch->baskets[i].first_entry : branch->end_entry;
}

/* The first borders between baskets, the last, and the sum of all as a check. */
static void report_borders(struct json *json, const struct roast_root_branch *branch)
{
        uint64_t sum = 0;

        json_key(json, "entry_offsets");
        json_array(json);
        for (size_t i = 0; i <= branch->num_baskets && i < BORDERS_SHOWN; i++)
                json_int(json, report_border(branch, i));
        json_end(json);
        for (size_t i = 0; i <= branch->num_baskets; i++)
                sum += (uint64_t)report_border(branch, i);
        json_pair_int(json, "entry_offsets_last", branch->end_entry);
        json_pair_int(json, "entry_offsets_sum", (int64_t)sum);
}

static void report_branch(struct json *json, const struct roast_root_branch *branch)
{
        report_row_begin(json);
        json_pair(json, "path", branch->path);
        json_pair(json, "name", branch->name);
        json_pair(json, "class", branch->class_name);
        json_pair_int(json, "entries", branch->entries);
        json_pair_int(json, "compressed_bytes", branch->compressed_bytes);
        json_pair_int(json, "uncompressed_bytes", branch->uncompressed_bytes);
        json_pair_int(json, "zip_bytes", branch->zip_bytes);
        json_pair_int(json, "num_baskets", (int64_t)branch->num_baskets);
        json_pair_int(json, "num_embedded", (int64_t)branch->num_embedded);
        json_pair_int(json, "embedded_bytes", branch->embedded_bytes);
        report_borders(json, branch);
        json_pair_int(json, "compress_setting", branch->compress_setting);
        report_counts(json, "algorithms", &branch->algorithms);
        report_counts(json, "blocks", &branch->blocks);
        json_pair_int(json, "basket_uncompressed", branch->basket_uncompressed);
        json_pair_int(json, "keylen_sum", branch->keylen_sum);
        json_pair(json, "type", branch->type);
        report_row_end(json);
}

static int report_compare_paths(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Paths that more than one branch has, if there are any. */
static void report_duplicates(struct json *json, const struct roast_root_tree *tree)
{
        size_t n = tree->num_branches, count = 0;
        ROAST_CLEANUP(cleanup_free) const char **paths = calloc(n + 1, sizeof(*paths));

        if (!paths) {
                json->error = ROAST_E_NOMEM;
                return;
        }
        for (size_t i = 0; i < n; i++)
                paths[i] = tree->branches[i].path;
        qsort(paths, n, sizeof(*paths), report_compare_paths);
        for (size_t i = 1; i < n; i++)
                if (strcmp(paths[i - 1], paths[i]) == 0 &&
                    (count == 0 || strcmp(paths[count - 1], paths[i]) != 0))
                        paths[count++] = paths[i];
        if (count == 0)
                return;
        json_key(json, "duplicate_paths");
        json_array(json);
        for (size_t i = 0; i < count; i++)
                json_string(json, paths[i]);
        json_end(json);
}

void report_tree(struct json *json, const struct roast_root_tree *tree, bool branches)
{
        struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX];
        struct roast_root_collection *collections = NULL;
        size_t n = 0;

        json_object(json);
        json_pair(json, "path", tree->path);
        report_cycles(json, tree->cycle, tree->other_cycles, tree->num_other_cycles);
        json_pair(json, "class", tree->class_name);
        json_pair(json, "name", tree->name);
        json_pair(json, "title", tree->title);
        json_pair_int(json, "entries", tree->entries);
        json_pair_int(json, "zip_bytes", tree->zip_bytes);
        json_pair_int(json, "tot_bytes", tree->tot_bytes);
        json_pair_int(json, "compressed_bytes", tree->compressed_bytes);
        json_pair_int(json, "uncompressed_bytes", tree->uncompressed_bytes);
        json_pair_int(json, "num_branches", (int64_t)tree->num_branches);
        json_pair_int(json, "num_top_branches", (int64_t)tree->num_top_branches);
        json_pair_int(json, "num_baskets", (int64_t)tree->num_baskets);
        json_pair_int(json, "num_embedded", (int64_t)tree->num_embedded);
        json_pair_int(json, "num_clusters", (int64_t)tree->num_clusters);
        json_pair_int(json, "metadata_bytes", tree->metadata_bytes);
        json_pair_int(json, "metadata_objlen", tree->metadata_objlen);
        report_counts(json, "algorithms", &tree->algorithms);
        report_counts(json, "blocks", &tree->blocks);
        if (roast_root_tree_collections(tree, &collections, &n) < 0)
                json->error = ROAST_E_NOMEM;
        report_collections(json, collections, n);
        report_hints(json, hints, roast_root_tree_hints(tree, hints));
        if (branches) {
                report_duplicates(json, tree);
                json_key(json, "branches");
                json_array(json);
                for (size_t i = 0; i < tree->num_branches; i++)
                        report_branch(json, &tree->branches[i]);
                json_end(json);
        }
        json_end(json);
}

static void report_tree_put_need(struct json *json, const struct roast_rootfile_view *view,
                                 const struct roast_root_need *need)
{
        json_pair_int(json, "start", view->start);
        json_pair_int(json, "stop", view->stop);
        json_pair_int(json, "bytes", (int64_t)need->bytes);
        json_pair_int(json, "baskets", (int64_t)need->units);
        json_pair_int(json, "embedded", (int64_t)need->embedded);
}

void report_tree_need(struct json *json, const struct roast_root_tree *tree,
                      const struct roast_rootfile_view *view)
{
        struct roast_root_need total = { 0 };

        json_object(json);
        json_pair(json, "tree", tree->path);
        json_key(json, "ranges");
        json_array(json);
        for (size_t i = 0; i < tree->num_branches; i++) {
                const struct roast_root_branch *branch = &tree->branches[i];
                struct roast_root_need need = { 0 };

                if (!roast_root_branch_wanted(tree, i, view))
                        continue;
                roast_root_branch_need(branch, view->start, view->stop, &need);
                report_row_begin(json);
                json_pair(json, "branch", branch->path);
                report_tree_put_need(json, view, &need);
                report_row_end(json);
        }
        json_end(json);
        roast_root_tree_need(tree, view, &total);
        report_tree_put_need(json, view, &total);
        json_end(json);
}
