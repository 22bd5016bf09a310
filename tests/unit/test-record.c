/* record/: tables of chunk records, and their bytes */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "record/chunk.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

/* ---- the oracle: rows as plain structs ---- */

#define PARTS_MAX 5

struct string {
        bool here;
        size_t len;
        char data[40];
};

struct part {
        struct string name;
        int64_t values[SECTION_N_FIELDS];
};

struct row {
        int64_t ints[CHUNK_N_FIELDS];
        struct string strings[CHUNK_N_FIELDS];
        size_t n_sections, n_branches;
        struct part sections[PARTS_MAX];
        struct part branches[PARTS_MAX];
};

struct rows {
        struct row *rows;
        size_t n;
};

static void rows_deinit(struct rows *rows)
{
        free(rows->rows);
}

/* How the values of a field go from row to row; a table has a manner for each of its fields. */
enum manner { ABSENT, CONSTANT, SMALL, GROWING, EXTREME, NOISE, SOMETIMES, N_MANNERS };

static int64_t make_int(enum manner manner, int64_t before, uint64_t *seed)
{
        static const int64_t extremes[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX };

        switch (manner) {
        case CONSTANT:
                return 4711;
        case SMALL:
                return (int64_t)sample_below(seed, 10) - 5;
        case GROWING:
                return (before == CHUNK_ABSENT ? 0 : before) + (int64_t)sample_below(seed, 100000);
        case EXTREME:
                return extremes[sample_below(seed, ROAST_ARRAY_SIZE(extremes))];
        case NOISE:
                return (int64_t)sample_random(seed);
        case SOMETIMES:
                return sample_below(seed, 4) ? CHUNK_ABSENT : (int64_t)sample_below(seed, 1000);
        case ABSENT:
        case N_MANNERS:
                break;
        }
        return CHUNK_ABSENT;
}

static struct string make_string(uint64_t *seed)
{
        static const struct string strings[] = {
                { true, 0, "" },
                { true, 1, "a" },
                { true, 6, "DYJets" },
                { true, 7, "DYJets2" },
                { true, 8, "\xce\xbc\xce\xbc\xe2\x86\x92Z" },
                { true, 4, "\xf0\x9f\x98\x80" },
                { true, 3, "a\0b" },
                { true, 2, "a" },
                { true, 3, "\xff\xfe\x80" },
                { true, 39, "root://host//store/a-rather-long-file.r" },
        };
        struct string string = strings[sample_below(seed, ROAST_ARRAY_SIZE(strings))];

        if (sample_below(seed, 8) == 0)
                for (size_t i = 0; i < string.len; i++)
                        string.data[i] = (char)sample_random(seed);
        return string;
}

static size_t make_parts(struct part *parts, const enum manner *manners, uint64_t *seed)
{
        size_t n = sample_below(seed, PARTS_MAX + 1);

        for (size_t i = 0; i < n; i++) {
                parts[i].name = make_string(seed);
                for (size_t j = 0; j < SECTION_N_FIELDS; j++)
                        parts[i].values[j] =
                                make_int(manners[j], i ? parts[i - 1].values[j] : 0, seed);
        }
        return n;
}

/* The values that a real chunk has: the parts of its time sum to the whole, and so on. */
static void make_consistent(struct row *row)
{
        row->ints[CHUNK_NUM_EVENTS] = 1000;
        row->ints[CHUNK_ENTRY_START] = 5000;
        row->ints[CHUNK_ENTRY_STOP] = 6000;
        row->ints[CHUNK_WALL_NS] = 1000000;
        for (size_t i = CHUNK_CPU_NS; i < CHUNK_OTHER_NS; i++)
                row->ints[i] = 1000;
        row->ints[CHUNK_OTHER_NS] = 1000000 - (CHUNK_OTHER_NS - CHUNK_CPU_NS) * 1000;
        for (size_t i = 0; i < row->n_sections; i++) {
                int64_t *values = row->sections[i].values;

                values[SECTION_COUNT] = 1;
                values[SECTION_TOTAL_NS] = values[SECTION_SELF_NS] = 77;
                values[SECTION_MIN_NS] = values[SECTION_MAX_NS] = 77;
        }
}

