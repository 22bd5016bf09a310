/* rootfile/: RNTuples with what the format allows and few files have */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "roast-rootfile.h"
#include "rootmaker.h"
#include "util/cleanup.h"

#define REAL32  0x0c
#define INDEX64 0x0f

static void ok(int r)
{
        assert_true(r >= 0);
}

static void put_string(struct buf *out, const char *string)
{
        ok(buf_put_u32(out, (uint32_t)strlen(string)));
        ok(buf_puts(out, string));
}

static void put_u16(struct buf *out, unsigned int value)
{
        ok(buf_put_u8(out, (uint8_t)value));
        ok(buf_put_u8(out, (uint8_t)(value >> 8)));
}

/* Frames take their payload and empty it. */
static void put_record(struct buf *out, struct buf *payload)
{
        ok(buf_put_u64(out, payload->len + 8));
        ok(buf_append(out, payload->data, payload->len));
        buf_deinit(payload);
}

static void put_list(struct buf *out, uint32_t n, struct buf *payload)
{
        ok(buf_put_u64(out, -(uint64_t)(payload->len + 12)));
        ok(buf_put_u32(out, n));
        ok(buf_append(out, payload->data, payload->len));
        buf_deinit(payload);
}

static void put_field(struct buf *out, uint32_t parent, const char *name, unsigned int flags)
{
        struct buf record = BUF_INIT;

        ok(buf_put_u64(&record, 0)); /* versions */
        ok(buf_put_u32(&record, parent));
        put_u16(&record, 0);
        put_u16(&record, flags);
        put_string(&record, name);
        put_string(&record, "float");
        put_string(&record, "");
        put_string(&record, "");
        put_record(out, &record);
}

static void put_column(struct buf *out, unsigned int type, unsigned int bits, uint32_t field,
                       unsigned int flags)
{
        struct buf record = BUF_INIT;

        put_u16(&record, type);
        put_u16(&record, bits);
        ok(buf_put_u32(&record, field));
        put_u16(&record, flags);
        put_u16(&record, 0);
        ok(buf_put_u64(&record, 0)); /* more than this version has: skipped */
        put_record(out, &record);
}

static void put_schema(struct buf *out, uint32_t num_fields, struct buf *fields,
                       uint32_t num_columns, struct buf *columns, uint32_t num_aliases)
{
        struct buf aliases = BUF_INIT, none = BUF_INIT;

        put_list(out, num_fields, fields);
        put_list(out, num_columns, columns);
        for (uint32_t i = 0; i < num_aliases; i++) {
                struct buf alias = BUF_INIT;

                ok(buf_put_u32(&alias, i));
                ok(buf_put_u32(&alias, 4)); /* the projected one */
                put_record(&aliases, &alias);
        }
        put_list(out, num_aliases, &aliases);
        put_list(out, 0, &none);
}

static void put_page(struct buf *out, int32_t elements, uint32_t bytes, uint64_t seek, bool large)
{
        ok(buf_put_u32(out, (uint32_t)elements));
        if (large) { /* type 1, 20 bytes in all */
                ok(buf_put_u32(out, -(UINT32_C(1) << 24 | 20)));
                ok(buf_put_u64(out, bytes));
        } else {
                ok(buf_put_u32(out, bytes));
        }
        ok(buf_put_u64(out, seek));
}

static void put_pages(struct buf *out, uint32_t n, struct buf *pages, int64_t first, uint32_t how)
{
        ok(buf_put_u64(pages, (uint64_t)first));
        if (first >= 0)
                ok(buf_put_u32(pages, how));
        put_list(out, n, pages);
}

static void put_header(struct buf *file)
{
        struct buf payload = BUF_INIT, fields = BUF_INIT, columns = BUF_INIT;

        ok(buf_put_u64(&payload, 0));
        put_string(&payload, "n");
        put_string(&payload, "");
        put_string(&payload, "a test");
        put_field(&fields, 0, "x", 0);
        put_field(&fields, 1, "v", 0);
        put_field(&fields, 1, "_0", 0);
        put_column(&columns, REAL32, 32, 0, 0);
        put_column(&columns, INDEX64, 64, 1, 0);
        put_column(&columns, REAL32, 32, 2, 0);
        put_schema(&payload, 3, &fields, 3, &columns, 0);
        maker_envelope(file, 1, payload.data, payload.len);
        buf_deinit(&payload);
}

