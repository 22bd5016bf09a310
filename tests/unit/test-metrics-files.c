/* metrics/files, metrics/coverage: what the metadata of files and the branches of chunks tell */

#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "roast-metrics.h"
#include "summed.h"
#include "util/cbor.h"
#include "util/cleanup.h"
#include "util/size.h"

/* A chunk of a.root, whose tree has 10 branches with 1,000 bytes */
static void add_chunk(struct chunk_table *table, int64_t selected_bytes)
{
        size_t row = table->n;

        assert_int_equal(chunk_table_add(table), 0);
        assert_int_equal(chunk_table_set_text(table, row, CHUNK_FILE, "a.root", 6), 0);
        chunk_table_set(table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
        chunk_table_set(table, row, CHUNK_ENTRY_START, (int64_t)row * 100);
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, (int64_t)row * 100 + 100);
        chunk_table_set(table, row, CHUNK_TREE_BRANCHES, 10);
        chunk_table_set(table, row, CHUNK_TREE_BYTES, 1000);
        chunk_table_set(table, row, CHUNK_SELECTED_BYTES, selected_bytes);
}

static void touch(struct chunk_table *table, const char *branch, int64_t bytes)
{
        assert_int_equal(chunk_table_add_branch(table, branch, strlen(branch), bytes), 0);
}

static void set_metadata(struct chunk_table *table, const struct buf *map)
{
        assert_int_equal(chunk_table_set_text(table, table->n - 1, CHUNK_FILE_METADATA,
                                              (const char *)map->data, map->len),
                         0);
}

static void put_text(struct buf *out, const char *text)
{
        assert_int_equal(cbor_put_text(out, text, strlen(text)), 0);
}

/* {"branch_bytes": {x: 100, y: 200, z: 300}, "compression_ratio": ratio} */
static void put_metadata(struct buf *out, double ratio)
{
        static const char *const names[] = { "x", "y", "z" };

        assert_int_equal(cbor_put(out, CBOR_MAP, 2), 0);
        put_text(out, "branch_bytes");
        assert_int_equal(cbor_put(out, CBOR_MAP, 3), 0);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(names); i++) {
                put_text(out, names[i]);
                assert_int_equal(cbor_put_int(out, 100 * ((int64_t)i + 1)), 0);
        }
        put_text(out, "compression_ratio");
        assert_int_equal(cbor_put_real(out, ratio), 0);
}

/* Two chunks touch x and y, and y and z: 300 and 500 bytes of the file. */
static void add_overlapping(struct chunk_table *table)
{
        add_chunk(table, 300);
        touch(table, "x", 10);
        touch(table, "y", 20);
        add_chunk(table, 500);
        touch(table, "y", 20);
        touch(table, "z", 30);
}

static void sum_up(struct roast_summary *summary, const struct chunk_table *table)
{
        struct roast_run *run = new_timed_run();

        add_table(run, table);
        summarize(summary, run);
}

static void test_sizes_of_branches_in_the_metadata_make_a_union_exact(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf map = BUF_INIT;

        (void)state;
        chunk_table_init(&table);
        add_overlapping(&table);
        put_metadata(&map, 0.25);
        set_metadata(&table, &map);
        sum_up(&summary, &table);
        assert_int_equal(summary.n_files, 1);
        assert_int_equal(summary.files[0].branches_read, 3);
        assert_near(summary.files[0].bytes_read, 600);
        assert_near(summary.files[0].branches_read_percent, 30);
        assert_near(summary.files[0].bytes_read_percent, 60);
        assert_false(summary.files[0].estimated);
        assert_near(summary.files[0].compression_ratio, 0.25);
        assert_near(known(&summary, ROAST_AVG_BYTES_READ_PERCENT), 60);
        assert_near(known(&summary, ROAST_CHUNK_BYTES_READ_PERCENT_MEAN), 40);
}

/* The larger set counts whole, of the other the half that is new: 500 + 300 / 2. */
static void test_a_union_without_them_is_estimated(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        add_overlapping(&table);
        sum_up(&summary, &table);
        assert_near(summary.files[0].bytes_read, 650);
        assert_true(summary.files[0].estimated);
        assert_true(isnan(summary.files[0].compression_ratio));
        assert_int_equal(summary.metrics.values[ROAST_AVG_BYTES_READ_PERCENT].state,
                         ROAST_ESTIMATED);
        assert_near(summary.metrics.values[ROAST_AVG_BYTES_READ_PERCENT].real, 65);
        assert_string_equal(roast_metric_reason(&summary.metrics, ROAST_AVG_BYTES_READ_PERCENT),
                            "chunks read overlapping sets of branches of 1 files");
}