static void rows_init_random(struct rows *rows, size_t n, uint64_t *seed)
{
        enum manner fields[CHUNK_N_FIELDS], sections[SECTION_N_FIELDS], branches[SECTION_N_FIELDS];
        bool consistent = sample_below(seed, 3) == 0;

        rows->n = n;
        rows->rows = calloc(n + 1, sizeof(*rows->rows));
        assert_non_null(rows->rows);
        for (size_t i = 0; i < CHUNK_N_FIELDS; i++)
                fields[i] = (enum manner)sample_below(seed, N_MANNERS);
        for (size_t i = 0; i < SECTION_N_FIELDS; i++) {
                sections[i] = (enum manner)sample_below(seed, N_MANNERS);
                branches[i] = (enum manner)sample_below(seed, N_MANNERS);
        }
        for (size_t r = 0; r < n; r++) {
                struct row *row = &rows->rows[r];

                for (size_t i = 0; i < CHUNK_N_FIELDS; i++)
                        if (chunk_fields[i].type == CHUNK_TYPE_INT)
                                row->ints[i] = make_int(fields[i], r ? row[-1].ints[i] : 0, seed);
                        else if (fields[i] != ABSENT &&
                                 (fields[i] != SOMETIMES || sample_below(seed, 2)))
                                row->strings[i] = make_string(seed);
                row->n_sections = make_parts(row->sections, sections, seed);
                row->n_branches = make_parts(row->branches, branches, seed);
                if (consistent)
                        make_consistent(row);
        }
}

static int add_row(struct chunk_table *table, const struct row *row)
{
        int r = chunk_table_add(table);

        for (unsigned int i = 0; i < CHUNK_N_FIELDS && r >= 0; i++)
                if (chunk_fields[i].type == CHUNK_TYPE_INT)
                        chunk_table_set(table, table->n - 1, i, row->ints[i]);
                else if (row->strings[i].here)
                        r = chunk_table_set_text(table, table->n - 1, i, row->strings[i].data,
                                                 row->strings[i].len);
        for (size_t i = 0; i < row->n_sections && r >= 0; i++)
                r = chunk_table_add_section(table, row->sections[i].name.data,
                                            row->sections[i].name.len, row->sections[i].values);
        for (size_t i = 0; i < row->n_branches && r >= 0; i++)
                r = chunk_table_add_branch(table, row->branches[i].name.data,
                                           row->branches[i].name.len, row->branches[i].values[0]);
        return r;
}

static int encode_rows(const struct rows *rows, struct buf *out, struct roast_error *error)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        chunk_table_init(&table);
        for (size_t i = 0; i < rows->n; i++)
                if (add_row(&table, &rows->rows[i]) < 0)
                        return ROAST_E_NOMEM;
        return chunk_table_encode(&table, out, error);
}

static void assert_string(const char *data, size_t len, const struct string *string)
{
        assert_non_null(data);
        assert_int_equal(len, string->len);
        assert_memory_equal(data, string->data, len);
}

static void assert_parts(const struct chunk_table *table, const struct chunk_parts *parts,
                         size_t at, const struct part *expected, size_t n)
{
        assert_int_equal(parts->first[at + 1] - parts->first[at], n);
        for (size_t i = 0; i < n; i++) {
                size_t part = parts->first[at] + i, len;
                const char *name =
                        intern_get(&table->strings, (size_t)parts->columns[0][part], &len);

                assert_string(name, len, &expected[i].name);
                for (size_t j = 1; j < parts->n_columns; j++)
                        assert_true(parts->columns[j][part] == expected[i].values[j - 1]);
        }
}

/* The table's rows from `at` on are those rows. */
static void assert_rows(const struct chunk_table *table, size_t at, const struct rows *rows)
{
        assert_true(table->n >= at + rows->n);
        for (size_t r = 0; r < rows->n; r++) {
                const struct row *row = &rows->rows[r];

                for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++) {
                        const char *text;
                        size_t len;

                        if (chunk_fields[i].type == CHUNK_TYPE_INT) {
                                assert_true(chunk_table_get(table, at + r, i) == row->ints[i]);
                                continue;
                        }
                        text = chunk_table_text(table, at + r, i, &len);
                        if (row->strings[i].here)
                                assert_string(text, len, &row->strings[i]);
                        else
                                assert_null(text);
                }
                assert_parts(table, &table->sections, at + r, row->sections, row->n_sections);
                assert_parts(table, &table->branches, at + r, row->branches, row->n_branches);
        }
}

