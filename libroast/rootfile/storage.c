/*
 * How the baskets on disk are stored
 *
 * fCompress of a branch is what was asked for, and often misleads. The truth is
 * in the basket: it is compressed only if its object is longer than what is
 * stored, and then its blocks name the algorithm.
 */

#include <stdlib.h>

#include "rootfile/compress.h"
#include "rootfile/places.h"
#include "rootfile/tree.h"
#include "util/cleanup.h"

/* ROOT fills every block but the last. */
#define BLOCK_FULL 0xffffffu

struct basket_head basket_head_parse(const uint8_t bytes[HEAD_FIXED_BYTES])
{
        struct cursor cursor = cursor_init(bytes, HEAD_FIXED_BYTES);
        struct basket_head head = { .nbytes = wire_u32(&cursor) };

        cursor_take(&cursor, 2); /* version */
        head.objlen = wire_u32(&cursor);
        cursor_take(&cursor, 4); /* time */
        head.keylen = wire_u16(&cursor);
        return head;
}

/* Counts the blocks of a compressed basket; returns the algorithm of the first. */
static enum roast_root_algorithm storage_count_blocks(struct source *source, uint64_t seek,
                                                      const struct basket_head *head,
                                                      struct roast_root_counts *blocks)
{
        enum roast_root_algorithm algorithm = ROAST_ROOT_UNKNOWN;
        size_t left = head->nbytes - head->keylen, expanded = head->objlen;
        uint64_t at = seek + head->keylen;

        while (left > BLOCK_HEADER_BYTES && expanded) {
                const uint8_t *view = NULL;
                struct block block;

                if (source_view(source, at, BLOCK_HEADER_BYTES, 0, &view, NULL) < 0 ||
                    !block_parse(view, &block))
                        break;
                left -= BLOCK_HEADER_BYTES;
                if (block.compressed > left || block.expanded > expanded)
                        break;
                if (algorithm == ROAST_ROOT_UNKNOWN)
                        algorithm = block.algorithm;
                blocks->of[block.algorithm]++;
                if (block.expanded < BLOCK_FULL)
                        break;
                at += BLOCK_HEADER_BYTES + block.compressed;
                left -= block.compressed;
                expanded -= block.expanded;
        }
        return algorithm;
}

static enum roast_root_algorithm storage_look(struct source *source, uint64_t seek,
                                              const uint8_t *view, uint32_t bytes,
                                              struct roast_root_branch *branch)
{
        struct basket_head head = basket_head_parse(view);

        if (head.nbytes != bytes || head.keylen < KEY_BYTES_MIN || head.keylen > head.nbytes ||
            head.objlen > INT32_MAX)
                return ROAST_ROOT_UNKNOWN;
        branch->basket_uncompressed += (int64_t)head.objlen + head.keylen;
        branch->keylen_sum += head.keylen;
        if (head.objlen <= head.nbytes - head.keylen)
                return ROAST_ROOT_NONE;
        return storage_count_blocks(source, seek, &head, &branch->blocks);
}

/* A basket on disk, and whose it is. */
struct item {
        struct roast_root_branch *branch;
        struct roast_root_basket *basket;
};

static size_t storage_collect(struct roast_root_branch *branches, size_t n, struct item *items,
                              struct place *places)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++) {
                struct roast_root_branch *branch = &branches[i];
                size_t on_disk = branch->num_baskets - branch->num_embedded;

                if (branch->elsewhere)
                        continue;
                for (size_t b = 0; b < on_disk; b++, count++) {
                        if (!items)
                                continue;
                        items[count] = (struct item){
                                .branch = branch,
                                .basket = (struct roast_root_basket *)&branch->baskets[b],
                        };
                        places[count] = (struct place){ branch->baskets[b].seek, count };
                }
        }
        return count;
}

int baskets_look(struct rootfile *file, struct roast_root_branch *branches, size_t n,
                 struct roast_error *error)
{
        size_t count = storage_collect(branches, n, NULL, NULL);
        ROAST_CLEANUP(cleanup_free) struct item *items = calloc(count + 1, sizeof(*items));
        ROAST_CLEANUP(cleanup_free) struct place *places = calloc(count + 1, sizeof(*places));

        if (!items || !places)
                return roast_fail_nomem(error);
        storage_collect(branches, n, items, places);
        places_sort(places, count);
        for (size_t i = 0; i < count; i++) {
                const struct item *item = &items[places[i].index];
                const uint8_t *view = NULL;
                int r;

                r = places_view(&file->source, places, count, i, HEAD_BYTES, &view, error);
                if (r == ROAST_E_NOMEM || r == ROAST_E_IO)
                        return r;
                /* storage_collect() filled every item:
                 * NOLINTBEGIN(clang-analyzer-core.NullDereference) */
                if (r >= HEAD_FIXED_BYTES)
                        item->basket->algorithm = storage_look(&file->source, places[i].seek, view,
                                                               item->basket->bytes, item->branch);
                item->branch->algorithms.of[item->basket->algorithm]++;
                /* NOLINTEND(clang-analyzer-core.NullDereference) */
        }
        return 0;
}