/* Every process that opened a file sends its totals, one of them also its branches. */
static void test_the_metadata_that_tells_most_is_kept(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf map = BUF_INIT;

        (void)state;
        put_metadata(&map, 0.5);
        for (size_t with = 0; with < 2; with++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

                chunk_table_init(&table);
                for (size_t i = 0; i < 2; i++) {
                        struct buf part = { .data = (uint8_t *)"\xa0", .len = 1 };

                        add_chunk(&table, 100);
                        set_metadata(&table, i == with ? &map : &part);
                }
                sum_up(&summary, &table);
                assert_int_equal(summary.files[0].metadata_len, map.len);
                assert_memory_equal(summary.files[0].metadata, map.data, map.len);
                assert_near(summary.files[0].compression_ratio, 0.5);
        }
}

static void test_ratios_that_cannot_be_are_not_known(void **state)
{
        static const double ratios[] = { 0, -0.5, (double)INFINITY, (double)NAN };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(ratios); i++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                ROAST_CLEANUP(buf_deinit) struct buf map = BUF_INIT;

                chunk_table_init(&table);
                add_chunk(&table, 100);
                put_metadata(&map, ratios[i]);
                set_metadata(&table, &map);
                sum_up(&summary, &table);
                assert_true(isnan(summary.files[0].compression_ratio));
        }
}

/* Keys that are no text, sizes that are no numbers, and branches that nobody touched */
static void put_strange(struct buf *out)
{
        assert_int_equal(cbor_put(out, CBOR_MAP, 4), 0);
        assert_int_equal(cbor_put(out, CBOR_ARRAY, 2), 0);
        assert_int_equal(cbor_put_int(out, 1), 0);
        assert_int_equal(cbor_put_int(out, 2), 0);
        assert_int_equal(cbor_put_int(out, 3), 0);
        put_text(out, "branch_bytes");
        assert_int_equal(cbor_put(out, CBOR_MAP, 4), 0);
        assert_int_equal(cbor_put(out, CBOR_ARRAY, 1), 0);
        assert_int_equal(cbor_put_int(out, 1), 0);
        assert_int_equal(cbor_put_int(out, 900), 0);
        put_text(out, "x");
        assert_int_equal(cbor_put(out, CBOR_ARRAY, 1), 0);
        put_text(out, "900");
        put_text(out, "never touched");
        assert_int_equal(cbor_put_int(out, 900), 0);
        put_text(out, "a.root"); /* a string of the run, but no branch */
        assert_int_equal(cbor_put_int(out, 900), 0);
        put_text(out, "branch_bytes");
        put_text(out, "none");
        put_text(out, "compression_ratio");
        put_text(out, "good");
}

static void test_strange_metadata_tell_nothing(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf map = BUF_INIT;

        (void)state;
        put_strange(&map);
        for (size_t len = 1; len <= map.len; len++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

                chunk_table_init(&table);
                add_overlapping(&table);
                set_metadata(&table, &(struct buf){ .data = map.data, .len = len });
                sum_up(&summary, &table);
                assert_near(summary.files[0].bytes_read, 650);
                assert_true(summary.files[0].estimated);
                assert_true(isnan(summary.files[0].compression_ratio));
        }
}

static void test_branches_are_ordered_by_what_they_need(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        for (size_t row = 0; row < 2; row++) {
                add_chunk(&table, 1000);
                for (int i = 0; i < 100; i++) {
                        char name[16];

                        snprintf(name, sizeof(name), "branch%02d", i);
                        touch(&table, name, i % 50 == 49 ? CHUNK_ABSENT : i % 50);
                }
        }
        sum_up(&summary, &table);
        assert_int_equal(summary.n_branches, 100);
        /* the same bytes: by name; sizes that are not told count as none */
        assert_string_equal(summary.branches[0].name, "branch48");
        assert_string_equal(summary.branches[1].name, "branch98");
        assert_int_equal(summary.branches[1].needed.bytes, 2 * 48);
        assert_int_equal(summary.branches[1].needed.chunks, 2);
        assert_string_equal(summary.branches[97].name, "branch49");
        assert_string_equal(summary.branches[99].name, "branch99");
        assert_int_equal(summary.branches[99].chunks, 2);
        assert_int_equal(summary.branches[99].needed.chunks, 0);
        assert_near(known(&summary, ROAST_TOTAL_BRANCHES_READ), 100);
        /* more branches than the tree says it has */
        assert_near(known(&summary, ROAST_AVG_BRANCHES_READ_PERCENT), 100);
}