static void assert_valid_parts(const struct chunk_table *table, const struct chunk_parts *parts)
{
        assert_int_equal(table->n ? parts->first[table->n] : 0, parts->n);
        for (size_t i = 0; i < table->n; i++)
                assert_true(parts->first[i] <= parts->first[i + 1]);
        for (size_t i = 0; i < parts->n; i++)
                assert_true((uint64_t)parts->columns[0][i] < table->strings.n);
}

/* Whatever the bytes were: every number of a string is one. */
static void assert_valid(const struct chunk_table *table)
{
        for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++)
                for (size_t row = 0; row < table->n; row++)
                        if (chunk_fields[i].type != CHUNK_TYPE_INT)
                                assert_true(table->columns[i][row] == CHUNK_ABSENT ||
                                            (uint64_t)table->columns[i][row] < table->strings.n);
        assert_valid_parts(table, &table->sections);
        assert_valid_parts(table, &table->branches);
}

/* ---- round trips ---- */

static void round_trip(const struct rows *rows)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_error error = { 0 };

        chunk_table_init(&table);
        assert_int_equal(encode_rows(rows, &bytes, &error), 0);
        if (chunk_table_decode(&table, bytes.data, bytes.len, &error) < 0)
                fail_msg("%s", error.message);
        assert_int_equal(table.n, rows->n);
        assert_valid(&table);
        assert_rows(&table, 0, rows);
}

static void test_any_table_comes_back_as_it_was(void **state)
{
        uint64_t seed = 1;

        (void)state;
        for (size_t i = 0; i < 400; i++) {
                ROAST_CLEANUP(rows_deinit) struct rows rows;

                rows_init_random(&rows, sample_below(&seed, 40), &seed);
                round_trip(&rows);
        }
}

static void test_no_rows_and_one_row_are_tables_too(void **state)
{
        uint64_t seed = 2;

        (void)state;
        for (size_t i = 0; i < 300; i++) {
                ROAST_CLEANUP(rows_deinit) struct rows rows;

                rows_init_random(&rows, i % 3, &seed);
                round_trip(&rows);
        }
}

static void test_many_rows_come_back(void **state)
{
        ROAST_CLEANUP(rows_deinit) struct rows rows;
        uint64_t seed = 3;

        (void)state;
        rows_init_random(&rows, 5000, &seed);
        round_trip(&rows);
}

/* As coffea's reductions do: tables are appended to each other in any order. */
static void test_tables_are_merged_by_decoding_one_after_the_other(void **state)
{
        uint64_t seed = 4;

        (void)state;
        for (size_t i = 0; i < 100; i++) {
                ROAST_CLEANUP(rows_deinit) struct rows one, two;
                ROAST_CLEANUP(buf_deinit) struct buf a = BUF_INIT, b = BUF_INIT, both = BUF_INIT;
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table, again;

                rows_init_random(&one, sample_below(&seed, 10), &seed);
                rows_init_random(&two, sample_below(&seed, 10), &seed);
                assert_int_equal(encode_rows(&one, &a, NULL), 0);
                assert_int_equal(encode_rows(&two, &b, NULL), 0);
                chunk_table_init(&table);
                assert_int_equal(chunk_table_decode(&table, a.data, a.len, NULL), 0);
                assert_int_equal(chunk_table_decode(&table, b.data, b.len, NULL), 0);
                assert_int_equal(chunk_table_decode(&table, a.data, a.len, NULL), 0);
                assert_int_equal(chunk_table_encode(&table, &both, NULL), 0);
                chunk_table_init(&again);
                assert_int_equal(chunk_table_decode(&again, both.data, both.len, NULL), 0);
                assert_int_equal(again.n, 2 * one.n + two.n);
                assert_rows(&again, 0, &one);
                assert_rows(&again, one.n, &two);
                assert_rows(&again, one.n + two.n, &one);
                assert_valid(&again);
        }
}

