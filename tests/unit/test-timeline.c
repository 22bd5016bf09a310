/* timeline/: blocks of samples, the range coder and the plain bits under them */

#include "unit.h"

#include <stdlib.h>

#include "roast-error.h"
#include "sample.h"
#include "table.h"
#include "timeline/bits.h"
#include "timeline/block.h"
#include "timeline/range.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/size.h"

/* Encodes, decodes, compares; returns the size of the block. */
static size_t round_trip(const struct table *table)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        struct roast_error error = { 0 };

        assert_int_equal(table_encode(table, &buf, &error), 0);
        assert_int_equal(block_decode(&block, buf.data, buf.len, &error), 0);
        assert_block_is_table(&block, table);
        return buf.len;
}

/* ---- blocks ---- */

static void test_any_table_comes_back_as_it_was(void **state)
{
        uint64_t seed = 1;

        (void)state;
        for (size_t i = 0; i < 2000; i++) {
                ROAST_CLEANUP(table_deinit) struct table table;

                table_init_random(&table, sample_below(&seed, 200), sample_below(&seed, 24), &seed);
                round_trip(&table);
        }
}

static void test_a_block_moves_in_time_and_stays_the_same_otherwise(void **state)
{
        static const int64_t offsets[] = { 0, 1, -7, 3600000, INT64_MAX, INT64_MIN };
        uint64_t seed = 20;

        (void)state;
        for (size_t i = 0; i < 600; i++) {
                ROAST_CLEANUP(table_deinit) struct table table;
                ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
                ROAST_CLEANUP(buf_deinit) struct buf moved = BUF_INIT;
                ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
                int64_t offset = offsets[i % ROAST_ARRAY_SIZE(offsets)];

                table_init_random(&table, sample_below(&seed, 100), sample_below(&seed, 12), &seed);
                if (table.k && i % 2) /* a series that is coded as the times' */
                        memcpy(table.cells + table.n, table.cells, table.n * sizeof(*table.cells));
                assert_int_equal(table_encode(&table, &buf, NULL), 0);
                assert_int_equal(buf_puts(&moved, "before"), 0);
                assert_int_equal(block_move(&moved, buf.data, buf.len, offset, NULL), 0);
                assert_memory_equal(moved.data, "before", 6);
                for (size_t row = 0; row < table.n; row++)
                        table.cells[row] = (int64_t)((uint64_t)table.cells[row] + (uint64_t)offset);
                assert_int_equal(block_decode(&block, moved.data + 6, moved.len - 6, NULL), 0);
                assert_block_is_table(&block, &table);
        }
}

static void test_the_times_come_back_alone(void **state)
{
        uint64_t seed = 21;

        (void)state;
        for (size_t i = 0; i < 600; i++) {
                ROAST_CLEANUP(table_deinit) struct table table;
                ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
                ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;

                table_init_random(&table, sample_below(&seed, 100), sample_below(&seed, 12), &seed);
                assert_int_equal(table_encode(&table, &buf, NULL), 0);
                assert_int_equal(block_decode_times(&block, buf.data, buf.len, NULL), 0);
                assert_int_equal(block.n, table.n);
                assert_int_equal(block.k, table.k);
                if (table.n)
                        assert_memory_equal(block.times, table.cells,
                                            table.n * sizeof(*table.cells));
                /* The block's memory is enough for what it is used for next. */
                assert_int_equal(block_decode(&block, buf.data, buf.len, NULL), 0);
                assert_block_is_table(&block, &table);
        }
}

static void test_the_largest_block_comes_back(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table tall, wide;
        uint64_t seed = 2;

        (void)state;
        table_init_random(&tall, BLOCK_ROWS_MAX, 7, &seed);
        round_trip(&tall);
        table_init_random(&wide, 50, BLOCK_SERIES_MAX, &seed);
        round_trip(&wide);
}

static void test_no_rows_and_one_row_are_blocks_too(void **state)
{
        uint64_t seed = 3;

        (void)state;
        for (size_t n = 0; n <= 2; n++)
                for (size_t k = 0; k <= 3; k++) {
                        ROAST_CLEANUP(table_deinit) struct table table;

                        table_init_random(&table, n, k, &seed);
                        round_trip(&table);
                }
}

static void test_every_jump_between_extremes_comes_back(void **state)
{
        static const int64_t extremes[] = {
                INT64_MIN, INT64_MIN + 1, INT64_MIN / 2, -1, 0, 1, INT64_MAX / 2, INT64_MAX,
        };
        const size_t count = ROAST_ARRAY_SIZE(extremes);

        (void)state;
        for (size_t i = 0; i < count * count * count; i++) {
                ROAST_CLEANUP(table_deinit) struct table table;

                table_init(&table, 3, 1);
                table.cells[3] = extremes[i % count];
                table.cells[4] = extremes[i / count % count];
                table.cells[5] = extremes[i / count / count];
                memcpy(table.cells, table.cells + 3, 3 * sizeof(int64_t));
                round_trip(&table);
        }
}

