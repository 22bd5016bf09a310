/*
 * report/chunks: what the page knows of each chunk is what the run knows
 */

#include "unit.h"

#include "packed.h"
#include "record/chunk.h"
#include "sample.h"
#include "timeline/block.h"
#include "util/cleanup.h"
#include "util/size.h"

#define MS INT64_C(1000000)

struct row {
        int64_t wall_ns;
        int64_t peak_bytes;
        int64_t entry_start;
        const char *file;
        const char *dataset;
};

static void add_row(struct chunk_table *table, const struct row *row, int64_t start_utc_ns)
{
        size_t i = table->n;

        assert_int_equal(chunk_table_add(table), 0);
        chunk_table_set_text(table, i, CHUNK_WORKER, "w", 1);
        chunk_table_set_text(table, i, CHUNK_FILE, row->file, strlen(row->file));
        chunk_table_set_text(table, i, CHUNK_DATASET, row->dataset, strlen(row->dataset));
        chunk_table_set(table, i, CHUNK_ENTRY_START, row->entry_start);
        chunk_table_set(table, i, CHUNK_ENTRY_STOP, row->entry_start + 10);
        chunk_table_set(table, i, CHUNK_NUM_EVENTS, 11); /* one more than there are entries */
        chunk_table_set(table, i, CHUNK_OUTCOME, CHUNK_FINISHED);
        chunk_table_set(table, i, CHUNK_START_UTC_NS, start_utc_ns);
        chunk_table_set(table, i, CHUNK_WALL_NS, row->wall_ns);
        chunk_table_set(table, i, CHUNK_RSS_PEAK_BYTES, row->peak_bytes);
}

/* One after the other, a minute each, on one worker */
static struct roast_run *run_of(const struct row *rows, size_t n)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_run *run;

        chunk_table_init(&table);
        for (size_t i = 0; i < n; i++)
                add_row(&table, &rows[i], SAMPLE_START_UTC_NS + (int64_t)i * 60 * SAMPLE_S);
        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_true(roast_run_add_chunks(run, bytes.data, bytes.len, NULL) >= 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        return run;
}

static void test_every_digit_of_a_size_is_there(void **state)
{
        static const struct row rows[] = {
                { 10 * MS, 1234567891, 0, "a", "x" },
                { 10 * MS, INT64_C(98765432109876), INT64_C(30000000001), "a", "x" },
                { 10 * MS, -1, 20, "a", "x" }, /* damaged: not known */
                { 10 * MS, CHUNK_ABSENT, 30, "a", "x" },
                { 10 * MS, 0, 40, "a", "x" },
        };
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run = run_of(rows, ROAST_ARRAY_SIZE(rows));

        (void)state;
        packed_of_run(&data, run);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                uint64_t peak = packed_number(&data, "rss_peak_bytes", i);

                assert_true(peak ==
                            (rows[i].peak_bytes < 0 ? PACK_ABSENT : (uint64_t)rows[i].peak_bytes));
                assert_true(packed_number(&data, "entry_start", i) ==
                            (uint64_t)rows[i].entry_start);
                assert_int_equal(packed_number(&data, "num_events", i), 11);
                assert_int_equal(packed_number(&data, "beyond", i), 1); /* zigzag: -1 */
        }
        roast_run_free(run);
}

static void test_one_that_hung_takes_no_digits_from_the_others(void **state)
{
        struct row rows[1000];
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run;
        uint64_t unit_ns;

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++)
                rows[i] = (struct row){ 20 * MS + (int64_t)i, 4096, (int64_t)i, "a", "x" };
        rows[500].wall_ns = INT64_C(36000) * SAMPLE_S + 123456789;
        run = run_of(rows, ROAST_ARRAY_SIZE(rows));
        packed_of_run(&data, run);
        unit_ns = packed_unit(&data, "wall_ns");
        assert_true(unit_ns <= 10000); /* the mean is 36 s: seven digits */
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i += 50) {
                int64_t off = (int64_t)packed_number(&data, "wall_ns", i) - rows[i].wall_ns;

                assert_true(off >= -(int64_t)unit_ns / 2 && off <= (int64_t)unit_ns / 2);
        }
        roast_run_free(run);
}

static void test_short_chunks_have_nanoseconds(void **state)
{
        static const struct row rows[] = {
                { 1234567, 1, 0, "a", "x" },
                { 7654321, 1, 1, "a", "x" },
                { 0, 1, 2, "a", "x" },
                { CHUNK_ABSENT, 1, 3, "a", "x" },
        };
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run = run_of(rows, ROAST_ARRAY_SIZE(rows));

        (void)state;
        packed_of_run(&data, run);
        for (size_t i = 0; i < 3; i++)
                assert_int_equal(packed_number(&data, "wall_ns", i), rows[i].wall_ns);
        assert_true(packed_number(&data, "wall_ns", 3) == PACK_ABSENT);
        roast_run_free(run);
}

static void test_a_file_may_have_several_datasets(void **state)
{
        static const struct row rows[] = {
                { MS, 1, 0, "a", "x" }, { MS, 1, 1, "b", "y" }, { MS, 1, 2, "c", "z" },
                { MS, 1, 3, "a", "z" }, { MS, 1, 4, "c", "x" }, { MS, 1, 5, "b", "y" },
        };
        static const char *const names = "xyz"; /* as they are numbered */
        ROAST_CLEANUP(packed_deinit) struct packed data;
        struct roast_run *run = run_of(rows, ROAST_ARRAY_SIZE(rows));

        (void)state;
        packed_of_run(&data, run);
        assert_has(data.json, "\"datasets\":[\"x\",\"y\",\"z\"]");
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                uint64_t file = packed_number(&data, "file", i);
                uint64_t dataset = packed_number(&data, "file_dataset", file) +
                                   packed_number(&data, "other_dataset", i);

                assert_int_equal(names[dataset % 3], rows[i].dataset[0]);
        }
        roast_run_free(run);
}

/* Samples that nothing is drawn of make no worker: TaskVine's manager has such. */
static void test_a_manager_is_no_worker(void **state)
{
        static const int64_t times[] = { SAMPLE_START_UTC_NS / MS,
                                         SAMPLE_START_UTC_NS / MS + 1000 };
        static const int64_t values[] = { 4096, 8192 };
        const int64_t *series[] = { values };
        ROAST_CLEANUP(packed_deinit) struct packed data;
        ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;
        struct roast_run *run;

        (void)state;
        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(block_encode(&block, times, series, 2, 1, NULL), 0);
        assert_true(roast_run_add_series(run, "manager", "tasks_waiting", block.data, block.len,
                                         NULL) >= 0);
        assert_true(roast_run_add_series(run, "worker", "rss_bytes", block.data, block.len, NULL) >=
                    0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        packed_of_run(&data, run);
        assert_has(data.json, "\"workers\":[\"worker\"]");
        assert_has(data.json, "\"key\":\"memory\"");
        roast_run_free(run);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_every_digit_of_a_size_is_there),
                cmocka_unit_test(test_one_that_hung_takes_no_digits_from_the_others),
                cmocka_unit_test(test_short_chunks_have_nanoseconds),
                cmocka_unit_test(test_a_file_may_have_several_datasets),
                cmocka_unit_test(test_a_manager_is_no_worker),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