static void test_what_branches_without_sizes_need_is_not_known(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        add_chunk(&table, 300);
        touch(&table, "x", CHUNK_ABSENT);
        touch(&table, "y", CHUNK_ABSENT);
        sum_up(&summary, &table);
        assert_int_equal(summary.bytes.needed.chunks, 0);
        assert_absent(&summary, ROAST_BYTES_NEEDED, "no chunk that finished tells it");
        assert_absent(&summary, ROAST_BYTES_NEEDED_AGAIN, "no chunk that finished tells it");
        assert_absent(&summary, ROAST_REQUEST_AMPLIFICATION, "no chunk that finished tells it");
}

static void test_a_chunk_that_touched_no_branch_needs_nothing(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        add_chunk(&table, 0);
        add_chunk(&table, 300);
        touch(&table, "x", 10);
        touch(&table, "computed", CHUNK_ABSENT);
        sum_up(&summary, &table);
        assert_int_equal(summary.bytes.needed.chunks, 2);
        assert_near(known(&summary, ROAST_BYTES_NEEDED), 10);
}

/* Both read the same two chunks, the second of which begins within a basket of the first. */
static void test_datasets_that_share_a_file_have_each_their_bytes(void **state)
{
        static const char *const names[] = { "nominal", "jesUp" };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        for (size_t row = 0; row < 4; row++) {
                const char *name = names[row / 2];

                add_chunk(&table, 300);
                assert_int_equal(
                        chunk_table_set_text(&table, row, CHUNK_DATASET, name, strlen(name)), 0);
                chunk_table_set(&table, row, CHUNK_ENTRY_START, (int64_t)(row % 2) * 100);
                chunk_table_set(&table, row, CHUNK_ENTRY_STOP, (int64_t)(row % 2) * 100 + 100);
                chunk_table_set(&table, row, CHUNK_REQUESTED_BYTES, 70);
                chunk_table_set(&table, row, CHUNK_RCHAR_BYTES, 80);
                chunk_table_set(&table, row, CHUNK_READ_BYTES, 90);
                chunk_table_set(&table, row, CHUNK_CUT_BYTES, row % 2 ? 5 : 0);
                touch(&table, "x", 60);
        }
        sum_up(&summary, &table);
        assert_int_equal(summary.n_datasets, 2);
        for (size_t i = 0; i < 2; i++) {
                const struct roast_bytes *sums = &summary.datasets[i].sums;

                assert_int_equal(sums->chunks, 2);
                assert_int_equal(sums->needed.bytes, 120);
                assert_int_equal(sums->requested.bytes, 140);
                assert_int_equal(sums->kernel.bytes, 160);
                assert_int_equal(sums->storage.bytes, 180);
                assert_int_equal(sums->cut_chunks, 1);
                assert_int_equal(sums->again, 5);
        }
        assert_int_equal(summary.files[0].sums.needed.bytes, 240);
        assert_int_equal(summary.bytes.trees, 1);
        assert_near(known(&summary, ROAST_BYTES_NEEDED), 240);
        assert_near(known(&summary, ROAST_BYTES_NEEDED_AGAIN), 10);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_sizes_of_branches_in_the_metadata_make_a_union_exact),
                cmocka_unit_test(test_a_union_without_them_is_estimated),
                cmocka_unit_test(test_the_metadata_that_tells_most_is_kept),
                cmocka_unit_test(test_ratios_that_cannot_be_are_not_known),
                cmocka_unit_test(test_strange_metadata_tell_nothing),
                cmocka_unit_test(test_branches_are_ordered_by_what_they_need),
                cmocka_unit_test(test_what_branches_without_sizes_need_is_not_known),
                cmocka_unit_test(test_a_chunk_that_touched_no_branch_needs_nothing),
                cmocka_unit_test(test_datasets_that_share_a_file_have_each_their_bytes),
        };

        return cmocka_run_group_tests_name("metrics-files", tests, NULL, NULL);
}
