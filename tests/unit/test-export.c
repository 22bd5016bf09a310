/* export/: a run in other formats */

#include "unit.h"

#include <stdlib.h>

#include "alloc.h"
#include "roast-export.h"
#include "roast-show.h"
#include "sample.h"
#include "timeline/block.h"
#include "util/cleanup.h"
#include "util/json-read.h"
#include "util/text.h"

static int into_buf(const void *data, size_t len, void *context, struct roast_error *error)
{
        return buf_append(context, data, len) < 0 ? roast_fail_nomem(error) : 0;
}

/* The whole export as a C string, valid until the next call */
static const char *export(struct roast_run *run, enum roast_export_format format,
                          enum roast_export_what what)
{
        static struct buf out;
        struct roast_export_options options = { .format = format, .what = what };
        struct roast_error error = { 0 };

        buf_clear(&out);
        if (roast_export(run, &options, into_buf, &out, &error) < 0)
                fail_msg("%s", error.message);
        assert_int_equal(buf_put_u8(&out, 0), 0);
        return (const char *)out.data;
}

static void assert_json(const char *text, size_t len)
{
        struct roast_error error = { 0 };
        struct json_reader in;
        char *copy = text_copy(text, len);

        assert_non_null(copy);
        assert_int_equal(json_reader_init(&in, copy, len), 0);
        (void)json_read_skip(&in);
        if (json_reader_end(&in, &error) < 0)
                fail_msg("%s in %.200s", error.message, text);
        json_reader_deinit(&in);
        free(copy);
}

static size_t count_lines(const char *text)
{
        size_t n = 0;

        for (; *text; text++)
                n += *text == '\n';
        return n;
}

static int make_sample(void **state)
{
        struct roast_run *run;

        if (roast_run_create(&run, NULL, NULL) < 0)
                return -1;
        *state = run;
        if (sample_fill(run, 40, NULL) < 0)
                return -1;
        for (int64_t i = 0; i < 4; i++) { /* samples of two workers, one after the other */
                const int64_t ms = 1794772988000 + 1000 * i; /* when the run began, and later */
                const int64_t times[] = { ms, ms + 500 }, rss[] = { 10 + i, -1 };
                const int64_t tasks[] = { i, i + 1 };
                ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;

                if (block_encode(&block, times, (const int64_t *const[]){ rss, tasks }, 2, 2,
                                 NULL) < 0 ||
                    roast_run_add_series(run, i % 2 ? "w1" : "w0",
                                         "rss_bytes/4096,dask_active_tasks", block.data, block.len,
                                         NULL) < 0)
                        return -1;
        }
        return roast_run_commit(run, NULL);
}

/* Names that break every format if they are not escaped */
static int make_hostile(void **state)
{
        static const char evil[] = "a\"b\\c,d|e\nf\x1b[31m\xff\xc3\xa9\t`*<";
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_worker worker = { .name = evil, .threads = 2, .memory_limit_bytes = 10 };
        int64_t section[SECTION_N_FIELDS] = { 0 };
        struct roast_run *run;

        if (roast_run_create(&run, NULL, NULL) < 0)
                return -1;
        *state = run;
        section[SECTION_KIND] = 7;
        chunk_table_init(&table);
        for (int i = 0; i < 3; i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                for (unsigned int field = 0; field < CHUNK_N_FIELDS; field++)
                        if (chunk_fields[field].type != CHUNK_TYPE_INT)
                                chunk_table_set_text(&table, table.n - 1, field, evil,
                                                     sizeof(evil) - 1);
                        else
                                chunk_table_set(&table, table.n - 1, field,
                                                i == 0   ? INT64_MAX
                                                : i == 1 ? -5
                                                         : 99);
                chunk_table_add_section(&table, evil, sizeof(evil) - 1, section);
                chunk_table_add_branch(&table, evil, sizeof(evil) - 1, INT64_MAX);
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), 3);
        roast_run_add_worker_event(run, 5, ROAST_WORKER_CAME, &worker, NULL);
        roast_run_add_span(run, evil, evil, evil, evil, 1.5, NULL);
        roast_run_fact_text(run, "run.name", evil, NULL);
        roast_run_fact_int(run, "run.start_utc_ns", 0, NULL);
        return roast_run_commit(run, NULL);
}

static int free_run(void **state)
{
        roast_run_free(*state);
        return 0;
}

