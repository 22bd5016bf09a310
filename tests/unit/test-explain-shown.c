/* roast explain: what is shown of an explanation */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "explained.h"
#include "util/cleanup.h"

/* The largest file comes last, in one chunk: the finding names it. */
static void has_a_hostile_name(struct scene_chunk *chunk)
{
        if (chunk->worker == 0 && chunk->order == SCENE_CHUNKS - 1) {
                chunk->wall = 15;
                chunk->events = 150000;
        }
        snprintf(chunk->file, sizeof(chunk->file), "/data/\033[2J\n<b>|x_%d.root",
                 chunk->order / 4);
}

static void test_names_from_files_do_no_harm(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        struct roast_explain_view view = { .width = 60, .all = true };
        struct roast_error error = { 0 };
        char *text;

        (void)state;
        explain_scene(&found, &(struct scene){ .shape = has_a_hostile_name });
        assert_int_equal(roast_explanation_to_text(&text, &found, &view, &error), 0);
        assert_has(text, "/data/?[2J?<b>|x_9.root");
        assert_has_not(text, "\033");
        free(text);
        view.markdown = true;
        assert_int_equal(roast_explanation_to_text(&text, &found, &view, &error), 0);
        assert_has(text, "\\<b\\>\\|x\\_9.root");
        assert_has_not(text, "<b>");
        free(text);
        assert_int_equal(roast_explanation_to_json(&text, &found, &error), 0);
        assert_has(text, "\\u001b[2J\\u000a<b>");
        assert_has_not(text, "\033");
        free(text);
}

static void test_lines_keep_to_the_width(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        struct roast_error error = { 0 };

        (void)state;
        explain_scene(&found, &(struct scene){ .first = 20, .after = 20 });
        assert_true(found.n_findings >= 2);
        found.findings[0].estimated = true;
        found.findings[0].saves_s = 12345.6;
        for (size_t width = 40; width <= 80; width += 20) {
                const struct roast_explain_view view = { .width = width,
                                                         .all = true,
                                                         .color = width == 60 };
                size_t most = width + (view.color ? 8 : 0); /* colours have no width */
                ROAST_CLEANUP(cleanup_free) char *text = NULL;

                assert_int_equal(roast_explanation_to_text(&text, &found, &view, &error), 0);
                for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
                        if (strcspn(line, "\n") > most)
                                fail_msg("%.*s", (int)strcspn(line, "\n"), line);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names_from_files_do_no_harm),
                cmocka_unit_test(test_lines_keep_to_the_width),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
