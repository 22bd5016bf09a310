/*
 * What is made of run files when reads, threads, clocks, memory or writes fail
 *
 * Everything that is asked of a run is asked again and again, from opening the
 * file on, and each time the next call fails: the answer is the right one or an
 * error that says what went wrong.
 */

#include "unit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "faults.h"
#include "folder.h"
#include "plans.h"
#include "roast-compare.h"
#include "roast-explain.h"
#include "roast-export.h"
#include "roast-predict.h"
#include "roast-report.h"
#include "roast-scaling.h"
#include "roast-show.h"
#include "run/run.h"
#include "sample.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/size.h"

#define CHUNKS 12

/* ---- what is asked: each opens the file and puts its answer into `out` ---- */

static int put(struct buf *out, const char *text, struct roast_error *error)
{
        return buf_puts(out, text) < 0 ? roast_fail_nomem(error) : 0;
}

static int ask_summary(struct buf *out, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(cleanup_free) char *json = NULL, *dump = NULL;
        int r = roast_run_open_any(&run, path, error);

        if (r >= 0)
                r = roast_summary_of_run(&summary, run, error);
        if (r >= 0)
                r = roast_show_to_json(&json, run, &summary, NULL, error);
        if (r >= 0)
                r = put(out, json, error);
        if (r < 0)
                return r;
        dump = sample_dump(&summary);
        return dump ? put(out, dump, error) : roast_fail_nomem(error);
}

static int append(const void *data, size_t len, void *context, struct roast_error *error)
{
        return buf_append(context, data, len) < 0 ? roast_fail_nomem(error) : 0;
}

static const struct roast_export_options exports[] = {
        { ROAST_EXPORT_JSON, ROAST_EXPORT_METRICS, false },
        { ROAST_EXPORT_JSONL, ROAST_EXPORT_CHUNKS, false },
        { ROAST_EXPORT_CSV, ROAST_EXPORT_SECTIONS, false },
        { ROAST_EXPORT_MARKDOWN, ROAST_EXPORT_FILES, false },
        { ROAST_EXPORT_CSV, ROAST_EXPORT_TASKS, false },
        { ROAST_EXPORT_JSON, ROAST_EXPORT_SERIES, false },
        { ROAST_EXPORT_CSV, ROAST_EXPORT_SERIES, false },
        { ROAST_EXPORT_OPENMETRICS, ROAST_EXPORT_DEFAULT, true },
        { ROAST_EXPORT_CHROME_TRACE, ROAST_EXPORT_DEFAULT, false },
};
static const struct roast_export_options *exported; /* the one that is asked for */

static int ask_export(struct buf *out, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        int r = roast_run_open_any(&run, path, error);

        return r < 0 ? r : roast_export(run, exported, append, out, error);
}

static int ask_page(struct buf *out, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        ROAST_CLEANUP(cleanup_free) char *html = NULL;
        size_t len;
        int r = roast_run_open_any(&run, path, error);

        if (r >= 0)
                r = roast_report_html(&html, &len, run, error);
        return r < 0 ? r : append(html, len, out, error);
}

static int ask_comparison(struct buf *out, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *a = NULL, *b = NULL;
        ROAST_CLEANUP(roast_comparison_deinit) struct roast_comparison comparison = { 0 };
        ROAST_CLEANUP(cleanup_free) char *json = NULL;
        int r = roast_run_open_any(&a, path, error);

        if (r >= 0)
                r = roast_run_open_any(&b, path, error);
        if (r >= 0)
                r = roast_compare(&comparison, (struct roast_run *const[]){ a, b },
                                  (const size_t[]){ 0, 1 }, 2, error);
        if (r >= 0)
                r = roast_comparison_to_json(&json, &comparison, error);
        return r < 0 ? r : put(out, json, error);
}

static int ask_explanation(struct buf *out, const char *path, struct roast_error *error)
{
        static const struct roast_explain_view view = { .all = true };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        int r = roast_run_open_any(&run, path, error);

        if (r >= 0)
                r = roast_explain(&found, run, error);
        if (r >= 0)
                r = roast_explanation_to_text(&text, &found, &view, error);
        return r < 0 ? r : put(out, text, error);
}

static int ask_forecast(struct buf *out, const char *path, struct roast_error *error)
{
        static const int64_t workers[] = { 4 };
        static const struct roast_predict_options options = { .workers = workers, .n_workers = 1 };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast forecast = { 0 };
        ROAST_CLEANUP(cleanup_free) char *json = NULL;
        int r = roast_run_open_any(&run, path, error);

        if (r >= 0)
                r = roast_predict(&forecast, run, &options, error);
        if (r >= 0)
                r = roast_forecast_to_json(&json, &forecast, error);
        return r < 0 ? r : put(out, json, error);
}

