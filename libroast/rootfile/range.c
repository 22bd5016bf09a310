/* What reading a range of entries takes. */

#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>

#include "roast-rootfile.h"
#include "util/cleanup.h"

static bool range_fits(const struct roast_rootfile_view *view, const char *path)
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
        while (!range_fits(view, tree->branches[branch].path)) {
                if (tree->branches[branch].parent == branch)
                        return false;
                branch = tree->branches[branch].parent;
        }
        return true;
}

size_t roast_root_field_owner(const struct roast_root_ntuple *ntuple, size_t field,
                              const struct roast_rootfile_view *view)
{
        size_t owner = SIZE_MAX;

        for (;;) {
                size_t parent = ntuple->fields[field].parent;
                bool top = parent == field;

                if (view->num_patterns ? range_fits(view, ntuple->fields[field].path) : top)
                        owner = field;
                if (top)
                        return owner;
                field = parent;
        }
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

static bool range_overlaps(const struct roast_root_cluster *cluster, int64_t start, int64_t stop)
{
        return stop > 0 && cluster->first_entry < (uint64_t)stop &&
               (start < 0 || cluster->first_entry + cluster->entries > (uint64_t)start);
}

static void range_column_need(const struct roast_root_ntuple *ntuple,
                              const struct roast_root_column *column, int64_t start, int64_t stop,
                              struct roast_root_need *need)
{
        for (size_t i = 0; i < column->num_pages; i++) {
                const struct roast_root_page *page = &column->pages[i];

                if (!range_overlaps(&ntuple->clusters[page->cluster], start, stop))
                        continue;
                need->units++;
                need->bytes += page->bytes;
        }
}

static uint64_t range_count_clusters(const struct roast_root_ntuple *ntuple, int64_t start,
                                     int64_t stop)
{
        uint64_t clusters = 0;

        for (size_t i = 0; i < ntuple->num_clusters; i++)
                clusters += range_overlaps(&ntuple->clusters[i], start, stop);
        return clusters;
}

void roast_root_tree_need(const struct roast_root_tree *tree,
                          const struct roast_rootfile_view *view, struct roast_root_need *need)
{
        for (size_t i = 0; i < tree->num_branches; i++)
                if (roast_root_branch_wanted(tree, i, view))
                        roast_root_branch_need(&tree->branches[i], view->start, view->stop, need);
}

void roast_root_ntuple_needs(const struct roast_root_ntuple *ntuple,
                             const struct roast_rootfile_view *view, struct roast_root_need *needs)
{
        uint64_t clusters = range_count_clusters(ntuple, view->start, view->stop);

        for (size_t i = 0; i < ntuple->num_fields; i++) {
                const struct roast_root_field *field = &ntuple->fields[i];
                size_t owner = roast_root_field_owner(ntuple, i, view);

                if (owner == SIZE_MAX)
                        continue;
                needs[owner].clusters = clusters;
                for (size_t c = 0; c < field->num_columns + field->num_aliases; c++)
                        range_column_need(ntuple, &ntuple->columns[field->columns[c]], view->start,
                                          view->stop, &needs[owner]);
        }
}

int roast_root_ntuple_need(const struct roast_root_ntuple *ntuple,
                           const struct roast_rootfile_view *view, struct roast_root_need *need)
{
        ROAST_CLEANUP(cleanup_free)
        bool *seen = calloc(ntuple->num_columns + 1, sizeof(*seen));

        if (!seen)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < ntuple->num_fields; i++) {
                const struct roast_root_field *field = &ntuple->fields[i];

                if (roast_root_field_owner(ntuple, i, view) == SIZE_MAX)
                        continue;
                for (size_t c = 0; c < field->num_columns + field->num_aliases; c++) {
                        uint32_t column = field->columns[c];

                        if (!seen[column])
                                range_column_need(ntuple, &ntuple->columns[column], view->start,
                                                  view->stop, need);
                        seen[column] = true;
                }
        }
        need->clusters += range_count_clusters(ntuple, view->start, view->stop);
        return 0;
}
