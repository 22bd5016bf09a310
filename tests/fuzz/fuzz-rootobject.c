/*
 * Any bytes as the metadata inside a well-formed ROOT file
 *
 * Compression and checksums keep a fuzzer of whole files from the objects in
 * them. Here the input is an object, around which a file is made: the first
 * byte tells which. 't': a TTree. 'n': the header of an RNTuple, its footer and
 * a page list, with two bytes of length before each of the first two, and the
 * checksums put right.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "roast-rootfile.h"
#include "rootmaker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Takes a length and that many bytes, as far as there are any. */
static struct cursor part(struct cursor *input)
{
        size_t len = cursor_u8(input);
        const uint8_t *at;

        len |= (size_t)cursor_u8(input) << 8;
        if (len > cursor_left(input))
                len = cursor_left(input);
        at = cursor_take(input, len);
        return at ? cursor_init(at, len) : (struct cursor){ .bad = true };
}

static uint64_t checksum_at_end(const struct buf *file)
{
        struct cursor cursor = cursor_init(file->data + file->len - 8, 8);

        return cursor_u64(&cursor);
}

/* Behind the flags stands the header's checksum, and in the footer's groups the place. */
static void put_linked(struct buf *file, uint16_t type, struct cursor payload, uint64_t checksum)
{
        struct buf copy = BUF_INIT;
        size_t at = type == 2 ? 8 : 0;

        if (buf_append(&copy, payload.at, cursor_left(&payload)) < 0)
                abort();
        for (unsigned int i = 0; i < 8 && at + i < copy.len; i++)
                copy.data[at + i] = (uint8_t)(checksum >> (8 * i));
        maker_envelope(file, type, copy.data, copy.len);
        buf_deinit(&copy);
}

static void make_ntuple(struct maker *maker, struct cursor input)
{
        struct cursor header = part(&input), footer = part(&input);
        struct buf *file = &maker->file, anchor = BUF_INIT;
        uint64_t header_at = file->len, page_list_at, footer_at, checksum;

        maker_envelope(file, 1, header.at, cursor_left(&header));
        checksum = checksum_at_end(file);
        page_list_at = file->len;
        put_linked(file, 3, input, checksum);
        footer_at = file->len;
        put_linked(file, 2, footer, checksum);
        maker_anchor(&anchor, header_at, page_list_at - header_at, footer_at,
                     file->len - footer_at);
        maker_object(maker, "ROOT::RNTuple", "n", 1, anchor.data, (uint32_t)anchor.len);
        buf_deinit(&anchor);
}

static void read_file(const struct buf *bytes)
{
        struct roast_rootfile_view view = { .branches = true, .range = true, .stop = 1000 };
        struct roast_rootfile *file = NULL;
        struct roast_error error;
        char path[64], *text = NULL;
        int fd = memfd_create("fuzz.root", MFD_CLOEXEC);

        if (fd < 0 || write(fd, bytes->data, bytes->len) != (ssize_t)bytes->len)
                abort();
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (roast_rootfile_open(&file, path, NULL, &error) >= 0 &&
            roast_rootfile_json(file, &view, &text, NULL) < 0)
                abort();
        free(text);
        roast_rootfile_free(file);
        close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        struct maker maker;

        if (len < 1 || len > 65000)
                return 0;
        maker_init(&maker);
        if (data[0] == 'n')
                make_ntuple(&maker, cursor_init(data + 1, len - 1));
        else
                maker_object(&maker, "TTree", "t", 1, data + 1, (uint32_t)len - 1);
        maker_finish(&maker);
        read_file(&maker.file);
        maker_deinit(&maker);
        return 0;
}