static int ask_attempts(struct buf *out, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        ROAST_CLEANUP(cleanup_free) void *data = NULL;
        size_t len;
        int r = roast_run_open_any(&run, path, error);

        if (r >= 0)
                r = roast_run_encode_chunks(run, &data, &len, error);
        return r < 0 ? r : append(data, len, out, error);
}

static void count_rows(const char *table, int64_t rows, void *context)
{
        (void)table;
        *(int64_t *)context += rows;
}

static int ask_check(struct buf *out, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        int64_t rows = 0;
        int r = roast_run_open_any(&run, path, error);

        if (r >= 0)
                r = roast_run_check(run, count_rows, &rows, error);
        return r < 0 ? r : append(&rows, sizeof(rows), out, error);
}

/* ---- and those that write files, "complete or not at all" ---- */

/* Files are read with faults switched off: they are what is looked at, not what is tried. */
static void read_file(struct buf *out, const char *path)
{
        ROAST_CLEANUP(cleanup_free) char *text = NULL;

        faults_none();
        alloc_fail_after(-1);
        text = folder_text(path);
        assert_non_null(text);
        assert_int_equal(buf_puts(out, text), 0);
}

static const char *beside(const char *path, const char *end)
{
        static char name[4096];

        (void)snprintf(name, sizeof(name), "%s%s", path, end);
        return name;
}

static int write_page(struct buf *out, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        const char *page = beside(path, ".html");
        int r = roast_run_open_any(&run, path, error);

        if (r >= 0)
                r = roast_report_write(run, page, error);
        if (r >= 0)
                read_file(out, page);
        else
                assert_int_equal(access(page, F_OK), -1);
        (void)unlink(page);
        return r;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

static int write_v1(struct buf *out, const char *path, struct roast_error *error)
{
        static const char *const names[] = { "metrics.json", "start_end_time.txt" };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        const char *folder = beside(path, ".v1");
        char name[4200];
        int r = roast_run_open_any(&run, path, error);

        if (r >= 0)
                r = roast_export_v1(run, folder, NULL, error);
        for (size_t i = 0; r >= 0 && i < ROAST_ARRAY_SIZE(names); i++) {
                (void)snprintf(name, sizeof(name), "%s/%s", folder, names[i]);
                read_file(out, name);
        }
        if (r < 0)
                assert_int_equal(access(folder, F_OK), -1);
        else
                assert_int_equal(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
        return r;
}

static int write_copy(struct buf *out, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;
        const char *copy = beside(path, ".copy");
        int r = roast_run_open(&run, path, error);

        if (r >= 0)
                r = roast_run_copy_new(run, copy, error);
        if (r >= 0) {
                faults_none();
                alloc_fail_after(-1);
                assert_int_equal(ask_summary(out, copy, NULL), 0);
        } else {
                assert_int_equal(access(copy, F_OK), -1);
        }
        (void)unlink(copy);
        return r;
}

/* ---- the run: finished, and one that goes on, with its journal ---- */

static struct roast_run *writer;

static int make_runs(void **state)
{
        struct roast_run *run;

        assert_int_equal(folder_make(state), 0);
        assert_int_equal(roast_run_create(&run, folder_path(state, "finished.roast"), NULL), 0);
        assert_int_equal(sample_fill(run, CHUNKS, NULL), 0);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);
        assert_int_equal(roast_run_create(&writer, folder_path(state, "going.roast"), NULL), 0);
        assert_int_equal(sample_fill(writer, CHUNKS, NULL), 0);
        return 0;
}

static int remove_runs(void **state)
{
        roast_run_free(writer);
        return folder_remove(state);
}

#define ASK(name)                                                                                  \
        static void test_##name(void **state)                                                      \
        {                                                                                          \
                plans_play(name, folder_path(state, "finished.roast"));                            \
        }

ASK(ask_page)
ASK(ask_comparison)
ASK(ask_explanation)
ASK(ask_forecast)
ASK(ask_attempts)
ASK(ask_check)
ASK(write_page)
ASK(write_v1)
ASK(write_copy)

static void test_ask_summary(void **state)
{
        plans_play(ask_summary, folder_path(state, "finished.roast"));
        plans_play(ask_summary, folder_path(state, "going.roast"));
}

static void test_ask_exports(void **state)
{
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(exports); i++) {
                exported = &exports[i];
                plans_play(ask_export, folder_path(state, "finished.roast"));
        }
}

#define TEST(name) cmocka_unit_test(test_##name)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(ask_summary),     TEST(ask_exports),  TEST(ask_page),     TEST(ask_comparison),
                TEST(ask_explanation), TEST(ask_forecast), TEST(ask_attempts), TEST(ask_check),
                TEST(write_page),      TEST(write_v1),     TEST(write_copy),
        };

        return cmocka_run_group_tests_name("read-faults", tests, make_runs, remove_runs);
}
