/* run/list: the runs in a directory; util/html: their names in a page */

#include "unit.h"

#include <stdlib.h>

#include "alloc.h"
#include "folder.h"
#include "run/list.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/html.h"
#include "util/size.h"

static void test_runs_are_listed_by_name_and_hidden_ones_are_not(void **state)
{
        static const char *const names[] = { "run10.roast", ".hidden.roast", "run9.roast",
                                             ".roast",      "run.roast-wal", "notes.txt" };
        struct roast_error error = { 0 };
        struct dirent **entries;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(names); i++)
                folder_put_text(folder_path(state, names[i]), "");
        assert_int_equal(run_list(&entries, *state, &error), 2);
        assert_string_equal(entries[0]->d_name, "run9.roast");
        assert_string_equal(entries[1]->d_name, "run10.roast");
        free(entries[0]);
        free(entries[1]);
        free(entries);
        assert_int_equal(run_list(&entries, folder_path(state, "missing"), &error), ROAST_E_IO);
        assert_has(error.message, "missing: No such file");
}

static void test_a_run_without_an_outcome_is_unfinished(void **state)
{
        (void)state;
        assert_string_equal(run_state(&(struct roast_run_about){ 0 }), "unfinished");
        assert_string_equal(run_state(&(struct roast_run_about){ .outcome = "failed" }), "failed");
}

static void test_no_text_leaves_its_place_in_a_page(void **state)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;

        (void)state;
        assert_int_equal(html_put(&out, "<a b=\"c\" d='e'>&\n\x7f\xc3\xa9"), 0);
        assert_int_equal(buf_put_u8(&out, 0), 0);
        assert_string_equal((const char *)out.data,
                            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;  \xc3\xa9");
        buf_deinit(&out);
        out = (struct buf)BUF_INIT;
        alloc_fail_after(0);
        assert_int_equal(html_put(&out, "<"), ROAST_E_NOMEM);
        alloc_fail_after(-1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(
                        test_runs_are_listed_by_name_and_hidden_ones_are_not, folder_make,
                        folder_remove),
                cmocka_unit_test(test_a_run_without_an_outcome_is_unfinished),
                cmocka_unit_test(test_no_text_leaves_its_place_in_a_page),
        };

        return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
