/* `roast inspect`: trees, branches and ranges as rows. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "show/build.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/size.h"

#define BAR_WIDTH 20

static const struct roast_column tree_columns[] = {
        { "file", "File", false, 0, ROAST_CUT_START },
        { "tree", "Tree", false, 0, ROAST_CUT_END },
        { "kind", "Kind", false, 5 },
        { "entries", "Entries", true },
        { "branches", "Branches", true },
        { "baskets", "Baskets", true, 3 },
        { "clusters", "Clusters", true, 6 },
        { "baskets_per_cluster", "Per cluster", true, 7 },
        { "compressed_bytes", "Compressed", true },
        { "uncompressed_bytes", "Uncompressed", true, 4 },
        { "ratio", "Ratio", true, 1 },
        { "algorithms", "Algorithms", false, 2, ROAST_CUT_END },
};

static const struct roast_column branch_columns[] = {
        { "file", "File", false, 0, ROAST_CUT_START },
        { "tree", "Tree", false, 1, ROAST_CUT_END },
        { "branch", "Branch", false, 0, ROAST_CUT_END },
        { "type", "Type", false, 2, ROAST_CUT_END },
        { "baskets", "Baskets", true, 5 },
        { "compressed_bytes", "Compressed", true },
        { "uncompressed_bytes", "Uncompressed", true, 6 },
        { "ratio", "Ratio", true, 4 },
        { "share", "Share of the tree", false, 3 },
        { "algorithms", "Algorithms", false, 7, ROAST_CUT_END },
};

static const struct roast_column range_columns[] = {
        { "file", "File", false, 0, ROAST_CUT_START },
        { "tree", "Tree", false, 1, ROAST_CUT_END },
        { "branch", "Branch", false, 0, ROAST_CUT_END },
        { "start", "Start", true, 3 },
        { "stop", "Stop", true, 3 },
        { "bytes", "Bytes", true },
        { "baskets", "Baskets", true, 2 },
        { "embedded", "Embedded", true, 4 },
};

enum inspect_what inspect_what(const struct roast_rootfile_view *view)
{
        if (view->range)
                return INSPECT_RANGE;
        return view->branches ? INSPECT_BRANCHES : INSPECT_TREES;
}

struct roast_table inspect_table(enum inspect_what what, bool one_file)
{
        static const struct {
                const char *name, *title;
                const struct roast_column *columns;
                size_t n;
        } kinds[] = {
                [INSPECT_TREES] = { "trees", "Trees", tree_columns,
                                    ROAST_ARRAY_SIZE(tree_columns) },
                [INSPECT_BRANCHES] = { "branches", "Branches", branch_columns,
                                       ROAST_ARRAY_SIZE(branch_columns) },
                [INSPECT_RANGE] = { "range", "What the range takes", range_columns,
                                    ROAST_ARRAY_SIZE(range_columns) },
        };

        return (struct roast_table){
                .name = kinds[what].name,
                .title = kinds[what].title,
                .columns = kinds[what].columns + one_file,
                .n_columns = kinds[what].n - one_file,
        };
}

bool inspect_wanted(const struct roast_rootfile_view *view, const char *path)
{
        return !view->tree || strcmp(view->tree, path) == 0;
}

void inspect_bytes(struct roast_cell *cell, int64_t bytes)
{
        build_bytes(cell, (double)bytes);
        cell->type = ROAST_CELL_COUNT;
        cell->count = bytes;
}

void inspect_ratio(struct roast_cell *cell, int64_t a, int64_t b)
{
        char text[32];

        if (b == 0)
                return;
        snprintf(text, sizeof(text), "%.1f", (double)a / (double)b);
        build_real(cell, (double)a / (double)b, text);
}

void inspect_share(struct roast_cell *cell, int64_t part, int64_t whole)
{
        double share = whole > 0 ? (double)part / (double)whole : 0;
        char text[BAR_WIDTH * 3 + 16];
        int n = snprintf(text, sizeof(text), "%5.1f %% ", 100 * share);

        /* a damaged file may have parts that are larger than the whole */
        for (int i = 0;
             i < BAR_WIDTH && i + 0.5 <= share * BAR_WIDTH && (size_t)n + 3 < sizeof(text);
             i++, n += 3)
                memcpy(text + n, "\xe2\x96\x88", 4); /* a full block, and the end of the text */
        build_real(cell, share, text);
}

/* "ZLIB 12, NONE 3" */
static void inspect_put_algorithms(struct roast_cell *cell, const struct roast_root_counts *counts)
{
        struct buf text = BUF_INIT;

        for (unsigned int i = 0; i < ROAST_ROOT_ALGORITHMS; i++)
                if (counts->of[i])
                        buf_printf(&text, "%s%s %u", text.len ? ", " : "",
                                   roast_root_algorithm_name(i), counts->of[i]);
        cell->type = ROAST_CELL_TEXT;
        cell->text = buf_release_string(&text);
}