/* Ten entries: a page that two columns share, and a column that is suppressed. */
static void put_first_pages(struct buf *columns)
{
        struct buf pages = BUF_INIT;

        put_page(&pages, -10, 40, 10, true);
        put_pages(columns, 1, &pages, 0, 505);
        put_pages(columns, 0, &pages, -1, 0);
        put_page(&pages, 10, 40, 10, false);
        put_pages(columns, 1, &pages, 0, 505);
}

/* Five entries, with the column that came late. */
static void put_second_pages(struct buf *columns)
{
        struct buf pages = BUF_INIT;

        put_page(&pages, 5, 20, 50, false);
        put_pages(columns, 1, &pages, 10, 101);
        put_page(&pages, 5, 30, 70, false); /* compressed, but no block is there */
        put_pages(columns, 1, &pages, 0, 505);
        put_pages(columns, 0, &pages, 10, 505);
        put_page(&pages, 3, 12, 90, false);
        put_page(&pages, 2, 8, 102, false);
        put_pages(columns, 2, &pages, 0, 505);
}

static void put_page_list(struct buf *file, uint64_t checksum, uint64_t first, uint64_t entries)
{
        struct buf payload = BUF_INIT, list = BUF_INIT, cluster = BUF_INIT, columns = BUF_INIT;

        ok(buf_put_u64(&payload, checksum));
        ok(buf_put_u64(&cluster, first));
        ok(buf_put_u64(&cluster, entries | UINT64_C(1) << 56)); /* a flag */
        put_record(&list, &cluster);
        put_list(&payload, 1, &list);
        if (first == 0)
                put_first_pages(&columns);
        else
                put_second_pages(&columns);
        put_list(&list, first == 0 ? 3 : 4, &columns);
        put_list(&payload, 1, &list);
        maker_envelope(file, 3, payload.data, payload.len);
        buf_deinit(&payload);
}

static void put_group(struct buf *out, uint64_t at, uint64_t len)
{
        struct buf record = BUF_INIT;

        ok(buf_put_u64(&record, 0));
        ok(buf_put_u64(&record, 0));
        ok(buf_put_u32(&record, 1));
        ok(buf_put_u64(&record, len));
        ok(buf_put_u32(&record, (uint32_t)len));
        ok(buf_put_u64(&record, at));
        put_record(out, &record);
}

/* Writes page lists and footer; returns where the footer begins. */
static uint64_t put_rest(struct buf *file, uint64_t checksum)
{
        struct buf payload = BUF_INIT, schema = BUF_INIT, fields = BUF_INIT, columns = BUF_INIT;
        struct buf groups = BUF_INIT;
        uint64_t first = file->len, second, footer;

        put_page_list(file, checksum, 0, 10);
        second = file->len;
        put_page_list(file, checksum, 10, 5);
        footer = file->len;
        ok(buf_put_u64(&payload, 0));
        ok(buf_put_u64(&payload, checksum));
        put_field(&fields, 3, "late", 0);
        put_field(&fields, 4, "other", 2); /* projected */
        put_column(&columns, REAL32, 32, 3, 1);
        put_schema(&schema, 2, &fields, 1, &columns, 1);
        put_record(&payload, &schema);
        put_group(&groups, first, second - first);
        put_group(&groups, second, footer - second);
        put_list(&payload, 2, &groups);
        maker_envelope(file, 2, payload.data, payload.len);
        buf_deinit(&payload);
        return footer;
}

static int open_made(struct roast_rootfile **ret, bool damaged)
{
        ROAST_CLEANUP(maker_deinit) struct maker maker;
        ROAST_CLEANUP(buf_deinit) struct buf anchor = BUF_INIT;
        uint64_t header, header_end, footer;
        struct cursor checksum;
        char path[64];
        int fd, r;

        maker_init(&maker);
        header = maker.file.len;
        put_header(&maker.file);
        header_end = maker.file.len;
        checksum = cursor_init(maker.file.data + header_end - 8, 8);
        footer = put_rest(&maker.file, cursor_u64(&checksum) ^ damaged);
        maker_anchor(&anchor, header, header_end - header, footer, maker.file.len - footer);
        maker_object(&maker, "ROOT::RNTuple", "n", 1, anchor.data, (uint32_t)anchor.len);
        maker_finish(&maker);
        fd = memfd_create("made.root", MFD_CLOEXEC);
        assert_int_equal(write(fd, maker.file.data, maker.file.len), (ssize_t)maker.file.len);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = roast_rootfile_open(ret, path, NULL, NULL);
        close(fd);
        return r;
}

