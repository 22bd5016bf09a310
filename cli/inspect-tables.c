/* `roast inspect`: trees, branches and ranges as rows. */

#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "util/cleanup.h"
#include "util/size.h"

const struct sheet_column inspect_files_columns[] = {
        { "file", "FILE", false },
        { "tree", "TREE", false },
        { "kind", "KIND", false },
        { "entries", "ENTRIES", true },
        { "branches", "BRANCHES", true },
        { "baskets", "BASKETS", true },
        { "clusters", "CLUSTERS", true },
        { "baskets_per_cluster", "PER CLUSTER", true },
        { "compressed_bytes", "COMPRESSED", true },
        { "uncompressed_bytes", "UNCOMPRESSED", true },
        { "ratio", "RATIO", true },
        { "algorithms", "ALGORITHMS", false },
};
const size_t inspect_files_num_columns = ROAST_ARRAY_SIZE(inspect_files_columns);

const struct sheet_column inspect_branches_columns[] = {
        { "file", "FILE", false },
        { "tree", "TREE", false },
        { "branch", "BRANCH", false },
        { "type", "TYPE", false },
        { "baskets", "BASKETS", true },
        { "compressed_bytes", "COMPRESSED", true },
        { "uncompressed_bytes", "UNCOMPRESSED", true },
        { "ratio", "RATIO", true },
        { "share", "SHARE OF THE TREE", false },
        { "algorithms", "ALGORITHMS", false },
};
const size_t inspect_branches_num_columns = ROAST_ARRAY_SIZE(inspect_branches_columns);

const struct sheet_column inspect_range_columns[] = {
        { "file", "FILE", false },      { "tree", "TREE", false },
        { "branch", "BRANCH", false },  { "start", "START", true },
        { "stop", "STOP", true },       { "bytes", "BYTES", true },
        { "baskets", "BASKETS", true }, { "embedded", "EMBEDDED", true },
};
const size_t inspect_range_num_columns = ROAST_ARRAY_SIZE(inspect_range_columns);

bool inspect_wanted(const struct roast_rootfile_view *view, const char *path)
{
        return !view->tree || strcmp(view->tree, path) == 0;
}

char *inspect_algorithms(const struct roast_root_counts *counts)
{
        struct buf text = BUF_INIT;

        for (unsigned int i = 0; i < ROAST_ROOT_ALGORITHMS; i++)
                if (counts->of[i])
                        buf_printf(&text, "%s%s %u", text.len ? ", " : "",
                                   roast_root_algorithm_name(i), counts->of[i]);
        return buf_release_string(&text);
}

static void add_algorithms(struct sheet *sheet, const struct roast_root_counts *counts)
{
        ROAST_CLEANUP(cleanup_free) char *text = inspect_algorithms(counts);

        sheet_text(sheet, text);
}

static size_t filled_branches(const struct roast_root_tree *tree)
{
        size_t n = 0;

        for (size_t i = 0; i < tree->num_branches; i++)
                n += tree->branches[i].num_baskets > 0;
        return n;
}

/* Clusters, and the baskets of a branch in one of them. */
static void add_clusters(struct sheet *sheet, size_t clusters, size_t baskets, size_t branches)
{
        sheet_count(sheet, (int64_t)clusters);
        sheet_ratio(sheet, (int64_t)baskets, (int64_t)(clusters * branches));
}

void inspect_files_add(struct sheet *sheet, const struct roast_rootfile *file,
                       const struct roast_rootfile_view *view)
{
        for (size_t i = 0; i < file->num_trees; i++) {
                const struct roast_root_tree *tree = &file->trees[i];

                if (!inspect_wanted(view, tree->path))
                        continue;
                sheet_text(sheet, file->path);
                sheet_text(sheet, tree->path);
                sheet_text(sheet, tree->class_name);
                sheet_count(sheet, tree->entries);
                sheet_count(sheet, (int64_t)tree->num_branches);
                sheet_count(sheet, (int64_t)tree->num_baskets);
                add_clusters(sheet, tree->num_clusters, tree->num_baskets, filled_branches(tree));
                sheet_bytes(sheet, tree->compressed_bytes);
                sheet_bytes(sheet, tree->uncompressed_bytes);
                sheet_ratio(sheet, tree->uncompressed_bytes, tree->compressed_bytes);
                add_algorithms(sheet, &tree->algorithms);
        }
        for (size_t i = 0; i < file->num_ntuples; i++) {
                const struct roast_root_ntuple *ntuple = &file->ntuples[i];

                if (!inspect_wanted(view, ntuple->path))
                        continue;
                sheet_text(sheet, file->path);
                sheet_text(sheet, ntuple->path);
                sheet_text(sheet, "RNTuple");
                sheet_count(sheet, (int64_t)ntuple->entries);
                sheet_count(sheet, (int64_t)ntuple->num_top_fields);
                sheet_count(sheet, (int64_t)ntuple->num_pages);
                add_clusters(sheet, ntuple->num_clusters, ntuple->num_pages, ntuple->num_columns);
                sheet_bytes(sheet, (int64_t)ntuple->compressed_bytes);
                sheet_bytes(sheet, (int64_t)ntuple->uncompressed_bytes);
                sheet_ratio(sheet, (int64_t)ntuple->uncompressed_bytes,
                            (int64_t)ntuple->compressed_bytes);
                add_algorithms(sheet, &ntuple->algorithms);
        }
}