/* One chunk, one branch, of which the bytes are not known: in all columns the same. */
static void test_parts_that_are_all_alike_come_back(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table, again;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_error error = { 0 };

        (void)state;
        chunk_table_init(&table);
        for (size_t i = 0; i < 3000; i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                assert_int_equal(chunk_table_add_branch(&table, "Muon_pt", 7, CHUNK_ABSENT), 0);
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        chunk_table_init(&again);
        if (chunk_table_decode(&again, bytes.data, bytes.len, &error) < 0)
                fail_msg("%s", error.message);
        assert_int_equal(again.branches.n, 3000);
        assert_valid(&again);
}

static void test_parts_that_are_all_alike_are_read_back_whatever_their_number(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table, again;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

        (void)state;
        chunk_table_init(&table);
        chunk_table_init(&again);
        assert_int_equal(chunk_table_add(&table), 0);
        for (size_t i = 0; i < 100000; i++)
                assert_int_equal(chunk_table_add_branch(&table, "x", 1, CHUNK_ABSENT), 0);
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(chunk_table_decode(&again, bytes.data, bytes.len, NULL), 0);
        assert_int_equal(again.branches.n, 100000);
        assert_true(bytes.len < 100000 / 50);
}

static void test_a_table_is_appended_to_the_buffer(void **state)
{
        ROAST_CLEANUP(rows_deinit) struct rows rows;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        uint64_t seed = 5;

        (void)state;
        rows_init_random(&rows, 30, &seed);
        assert_int_equal(buf_puts(&bytes, "before"), 0);
        assert_int_equal(encode_rows(&rows, &bytes, NULL), 0);
        assert_memory_equal(bytes.data, "before", 6);
        chunk_table_init(&table);
        assert_int_equal(chunk_table_decode(&table, bytes.data + 6, bytes.len - 6, NULL), 0);
        assert_rows(&table, 0, &rows);
}

static void test_parts_need_a_chunk(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        (void)state;
        chunk_table_init(&table);
        assert_int_equal(chunk_table_add_branch(&table, "x", 1, 0), ROAST_E_STATE);
}

/* A chunk of the demo: what a worker sends for each. */
static void test_a_record_is_small(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf one = BUF_INIT, many = BUF_INIT;

        (void)state;
        chunk_table_init(&table);
        assert_int_equal(sample_chunks(&table, 1), 0);
        assert_int_equal(chunk_table_encode(&table, &one, NULL), 0);
        assert_in_range(one.len, 50, 250);
        assert_int_equal(sample_chunks(&table, 999), 0);
        assert_int_equal(chunk_table_encode(&table, &many, NULL), 0);
        assert_in_range(many.len, 1, 1000 * 20);
}

/* ---- bytes from elsewhere ---- */

/* A table with rows of its own, to which damaged bytes are appended. */
struct target {
        struct rows rows;
        struct chunk_table table;
        size_t n_strings;
};

static void target_init(struct target *target, uint64_t *seed)
{
        chunk_table_init(&target->table);
        rows_init_random(&target->rows, 3, seed);
        for (size_t i = 0; i < 3; i++)
                assert_int_equal(add_row(&target->table, &target->rows.rows[i]), 0);
        target->n_strings = target->table.strings.n;
}

static void target_deinit(struct target *target)
{
        rows_deinit(&target->rows);
        chunk_table_deinit(&target->table);
}

static void assert_untouched(const struct target *target)
{
        assert_int_equal(target->table.n, 3);
        assert_int_equal(target->table.strings.n, target->n_strings);
        assert_valid(&target->table);
        assert_rows(&target->table, 0, &target->rows);
}

static void test_bytes_that_were_cut_off_are_refused(void **state)
{
        ROAST_CLEANUP(target_deinit) struct target target;
        uint64_t seed = 6;

        (void)state;
        target_init(&target, &seed);
        for (size_t i = 0; i < 20; i++) {
                ROAST_CLEANUP(rows_deinit) struct rows rows;
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

                rows_init_random(&rows, sample_below(&seed, 8), &seed);
                assert_int_equal(encode_rows(&rows, &bytes, NULL), 0);
                for (size_t len = 0; len < bytes.len; len++) {
                        /* a copy of that length, so that a read past its end is noticed */
                        ROAST_CLEANUP(cleanup_free) uint8_t *copy = malloc(len + !len);
                        struct roast_error error = { 0 };

                        memcpy(copy, bytes.data, len);
                        assert_true(chunk_table_decode(&target.table, copy, len, &error) < 0);
                        assert_true(error.code < 0 && error.message[0]);
                        assert_int_equal(target.table.n, 3);
                }
                assert_untouched(&target);
                assert_int_equal(buf_put_u8(&bytes, 0), 0);
                assert_true(chunk_table_decode(&target.table, bytes.data, bytes.len, NULL) < 0);
        }
        assert_untouched(&target);
}

static void test_flipped_bits_give_an_error_or_a_table(void **state)
{
        uint64_t seed = 7;

        (void)state;
        for (size_t i = 0; i < 3000; i++) {
                ROAST_CLEANUP(target_deinit) struct target target;
                ROAST_CLEANUP(rows_deinit) struct rows rows;
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

                target_init(&target, &seed);
                /* small ones are not compressed: the flip reaches the columns */
                rows_init_random(&rows, sample_below(&seed, i % 2 ? 2 : 30), &seed);
                assert_int_equal(encode_rows(&rows, &bytes, NULL), 0);
                for (size_t flips = 1 + sample_below(&seed, 4); flips-- > 0;)
                        bytes.data[sample_below(&seed, bytes.len)] ^=
                                (uint8_t)(1u << sample_below(&seed, 8));
                if (chunk_table_decode(&target.table, bytes.data, bytes.len, NULL) < 0) {
                        assert_untouched(&target);
                } else {
                        assert_valid(&target.table);
                        assert_rows(&target.table, 0, &target.rows);
                }
        }
}

static void assert_decode_fails(const char *bytes, size_t len, int code)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_error error = { 0 };

        chunk_table_init(&table);
        assert_int_equal(chunk_table_decode(&table, bytes, len, &error), code);
        assert_int_equal(error.code, code);
        assert_true(error.message[0] != '\0');
}

