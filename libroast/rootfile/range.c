/* What reading a range of entries takes. */

#include <fnmatch.h>

#include "roast-rootfile.h"

static bool fits(const struct roast_rootfile_view *view, const char *path)
{
        for (size_t i = 0; i < view->num_patterns; i++)
                if (fnmatch(view->patterns[i], path, 0) == 0)
                        return true;
        return false;
}

bool roast_root_branch_wanted(const struct roast_root_tree *tree, size_t branch,
                              const struct roast_rootfile_view *view)
{
        if (view->num_patterns == 0)
                return true;
        while (!fits(view, tree->branches[branch].path)) {
                if (tree->branches[branch].parent == branch)
                        return false;
                branch = tree->branches[branch].parent;
        }
        return true;
}

bool roast_root_field_wanted(const struct roast_root_ntuple *ntuple, size_t field,
                             const struct roast_rootfile_view *view)
{
        const struct roast_root_field *fields = ntuple->fields;
        bool top = fields[field].parent == field;

        if (view->num_patterns == 0)
                return top;
        if (!fits(view, fields[field].path))
                return false;
        while (fields[field].parent != field) {
                field = fields[field].parent;
                if (fits(view, fields[field].path))
                        return false;
        }
        return true;
}

void roast_root_branch_need(const struct roast_root_branch *branch, int64_t start, int64_t stop,
                            struct roast_root_need *need)
{
        for (size_t i = 0; i < branch->num_baskets; i++) {
                const struct roast_root_basket *basket = &branch->baskets[i];
                int64_t end =
                        i + 1 < branch->num_baskets ? basket[1].first_entry : branch->end_entry;

                if (basket->first_entry >= stop || end <= start)
                        continue;
                if (basket->seek == 0) {
                        need->embedded++;
                } else {
                        need->units++;
                        need->bytes += basket->bytes;
                }
        }
}

static bool overlaps(const struct roast_root_cluster *cluster, int64_t start, int64_t stop)
{
        return stop > 0 && cluster->first_entry < (uint64_t)stop &&
               (start < 0 || cluster->first_entry + cluster->entries > (uint64_t)start);
}

static void column_need(const struct roast_root_ntuple *ntuple,
                        const struct roast_root_column *column, int64_t start, int64_t stop,
                        struct roast_root_need *need)
{
        for (size_t i = 0; i < column->num_pages; i++) {
                const struct roast_root_page *page = &column->pages[i];

                if (!overlaps(&ntuple->clusters[page->cluster], start, stop))
                        continue;
                need->units++;
                need->bytes += page->bytes;
        }
}

static bool is_below(const struct roast_root_ntuple *ntuple, size_t field, size_t top)
{
        while (field > top && ntuple->fields[field].parent != field)
                field = ntuple->fields[field].parent;
        return field == top;
}

void roast_root_field_need(const struct roast_root_ntuple *ntuple, size_t field, int64_t start,
                           int64_t stop, struct roast_root_need *need)
{
        uint64_t clusters = 0;

        for (size_t i = field; i < ntuple->num_fields; i++) {
                if (!is_below(ntuple, i, field))
                        continue;
                for (size_t c = 0; c < ntuple->fields[i].num_columns; c++)
                        column_need(ntuple, &ntuple->columns[ntuple->fields[i].columns[c]], start,
                                    stop, need);
        }
        for (size_t i = 0; i < ntuple->num_clusters; i++)
                clusters += overlaps(&ntuple->clusters[i], start, stop);
        if (clusters > need->clusters)
                need->clusters = clusters;
}

void roast_root_tree_need(const struct roast_root_tree *tree,
                          const struct roast_rootfile_view *view, struct roast_root_need *need)
{
        for (size_t i = 0; i < tree->num_branches; i++)
                if (roast_root_branch_wanted(tree, i, view))
                        roast_root_branch_need(&tree->branches[i], view->start, view->stop, need);
}

void roast_root_ntuple_need(const struct roast_root_ntuple *ntuple,
                            const struct roast_rootfile_view *view, struct roast_root_need *need)
{
        for (size_t i = 0; i < ntuple->num_fields; i++)
                if (roast_root_field_wanted(ntuple, i, view))
                        roast_root_field_need(ntuple, i, view->start, view->stop, need);
}
