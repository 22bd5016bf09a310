/* run/columns: tables by columns, texts, spans, and series by name */

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "run/schema.h"
#include "sample.h"
#include "timeline/block.h"
#include "util/cleanup.h"
#include "util/size.h"

enum { N_CHUNKS = 40 };

/* Two blocks of worker w0 and one of w1; the second counts memory in pages of another size. */
static int add_series(struct roast_run *run)
{
        static const struct {
                const char *worker, *columns;
                int64_t times_ms[2], rss[2], tasks[2];
        } blocks[] = {
                { "w0", "rss_bytes/4096,tasks", { 1000, 1500 }, { 1, 2 }, { 7, -1 } },
                { "w1", "rss_bytes/4096,tasks", { 1000, 1500 }, { 90, 91 }, { 0, 0 } },
                { "w0", "rss_bytes/1000,tasks", { 2000, 2500 }, { 3, INT64_MAX / 2 }, { 8, 9 } },
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(blocks); i++) {
                const int64_t *const series[] = { blocks[i].rss, blocks[i].tasks };
                ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;

                if (block_encode(&block, blocks[i].times_ms, series, 2, 2, NULL) < 0 ||
                    roast_run_add_series(run, blocks[i].worker, blocks[i].columns, block.data,
                                         block.len, NULL) < 0)
                        return -1;
        }
        return roast_run_commit(run, NULL);
}

static int make_run(void **state)
{
        struct roast_run *run;

        if (roast_run_create(&run, NULL, NULL) < 0)
                return -1;
        *state = run;
        return sample_fill(run, N_CHUNKS, NULL) < 0 ? -1 : add_series(run);
}

static int free_run(void **state)
{
        roast_run_free(*state);
        return 0;
}

static void free_columns(struct roast_run_column *columns, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(columns[i].values);
}

/* ---- tables ---- */

static void test_columns_come_in_the_order_they_were_asked_for(void **state)
{
        struct roast_run_column columns[] = { { .name = "wall_ns" },
                                              { .name = "num_events" },
                                              { .name = "wall_ns" } };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        chunk_table_init(&table);
        assert_int_equal(sample_chunks(&table, N_CHUNKS), 0);
        assert_int_equal(roast_run_read_columns(*state, "chunk", columns, 3, NULL), 0);
        for (size_t i = 0; i < N_CHUNKS; i++) {
                assert_int_equal(columns[0].values[i], chunk_table_get(&table, i, CHUNK_WALL_NS));
                assert_int_equal(columns[1].values[i],
                                 chunk_table_get(&table, i, CHUNK_NUM_EVENTS));
                assert_int_equal(columns[2].values[i], columns[0].values[i]);
        }
        for (size_t i = 0; i < 3; i++)
                assert_int_equal(columns[i].n, N_CHUNKS);
        free_columns(columns, 3);
}

static void test_what_is_no_integer_is_null(void **state)
{
        struct roast_run_column columns[] = { { .name = "kind" }, { .name = "value" } };

        assert_int_equal(roast_run_read_columns(*state, "span", columns, 2, NULL), 0);
        assert_true(columns[0].n > 0 && columns[1].n == columns[0].n);
        for (size_t i = 0; i < columns[0].n; i++)
                assert_true(columns[0].values[i] == INT64_MIN && columns[1].values[i] == INT64_MIN);
        free_columns(columns, 2);
}

static void test_tables_and_columns_that_are_not_there_are_named(void **state)
{
        struct roast_run_column columns[] = { { .name = "wall_ns" }, { .name = "wall" } };
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_read_columns(*state, "chunks", columns, 1, &error),
                         ROAST_E_NOENT);
        assert_has(error.message, "'chunks'");
        assert_int_equal(roast_run_read_columns(*state, "chunk", columns, 2, &error),
                         ROAST_E_NOENT);
        assert_has(error.message, "'wall'");
        columns[1].name = "id"; /* the number of a row is its place */
        assert_int_equal(roast_run_read_columns(*state, "chunk", columns, 2, NULL), ROAST_E_NOENT);
        assert_null(columns[0].values);
}

static void test_every_column_that_a_table_names_is_read(void **state)
{
        struct roast_table_info table;

        for (int i = 1; roast_run_table(i, &table); i++)
                for (size_t j = 0; j < table.n_columns; j++) {
                        struct roast_run_column column = { .name = table.columns[j].stored };

                        assert_int_equal(
                                roast_run_read_columns(*state, table.name, &column, 1, NULL), 0);
                        assert_true(column.n > 0 || !strcmp(table.name, "activity") ||
                                    !strcmp(table.name, "sample"));
                        free(column.values);
                }
        assert_false(roast_run_table(0, &table));
        assert_false(roast_run_table(RUN_N_TABLES, &table));
}

static void test_every_column_is_explained(void **state)
{
        static const char *const units[] = { "ns",     "utc_ns", "bytes", "count",
                                             "number", "text",   "cbor",  "block" };
        struct roast_table_info table;

        (void)state;
        for (int i = 1; roast_run_table(i, &table); i++)
                for (size_t j = 0; j < table.n_columns; j++) {
                        const struct roast_column_info *column = &table.columns[j];
                        bool known = false;

                        for (size_t k = 0; k < ROAST_ARRAY_SIZE(units); k++)
                                known |= !strcmp(column->unit, units[k]);
                        assert_true(known);
                        assert_true(strlen(column->title) > 1 && strlen(column->title) < 24);
                        assert_true(strlen(column->meaning) > 3);
                        assert_true(column->meaning[strlen(column->meaning) - 1] != '.');
                        assert_in_range(column->since, table.since, RUN_MINOR);
                        assert_null(strchr(column->meaning, '|'));
                }
}

