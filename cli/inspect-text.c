/* `roast inspect`: the answer for people about one file. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "util/cleanup.h"
#include "util/size.h"

#define COLLECTIONS_SHOWN 25

static const struct sheet_column collection_columns[] = {
        { "collection", "COLLECTION", false },
        { "members", "BRANCHES", true },
        { "compressed_bytes", "COMPRESSED", true },
        { "uncompressed_bytes", "UNCOMPRESSED", true },
        { "ratio", "RATIO", true },
        { "share", "SHARE", false },
};

/* Prints a sheet under an empty line. */
static int print_section(const struct sheet *sheet)
{
        putchar('\n');
        return sheet_print_text(sheet);
}

static int print_collections(struct roast_root_collection *collections, size_t n, int64_t whole)
{
        ROAST_CLEANUP(sheet_deinit)
        struct sheet sheet = { collection_columns, ROAST_ARRAY_SIZE(collection_columns) };
        size_t shown = n > COLLECTIONS_SHOWN ? COLLECTIONS_SHOWN : n;
        int r;

        for (size_t i = 0; i < shown; i++) {
                const struct roast_root_collection *collection = &collections[i];

                sheet_text(&sheet, collection->name);
                sheet_count(&sheet, (int64_t)collection->members);
                sheet_bytes(&sheet, collection->compressed_bytes);
                sheet_bytes(&sheet, collection->uncompressed_bytes);
                sheet_ratio(&sheet, collection->uncompressed_bytes, collection->compressed_bytes);
                sheet_bar(&sheet,
                          whole > 0 ? (double)collection->compressed_bytes / (double)whole : 0);
        }
        r = n ? print_section(&sheet) : 0;
        if (n > shown)
                printf("... and %zu smaller ones\n", n - shown);
        roast_root_collections_free(collections, n);
        return r;
}

static void print_hints(const struct roast_root_hint *hints, size_t n)
{
        for (size_t i = 0; i < n; i++)
                printf("%shint: %s\n", i ? "" : "\n", hints[i].text);
}

/* Trees have one table each: what is in which collection, and what to know about it. */
static int print_contents(const struct roast_rootfile *file, const struct roast_rootfile_view *view)
{
        struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX];
        struct roast_root_collection *collections;
        size_t n;
        int r = 0;

        for (size_t i = 0; i < file->num_trees && r >= 0; i++) {
                const struct roast_root_tree *tree = &file->trees[i];

                if (!inspect_wanted(view, tree->path) || tree->num_branches == 0)
                        continue;
                r = roast_root_tree_collections(tree, &collections, &n);
                if (r >= 0)
                        r = print_collections(collections, n, tree->compressed_bytes);
                print_hints(hints, roast_root_tree_hints(tree, hints));
        }
        for (size_t i = 0; i < file->num_ntuples && r >= 0; i++) {
                const struct roast_root_ntuple *ntuple = &file->ntuples[i];

                if (!inspect_wanted(view, ntuple->path))
                        continue;
                r = roast_root_ntuple_collections(ntuple, &collections, &n);
                if (r >= 0)
                        r = print_collections(collections, n, (int64_t)ntuple->compressed_bytes);
                print_hints(hints, roast_root_ntuple_hints(ntuple, hints));
        }
        return r;
}

/* The total, which is what a reader of the chunk must fetch, and the branches of it. */
static int print_range(const struct roast_rootfile *file, const struct roast_rootfile_view *view)
{
        ROAST_CLEANUP(sheet_deinit)
        struct sheet sheet = { inspect_range_columns, inspect_range_num_columns, .hidden = 1 };

        struct roast_root_need need = { 0 };
        int r;

        inspect_range_add(&sheet, file, view);
        r = print_section(&sheet);
        for (size_t i = 0; i < file->num_trees; i++)
                if (inspect_wanted(view, file->trees[i].path))
                        roast_root_tree_need(&file->trees[i], view, &need);
        for (size_t i = 0; i < file->num_ntuples && r >= 0; i++)
                if (inspect_wanted(view, file->ntuples[i].path))
                        r = roast_root_ntuple_need(&file->ntuples[i], view, &need);
        printf("\nin all %llu bytes in %llu baskets or pages, and %llu embedded\n",
               (unsigned long long)need.bytes, (unsigned long long)need.units,
               (unsigned long long)need.embedded);
        return r;
}

static int print_branches(const struct roast_rootfile *file, const struct roast_rootfile_view *view)
{
        ROAST_CLEANUP(sheet_deinit)
        struct sheet sheet = { inspect_branches_columns, inspect_branches_num_columns,
                               .hidden = 1 };

        inspect_branches_add(&sheet, file, view);
        return print_section(&sheet);
}

int inspect_text(const struct roast_rootfile *file, const struct roast_rootfile_view *view)
{
        ROAST_CLEANUP(sheet_deinit)
        struct sheet sheet = { inspect_files_columns, inspect_files_num_columns, .hidden = 1 };
        int r;

        if (file->num_trees + file->num_ntuples == 0) {
                puts("no trees and no RNTuples");
                return 0;
        }
        inspect_files_add(&sheet, file, view);
        r = sheet_print_text(&sheet);
        if (r < 0)
                return r;
        if (view->range)
                return print_range(file, view);
        if (view->branches)
                return print_branches(file, view);
        return print_contents(file, view);
}

void inspect_print_safe(const char *text)
{
        for (; *text; text++)
                fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stderr);
}

void inspect_skipped(const struct roast_rootfile *file)
{
        for (size_t i = 0; i < file->num_skipped; i++) {
                const struct roast_root_skipped *skipped = &file->skipped[i];

                fprintf(stderr, "roast inspect: %s: skipped ", file->path);
                inspect_print_safe(skipped->what);
                fputs(" \"", stderr);
                inspect_print_safe(skipped->path);
                fputs("\": ", stderr);
                inspect_print_safe(skipped->reason);
                fputc('\n', stderr);
        }
}
