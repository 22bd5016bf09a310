/* roast explain: what is not told, or is nothing, is no evidence */

#include "unit.h"

#include "explained.h"
#include "sample.h"
#include "util/cleanup.h"

static void has_no_events(struct scene_chunk *chunk)
{
        chunk->events = 0;
        chunk->gap = 1;
}

/* There are no larger chunks of nothing. */
static void test_chunks_without_events_are_not_too_small(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };

        (void)state;
        explain_scene(&found, &(struct scene){ .shape = has_no_events });
        assert_string_equal(why_not(&found, "chunks-small"), "no chunk has events");
}

/* A clock that is too coarse, or a processor that does nothing */
static void takes_no_time(struct scene_chunk *chunk)
{
        chunk->wall = 1e-10;
}

static void test_chunks_that_take_no_time_do_not_stand_out(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_error error = { 0 };

        (void)state;
        explain_scene(&found, &(struct scene){ .shape = takes_no_time });
        assert_has(why_not(&found, "outliers"), "0 chunks took 3 times");
        assert_int_equal(roast_explanation_to_json(&text, &found, &error), 0);
        assert_null(strstr(text, "nan %"));
}

static void test_a_run_that_tells_nothing_has_reasons(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_error error = { 0 };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL;

        (void)state;
        assert_int_equal(roast_run_create(&run, NULL, &error), 0);
        assert_int_equal(roast_run_commit(run, &error), 0);
        assert_int_equal(roast_explain(&found, run, &error), 0);
        assert_int_equal(found.n_findings, 0);
        for (size_t i = 0; i < found.n_unfired; i++)
                assert_true(found.unfired[i].why_not[0]);
        assert_int_equal(roast_explanation_to_json(&text, &found, &error), 0);
        assert_has(text, "\"elapsed_s\": null");
}

static void test_chunks_without_a_split_are_no_evidence(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_error error = { 0 };

        (void)state;
        explain_scene(&found, &(struct scene){ .no_splits = true });
        assert_int_equal(found.n_findings, 0);
        assert_int_equal(roast_explanation_to_json(&text, &found, &error), 0);
        assert_has(text, "no chunk tells how long it waited for a core");
}

static void is_never_looked_at(struct scene_chunk *chunk)
{
        chunk->other = 0.5;
        chunk->samples = 0;
}

static void test_waits_that_no_look_met_are_not_called_short(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };

        (void)state;
        explain_scene(&found, &(struct scene){ .shape = is_never_looked_at });
        assert_string_equal(why_not(&found, "io-bound"), "only 0 looks met a chunk asleep");
        assert_string_equal(why_not(&found, "gil"), "only 0 looks met a chunk asleep");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_chunks_without_events_are_not_too_small),
                cmocka_unit_test(test_chunks_that_take_no_time_do_not_stand_out),
                cmocka_unit_test(test_a_run_that_tells_nothing_has_reasons),
                cmocka_unit_test(test_chunks_without_a_split_are_no_evidence),
                cmocka_unit_test(test_waits_that_no_look_met_are_not_called_short),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
