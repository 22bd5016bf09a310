/* roast explain: threads are idle only while their worker is there */

#include "unit.h"

#include "explained.h"
#include "sample.h"
#include "util/cleanup.h"

/* A worker stops taking chunks: as if it was killed and nobody saw it */
static void is_alone_from_the_middle_on(struct scene_chunk *chunk)
{
        if (chunk->worker > 0 && chunk->order >= SCENE_CHUNKS / 2)
                chunk->wall = 0;
}

static void test_chunks_are_not_too_few_where_there_are_as_many_as_advised(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };

        (void)state;
        explain_scene(&found, &(struct scene){ .shape = is_alone_from_the_middle_on });
        assert_has(why_not(&found, "chunks-large"), "25.0 chunks for each thread");
}

static void test_threads_are_not_idle_after_their_worker_has_gone(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };

        (void)state;
        explain_scene(&found, &(struct scene){ .workers = 20, .chunks = 4, .in_turns = true });
        assert_none_fired(&found);
}

/* Chunks are too few for what advice there is, but nobody waits. */
static void is_alone_at_the_end(struct scene_chunk *chunk)
{
        if (chunk->worker > 0 && chunk->order >= 4)
                chunk->wall = 0;
}

static void test_a_worker_that_goes_early_makes_no_tail(void **state)
{
        struct scene scene = {
                .shape = is_alone_at_the_end, .workers = 2, .chunks = 8, .goes = true
        };
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation gone = { 0 };
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation stayed = { 0 };

        (void)state;
        explain_scene(&gone, &scene);
        assert_none_fired(&gone);
        scene.goes = false; /* one that stays does wait */
        explain_scene(&stayed, &scene);
        assert_non_null(find_rule(&stayed, "chunks-large"));
}

/* A worker of eight threads that is there for half a second of nine, and gets nothing */
static void test_threads_without_a_chunk_count_while_they_are_there(void **state)
{
        const struct roast_worker late = { "tcp://10.0.0.9:1000", "node9", 900, 8, 0 };
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = scene_run(&(struct scene){ .workers = 6, .chunks = 9 });
        const int64_t s = 1000000000;
        struct roast_error error = { 0 };

        (void)state;
        assert_int_equal(roast_run_add_worker_event(run, SCENE_START_UTC_NS + 8 * s,
                                                    ROAST_WORKER_CAME, &late, &error),
                         0);
        assert_int_equal(roast_run_add_worker_event(run, SCENE_START_UTC_NS + 17 * s / 2,
                                                    ROAST_WORKER_WENT, &late, &error),
                         0);
        assert_int_equal(roast_run_commit(run, &error), 0);
        assert_int_equal(roast_explain(&found, run, &error), 0);
        assert_has(why_not(&found, "chunks-large"), "threads were idle at the end for 7.");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_chunks_are_not_too_few_where_there_are_as_many_as_advised),
                cmocka_unit_test(test_threads_are_not_idle_after_their_worker_has_gone),
                cmocka_unit_test(test_a_worker_that_goes_early_makes_no_tail),
                cmocka_unit_test(test_threads_without_a_chunk_count_while_they_are_there),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