/* ---- texts and spans ---- */

struct counted {
        size_t n;
        size_t stop; /* after so many; 0: never */
};

static int count_text(const char *text, size_t len, void *context)
{
        struct counted *counted = context;

        assert_true(len == 0 || text[len - 1] != '\0');
        return ++counted->n == counted->stop;
}

static int count_span(const struct roast_span *span, void *context)
{
        struct counted *counted = context;

        assert_string_equal(span->kind, "execute");
        assert_true(isfinite(span->value));
        return ++counted->n == counted->stop;
}

static void test_a_visitor_stops_a_walk(void **state)
{
        struct counted all = { 0 }, few = { .stop = 2 };

        assert_int_equal(roast_run_texts(*state, count_text, &all, NULL), 0);
        assert_int_equal(roast_run_texts(*state, count_text, &few, NULL), 0);
        assert_true(all.n > 2 && few.n == 2);
        all = (struct counted){ 0 };
        few = (struct counted){ .stop = 2 };
        assert_int_equal(roast_run_spans(*state, count_span, &all, NULL), 0);
        assert_int_equal(roast_run_spans(*state, count_span, &few, NULL), 0);
        assert_true(all.n == 10 && few.n == 2);
}

/* ---- series ---- */

static int note_names(const char *worker, const char *columns, void *context)
{
        return buf_printf(context, "%s:%s;", worker, columns);
}

static void test_a_worker_and_its_columns_are_named_once(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf names = BUF_INIT;

        assert_int_equal(add_series(*state), 0); /* the same once more */
        assert_int_equal(roast_run_series_names(*state, note_names, &names, NULL), 0);
        assert_int_equal(buf_put_u8(&names, 0), 0);
        assert_string_equal((const char *)names.data,
                            "w0:rss_bytes/4096,tasks;w1:rss_bytes/4096,tasks;"
                            "w0:rss_bytes/1000,tasks;");
}

static void test_samples_come_in_their_unit_and_what_is_out_of_range_is_null(void **state)
{
        static const int64_t rss[] = { 4096, 8192, 3000, INT64_MIN };
        static const int64_t tasks[] = { 7, INT64_MIN, 8, 9 };
        struct roast_run_column times = { 0 }, values = { 0 };

        assert_int_equal(roast_run_read_series(*state, "w0", "rss_bytes", &times, &values, NULL),
                         0);
        assert_int_equal(values.n, ROAST_ARRAY_SIZE(rss));
        assert_memory_equal(values.values, rss, sizeof(rss));
        for (size_t i = 0; i < times.n; i++)
                assert_int_equal(times.values[i], (1000 + 500 * (int64_t)i) * 1000000);
        free(times.values);
        free(values.values);
        assert_int_equal(roast_run_read_series(*state, "w0", "tasks", &times, &values, NULL), 0);
        assert_memory_equal(values.values, tasks, sizeof(tasks));
        free(times.values);
        free(values.values);
}

static void test_a_series_that_nobody_sent_is_empty(void **state)
{
        static const char *const unknown[][2] = {
                { "w2", "rss_bytes" }, { "w0", "rss" }, { "w0", "rss_bytes/4096" }, { "", "" }
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(unknown); i++) {
                struct roast_run_column times = { .n = 7 }, values = { .n = 7 };

                assert_int_equal(roast_run_read_series(*state, unknown[i][0], unknown[i][1], &times,
                                                       &values, NULL),
                                 0);
                assert_true(times.n == 0 && values.n == 0 && !times.values && !values.values);
        }
}

/* ---- without memory ---- */

static int read_all(struct roast_run *run, struct roast_error *error)
{
        struct roast_run_column columns[] = { { .name = "wall_ns" }, { .name = "num_events" } };
        struct roast_run_column times = { 0 }, values = { 0 };
        struct counted counted = { 0 };
        int r = roast_run_read_columns(run, "chunk", columns, 2, error);

        if (r >= 0)
                r = roast_run_read_series(run, "w0", "rss_bytes", &times, &values, error);
        if (r >= 0)
                r = roast_run_texts(run, count_text, &counted, error);
        if (r >= 0)
                r = roast_run_spans(run, count_span, &counted, error);
        free_columns(columns, 2);
        free(times.values);
        free(values.values);
        return r;
}

static void test_running_out_of_memory_is_an_error(void **state)
{
        bool failed = true;

        for (long count = 0; failed; count++) {
                struct roast_error error = { 0 };
                int r;

                alloc_fail_after(count);
                r = read_all(*state, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                if (r < 0 && r != ROAST_E_NOMEM)
                        fail_msg("after %ld allocations: %s", count, error.message);
        }
        assert_int_equal(read_all(*state, NULL), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_columns_come_in_the_order_they_were_asked_for),
                cmocka_unit_test(test_what_is_no_integer_is_null),
                cmocka_unit_test(test_tables_and_columns_that_are_not_there_are_named),
                cmocka_unit_test(test_every_column_that_a_table_names_is_read),
                cmocka_unit_test(test_every_column_is_explained),
                cmocka_unit_test(test_a_visitor_stops_a_walk),
                cmocka_unit_test(test_samples_come_in_their_unit_and_what_is_out_of_range_is_null),
                cmocka_unit_test(test_a_series_that_nobody_sent_is_empty),
                cmocka_unit_test(test_running_out_of_memory_is_an_error),
                cmocka_unit_test(test_a_worker_and_its_columns_are_named_once),
        };

        return cmocka_run_group_tests_name("columns", tests, make_run, free_run);
}