static double share(int64_t part, int64_t whole)
{
        return whole > 0 ? (double)part / (double)whole : 0;
}

static void add_branch(struct sheet *sheet, const struct roast_rootfile *file,
                       const struct roast_root_tree *tree, const struct roast_root_branch *branch)
{
        sheet_text(sheet, file->path);
        sheet_text(sheet, tree->path);
        sheet_text(sheet, branch->path);
        sheet_text(sheet, branch->type ? branch->type : branch->class_name);
        sheet_count(sheet, (int64_t)branch->num_baskets);
        sheet_bytes(sheet, branch->compressed_bytes);
        sheet_bytes(sheet, branch->uncompressed_bytes);
        sheet_ratio(sheet, branch->uncompressed_bytes, branch->compressed_bytes);
        sheet_bar(sheet, share(branch->compressed_bytes, tree->compressed_bytes));
        add_algorithms(sheet, &branch->algorithms);
}

/* A field with its own columns; what is below it has rows of its own. */
static void add_field(struct sheet *sheet, const struct roast_rootfile *file,
                      const struct roast_root_ntuple *ntuple, const struct roast_root_field *field)
{
        struct roast_root_counts algorithms = { 0 };
        int64_t uncompressed = 0, pages = 0;

        for (size_t c = 0; c < field->num_columns; c++) {
                const struct roast_root_column *column = &ntuple->columns[field->columns[c]];

                pages += (int64_t)column->num_pages;
                uncompressed += (int64_t)column->uncompressed_bytes;
                for (size_t a = 0; a < ROAST_ROOT_ALGORITHMS; a++)
                        algorithms.of[a] += column->algorithms.of[a];
        }
        sheet_text(sheet, file->path);
        sheet_text(sheet, ntuple->path);
        sheet_text(sheet, field->path);
        sheet_text(sheet, field->type);
        sheet_count(sheet, pages);
        sheet_bytes(sheet, (int64_t)field->compressed_bytes);
        sheet_bytes(sheet, uncompressed);
        sheet_ratio(sheet, uncompressed, (int64_t)field->compressed_bytes);
        sheet_bar(sheet,
                  share((int64_t)field->compressed_bytes, (int64_t)ntuple->compressed_bytes));
        add_algorithms(sheet, &algorithms);
}

void inspect_branches_add(struct sheet *sheet, const struct roast_rootfile *file,
                          const struct roast_rootfile_view *view)
{
        for (size_t i = 0; i < file->num_trees; i++) {
                const struct roast_root_tree *tree = &file->trees[i];

                for (size_t b = 0; b < tree->num_branches; b++)
                        if (inspect_wanted(view, tree->path))
                                add_branch(sheet, file, tree, &tree->branches[b]);
        }
        for (size_t i = 0; i < file->num_ntuples; i++) {
                const struct roast_root_ntuple *ntuple = &file->ntuples[i];

                for (size_t f = 0; f < ntuple->num_fields; f++)
                        if (inspect_wanted(view, ntuple->path) && !ntuple->fields[f].projected)
                                add_field(sheet, file, ntuple, &ntuple->fields[f]);
        }
}

static void add_need(struct sheet *sheet, const struct roast_rootfile *file, const char *tree,
                     const char *branch, const struct roast_rootfile_view *view,
                     const struct roast_root_need *need)
{
        sheet_text(sheet, file->path);
        sheet_text(sheet, tree);
        sheet_text(sheet, branch);
        sheet_count(sheet, view->start);
        sheet_count(sheet, view->stop);
        sheet_bytes(sheet, (int64_t)need->bytes);
        sheet_count(sheet, (int64_t)need->units);
        sheet_count(sheet, (int64_t)need->embedded);
}

static void add_tree_range(struct sheet *sheet, const struct roast_rootfile *file,
                           const struct roast_root_tree *tree,
                           const struct roast_rootfile_view *view)
{
        for (size_t i = 0; i < tree->num_branches; i++) {
                struct roast_root_need need = { 0 };

                if (!roast_root_branch_wanted(tree, i, view))
                        continue;
                roast_root_branch_need(&tree->branches[i], view->start, view->stop, &need);
                add_need(sheet, file, tree->path, tree->branches[i].path, view, &need);
        }
}

static void add_ntuple_range(struct sheet *sheet, const struct roast_rootfile *file,
                             const struct roast_root_ntuple *ntuple,
                             const struct roast_rootfile_view *view)
{
        ROAST_CLEANUP(cleanup_free)
        struct roast_root_need *needs = calloc(ntuple->num_fields + 1, sizeof(*needs));

        if (!needs) {
                sheet->failed = true;
                return;
        }
        roast_root_ntuple_needs(ntuple, view, needs);
        for (size_t i = 0; i < ntuple->num_fields; i++)
                if (roast_root_field_owner(ntuple, i, view) == i)
                        add_need(sheet, file, ntuple->path, ntuple->fields[i].path, view,
                                 &needs[i]);
}

void inspect_range_add(struct sheet *sheet, const struct roast_rootfile *file,
                       const struct roast_rootfile_view *view)
{
        for (size_t i = 0; i < file->num_trees; i++)
                if (inspect_wanted(view, file->trees[i].path))
                        add_tree_range(sheet, file, &file->trees[i], view);
        for (size_t i = 0; i < file->num_ntuples; i++)
                if (inspect_wanted(view, file->ntuples[i].path))
                        add_ntuple_range(sheet, file, &file->ntuples[i], view);
}
