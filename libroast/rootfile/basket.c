/*
 * Baskets: where they are
 *
 * The branch's arrays name the baskets on disk: the leading ones that have a
 * place, at most fWriteBasket. Baskets that were in memory when the tree was
 * written are embedded in the branch; some are empty or copies, so they count
 * only while the branch has more entries than the borders so far.
 *
 * A basket on disk is a key with five numbers behind it:
 *
 *   +-----+-----------+---------------+---------------+--------+--------+--------+------
 *   | key | version:2 | buffer size:4 | offset size:4 | nev:4  | last:4 | flag:1 | data
 *   +-----+-----------+---------------+---------------+--------+--------+--------+------
 *                                             (all up to here counts as key)
 */

#include "rootfile/tree.h"
#include "util/cleanup.h"

#define NEV_FROM_END 9 /* nev, last, flag */

/* Entries in the last basket, when the arrays end with it and do not tell. */
static int64_t basket_last_entries(struct rootfile *file, uint64_t seek)
{
        const uint8_t *view = NULL;
        struct basket_head head;
        struct cursor cursor;

        if (source_view(&file->source, seek, HEAD_FIXED_BYTES, HEAD_BYTES, &view, NULL) < 0)
                return 0;
        head = basket_head_parse(view);
        if (head.keylen < NEV_FROM_END ||
            source_view(&file->source, seek, head.keylen, HEAD_BYTES, &view, NULL) < 0)
                return 0;
        cursor = cursor_init(view + head.keylen - NEV_FROM_END, NEV_FROM_END);
        return wire_u32(&cursor) & INT32_MAX;
}

static int basket_add(struct buf *baskets, int64_t first_entry, uint64_t seek, uint32_t bytes)
{
        struct roast_root_basket basket = {
                .first_entry = first_entry,
                .seek = seek,
                .bytes = bytes,
                .algorithm = ROAST_ROOT_UNKNOWN,
        };

        return buf_append(baskets, &basket, sizeof(basket));
}

static int basket_add_on_disk(struct tree_reader *reader, struct basket_arrays *arrays,
                              struct buf *baskets, struct roast_root_branch *branch,
                              struct roast_error *error)
{
        size_t size = arrays->entry_size;

        for (size_t i = 0; i < arrays->max_baskets; i++) {
                uint64_t seek = wire_place(&arrays->seek, arrays->seek_size == 8);
                int64_t entry = (int64_t)wire_place(&arrays->entry, size == 8);
                int32_t bytes = wire_i32(&arrays->bytes);

                branch->end_entry = baskets->len ? entry : 0;
                if (seek == 0 || (int64_t)i == arrays->write_basket)
                        return 0;
                if (bytes < 0 || entry < 0)
                        return roast_fail(error, ROAST_E_CORRUPT,
                                          "basket %zu of branch \"%.200s\" is impossible", i,
                                          branch->path);
                if (basket_add(baskets, entry, seek, (uint32_t)bytes) < 0)
                        return roast_fail_nomem(error);
                branch->compressed_bytes += bytes;
                if (i + 1 == arrays->max_baskets &&
                    __builtin_add_overflow(entry, basket_last_entries(reader->file, seek),
                                           &branch->end_entry))
                        branch->end_entry = entry;
        }
        return 0;
}

static int basket_add_embedded(struct tree_reader *reader, struct basket_arrays *arrays,
                               struct buf *baskets, struct roast_root_branch *branch,
                               struct roast_error *error)
{
        size_t n;
        struct cursor array = wire_tobjarray(&arrays->embedded, &n);

        for (size_t i = 0; i < n && branch->end_entry < branch->entries; i++) {
                struct wire_pointer pointer = wire_pointer(&array, reader->body);
                struct cursor cursor = pointer.object;
                int64_t nev, bytes, end;
                struct key key;

                if (!text_is(pointer.class_name, "TBasket"))
                        continue;
                key = key_parse(&cursor);
                cursor_take(&cursor, 10); /* version, sizes of buffer and offsets */
                nev = wire_i32(&cursor);
                bytes = (int64_t)wire_i32(&cursor) - key.keylen;
                if (cursor.bad || nev <= 0 || bytes < 0 ||
                    __builtin_add_overflow(branch->end_entry, nev, &end))
                        continue;
                if (basket_add(baskets, branch->end_entry, 0, (uint32_t)bytes) < 0)
                        return roast_fail_nomem(error);
                branch->num_embedded++;
                branch->embedded_bytes += bytes;
                branch->end_entry = end;
        }
        return 0;
}

int baskets_read(struct tree_reader *reader, struct basket_arrays *arrays,
                 struct roast_root_branch *branch, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf found = BUF_INIT;
        int r;

        r = basket_add_on_disk(reader, arrays, &found, branch, error);
        if (r < 0)
                return r;
        r = basket_add_embedded(reader, arrays, &found, branch, error);
        if (r < 0)
                return r;
        branch->baskets = arena_copy(&reader->file->arena, found.data, found.len);
        if (!branch->baskets)
                return rootfile_fail_arena(reader->file, error);
        branch->num_baskets = found.len / sizeof(*branch->baskets);
        return 0;
}
