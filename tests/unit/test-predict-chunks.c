/* roast predict --chunksize: how events are cut into chunks */

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "roast-predict.h"
#include "scene.h"
#include "util/cleanup.h"

static const int64_t workers[] = { 4 };

static struct roast_forecast forecast(struct roast_run *run, int64_t chunksize)
{
        const struct roast_predict_options options = { .workers = workers,
                                                       .n_workers = 1,
                                                       .chunksize = chunksize };
        struct roast_forecast result;
        struct roast_error error = { 0 };

        if (roast_predict(&result, run, &options, &error) < 0)
                fail_msg("%s", error.message);
        return result;
}

static void assert_chunks(void (*shape)(struct scene_chunk *), int64_t chunksize, int64_t chunks)
{
        struct roast_run *run = scene_run(&(struct scene){ .shape = shape });
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, chunksize);

        assert_int_equal(result.predictions[0].chunks, chunks);
        roast_run_free(run);
}

/* 160 chunks, together more events than 32 bits count */
static void has_no_file(struct scene_chunk *chunk)
{
        *chunk->file = '\0';
        chunk->events = 30000000;
        chunk->entry_start = 0;
}

static void test_chunks_without_a_file_are_cut_one_by_one(void **state)
{
        (void)state;
        assert_chunks(has_no_file, 10000000, 160 * 3);
        assert_chunks(has_no_file, 30000000, 160);
        assert_chunks(has_no_file, 1000000000, 160);
}

/* 40 files, whose entries are just countable in 32 bits */
static void is_at_the_end_of_a_large_file(struct scene_chunk *chunk)
{
        chunk->events = 22500000;
        chunk->entry_start = 4200000000 + chunk->order % 4 * chunk->events;
}

/* and just not */
static void is_at_the_end_of_a_larger_file(struct scene_chunk *chunk)
{
        is_at_the_end_of_a_large_file(chunk);
        chunk->entry_start += 50000000;
}

static void test_files_of_any_size_are_cut(void **state)
{
        (void)state;
        assert_chunks(is_at_the_end_of_a_large_file, 1000000000, 40 * 4);
        assert_chunks(is_at_the_end_of_a_large_file, INT64_MAX, 40);
        assert_chunks(is_at_the_end_of_a_larger_file, 1000000000, 40 * 4);
        /* a chunk has no more events than 32 bits count */
        assert_chunks(is_at_the_end_of_a_larger_file, INT64_MAX, 40 * 2);
}

static bool says(const struct roast_forecast *forecast, const char *words)
{
        for (size_t i = 0; i < forecast->n_assumptions; i++)
                if (strstr(forecast->assumptions[i], words))
                        return true;
        return false;
}

/* Files have millions of such chunks for each one that was seen. */
static void is_at_the_end_of_a_huge_file(struct scene_chunk *chunk)
{
        chunk->events = 1000;
        chunk->entry_start = 4200000000 + chunk->order % 4 * chunk->events;
}

static void test_chunk_sizes_that_are_too_much_work_are_left_out(void **state)
{
        struct roast_run *run = scene_run(&(struct scene){ .shape = is_at_the_end_of_a_huge_file });
        const struct roast_predict_options options = { .deadline_s = 100 };
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast result = { 0 };
        struct roast_error error = { 0 };

        (void)state;
        if (roast_predict(&result, run, &options, &error) < 0)
                fail_msg("%s", error.message);
        assert_true(result.has_best);
        assert_int_equal(result.best.workers, 2);
        assert_int_equal(result.best.chunksize, 0);
        assert_true(says(&result, "chunks of 4,000 events were not tried"));
        assert_true(says(&result, "chunks of 250 events were not tried"));
        roast_run_free(run);
}

static void test_chunk_sizes_that_were_tried_are_not_called_left_out(void **state)
{
        struct roast_run *run = scene_run(&(struct scene){ 0 });
        const struct roast_predict_options options = { .deadline_s = 100 };
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast result = { 0 };
        struct roast_error error = { 0 };

        (void)state;
        assert_int_equal(roast_predict(&result, run, &options, &error), 0);
        assert_true(result.has_best);
        assert_false(says(&result, "not tried"));
        roast_run_free(run);
}

static void is_here(struct scene_chunk *chunk)
{
        chunk->host = "here";
}

static void is_here_and_waits(struct scene_chunk *chunk)
{
        is_here(chunk);
        chunk->queue = 0.6;
}

/* Four threads of the run on two cores: as many share them in a prediction. */
static void test_who_shares_the_cores_is_said(void **state)
{
        static const struct {
                void (*shape)(struct scene_chunk *);
                bool others;
        } cases[] = { { is_here, false }, { is_here_and_waits, true } };

        (void)state;
        for (size_t i = 0; i < 2; i++) {
                struct roast_run *run = scene_run(&(struct scene){ .shape = cases[i].shape });
                struct roast_error error = { 0 };

                assert_int_equal(roast_run_fact_int(run, "env.cpus", 2, &error), 0);
                assert_int_equal(roast_run_fact_text(run, "env.host", "here", &error), 0);
                assert_int_equal(roast_run_commit(run, &error), 0);
                {
                        ROAST_CLEANUP(roast_forecast_deinit)
                        struct roast_forecast result = forecast(run, 0);

                        assert_true(says(&result, "up to 4 threads share the 2 cores"));
                        assert_int_equal(says(&result, "others that want"), cases[i].others);
                }
                roast_run_free(run);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_chunks_without_a_file_are_cut_one_by_one),
                cmocka_unit_test(test_files_of_any_size_are_cut),
                cmocka_unit_test(test_chunk_sizes_that_are_too_much_work_are_left_out),
                cmocka_unit_test(test_chunk_sizes_that_were_tried_are_not_called_left_out),
                cmocka_unit_test(test_who_shares_the_cores_is_said),
        };

        return cmocka_run_group_tests_name("predict-chunks", tests, NULL, NULL);
}