static void check_everything(struct roast_run *run)
{
        for (int what = ROAST_EXPORT_METRICS; what <= ROAST_EXPORT_SERIES; what++) {
                const char *text = export(run, ROAST_EXPORT_JSON, (enum roast_export_what)what);

                assert_json(text, strlen(text));
                text = export(run, ROAST_EXPORT_JSONL, (enum roast_export_what)what);
                for (const char *end; *text; text = end + 1) {
                        end = strchr(text, '\n');
                        assert_non_null(end);
                        assert_json(text, (size_t)(end - text));
                }
                (void)export(run, ROAST_EXPORT_CSV, (enum roast_export_what)what);
                (void)export(run, ROAST_EXPORT_MARKDOWN, (enum roast_export_what)what);
        }
        {
                const char *text = export(run, ROAST_EXPORT_CHROME_TRACE, ROAST_EXPORT_DEFAULT);

                assert_json(text, strlen(text));
        }
}

static void test_everything_is_exported_in_every_format(void **state)
{
        struct roast_run *run = *state;

        check_everything(run);
        assert_int_equal(count_lines(export(run, ROAST_EXPORT_JSONL, ROAST_EXPORT_CHUNKS)), 40);
        assert_int_equal(count_lines(export(run, ROAST_EXPORT_CSV, ROAST_EXPORT_CHUNKS)), 41);
        assert_int_equal(count_lines(export(run, ROAST_EXPORT_MARKDOWN, ROAST_EXPORT_CHUNKS)), 42);
        assert_int_equal(count_lines(export(run, ROAST_EXPORT_JSONL, ROAST_EXPORT_SECTIONS)), 80);
        assert_int_equal(count_lines(export(run, ROAST_EXPORT_JSONL, ROAST_EXPORT_FILES)), 10);
        assert_int_equal(count_lines(export(run, ROAST_EXPORT_JSONL, ROAST_EXPORT_METRICS)),
                         ROAST_N_METRICS + 1); /* and one of the user's */
        assert_true(count_lines(export(run, ROAST_EXPORT_JSONL, ROAST_EXPORT_TASKS)) >= 40);
        assert_int_equal(count_lines(export(run, ROAST_EXPORT_JSONL, ROAST_EXPORT_SERIES)), 8);
        assert_has(export(run, ROAST_EXPORT_CSV, ROAST_EXPORT_SERIES),
                   "worker,timestamp,rss_bytes,dask_active_tasks\n"
                   "w0,1794772988,40960,0\nw0,1794772988.5,,1\nw1,1794772989,45056,1\n");
        /* by worker, as documented: on one grid, each until the next one */
        assert_has(export(run, ROAST_EXPORT_JSON, ROAST_EXPORT_SERIES),
                   "\"worker_memory\":{\"w0\":[{\"timestamp\":\"2026-11-15T20:03:08\","
                   "\"memory_bytes\":40960},{\"timestamp\":\"2026-11-15T20:03:09\","
                   "\"memory_bytes\":40960},{\"timestamp\":\"2026-11-15T20:03:10\","
                   "\"memory_bytes\":49152}],\"w1\":[");
}

static void test_hostile_names_break_no_format(void **state)
{
        const char *text;

        check_everything(*state);
        /* a heading and three rows, whatever the cells hold */
        assert_int_equal(count_lines(export(*state, ROAST_EXPORT_MARKDOWN, ROAST_EXPORT_CHUNKS)),
                         5);
        text = export(*state, ROAST_EXPORT_OPENMETRICS, ROAST_EXPORT_DEFAULT);
        assert_has(text, "dataset=\"a\\\"b\\\\c,d|e\\nf");
        for (const char *line = text; *line; line = strchr(line, '\n') + 1)
                assert_true(!strncmp(line, "# ", 2) || !strncmp(line, "roast_", 6));
        assert_null(strchr(text, '\xff'));
}

static void test_an_empty_run_is_exported(void **state)
{
        struct roast_run *run;

        (void)state;
        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        check_everything(run);
        assert_string_equal(export(run, ROAST_EXPORT_JSON, ROAST_EXPORT_CHUNKS), "[]\n");
        assert_string_equal(export(run, ROAST_EXPORT_JSONL, ROAST_EXPORT_TASKS), "");
        roast_run_free(run);
}

static void test_what_is_not_known_is_left_out(void **state)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_run *run;
        const char *text;

        (void)state;
        chunk_table_init(&table);
        chunk_table_add(&table);
        chunk_table_set(&table, 0, CHUNK_OUTCOME, CHUNK_LOST);
        chunk_table_encode(&table, &bytes, NULL);
        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), 1);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        text = export(run, ROAST_EXPORT_JSONL, ROAST_EXPORT_CHUNKS);
        assert_string_equal(text, "{\"timing\":{},\"memory\":{},\"bytes\":{},\"sections\":[],"
                                  "\"memory_sections\":[],\"chunk_id\":0,\"outcome\":\"lost\","
                                  "\"custom_metrics\":{}}\n");
        roast_run_free(run);
}