/* Begins a row with the file, if the table has it, and the tree; NULL: no memory. */
static struct roast_cell *inspect_row_begin(struct roast_table *table,
                                            const struct roast_rootfile *file, const char *tree)
{
        struct roast_cell *cell = build_row(table);

        if (!cell)
                return NULL;
        if (strcmp(table->columns[0].key, "file") == 0)
                build_text(cell++, "%s", file->path);
        build_text(cell++, "%s", tree);
        return cell;
}

static size_t inspect_filled_branches(const struct roast_root_tree *tree)
{
        size_t n = 0;

        for (size_t i = 0; i < tree->num_branches; i++)
                n += tree->branches[i].num_baskets > 0;
        return n;
}

static int inspect_add_tree(struct roast_table *table, const struct roast_rootfile *file,
                            const struct roast_root_tree *tree)
{
        struct roast_cell *cell = inspect_row_begin(table, file, tree->path);

        if (!cell)
                return ROAST_E_NOMEM;
        build_text(cell++, "%s", tree->class_name);
        build_count(cell++, tree->entries);
        build_count(cell++, (int64_t)tree->num_branches);
        build_count(cell++, (int64_t)tree->num_baskets);
        build_count(cell++, (int64_t)tree->num_clusters);
        inspect_ratio(cell++, (int64_t)tree->num_baskets,
                      (int64_t)(tree->num_clusters * inspect_filled_branches(tree)));
        inspect_bytes(cell++, tree->compressed_bytes);
        inspect_bytes(cell++, tree->uncompressed_bytes);
        inspect_ratio(cell++, tree->uncompressed_bytes, tree->compressed_bytes);
        inspect_put_algorithms(cell++, &tree->algorithms);
        return 0;
}

static int inspect_add_ntuple(struct roast_table *table, const struct roast_rootfile *file,
                              const struct roast_root_ntuple *ntuple)
{
        struct roast_cell *cell = inspect_row_begin(table, file, ntuple->path);

        if (!cell)
                return ROAST_E_NOMEM;
        build_text(cell++, "RNTuple");
        build_count(cell++, (int64_t)ntuple->entries);
        build_count(cell++, (int64_t)ntuple->num_top_fields);
        build_count(cell++, (int64_t)ntuple->num_pages);
        build_count(cell++, (int64_t)ntuple->num_clusters);
        inspect_ratio(cell++, (int64_t)ntuple->num_pages,
                      (int64_t)(ntuple->num_clusters * ntuple->num_columns));
        inspect_bytes(cell++, (int64_t)ntuple->compressed_bytes);
        inspect_bytes(cell++, (int64_t)ntuple->uncompressed_bytes);
        inspect_ratio(cell++, (int64_t)ntuple->uncompressed_bytes,
                      (int64_t)ntuple->compressed_bytes);
        inspect_put_algorithms(cell++, &ntuple->algorithms);
        return 0;
}

static int inspect_add_branch(struct roast_table *table, const struct roast_rootfile *file,
                              const struct roast_root_tree *tree,
                              const struct roast_root_branch *branch)
{
        struct roast_cell *cell = inspect_row_begin(table, file, tree->path);

        if (!cell)
                return ROAST_E_NOMEM;
        build_text(cell++, "%s", branch->path);
        build_text(cell++, "%s", branch->type ? branch->type : branch->class_name);
        build_count(cell++, (int64_t)branch->num_baskets);
        inspect_bytes(cell++, branch->compressed_bytes);
        inspect_bytes(cell++, branch->uncompressed_bytes);
        inspect_ratio(cell++, branch->uncompressed_bytes, branch->compressed_bytes);
        inspect_share(cell++, branch->compressed_bytes, tree->compressed_bytes);
        inspect_put_algorithms(cell++, &branch->algorithms);
        return 0;
}

/* A field with its own columns; what is below it has rows of its own. */
static int inspect_add_field(struct roast_table *table, const struct roast_rootfile *file,
                             const struct roast_root_ntuple *ntuple,
                             const struct roast_root_field *field)
{
        struct roast_cell *cell = inspect_row_begin(table, file, ntuple->path);
        struct roast_root_counts algorithms = { 0 };
        int64_t uncompressed = 0, pages = 0;

        if (!cell)
                return ROAST_E_NOMEM;
        for (size_t c = 0; c < field->num_columns; c++) {
                const struct roast_root_column *column = &ntuple->columns[field->columns[c]];

                pages += (int64_t)column->num_pages;
                uncompressed += (int64_t)column->uncompressed_bytes;
                for (size_t a = 0; a < ROAST_ROOT_ALGORITHMS; a++)
                        algorithms.of[a] += column->algorithms.of[a];
        }
        build_text(cell++, "%s", field->path);
        build_text(cell++, "%s", field->type);
        build_count(cell++, pages);
        inspect_bytes(cell++, (int64_t)field->compressed_bytes);
        inspect_bytes(cell++, uncompressed);
        inspect_ratio(cell++, uncompressed, (int64_t)field->compressed_bytes);
        inspect_share(cell++, (int64_t)field->compressed_bytes, (int64_t)ntuple->compressed_bytes);
        inspect_put_algorithms(cell++, &algorithms);
        return 0;
}

