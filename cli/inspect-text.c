/* `roast inspect`: the answer for people about one file. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "inspect.h"
#include "roast-units.h"
#include "show/build.h"
#include "util/cleanup.h"
#include "util/size.h"

#define COLLECTIONS_SHOWN 25

static const struct roast_column collection_columns[] = {
        { "collection", "Collection", false, 0, ROAST_CUT_END },
        { "members", "Branches", true, 2 },
        { "compressed_bytes", "Compressed", true },
        { "uncompressed_bytes", "Uncompressed", true, 3 },
        { "ratio", "Ratio", true, 1 },
        { "share", "Share", false, 1 },
};

static int inspect_add_collection(struct roast_table *table,
                                  const struct roast_root_collection *collection, int64_t whole)
{
        struct roast_cell *cell = build_row(table);

        if (!cell)
                return ROAST_E_NOMEM;
        build_text(cell++, "%s", collection->name);
        build_count(cell++, (int64_t)collection->members);
        inspect_bytes(cell++, collection->compressed_bytes);
        inspect_bytes(cell++, collection->uncompressed_bytes);
        inspect_ratio(cell++, collection->uncompressed_bytes, collection->compressed_bytes);
        inspect_share(cell++, collection->compressed_bytes, whole);
        return 0;
}

/* Frees the collections. */
static int inspect_print_collections(const char *tree, struct roast_root_collection *collections,
                                     size_t n, int64_t whole)
{
        ROAST_CLEANUP(cleanup_free) char *title = strdup(tree);
        ROAST_CLEANUP(roast_table_deinit)
        struct roast_table table = {
                .name = "collections",
                .title = title ? cli_clean(title) : NULL,
                .columns = collection_columns,
                .n_columns = ROAST_ARRAY_SIZE(collection_columns),
        };
        size_t shown = n > COLLECTIONS_SHOWN ? COLLECTIONS_SHOWN : n;
        int r = title ? 0 : ROAST_E_NOMEM, code = EXIT_GOOD;

        for (size_t i = 0; i < shown && r >= 0; i++)
                r = inspect_add_collection(&table, &collections[i], whole);
        roast_root_collections_free(collections, n);
        if (r < 0 || build_result(&table) < 0)
                return cli_fail("inspect", "out of memory");
        putchar('\n');
        if (shown)
                code = cli_print_table("inspect", &table, CLI_TEXT);
        if (n > shown)
                printf("... and %zu smaller ones\n", n - shown);
        return code;
}

static void inspect_print_hints(const struct roast_root_hint *hints, size_t n)
{
        for (size_t i = 0; i < n; i++)
                printf("hint: %s\n", hints[i].text);
}

static int inspect_print_tree(const struct roast_root_tree *tree)
{
        struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX];
        struct roast_root_collection *collections;
        size_t n;
        int code;

        if (roast_root_tree_collections(tree, &collections, &n) < 0)
                return cli_fail("inspect", "out of memory");
        code = inspect_print_collections(tree->path, collections, n, tree->compressed_bytes);
        inspect_print_hints(hints, roast_root_tree_hints(tree, hints));
        return code;
}

static int inspect_print_ntuple(const struct roast_root_ntuple *ntuple)
{
        struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX];
        struct roast_root_collection *collections;
        size_t n;
        int code;

        if (roast_root_ntuple_collections(ntuple, &collections, &n) < 0)
                return cli_fail("inspect", "out of memory");
        code = inspect_print_collections(ntuple->path, collections, n,
                                         (int64_t)ntuple->compressed_bytes);
        inspect_print_hints(hints, roast_root_ntuple_hints(ntuple, hints));
        return code;
}

/* Trees have one table each: what is in which collection, and what to know about it. */
static int inspect_print_contents(const struct roast_rootfile *file,
                                  const struct roast_rootfile_view *view)
{
        int code = EXIT_GOOD;

        for (size_t i = 0; i < file->num_trees && code == EXIT_GOOD; i++)
                if (inspect_wanted(view, file->trees[i].path))
                        code = inspect_print_tree(&file->trees[i]);
        for (size_t i = 0; i < file->num_ntuples && code == EXIT_GOOD; i++)
                if (inspect_wanted(view, file->ntuples[i].path))
                        code = inspect_print_ntuple(&file->ntuples[i]);
        return code;
}

static int inspect_print_table(enum inspect_what what, const struct roast_rootfile *file,
                               const struct roast_rootfile_view *view)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = inspect_table(what, true);

        if (inspect_add(&table, what, file, view) < 0)
                return cli_fail("inspect", "out of memory");
        return cli_print_table("inspect", &table, CLI_TEXT);
}

/* What a reader of the chunk must fetch in all. */
static int inspect_print_total(const struct roast_rootfile *file,
                               const struct roast_rootfile_view *view)
{
        char bytes[ROAST_UNITS_MAX], units[ROAST_UNITS_MAX], embedded[ROAST_UNITS_MAX];
        struct roast_root_need need = { 0 };
        int r = 0;

        for (size_t i = 0; i < file->num_trees; i++)
                if (inspect_wanted(view, file->trees[i].path))
                        roast_root_tree_need(&file->trees[i], view, &need);
        for (size_t i = 0; i < file->num_ntuples && r >= 0; i++)
                if (inspect_wanted(view, file->ntuples[i].path))
                        r = roast_root_ntuple_need(&file->ntuples[i], view, &need);
        if (r < 0)
                return cli_fail("inspect", "out of memory");
        printf("\nin all %s in %s baskets or pages, and %s embedded\n",
               roast_format_bytes(bytes, sizeof(bytes), (double)need.bytes),
               roast_format_count(units, sizeof(units), (int64_t)need.units),
               roast_format_count(embedded, sizeof(embedded), (int64_t)need.embedded));
        return EXIT_GOOD;
}

int inspect_text(const struct roast_rootfile *file, const struct roast_rootfile_view *view)
{
        enum inspect_what what = inspect_what(view);
        int code;

        if (file->num_trees + file->num_ntuples == 0) {
                puts("no trees and no RNTuples");
                return EXIT_GOOD;
        }
        code = inspect_print_table(INSPECT_TREES, file, view);
        if (code != EXIT_GOOD)
                return code;
        if (what == INSPECT_TREES)
                return inspect_print_contents(file, view);
        putchar('\n');
        code = inspect_print_table(what, file, view);
        return code == EXIT_GOOD && what == INSPECT_RANGE ? inspect_print_total(file, view) : code;
}