/* Its first value and one byte, however many rows there are. */
static void test_a_constant_series_costs_nothing_per_row(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table table;

        (void)state;
        table_init(&table, 10000, 20);
        for (size_t i = 0; i < table.n; i++)
                table.cells[i] = 1000 * (int64_t)i;
        assert_true(round_trip(&table) < 16 + 20 * 2);
}

/* Loopback traffic: as much is sent as is received. */
static void test_a_series_that_follows_another_costs_nothing_per_row(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table one, two;
        uint64_t seed = 4;

        (void)state;
        table_init(&one, 5000, 1);
        table_fill_noise(one.cells + one.n, one.n, &seed);
        table_init(&two, 5000, 2);
        memcpy(two.cells + two.n, one.cells + one.n, one.n * sizeof(int64_t));
        for (size_t i = 0; i < two.n; i++)
                two.cells[2 * two.n + i] =
                        (int64_t)((uint64_t)two.cells[two.n + i] + UINT64_C(12345));
        assert_true(round_trip(&two) <= round_trip(&one) + 12);
}

static void test_a_common_divisor_costs_nothing_per_row(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table pages, bytes;
        uint64_t seed = 5;

        (void)state;
        table_init(&pages, 1000, 1);
        table_init(&bytes, 1000, 1);
        for (size_t i = 0; i < pages.n; i++) {
                pages.cells[pages.n + i] = (int64_t)sample_below(&seed, 1000);
                bytes.cells[bytes.n + i] = 4096 * pages.cells[pages.n + i] + 17;
        }
        assert_true(round_trip(&bytes) <= round_trip(&pages) + 8);
}

/* Noise is stored at its own size: 64 bits, and little for the lengths. */
static void test_noise_hardly_grows(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table table;
        uint64_t seed = 6;

        (void)state;
        table_init(&table, 1000, 4);
        for (size_t i = 1; i <= 4; i++)
                table_fill_noise(table.cells + i * table.n, table.n, &seed);
        assert_true(round_trip(&table) < 4 * 1000 * 8 * 105 / 100);
}

static void test_a_decoded_block_can_be_used_again(void **state)
{
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        uint64_t seed = 7;

        (void)state;
        for (size_t i = 0; i < 50; i++) {
                ROAST_CLEANUP(table_deinit) struct table table;
                ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;

                table_init_random(&table, sample_below(&seed, 100), sample_below(&seed, 10), &seed);
                assert_int_equal(table_encode(&table, &buf, NULL), 0);
                assert_int_equal(block_decode(&block, buf.data, buf.len, NULL), 0);
                assert_block_is_table(&block, &table);
        }
}

static void test_a_block_is_appended(void **state)
{
        ROAST_CLEANUP(table_deinit) struct table table;
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        uint64_t seed = 8;

        (void)state;
        table_init_random(&table, 40, 8, &seed);
        assert_int_equal(buf_puts(&buf, "before"), 0);
        assert_int_equal(table_encode(&table, &buf, NULL), 0);
        assert_memory_equal(buf.data, "before", 6);
        assert_int_equal(block_decode(&block, buf.data + 6, buf.len - 6, NULL), 0);
        assert_block_is_table(&block, &table);
}

static void test_too_many_rows_or_series_are_refused(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        struct roast_error error = { 0 };

        (void)state;
        assert_int_equal(block_encode(&buf, NULL, NULL, BLOCK_ROWS_MAX + 1, 0, &error),
                         ROAST_E_INVALID);
        assert_int_equal(block_encode(&buf, NULL, NULL, 0, BLOCK_SERIES_MAX + 1, &error),
                         ROAST_E_INVALID);
        assert_int_equal(buf.len, 0);
}

/* As docs/format-series.md describes them: other bytes are another version. */
static void test_the_bytes_of_version_1_stay_as_they_are(void **state)
{
        static const uint8_t expected[] = {
                'R',  'B',  1,    4,    5,                /* 4 series, 5 rows */
                0xd0, 0x0f, 0x83, 0xc8, 0x01, 0x41,       /* 1000, drift 100, falls, width 1 */
                0x0e, 0x00,                               /* 7, constant */
                0x00, 0x82, 0x80, 0x20, 0x41,             /* 0, scale 4096, falls, width 1 */
                0x0a, 0x81, 0x02,                         /* 5, like column 2 */
                0x14, 0x09,                               /* 10, width 9 */
                0x02, 0x92, 0x0e, 0x8a, 0x5e, 0x14, 0x12, /* two bytes of bits, the code */
        };
        ROAST_CLEANUP(table_deinit) struct table table;
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;

        (void)state;
        table_init(&table, 5, 4);
        memcpy(table.cells,
               (int64_t[]){
                       1000, 1100, 1201, 1300, 1400, /* time, 100 and a jitter */
                       7,    7,    7,    7,    7,    /* constant */
                       0,    4096, 4096, 8192, 4096, /* pages, also falling */
                       5,    4101, 4101, 8197, 4101, /* the same plus 5 */
                       10,   11,   15,   15,   300,  /* a counter */
               },
               25 * sizeof(int64_t));
        assert_int_equal(table_encode(&table, &buf, NULL), 0);
        assert_int_equal(buf.len, sizeof(expected));
        assert_memory_equal(buf.data, expected, sizeof(expected));
}

