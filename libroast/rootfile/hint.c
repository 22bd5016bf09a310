/*
 * Hints: what makes a tree slow to read
 *
 * A hint states what was found, with the number; thresholds are where one read
 * request costs about as much as the bytes it brings (a few kB locally, far
 * more over a network).
 */

#include <stdarg.h>
#include <stdio.h>

#include "roast-rootfile.h"

#define TINY_BYTES        4096
#define MANY_UNITS        1000
#define WORTH_COMPRESSING (1 << 20)
#define MANY_PER_CLUSTER  8

/* What trees and RNTuples have in common. */
struct facts {
        const char *unit; /* "baskets" or "pages" */
        uint64_t units;
        uint64_t parts; /* branches or columns that have any */
        uint64_t clusters;
        uint64_t compressed;
        const struct roast_root_counts *algorithms;
};

struct list {
        struct roast_root_hint *hints;
        size_t n;
};

__attribute__((format(printf, 3, 4))) static void hint(struct list *list, const char *name,
                                                       const char *format, ...)
{
        struct roast_root_hint *next = &list->hints[list->n++];
        va_list args;

        next->name = name;
        va_start(args, format);
        vsnprintf(next->text, sizeof(next->text), format, args);
        va_end(args);
}

static void hint_common(struct list *list, const struct facts *facts)
{
        const uint32_t *of = facts->algorithms->of;

        if (facts->units >= MANY_UNITS && facts->compressed / facts->units < TINY_BYTES)
                hint(list, "tiny-baskets", "%llu %s of %llu bytes on average: many small reads",
                     (unsigned long long)facts->units, facts->unit,
                     (unsigned long long)(facts->compressed / facts->units));
        if (facts->clusters && facts->parts &&
            facts->units / facts->parts / facts->clusters >= MANY_PER_CLUSTER)
                hint(list, "many-baskets-per-cluster", "%llu %s for each branch and cluster",
                     (unsigned long long)(facts->units / facts->parts / facts->clusters),
                     facts->unit);
        if (of[ROAST_ROOT_LZMA] > facts->units / 2)
                hint(list, "lzma", "compressed with LZMA, which is slow to read; ZSTD is not");
        if (of[ROAST_ROOT_NONE] > facts->units / 2 && facts->compressed >= WORTH_COMPRESSING)
                hint(list, "uncompressed", "%u of %llu %s are stored uncompressed",
                     of[ROAST_ROOT_NONE], (unsigned long long)facts->units, facts->unit);
        if (of[ROAST_ROOT_UNKNOWN])
                hint(list, "not-found", "%u of %llu %s are not where the metadata say",
                     of[ROAST_ROOT_UNKNOWN], (unsigned long long)facts->units, facts->unit);
}

size_t roast_root_tree_hints(const struct roast_root_tree *tree,
                             struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX])
{
        struct list list = { .hints = hints };
        struct facts facts = {
                .unit = "baskets",
                .units = tree->num_baskets - tree->num_embedded,
                .clusters = tree->num_clusters,
                .compressed = (uint64_t)tree->compressed_bytes,
                .algorithms = &tree->algorithms,
        };

        for (size_t i = 0; i < tree->num_branches; i++)
                facts.parts += tree->branches[i].num_baskets > 0;
        hint_common(&list, &facts);
        if (tree->num_embedded)
                hint(&list, "embedded",
                     "%zu baskets are inside the tree object and read with it, whatever is needed",
                     tree->num_embedded);
        return list.n;
}

size_t roast_root_ntuple_hints(const struct roast_root_ntuple *ntuple,
                               struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX])
{
        struct list list = { .hints = hints };
        struct facts facts = {
                .unit = "pages",
                .units = ntuple->num_pages,
                .clusters = ntuple->num_clusters,
                .compressed = ntuple->compressed_bytes,
                .algorithms = &ntuple->algorithms,
        };

        for (size_t i = 0; i < ntuple->num_columns; i++)
                facts.parts += ntuple->columns[i].num_pages > 0;
        hint_common(&list, &facts);
        return list.n;
}
