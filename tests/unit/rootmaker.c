/* Small ROOT files, made byte by byte: see rootmaker.h. */

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "rootmaker.h"

#define BEGIN        100
#define KEY_FIXED    26
#define NBYTES_NAME  40
#define FILE_VERSION 62400
#define KEY_VERSION  4

static void must(int r)
{
        if (r < 0)
                abort();
}

void maker_put(struct buf *buf, uint64_t value, unsigned int n)
{
        while (n-- > 0)
                must(buf_put_u8(buf, (uint8_t)(n < 8 ? value >> (8 * n) : 0)));
}

void maker_string(struct buf *buf, const char *string)
{
        size_t len = strlen(string);

        maker_put(buf, len < 255 ? len : 255, 1);
        if (len >= 255)
                maker_put(buf, len, 4);
        must(buf_append(buf, string, len));
}

static uint16_t key_bytes(const char *class_name, const char *name)
{
        return (uint16_t)(KEY_FIXED + 3 + strlen(class_name) + strlen(name));
}

static void put_key(struct buf *buf, const char *class_name, const char *name, int16_t cycle,
                    uint64_t seek, uint32_t stored, uint32_t objlen)
{
        uint16_t keylen = key_bytes(class_name, name);

        maker_put(buf, keylen + stored, 4);
        maker_put(buf, KEY_VERSION, 2);
        maker_put(buf, objlen, 4);
        maker_put(buf, 0, 4); /* time */
        maker_put(buf, keylen, 2);
        maker_put(buf, (uint16_t)cycle, 2);
        maker_put(buf, seek, 4);
        maker_put(buf, BEGIN, 4);
        maker_string(buf, class_name);
        maker_string(buf, name);
        maker_string(buf, "");
}

/* Writes big-endian over bytes that are there. */
static void patch(struct buf *buf, uint64_t at, uint64_t value)
{
        for (unsigned int i = 0; i < 4; i++)
                buf->data[at + i] = (uint8_t)(value >> (8 * (3 - i)));
}

void maker_directory(struct buf *buf, uint64_t seek_keys, uint32_t nbytes_keys)
{
        maker_put(buf, 5, 2); /* version */
        maker_put(buf, 0, 8); /* times */
        maker_put(buf, nbytes_keys, 4);
        maker_put(buf, NBYTES_NAME, 4);
        maker_put(buf, BEGIN, 4);
        maker_put(buf, 0, 4);
        maker_put(buf, seek_keys, 4);
        maker_put(buf, 0, 18); /* UUID */
}

void maker_init(struct maker *maker)
{
        struct buf *file = &maker->file;

        *maker = (struct maker){ 0 };
        must(buf_puts(file, "root"));
        maker_put(file, FILE_VERSION, 4);
        maker_put(file, BEGIN, 4);
        maker_put(file, 0, 4); /* end, patched later */
        maker_put(file, 0, 12);
        maker_put(file, NBYTES_NAME, 4);
        maker_put(file, 4, 1);
        maker_put(file, 101, 4);
        while (file->len < BEGIN + NBYTES_NAME)
                maker_put(file, 0, 1);
        maker->directory_at = file->len;
        maker_directory(file, 0, 0);
}

void maker_deinit(struct maker *maker)
{
        buf_deinit(&maker->file);
        buf_deinit(&maker->keys);
}

void maker_key(struct maker *maker, const char *class_name, const char *name, int16_t cycle,
               uint64_t seek, uint32_t stored, uint32_t objlen)
{
        put_key(&maker->keys, class_name, name, cycle, seek, stored, objlen);
        maker->num_keys++;
}

uint64_t maker_object(struct maker *maker, const char *class_name, const char *name, int16_t cycle,
                      const void *object, uint32_t len)
{
        uint64_t seek = maker->file.len;

        put_key(&maker->file, class_name, name, cycle, seek, len, len);
        must(buf_append(&maker->file, object, len));
        maker_key(maker, class_name, name, cycle, seek, len, len);
        return seek;
}

void maker_finish(struct maker *maker)
{
        uint64_t seek = maker->file.len;
        uint32_t len = (uint32_t)maker->keys.len + 4;

        put_key(&maker->file, "TFile", "", 1, seek, len, len);
        maker_put(&maker->file, maker->num_keys, 4);
        must(buf_append(&maker->file, maker->keys.data, maker->keys.len));
        patch(&maker->file, 12, maker->file.len + maker->missing_bytes);
        patch(&maker->file, maker->directory_at + 10, maker->file.len - seek);
        patch(&maker->file, maker->directory_at + 26, seek);
}

void maker_wrap(struct buf *out, uint16_t version, const struct buf *members)
{
        maker_put(out, 0x40000000u | (members->len + 2), 4);
        maker_put(out, version, 2);
        must(buf_append(out, members->data, members->len));
}

void maker_envelope(struct buf *out, uint16_t type, const void *payload, size_t len)
{
        size_t begin = out->len;

        must(buf_put_u64(out, type | (uint64_t)(len + 16) << 16));
        must(buf_append(out, payload, len));
        must(buf_put_u64(out, XXH3_64bits(out->data + begin, out->len - begin)));
}

void maker_anchor(struct buf *out, uint64_t header, uint64_t header_len, uint64_t footer,
                  uint64_t footer_len)
{
        struct buf members = BUF_INIT;

        maker_put(&members, 1, 2);
        maker_put(&members, 0, 6);
        maker_put(&members, header, 8);
        maker_put(&members, header_len, 8);
        maker_put(&members, header_len, 8);
        maker_put(&members, footer, 8);
        maker_put(&members, footer_len, 8);
        maker_put(&members, footer_len, 8);
        maker_put(&members, 1 << 30, 8);
        maker_wrap(out, 2, &members);
        maker_put(out, XXH3_64bits(members.data, members.len), 8);
        buf_deinit(&members);
}
