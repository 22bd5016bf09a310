/* rootfile/: blocks, the arena, reads, objects and envelopes */

#include "unit.h"

#include <libdeflate.h>
#include <lz4.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "rootfile/arena.h"
#include "rootfile/compress.h"
#include "rootfile/envelope.h"
#include "rootfile/places.h"
#include "rootmaker.h"
#include "util/cleanup.h"

#define TEXT_BYTES 4000

static void fill(uint8_t *text)
{
        for (size_t i = 0; i < TEXT_BYTES; i++)
                text[i] = (uint8_t)(i % 7 + i / 500);
}

static size_t squeeze(const char *magic, const uint8_t *text, uint8_t *to, size_t cap)
{
        if (strcmp(magic, "ZL") == 0 || strcmp(magic, "CS") == 0) {
                struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
                size_t n = magic[0] == 'Z'
                                   ? libdeflate_zlib_compress(c, text, TEXT_BYTES, to, cap)
                                   : libdeflate_deflate_compress(c, text, TEXT_BYTES, to, cap);
                libdeflate_free_compressor(c);
                return n;
        }
        if (strcmp(magic, "XZ") == 0) {
                size_t n = 0;

                assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, text,
                                                         TEXT_BYTES, to, &n, cap),
                                 LZMA_OK);
                return n;
        }
        if (strcmp(magic, "ZS") == 0)
                return ZSTD_compress(to, cap, text, TEXT_BYTES, 3);
        /* L4: the checksum goes first */
        int n = LZ4_compress_default((const char *)text, (char *)to + 8, TEXT_BYTES, (int)cap - 8);
        XXH64_canonical_t canonical;

        XXH64_canonicalFromHash(&canonical, XXH64(to + 8, (size_t)n, 0));
        memcpy(to, &canonical, 8);
        return (size_t)n + 8;
}

static void put_size(struct buf *out, size_t size)
{
        for (int i = 0; i < 3; i++)
                assert_int_equal(buf_put_u8(out, (uint8_t)(size >> (8 * i))), 0);
}

static void put_block(struct buf *out, const char *magic, const uint8_t *text)
{
        uint8_t squeezed[TEXT_BYTES * 2];
        size_t n = squeeze(magic, text, squeezed, sizeof(squeezed));

        assert_int_equal(buf_puts(out, magic), 0);
        assert_int_equal(buf_put_u8(out, 8), 0);
        put_size(out, n);
        put_size(out, TEXT_BYTES);
        assert_int_equal(buf_append(out, squeezed, n), 0);
}

static const char *const magics[] = { "ZL", "CS", "XZ", "ZS", "L4" };

static void test_blocks_of_every_kind_expand_to_what_they_were(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf blocks = BUF_INIT;
        uint8_t text[TEXT_BYTES], back[5 * TEXT_BYTES];

        (void)state;
        fill(text);
        for (size_t i = 0; i < 5; i++)
                put_block(&blocks, magics[i], text);
        assert_int_equal(compress_expand(blocks.data, blocks.len, back, sizeof(back), NULL), 0);
        for (size_t i = 0; i < 5; i++)
                assert_memory_equal(back + i * TEXT_BYTES, text, TEXT_BYTES);
}

static void test_a_damaged_block_is_an_error_wherever_it_is_damaged(void **state)
{
        uint8_t text[TEXT_BYTES], back[TEXT_BYTES];

        (void)state;
        fill(text);
        for (size_t i = 0; i < 5; i++) {
                ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;

                put_block(&block, magics[i], text);
                for (size_t cut = 0; cut < block.len; cut++)
                        assert_int_equal(compress_expand(block.data, cut, back, TEXT_BYTES, NULL),
                                         ROAST_E_CORRUPT);
                /* an object that is shorter or longer than its blocks */
                assert_int_equal(compress_expand(block.data, block.len, back, TEXT_BYTES - 1, NULL),
                                 ROAST_E_CORRUPT);
                block.data[6]++;
                assert_int_equal(compress_expand(block.data, block.len, back, TEXT_BYTES, NULL),
                                 ROAST_E_CORRUPT);
        }
}

