/* Rows as plain structs: see rows.h. */

#include "unit.h"

#include <stdlib.h>

#include "record/chunk.h"
#include "rows.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

void rows_deinit(struct rows *rows)
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

void rows_init_random(struct rows *rows, size_t n, uint64_t *seed)
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

int add_row(struct chunk_table *table, const struct row *row)
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

int encode_rows(const struct rows *rows, struct buf *out, struct roast_error *error)
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

void assert_rows(const struct chunk_table *table, size_t at, const struct rows *rows)
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

void assert_valid(const struct chunk_table *table)
{
        for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++)
                for (size_t row = 0; row < table->n; row++)
                        if (chunk_fields[i].type != CHUNK_TYPE_INT)
                                assert_true(table->columns[i][row] == CHUNK_ABSENT ||
                                            (uint64_t)table->columns[i][row] < table->strings.n);
        assert_valid_parts(table, &table->sections);
        assert_valid_parts(table, &table->branches);
}