static int inspect_add_need(struct roast_table *table, const struct roast_rootfile *file,
                            const char *tree, const char *branch,
                            const struct roast_rootfile_view *view,
                            const struct roast_root_need *need)
{
        struct roast_cell *cell = inspect_row_begin(table, file, tree);

        if (!cell)
                return ROAST_E_NOMEM;
        build_text(cell++, "%s", branch);
        build_count(cell++, view->start);
        build_count(cell++, view->stop);
        inspect_bytes(cell++, (int64_t)need->bytes);
        build_count(cell++, (int64_t)need->units);
        build_count(cell++, (int64_t)need->embedded);
        return 0;
}

static int inspect_add_tree_range(struct roast_table *table, const struct roast_rootfile *file,
                                  const struct roast_root_tree *tree,
                                  const struct roast_rootfile_view *view)
{
        int r = 0;

        for (size_t i = 0; i < tree->num_branches && r >= 0; i++) {
                struct roast_root_need need = { 0 };

                if (!roast_root_branch_wanted(tree, i, view))
                        continue;
                roast_root_branch_need(&tree->branches[i], view->start, view->stop, &need);
                r = inspect_add_need(table, file, tree->path, tree->branches[i].path, view, &need);
        }
        return r;
}

static int inspect_add_ntuple_range(struct roast_table *table, const struct roast_rootfile *file,
                                    const struct roast_root_ntuple *ntuple,
                                    const struct roast_rootfile_view *view)
{
        ROAST_CLEANUP(cleanup_free)
        struct roast_root_need *needs = calloc(ntuple->num_fields + 1, sizeof(*needs));
        int r = needs ? 0 : ROAST_E_NOMEM;

        if (needs)
                roast_root_ntuple_needs(ntuple, view, needs);
        for (size_t i = 0; i < ntuple->num_fields && r >= 0; i++)
                if (roast_root_field_owner(ntuple, i, view) == i)
                        r = inspect_add_need(table, file, ntuple->path, ntuple->fields[i].path,
                                             view, &needs[i]);
        return r;
}

static int inspect_add_of_tree(struct roast_table *table, enum inspect_what what,
                               const struct roast_rootfile *file,
                               const struct roast_root_tree *tree,
                               const struct roast_rootfile_view *view)
{
        int r = 0;

        if (what == INSPECT_TREES)
                return inspect_add_tree(table, file, tree);
        if (what == INSPECT_RANGE)
                return inspect_add_tree_range(table, file, tree, view);
        for (size_t i = 0; i < tree->num_branches && r >= 0; i++)
                r = inspect_add_branch(table, file, tree, &tree->branches[i]);
        return r;
}

static int inspect_add_of_ntuple(struct roast_table *table, enum inspect_what what,
                                 const struct roast_rootfile *file,
                                 const struct roast_root_ntuple *ntuple,
                                 const struct roast_rootfile_view *view)
{
        int r = 0;

        if (what == INSPECT_TREES)
                return inspect_add_ntuple(table, file, ntuple);
        if (what == INSPECT_RANGE)
                return inspect_add_ntuple_range(table, file, ntuple, view);
        for (size_t i = 0; i < ntuple->num_fields && r >= 0; i++)
                if (!ntuple->fields[i].projected)
                        r = inspect_add_field(table, file, ntuple, &ntuple->fields[i]);
        return r;
}

int inspect_add(struct roast_table *table, enum inspect_what what,
                const struct roast_rootfile *file, const struct roast_rootfile_view *view)
{
        int r = 0;

        for (size_t i = 0; i < file->num_trees && r >= 0; i++)
                if (inspect_wanted(view, file->trees[i].path))
                        r = inspect_add_of_tree(table, what, file, &file->trees[i], view);
        for (size_t i = 0; i < file->num_ntuples && r >= 0; i++)
                if (inspect_wanted(view, file->ntuples[i].path))
                        r = inspect_add_of_ntuple(table, what, file, &file->ntuples[i], view);
        return r < 0 ? r : build_result(table);
}