static void test_tasks_have_their_cpu_time_and_peak_memory(void **state)
{
        struct roast_task task = ROAST_TASK_INIT;
        struct roast_run *run;
        const char *text;

        (void)state;
        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        task.key = "silent";
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
        task.key = "measured";
        task.cpu_ns = 1500000000;
        task.peak_memory_bytes = 4096;
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        text = export(run, ROAST_EXPORT_CSV, ROAST_EXPORT_TASKS);
        assert_has(text, ",entry_stop,cpu_s,peak_memory_bytes\nsilent,");
        assert_has(text, ",,\nmeasured,");
        assert_has(text, ",1.5,4096\n");
        roast_run_free(run);
}

static void test_what_does_not_go_together_is_refused(void **state)
{
        static const struct roast_export_options bad[] = {
                { ROAST_EXPORT_OPENMETRICS, ROAST_EXPORT_CHUNKS, false },
                { ROAST_EXPORT_CHROME_TRACE, ROAST_EXPORT_METRICS, false },
                { ROAST_EXPORT_V1, ROAST_EXPORT_DEFAULT, false },
                { ROAST_EXPORT_JSON, ROAST_EXPORT_METRICS, true },
        };
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                struct roast_error error = { 0 };

                assert_int_equal(roast_export(*state, &bad[i], into_buf, &out, &error),
                                 ROAST_E_INVALID);
                assert_true(error.message[0]);
        }
        assert_int_equal(out.len, 0);
}

static int refuse(const void *data, size_t len, void *context, struct roast_error *error)
{
        (void)data;
        (void)len;
        (*(int *)context)++;
        return roast_fail(error, ROAST_E_IO, "the disk is full");
}

static void test_an_error_of_the_writer_ends_the_export(void **state)
{
        for (int format = ROAST_EXPORT_JSON; format < ROAST_EXPORT_V1; format++) {
                struct roast_export_options options = { .format =
                                                                (enum roast_export_format)format };
                struct roast_error error = { 0 };
                int calls = 0;

                assert_int_equal(roast_export(*state, &options, refuse, &calls, &error),
                                 ROAST_E_IO);
                assert_string_equal(error.message, "the disk is full");
                assert_int_equal(calls, 1);
        }
}

/* The same few files, however many chunks */
static struct roast_run *make_run_of(size_t n)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        for (size_t i = 0; i < n; i += 100) {
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

                chunk_table_init(&table);
                assert_int_equal(sample_chunks(&table, 100), 0);
                for (size_t row = 0; row < 100; row++)
                        chunk_table_set(&table, row, CHUNK_START_UTC_NS,
                                        SAMPLE_START_UTC_NS + (int64_t)(i + row) * SAMPLE_S);
                assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
                assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), 100);
        }
        assert_int_equal(roast_run_commit(run, NULL), 0);
        return run;
}

static int forget(const void *data, size_t len, void *context, struct roast_error *error)
{
        (void)data;
        (void)error;
        *(size_t *)context += len;
        return 0;
}

static void test_memory_does_not_grow_with_the_chunks(void **state)
{
        static const struct roast_export_options wanted[] = {
                { ROAST_EXPORT_JSON, ROAST_EXPORT_CHUNKS, false },
                { ROAST_EXPORT_CSV, ROAST_EXPORT_SECTIONS, false },
                { ROAST_EXPORT_JSONL, ROAST_EXPORT_FILES, false },
                { ROAST_EXPORT_CHROME_TRACE, ROAST_EXPORT_DEFAULT, false },
        };
        struct roast_run *few = make_run_of(1000), *many = make_run_of(20000);

        (void)state;
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
                size_t largest_few, written_few = 0, written_many = 0;

                alloc_fail_after(-1);
                assert_int_equal(roast_export(few, &wanted[i], forget, &written_few, NULL), 0);
                largest_few = alloc_largest();
                alloc_fail_after(-1);
                assert_int_equal(roast_export(many, &wanted[i], forget, &written_many, NULL), 0);
                assert_true(alloc_largest() <= 2 * largest_few);
                if (wanted[i].what != ROAST_EXPORT_FILES)
                        assert_true(written_many > 15 * written_few);
        }
        roast_run_free(few);
        roast_run_free(many);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_everything_is_exported_in_every_format,
                                                make_sample, free_run),
                cmocka_unit_test_setup_teardown(test_hostile_names_break_no_format, make_hostile,
                                                free_run),
                cmocka_unit_test(test_an_empty_run_is_exported),
                cmocka_unit_test(test_what_is_not_known_is_left_out),
                cmocka_unit_test(test_tasks_have_their_cpu_time_and_peak_memory),
                cmocka_unit_test_setup_teardown(test_what_does_not_go_together_is_refused,
                                                make_sample, free_run),
                cmocka_unit_test_setup_teardown(test_an_error_of_the_writer_ends_the_export,
                                                make_sample, free_run),
                cmocka_unit_test(test_memory_does_not_grow_with_the_chunks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