static void test_fields_and_columns_of_header_and_footer(void **state)
{
        struct roast_rootfile *file = NULL;
        const struct roast_root_ntuple *n;

        (void)state;
        assert_int_equal(open_made(&file, false), 0);
        assert_int_equal(file->num_ntuples, 1);
        n = &file->ntuples[0];
        assert_string_equal(n->writer, "a test");
        assert_true(n->entries == 15);
        assert_int_equal(n->num_fields, 5);
        assert_int_equal(n->num_top_fields, 4);
        assert_int_equal(n->extension_fields, 2);
        assert_int_equal(n->num_columns, 4);
        assert_int_equal(n->extension_columns, 1);
        assert_int_equal(n->num_alias_columns, 1);
        assert_int_equal(n->num_cluster_groups, 2);
        assert_int_equal(n->num_clusters, 2);
        assert_string_equal(n->fields[2].path, "v._0");
        assert_true(n->fields[4].projected);
        assert_true(n->columns[3].deferred);
        assert_string_equal(roast_root_column_type_name(n->columns[1].type), "Index64");
        roast_rootfile_free(file);
}

static void test_pages_are_summed_up_once_for_each_use(void **state)
{
        struct roast_rootfile *file = NULL;
        const struct roast_root_ntuple *n;

        (void)state;
        assert_int_equal(open_made(&file, false), 0);
        n = &file->ntuples[0];
        assert_int_equal(n->num_pages, 6);
        assert_true(n->compressed_bytes == 40 + 40 + 20 + 30 + 12 + 8);
        assert_true(n->unique_bytes == n->compressed_bytes - 40);
        assert_true(n->checksum_bytes == 8);
        assert_true(n->columns[0].elements == 15);
        assert_int_equal(n->columns[0].num_settings, 2);
        assert_int_equal(n->columns[0].settings[0], 101);
        assert_int_equal(n->columns[1].suppressed_clusters, 1);
        assert_int_equal(n->columns[1].algorithms.of[ROAST_ROOT_UNKNOWN], 1);
        assert_int_equal(n->columns[3].algorithms.of[ROAST_ROOT_NONE], 2);
        assert_true(n->fields[1].compressed_bytes == 30);
        assert_true(n->fields[1].subtree_compressed_bytes == 70);
        roast_rootfile_free(file);
}

static void test_a_range_takes_the_pages_of_the_clusters_that_overlap(void **state)
{
        static const char *const patterns[] = { "v*", "late" };
        static const char *const projected[] = { "other", "x" };
        struct roast_rootfile_view view = { .range = true, .start = 9, .stop = 10 };
        struct roast_rootfile *file = NULL;
        struct roast_root_need need = { 0 };

        (void)state;
        assert_int_equal(open_made(&file, false), 0);
        assert_int_equal(roast_root_ntuple_need(&file->ntuples[0], &view, &need), 0);
        assert_true(need.bytes == 80 && need.units == 2 && need.clusters == 1);
        view = (struct roast_rootfile_view){
                .start = 9, .stop = 11, .patterns = patterns, .num_patterns = 2
        };
        need = (struct roast_root_need){ 0 };
        assert_int_equal(roast_root_ntuple_need(&file->ntuples[0], &view, &need), 0);
        assert_true(need.bytes == 40 + 30 + 12 + 8 && need.units == 4 && need.clusters == 2);
        /* a projected field takes what it shows, and that once */
        view.patterns = projected;
        need = (struct roast_root_need){ 0 };
        assert_int_equal(roast_root_ntuple_need(&file->ntuples[0], &view, &need), 0);
        assert_true(need.bytes == 40 + 20 && need.units == 2);
        roast_rootfile_free(file);
}

static void test_a_footer_of_another_header_is_refused(void **state)
{
        struct roast_rootfile *file = NULL;

        (void)state;
        assert_int_equal(open_made(&file, true), ROAST_E_CORRUPT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_fields_and_columns_of_header_and_footer),
                cmocka_unit_test(test_pages_are_summed_up_once_for_each_use),
                cmocka_unit_test(test_a_range_takes_the_pages_of_the_clusters_that_overlap),
                cmocka_unit_test(test_a_footer_of_another_header_is_refused),
        };

        return cmocka_run_group_tests_name("rootfile-ntuple", tests, NULL, NULL);
}