static void test_an_lz4_block_must_have_its_checksum(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;
        uint8_t text[TEXT_BYTES], back[TEXT_BYTES];

        (void)state;
        fill(text);
        put_block(&block, "L4", text);
        block.data[9] ^= 1;
        assert_int_equal(compress_expand(block.data, block.len, back, TEXT_BYTES, NULL),
                         ROAST_E_CORRUPT);
}

static void test_the_arena_ends_at_its_limit_and_takes_back(void **state)
{
        ROAST_CLEANUP(arena_deinit) struct arena arena = { .left = 200000 };
        struct arena_mark mark;
        uint8_t *memory;

        (void)state;
        assert_string_equal(arena_text(&arena, "abc", 3), "abc");
        mark = arena_mark(&arena);
        memory = arena_take(&arena, 100000, 1);
        assert_non_null(memory);
        memset(memory, 1, 100000);
        assert_null(arena_take(&arena, 100001, 1));
        assert_true(arena.over);
        assert_null(arena_take(&arena, SIZE_MAX, 16));
        arena_release(&arena, &mark);
        assert_false(arena.over);
        memory = arena_take(&arena, 150000, 1);
        assert_non_null(memory);
        for (size_t i = 0; i < 150000; i++)
                assert_int_equal(memory[i], 0);
}

static void test_the_arena_takes_over_a_buffer_within_its_limit(void **state)
{
        ROAST_CLEANUP(arena_deinit) struct arena arena = { .left = 100 };
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;

        (void)state;
        assert_non_null(arena_adopt(&arena, &buf));
        assert_int_equal(buf_append(&buf, "0123456789", 10), 0);
        assert_memory_equal(arena_adopt(&arena, &buf), "0123456789", 10);
        assert_null(buf.data);
        assert_int_equal(arena.left, 90);
        assert_int_equal(buf_reserve(&buf, 91), 0);
        buf.len = 91;
        assert_null(arena_adopt(&arena, &buf));
        assert_non_null(buf.data);
        assert_true(arena.over);
}