static void test_what_is_no_record_is_refused_by_its_kind(void **state)
{
        (void)state;
        assert_decode_fails("", 0, ROAST_E_FORMAT);
        assert_decode_fails("RC", 2, ROAST_E_FORMAT);
        assert_decode_fails("XX\x02\x00\x00", 5, ROAST_E_FORMAT);
        assert_decode_fails("RC\x03\x00\x00", 5, ROAST_E_VERSION);
        /* an unknown form, a length that is not there */
        assert_decode_fails("RC\x02\x02\x00", 5, ROAST_E_CORRUPT);
        assert_decode_fails("RC\x02\x00\x01", 5, ROAST_E_CORRUPT);
        /* no payload at all, a compressed one of nothing */
        assert_decode_fails("RC\x02\x00\x00", 5, ROAST_E_CORRUPT);
        assert_decode_fails("RC\x02\x01\x05", 5, ROAST_E_CORRUPT);
        /* no rows: strings, the ends of the columns, of the sections, of the branches */
        assert_decode_fails("RC\x02\x00\x06\x00\x00\x00\x00\x00\x00", 11, ROAST_E_CORRUPT);
        /* a column that does not exist, one that comes twice, a shape that does not exist */
        assert_decode_fails("RC\x02\x00\x09\x00\x00\x7f\x00\x00\x00\x00\x00\x00", 14,
                            ROAST_E_CORRUPT);
        assert_decode_fails("RC\x02\x00\x0b\x00\x00\x05\x00\x00\x05\x00\x00\x00\x00\x00", 16,
                            ROAST_E_CORRUPT);
        assert_decode_fails("RC\x02\x00\x08\x00\x00\x05\x03\x00\x00\x00\x00", 13, ROAST_E_CORRUPT);
}

