/* run/memory: the rows of a run without a file are those that were added, up to the last commit */

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "folder.h"
#include "record/chunk.h"
#include "run/run.h"
#include "runs.h"
#include "util/cleanup.h"

#define ROWS 3000

static struct roast_run *in_memory(void)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        return run;
}

static uint64_t random_bits(uint64_t *seed)
{
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        return *seed ^ *seed >> 29;
}

static const char bytes[70000] = "a string that is cut anywhere";

/* Of every type, and of every size of number: the same for the same seed */
static struct run_value random_value(uint64_t *seed)
{
        uint64_t bits = random_bits(seed);
        int64_t integer = (int64_t)(random_bits(seed) >> bits % 64);

        switch (bits >> 8 & 7) {
        case 0:
                return (struct run_value){ 0 };
        case 1:
                return run_real((double)integer / 7);
        case 2:
                return run_string(bytes, (size_t)integer % 40);
        case 3:
                return (struct run_value){ .type = RUN_BYTES,
                                           .data = bytes,
                                           .len = (size_t)integer % sizeof(bytes) >>
                                                  (bits >> 16) % 16 };
        case 4:
                return run_int(bits & 1 ? INT64_MIN : INT64_MAX);
        default:
                return run_int(bits & 1 << 20 ? integer : -integer);
        }
}

static void random_row(struct run_value *values, size_t n, uint64_t row)
{
        uint64_t seed = row;

        for (size_t i = 0; i < n; i++)
                values[i] = random_value(&seed);
}

static void assert_value(const struct run_value *value, const struct run_value *expected)
{
        assert_int_equal(value->type, expected->type);
        if (value->type == RUN_INT)
                assert_int_equal(value->integer, expected->integer);
        if (value->type == RUN_REAL)
                assert_memory_equal(&value->real, &expected->real, sizeof(double));
        if (value->type != RUN_STRING && value->type != RUN_BYTES)
                return;
        assert_int_equal(value->len, expected->len);
        assert_memory_equal(value->data, expected->data, value->len);
        if (value->type == RUN_STRING)
                assert_int_equal(((const char *)value->data)[value->len], 0);
}

static void assert_row(const struct run_scan *scan, size_t n)
{
        struct run_value expected[RUN_COLUMNS_MAX];

        random_row(expected, n, (uint64_t)scan->id);
        for (size_t i = 0; i < n; i++)
                assert_value(&scan->values[i], &expected[i]);
}

static void add_rows(struct roast_run *run, enum run_table table, int64_t from, int64_t to)
{
        size_t n = run_tables[table].n_columns;
        struct run_value values[RUN_COLUMNS_MAX];

        for (int64_t id = from; id <= to; id++) {
                random_row(values, n, (uint64_t)id);
                assert_int_equal(run_insert(run, table, values, n, NULL), 0);
        }
}

static int64_t assert_rows(struct roast_run *run, enum run_table table)
{
        struct run_scan scan;
        int64_t n = 0;
        int r;

        assert_true(run_scan_begin(&scan, run, table, NULL) >= 0);
        while ((r = run_scan_next(&scan, NULL)) > 0) {
                assert_int_equal(scan.id, ++n);
                assert_row(&scan, run_tables[table].n_columns);
        }
        assert_int_equal(r, 0);
        run_scan_end(&scan);
        return n;
}

static void test_rows_of_any_values_come_back_as_they_were_added(void **state)
{
        struct roast_run *run = in_memory();

        (void)state;
        for (unsigned int table = 1; table < RUN_N_TABLES; table++)
                add_rows(run, table, 1, ROWS);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        for (unsigned int table = 1; table < RUN_N_TABLES; table++)
                assert_int_equal(assert_rows(run, table), ROWS);
        roast_run_free(run);
}

static void test_rows_are_seen_once_they_are_committed(void **state)
{
        struct roast_run *run = in_memory();

        (void)state;
        add_rows(run, RUN_SPAN, 1, 3);
        assert_int_equal(assert_rows(run, RUN_SPAN), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        add_rows(run, RUN_SPAN, 4, 5);
        assert_int_equal(assert_rows(run, RUN_SPAN), 3);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        assert_int_equal(assert_rows(run, RUN_SPAN), 5);
        roast_run_free(run);
}

static void test_a_value_stays_while_rows_are_added(void **state)
{
        struct roast_run *run = in_memory();
        struct run_scan scan;

        (void)state;
        add_rows(run, RUN_CHUNK, 1, 1);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_true(run_scan_begin(&scan, run, RUN_CHUNK, NULL) >= 0);
        assert_int_equal(run_scan_next(&scan, NULL), 1);
        add_rows(run, RUN_CHUNK, 2, ROWS);
        assert_row(&scan, CHUNK_N_FIELDS);
        run_scan_end(&scan);
        roast_run_free(run);
}

/* In memory and in a file */
static void assert_seeks(struct roast_run *run)
{
        static const int64_t ids[] = { 7, 1, ROWS, 12, 13 };
        struct run_scan scan;

        assert_int_equal(run_view_begin(run, NULL), 0);
        assert_true(run_scan_skim(&scan, run, RUN_CHUNK, 5, NULL) >= 0);
        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
                run_scan_seek(&scan, ids[i]);
                assert_int_equal(run_scan_next(&scan, NULL), 1);
                assert_int_equal(scan.id, ids[i]);
                assert_row(&scan, 5);
                assert_int_equal(scan.values[5].type, RUN_NULL);
        }
        run_scan_seek(&scan, ROWS - 1);
        for (int64_t id = ROWS - 1; id <= ROWS; id++)
                assert_int_equal(run_scan_next(&scan, NULL), 1);
        assert_int_equal(run_scan_next(&scan, NULL), 0);
        run_scan_seek(&scan, ROWS + 1);
        assert_int_equal(run_scan_next(&scan, NULL), 0);
        run_scan_end(&scan);
        run_view_end(run);
}

