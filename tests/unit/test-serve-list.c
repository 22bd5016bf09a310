/* serve/list: the runs of a folder, as JSON and as a page */

#include "unit.h"

#include "alloc.h"
#include "folder.h"
#include "sample.h"
#include "serve/list.h"
#include "util/cleanup.h"

typedef int (*list_maker)(struct buf *out, struct catalog *catalog, struct roast_error *error);

/* What a folder's list says; the caller frees. */
static char *list_of(void **state, list_maker make)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct catalog catalog;

        assert_int_equal(catalog_init(&catalog, *state, NULL), 0);
        assert_int_equal(make(&out, &catalog, NULL), 0);
        catalog_deinit(&catalog);
        return buf_release_string(&out);
}

static void add_run(void **state, const char *name, bool begun)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, folder_path(state, name), NULL), 0);
        if (begun)
                assert_int_equal(sample_fill(run, 3, NULL), 0);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);
}

static void test_a_folder_without_runs(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *page = list_of(state, list_html);
        ROAST_CLEANUP(cleanup_free) char *json = list_of(state, list_json);

        assert_has(page, "There are no runs here yet.");
        assert_string_equal(json, "{\n  \"runs\": []\n}\n");
}

static void test_runs_are_listed_with_their_times(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *page = NULL, *json = NULL;

        add_run(state, "good.roast", true);
        add_run(state, "empty.roast", false);
        page = list_of(state, list_html);
        json = list_of(state, list_json);
        assert_has(page, "<a href=\"/runs/good/\">good</a></td><td>2026-11-15 20:03:08 UTC</td>"
                         "<td>finished</td>");
        assert_has(page, "<a href=\"/runs/empty/\">empty</a></td><td></td><td>");
        assert_has(json, "\"id\": \"good\",\n      \"name\": \"sample\",\n"
                         "      \"outcome\": \"finished\",\n      \"start\": 1794772988.0,\n"
                         "      \"end\": 1794772998.0\n");
        assert_has(json, "\"id\": \"empty\",\n      \"name\": null,\n      \"outcome\": null,\n"
                         "      \"start\": null,\n      \"end\": null\n");
}

static void test_a_run_that_cannot_be_read_is_listed_with_the_reason(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *page = NULL, *json = NULL;

        folder_put_text(folder_path(state, "broken.roast"), "SQLite format 3");
        page = list_of(state, list_html);
        json = list_of(state, list_json);
        assert_has(page, ">broken</a></td><td></td><td class=\"quiet\">");
        assert_has(page, "broken.roast: is not a run file</td>");
        assert_has(json, "\"id\": \"broken\",\n      \"error\": \"");
}

static void test_a_run_that_was_deleted_is_not_listed(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct catalog catalog;

        add_run(state, "gone.roast", true);
        add_run(state, "kept.roast", true);
        assert_int_equal(catalog_init(&catalog, *state, NULL), 0);
        assert_non_null(catalog_find(&catalog, "gone"));
        assert_int_equal(unlink(folder_path(state, "gone.roast")), 0);
        assert_null(catalog_find(&catalog, "gone"));
        assert_string_equal(catalog_latest(&catalog)->id, "kept");
        assert_int_equal(list_json(&out, &catalog, NULL), 0);
        assert_null(memmem(out.data, out.len, "gone", 4));
        assert_int_equal(unlink(folder_path(state, "kept.roast")), 0);
        assert_null(catalog_latest(&catalog));
        add_run(state, "gone.roast", false);
        assert_string_equal(catalog_latest(&catalog)->id, "gone");
        catalog_deinit(&catalog);
}

static void test_names_are_escaped_in_links_and_in_the_page(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *page = NULL;

        add_run(state, "a <b>&\"Z0~[{.roast", true);
        page = list_of(state, list_html);
        assert_has(page, "<a href=\"/runs/a%20%3Cb%3E%26%22Z0~%5B%7B/\">a &lt;b&gt;&amp;&quot;Z0~[{"
                         "</a>");
}

static void test_a_list_without_memory_is_an_error(void **state)
{
        static const list_maker lists[] = { list_html, list_json };
        struct catalog catalog;

        assert_int_equal(catalog_init(&catalog, *state, NULL), 0);
        for (size_t i = 0; i < 2; i++) {
                bool failed = true;

                for (long count = 0; failed; count++) {
                        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
                        struct roast_error error = { 0 };
                        int r;

                        alloc_fail_after(count);
                        r = lists[i](&out, &catalog, &error);
                        failed = alloc_failed();
                        alloc_fail_after(-1);
                        assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                        assert_int_equal(error.code, r);
                }
        }
        catalog_deinit(&catalog);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
        const struct CMUnitTest tests[] = {
                TEST(test_a_folder_without_runs),
                TEST(test_runs_are_listed_with_their_times),
                TEST(test_a_run_that_cannot_be_read_is_listed_with_the_reason),
                TEST(test_a_run_that_was_deleted_is_not_listed),
                TEST(test_names_are_escaped_in_links_and_in_the_page),
                TEST(test_a_list_without_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("serve-list", tests, NULL, NULL);
}
