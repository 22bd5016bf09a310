/* Keys, and the objects behind them: see key.h. */

#include <stdlib.h>
#include <sys/mman.h>

#include "rootfile/compress.h"
#include "rootfile/key.h"
#include "util/cleanup.h"

#define PAGE_BYTES   ((uintptr_t)4096)
#define POPULATE_MAX (16u << 20)

struct key key_parse(struct cursor *cursor)
{
        struct key key = { .nbytes = wire_u32(cursor) };
        uint16_t version = wire_u16(cursor);
        bool is64 = version > 1000;

        key.objlen = wire_u32(cursor);
        cursor_take(cursor, 4); /* time */
        key.keylen = wire_u16(cursor);
        key.cycle = (int16_t)wire_u16(cursor);
        key.seek = wire_place(cursor, is64);
        wire_place(cursor, is64); /* directory */
        key.class_name = wire_string(cursor);
        key.name = wire_string(cursor);
        key.title = wire_string(cursor);
        if (key.keylen < KEY_BYTES_MIN || key.nbytes > INT32_MAX || key.objlen > INT32_MAX)
                cursor->bad = true;
        return key;
}

void body_deinit(struct body *body)
{
        free(body->data);
        *body = (struct body){ 0 };
}

/*
 * Faulting in the pages of a tree object one by one costs more than expanding
 * it: the kernel gives them at once if it can. Not more than a real one takes.
 */
static void key_populate(uint8_t *memory, size_t len)
{
#ifdef MADV_POPULATE_WRITE
        uintptr_t begin = ((uintptr_t)memory + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
        uintptr_t end = ((uintptr_t)memory + len) & ~(PAGE_BYTES - 1);

        if (end > begin && len <= POPULATE_MAX)
                madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
#else
        (void)memory;
        (void)len;
#endif
}

int stored_load(struct rootfile *file, uint64_t seek, uint64_t stored, uint64_t expanded,
                uint8_t **ret, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint8_t *raw = NULL;
        ROAST_CLEANUP(cleanup_free) uint8_t *data = NULL;
        int r;

        if (seek > file->source.size || stored > file->source.size - seek)
                return roast_fail(error, ROAST_E_CORRUPT,
                                  "%llu bytes at %llu lie behind the end of the file",
                                  (unsigned long long)stored, (unsigned long long)seek);
        /* Half of the allowance, so that a bomb leaves some to the objects behind it. */
        if (expanded > file->expand_left / 2 || stored > file->expand_left / 2)
                return roast_fail(error, ROAST_E_CORRUPT, "its %llu bytes are over the limit",
                                  (unsigned long long)expanded);
        file->expand_left -= (size_t)expanded;
        raw = malloc((size_t)stored + 1);
        if (!raw)
                return roast_fail_nomem(error);
        r = source_read(&file->source, seek, raw, (size_t)stored, error);
        if (r < 0)
                return r;
        if (expanded > stored) {
                data = malloc((size_t)expanded);
                if (!data)
                        return roast_fail_nomem(error);
                key_populate(data, (size_t)expanded);
                r = compress_expand(raw, (size_t)stored, data, (size_t)expanded, error);
                if (r < 0)
                        return r;
                *ret = data;
                data = NULL;
        } else {
                *ret = raw;
                raw = NULL;
        }
        return 0;
}

int body_load(struct rootfile *file, const struct key *key, struct body *ret,
              struct roast_error *error)
{
        int r;

        if (key->nbytes < key->keylen || key->seek > file->source.size)
                return roast_fail(error, ROAST_E_CORRUPT, "its key is no key");
        r = stored_load(file, key->seek + key->keylen, key->nbytes - key->keylen, key->objlen,
                        &ret->data, error);
        if (r < 0)
                return r;
        ret->len = key->objlen;
        ret->keylen = key->keylen;
        return 0;
}