static void test_a_skim_goes_to_any_row(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = in_memory(), *file;

        add_rows(run, RUN_CHUNK, 1, ROWS);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        add_rows(run, RUN_CHUNK, ROWS + 1, ROWS + 1);
        assert_seeks(run);
        roast_run_free(run);
        run = create(path);
        add_rows(run, RUN_CHUNK, 1, ROWS);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        add_rows(run, RUN_CHUNK, ROWS + 1, ROWS + 1);
        assert_seeks(run);
        file = open_run(path); /* while it is written */
        assert_seeks(file);
        roast_run_free(file);
        roast_run_free(run);
}

static void test_a_copy_in_a_file_has_the_same_rows(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = in_memory(), *file;

        for (unsigned int table = 1; table < RUN_N_TABLES; table++)
                add_rows(run, table, 1, 100 * table);
        assert_int_equal(roast_run_copy(run, path, NULL), 0);
        roast_run_free(run);
        file = open_run(path);
        assert_int_equal(roast_run_check(file, NULL, NULL, NULL), 0);
        for (unsigned int table = 1; table < RUN_N_TABLES; table++)
                assert_int_equal(assert_rows(file, table), 100 * table);
        roast_run_free(file);
        assert_int_equal(count_files(folder_path(state, "")), 1);
}

static int64_t count_rows(struct roast_run *run, enum run_table table)
{
        struct run_scan scan;
        int64_t n = 0;

        assert_true(run_scan_begin(&scan, run, table, NULL) >= 0);
        while (run_scan_next(&scan, NULL) > 0)
                n++;
        run_scan_end(&scan);
        return n;
}

static void test_a_copy_in_memory_goes_on_where_the_run_is(void **state)
{
        static const char *const without[] = { "chunk", "section", "branch", NULL };
        struct roast_run *file = open_run(finished_run(state, "a.roast")), *all, *fewer;
        ROAST_CLEANUP(cleanup_free) char *before = summary_of(file), *after = NULL;

        assert_int_equal(roast_run_copy_in_memory(&all, file, NULL, NULL), 0);
        after = summary_of(all);
        assert_string_equal(after, before);
        assert_int_equal(roast_run_copy_in_memory(&fewer, all, without, NULL), 0);
        for (unsigned int table = 1; table < RUN_N_TABLES; table++)
                assert_int_equal(count_rows(fewer, table), table >= RUN_CHUNK && table <= RUN_BRANCH
                                                                   ? 0
                                                                   : count_rows(file, table));
        /* strings that are there get no second number */
        fill(fewer);
        assert_int_equal(roast_run_commit(fewer, NULL), 0);
        assert_int_equal(count_rows(fewer, RUN_CHUNK), count_rows(file, RUN_CHUNK));
        assert_int_equal(count_rows(fewer, RUN_TEXT), count_rows(file, RUN_TEXT));
        roast_run_free(fewer);
        roast_run_free(all);
        roast_run_free(file);
}

static void test_a_copy_without_a_table_that_there_is_not_is_refused(void **state)
{
        static const char *const without[] = { "chunks", NULL };
        struct roast_error error = { 0 };
        struct roast_run *run = in_memory(), *copy = NULL;

        (void)state;
        assert_int_equal(roast_run_copy_in_memory(&copy, run, without, &error), ROAST_E_NOENT);
        assert_string_equal(error.message, "there is no table 'chunks'");
        assert_null(copy);
        roast_run_free(run);
}

static void test_a_row_for_which_there_is_no_memory_is_not_added(void **state)
{
        struct run_value values[RUN_COLUMNS_MAX];
        struct roast_run *run = in_memory();
        int64_t n = 0;

        (void)state;
        for (int64_t id = 1; id <= ROWS; id++) {
                struct roast_error error = { 0 };
                int r;

                random_row(values, 5, (uint64_t)n + 1);
                alloc_fail_after(0);
                r = run_insert(run, RUN_SPAN, values, 5, &error);
                alloc_fail_after(-1);
                assert_true(r == 0 || r == ROAST_E_NOMEM);
                n += r == 0;
                if (r < 0)
                        assert_int_equal(run_insert(run, RUN_SPAN, values, 5, NULL), 0);
                n += r < 0;
        }
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(assert_rows(run, RUN_SPAN), ROWS);
        roast_run_free(run);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_rows_of_any_values_come_back_as_they_were_added),
                cmocka_unit_test(test_rows_are_seen_once_they_are_committed),
                cmocka_unit_test(test_a_value_stays_while_rows_are_added),
                cmocka_unit_test_setup_teardown(test_a_skim_goes_to_any_row, folder_make,
                                                folder_remove),
                cmocka_unit_test_setup_teardown(test_a_copy_in_a_file_has_the_same_rows,
                                                folder_make, folder_remove),
                cmocka_unit_test_setup_teardown(test_a_copy_in_memory_goes_on_where_the_run_is,
                                                folder_make, folder_remove),
                cmocka_unit_test(test_a_copy_without_a_table_that_there_is_not_is_refused),
                cmocka_unit_test(test_a_row_for_which_there_is_no_memory_is_not_added),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