/* Lengths that promise much: rows, strings, sections, what is compressed. */
static void test_a_hostile_header_allocates_no_more_than_its_bytes_are_worth(void **state)
{
        static const struct {
                const char *bytes;
                size_t len;
        } headers[] = {
                { "RC\x02\x00\xff\xff\xff\x7f", 8 },
                { "RC\x02\x01\xff\xff\xff\x7f\x28\xb5\x2f\xfd\x00", 13 },
                /* 2^27 bytes in a frame that says so */
                { "RC\x02\x01\x80\x80\x80\x40\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x08\x00\x00\x00",
                  20 },
                { "RC\x02\x00\x05\xff\xff\xff\x01\x00", 10 },
                { "RC\x02\x00\x06\x00\xff\xff\xff\xff\x0f", 11 },
                { "RC\x02\x00\x09\x01\x00\x00\xff\xff\xff\xff\x0f\x00", 14 },
                { "RC\x02\x00\x09\x01\x00\x00\xff\x07\x00\x00\x00\x00", 14 },
                { "RC\x02\x00\x0e\x01\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 19 },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(headers); i++) {
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                struct roast_error error = { 0 };

                chunk_table_init(&table);
                alloc_fail_after(-1);
                assert_int_equal(
                        chunk_table_decode(&table, headers[i].bytes, headers[i].len, &error),
                        ROAST_E_CORRUPT);
                assert_true(alloc_largest() < 1 << 20);
        }
}

/* ---- no memory ---- */

static void test_encoding_without_memory_leaves_the_buffer_as_it_was(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        bool failed = true;

        (void)state;
        chunk_table_init(&table);
        assert_int_equal(sample_chunks(&table, 50), 0);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
                struct roast_error error = { 0 };
                int r;

                assert_int_equal(buf_puts(&bytes, "before"), 0);
                alloc_fail_after(count);
                r = chunk_table_encode(&table, &bytes, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_memory_equal(bytes.data, "before", 6);
                if (r < 0) {
                        assert_int_equal(r, ROAST_E_NOMEM);
                        assert_int_equal(bytes.len, 6);
                } else { /* without memory zstd does not compress */
                        assert_true(bytes.len > 6);
                }
                assert_true(count < 100);
        }
}

static void test_decoding_without_memory_leaves_the_table_as_it_was(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table source;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        uint64_t seed = 8;
        bool failed = true;

        (void)state;
        chunk_table_init(&source);
        assert_int_equal(sample_chunks(&source, 50), 0);
        assert_int_equal(chunk_table_encode(&source, &bytes, NULL), 0);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(target_deinit) struct target target;
                struct roast_error error = { 0 };
                int r;

                target_init(&target, &seed);
                alloc_fail_after(count);
                r = chunk_table_decode(&target.table, bytes.data, bytes.len, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                if (failed)
                        assert_untouched(&target);
                assert_int_equal(chunk_table_decode(&target.table, bytes.data, bytes.len, NULL), 0);
                assert_rows(&target.table, 0, &target.rows);
                assert_valid(&target.table);
                assert_true(count < 1000);
        }
}

static void test_building_without_memory_is_an_error(void **state)
{
        uint64_t seed = 9;
        ROAST_CLEANUP(rows_deinit) struct rows rows;
        bool failed = true;

        (void)state;
        rows_init_random(&rows, 20, &seed);
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                int r = 0;

                chunk_table_init(&table);
                alloc_fail_after(count);
                for (size_t i = 0; i < rows.n && r >= 0; i++)
                        r = add_row(&table, &rows.rows[i]);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                assert_valid(&table);
                assert_true(count < 1000);
        }
}

/* ---- interned strings ---- */

static void test_strings_are_known_by_the_order_of_their_appearance(void **state)
{
        ROAST_CLEANUP(intern_deinit) struct intern intern = { 0 };
        char text[16];
        size_t len;

        (void)state;
        for (int round = 0; round < 2; round++)
                for (int i = 0; i < 1000; i++)
                        assert_int_equal(intern_put(&intern, text,
                                                    (size_t)snprintf(text, sizeof(text), "%d", i)),
                                         i);
        assert_string_equal(strndupa(intern_get(&intern, 999, &len), 3), "999");
        intern_truncate(&intern, 10);
        assert_int_equal(intern.n, 10);
        assert_int_equal(intern_put(&intern, "5", 1), 5);
        assert_int_equal(intern_put(&intern, "500", 3), 10);
        intern_truncate(&intern, 0);
        assert_int_equal(intern_put(&intern, "", 0), 0);
        assert_string_equal(strndupa(intern_get(&intern, 0, &len), 0), "");
        assert_int_equal(len, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_any_table_comes_back_as_it_was),
                cmocka_unit_test(test_no_rows_and_one_row_are_tables_too),
                cmocka_unit_test(test_many_rows_come_back),
                cmocka_unit_test(test_tables_are_merged_by_decoding_one_after_the_other),
                cmocka_unit_test(test_parts_that_are_all_alike_come_back),
                cmocka_unit_test(test_parts_that_are_all_alike_are_read_back_whatever_their_number),
                cmocka_unit_test(test_a_table_is_appended_to_the_buffer),
                cmocka_unit_test(test_parts_need_a_chunk),
                cmocka_unit_test(test_a_record_is_small),
                cmocka_unit_test(test_bytes_that_were_cut_off_are_refused),
                cmocka_unit_test(test_flipped_bits_give_an_error_or_a_table),
                cmocka_unit_test(test_what_is_no_record_is_refused_by_its_kind),
                cmocka_unit_test(test_a_hostile_header_allocates_no_more_than_its_bytes_are_worth),
                cmocka_unit_test(test_encoding_without_memory_leaves_the_buffer_as_it_was),
                cmocka_unit_test(test_decoding_without_memory_leaves_the_table_as_it_was),
                cmocka_unit_test(test_building_without_memory_is_an_error),
                cmocka_unit_test(test_strings_are_known_by_the_order_of_their_appearance),
        };

        return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