/* ---- the streams ---- */

/* One in `rarity` bits is set; returns the length of the code in bytes. */
static size_t range_round_trip(size_t count, uint64_t rarity, uint64_t seed)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        struct range_model model = RANGE_MODEL_INIT;
        struct range_encoder encoder;
        struct range_decoder decoder;
        uint64_t again = seed;

        range_encoder_init(&encoder, &buf);
        for (size_t i = 0; i < count; i++)
                range_encode(&encoder, &model, sample_below(&seed, rarity) == 0);
        assert_int_equal(range_encoder_finish(&encoder), 0);

        model = (struct range_model)RANGE_MODEL_INIT;
        assert_true(range_decoder_init(&decoder, buf.data, buf.len));
        for (size_t i = 0; i < count; i++) {
                bool bit = sample_below(&again, rarity) == 0;

                if (i % 2)
                        assert_int_equal(range_decode(&decoder, &model), bit);
                else
                        assert_int_equal(range_decode_even(&decoder, &model), bit);
        }
        assert_true(range_decoder_finish(&decoder));
        return buf.len;
}

static void test_decisions_cost_what_their_surprise_is_worth(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed < 3000; seed++)
                range_round_trip(seed % 300, 1 + seed % 7, seed);
        /* the entropy of 100,000 bits, and what forgetting costs */
        assert_in_range(range_round_trip(100000, 2, 1), 12500, 12800);
        assert_in_range(range_round_trip(100000, 100, 1), 1010, 1300);
        assert_in_range(range_round_trip(100000, 1, 1), 4, 24);
}

/* A low end of all ones that overflows: the carry runs through all words that were written. */
static void test_a_carry_runs_back_as_far_as_it_must(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        struct range_encoder encoder;

        (void)state;
        range_encoder_init(&encoder, &buf);
        assert_int_equal(buf_append(&buf, "\x01\xff\xff\xff\xff\xff\xff\xff", 8), 0);
        encoder.low = UINT64_MAX - 1;
        encoder.range = UINT64_C(1) << 40;
        assert_int_equal(range_encoder_finish(&encoder), 0);
        assert_int_equal(buf.len, 12);
        assert_memory_equal(buf.data, "\x02\0\0\0\0\0\0\0\0\0\0\0", 12);
}

static void test_plain_bits_of_every_width_come_back(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;
        struct bits_writer writer = { .out = &buf };
        struct bits_reader reader;
        uint64_t seed = 13, again = 13;

        (void)state;
        for (unsigned int i = 0; i < 10000; i++) {
                unsigned int count = (unsigned int)sample_below(&seed, 65);
                uint64_t value = sample_random(&seed);

                bits_write(&writer, count ? value >> (64 - count) : 0, count);
        }
        assert_int_equal(bits_writer_finish(&writer), 0);
        reader = (struct bits_reader){ .data = buf.data, .len = buf.len };
        for (unsigned int i = 0; i < 10000; i++) {
                unsigned int count = (unsigned int)sample_below(&again, 65);
                uint64_t value = sample_random(&again);

                assert_true(bits_read(&reader, count) == (count ? value >> (64 - count) : 0));
        }
        assert_true(bits_reader_finish(&reader));
        assert_int_equal(bits_read(&reader, 64), 0);
        assert_false(bits_reader_finish(&reader));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_any_table_comes_back_as_it_was),
                cmocka_unit_test(test_a_block_moves_in_time_and_stays_the_same_otherwise),
                cmocka_unit_test(test_the_times_come_back_alone),
                cmocka_unit_test(test_the_largest_block_comes_back),
                cmocka_unit_test(test_no_rows_and_one_row_are_blocks_too),
                cmocka_unit_test(test_every_jump_between_extremes_comes_back),
                cmocka_unit_test(test_a_constant_series_costs_nothing_per_row),
                cmocka_unit_test(test_a_series_that_follows_another_costs_nothing_per_row),
                cmocka_unit_test(test_a_common_divisor_costs_nothing_per_row),
                cmocka_unit_test(test_noise_hardly_grows),
                cmocka_unit_test(test_a_decoded_block_can_be_used_again),
                cmocka_unit_test(test_a_block_is_appended),
                cmocka_unit_test(test_too_many_rows_or_series_are_refused),
                cmocka_unit_test(test_the_bytes_of_version_1_stay_as_they_are),
                cmocka_unit_test(test_decisions_cost_what_their_surprise_is_worth),
                cmocka_unit_test(test_a_carry_runs_back_as_far_as_it_must),
                cmocka_unit_test(test_plain_bits_of_every_width_come_back),
        };

        return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