static void open_bytes(struct source *source, size_t len)
{
        int fd = memfd_create("bytes", MFD_CLOEXEC);
        char path[64];

        assert_true(fd >= 0);
        assert_int_equal(ftruncate(fd, (off_t)len), 0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        assert_int_equal(source_open(source, path, NULL), 0);
        close(fd);
}

static void test_reads_stay_inside_the_file(void **state)
{
        ROAST_CLEANUP(source_deinit) struct source source;
        const uint8_t *view;
        uint8_t bytes[16];

        (void)state;
        open_bytes(&source, 1000);
        assert_int_equal(source_read(&source, 984, bytes, 16, NULL), 0);
        assert_int_equal(source_read(&source, 985, bytes, 16, NULL), ROAST_E_CORRUPT);
        assert_int_equal(source_read(&source, UINT64_MAX - 4, bytes, 16, NULL), ROAST_E_CORRUPT);
        assert_int_equal(source_view(&source, 1001, 0, 0, &view, NULL), ROAST_E_CORRUPT);
        assert_int_equal(source_view(&source, 0, SIZE_MAX, 0, &view, NULL), ROAST_E_CORRUPT);
        assert_int_equal(source_view(&source, 900, 50, 5000, &view, NULL), 0);
        assert_true(source.reads == 2);
        assert_int_equal(source_view(&source, 950, 50, 50, &view, NULL), 0);
        assert_true(source.reads == 2);
}

static void test_places_close_together_are_read_at_once(void **state)
{
        ROAST_CLEANUP(source_deinit) struct source source;
        struct place places[64];
        const uint8_t *view;

        (void)state;
        open_bytes(&source, 10000000);
        for (size_t i = 0; i < 64; i++) /* backwards; the last ones far apart */
                places[63 - i] = (struct place){ i < 60 ? i * 4000 : i * 100000, i };
        places_sort(places, 64);
        for (size_t i = 0; i < 64; i++) {
                assert_int_equal(places[i].index, i);
                assert_int_equal(places_view(&source, places, 64, i, 256, &view, NULL), 256);
        }
        assert_true(source.reads == 2 + 4); /* 240 kB in runs of at most 128, then four alone */
        assert_true(source.bytes_read < 60 * 4000 + 5 * 256);
}

static void test_an_object_cannot_be_left_and_is_skipped_by_its_bytes(void **state)
{
        static const uint8_t bytes[] = { 0x40, 0, 0, 4, 0, 3, 0xaa, 0xbb, 0x11, 0x22 };
        struct cursor outer = cursor_init(bytes, sizeof(bytes)), inner;
        uint16_t version;

        (void)state;
        inner = wire_enter(&outer, &version);
        assert_int_equal(version, 3);
        assert_int_equal(wire_u16(&inner), 0xaabb);
        assert_int_equal(wire_u16(&inner), 0);
        assert_true(inner.bad);
        assert_int_equal(wire_u16(&outer), 0x1122);
        /* one byte more than there is */
        outer = cursor_init(bytes, 7);
        wire_enter(&outer, &version);
        assert_true(outer.bad);
}

static void test_an_envelope_must_have_its_type_length_and_checksum(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct cursor payload;
        uint64_t checksum;

        (void)state;
        maker_envelope(&bytes, ENVELOPE_FOOTER, "payload!", 8);
        payload = envelope_open(bytes.data, bytes.len, ENVELOPE_FOOTER, &checksum);
        assert_int_equal(cursor_left(&payload), 8);
        assert_memory_equal(payload.at, "payload!", 8);
        assert_true(envelope_open(bytes.data, bytes.len, ENVELOPE_HEADER, &checksum).bad);
        assert_true(envelope_open(bytes.data, bytes.len - 1, ENVELOPE_FOOTER, &checksum).bad);
        bytes.data[10] ^= 1;
        assert_true(envelope_open(bytes.data, bytes.len, ENVELOPE_FOOTER, &checksum).bad);
}

static void test_a_frame_that_lies_about_its_size_is_refused(void **state)
{
        static const int64_t lies[] = { 0, 7, 17, -8, -17, INT64_MIN, INT64_MAX };
        size_t n;

        (void)state;
        for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
                struct cursor cursor;

                assert_int_equal(buf_put_u64(&bytes, (uint64_t)lies[i]), 0);
                assert_int_equal(buf_put_u64(&bytes, 0), 0);
                cursor = cursor_init(bytes.data, bytes.len);
                frame_record(&cursor);
                assert_true(cursor.bad);
                cursor = cursor_init(bytes.data, bytes.len);
                frame_list(&cursor, &n);
                assert_true(cursor.bad);
                assert_int_equal(n, 0);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_blocks_of_every_kind_expand_to_what_they_were),
                cmocka_unit_test(test_a_damaged_block_is_an_error_wherever_it_is_damaged),
                cmocka_unit_test(test_an_lz4_block_must_have_its_checksum),
                cmocka_unit_test(test_the_arena_ends_at_its_limit_and_takes_back),
                cmocka_unit_test(test_the_arena_takes_over_a_buffer_within_its_limit),
                cmocka_unit_test(test_reads_stay_inside_the_file),
                cmocka_unit_test(test_places_close_together_are_read_at_once),
                cmocka_unit_test(test_an_object_cannot_be_left_and_is_skipped_by_its_bytes),
                cmocka_unit_test(test_an_envelope_must_have_its_type_length_and_checksum),
                cmocka_unit_test(test_a_frame_that_lies_about_its_size_is_refused),
        };

        return cmocka_run_group_tests_name("rootfile-parts", tests, NULL, NULL);
}
