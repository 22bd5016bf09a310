/* roast predict: simulations of runs whose times can be computed by hand */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "roast-predict.h"
#include "sample.h"
#include "scene.h"
#include "util/cleanup.h"
#include "util/size.h"

static struct roast_forecast forecast(struct roast_run *run,
                                      const struct roast_predict_options *options)
{
        struct roast_forecast result;
        struct roast_error error = { 0 };

        if (roast_predict(&result, run, options, &error) < 0)
                fail_msg("%s", error.message);
        return result;
}

static void assert_near(double value, double truth, double share)
{
        if (!(fabs(value - truth) <= share * truth))
                fail_msg("%g is not within %g %% of %g", value, 100 * share, truth);
}

/* 160 chunks of a second, 10 ms between two: on w threads 160 / w x 1.01 s. */
static void test_equal_chunks_are_divided_by_the_workers(void **state)
{
        static const int64_t workers[] = { 1, 2, 4, 8, 16, 160, 1000 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = scene_run(&(struct scene){ .first = 3 });
        const struct roast_predict_options options = { .workers = workers,
                                                       .n_workers = ROAST_ARRAY_SIZE(workers) };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &options);

        (void)state;
        assert_int_equal(result.n_predictions, ROAST_ARRAY_SIZE(workers));
        assert_near(result.again_s, result.elapsed_s, 0.04);
        for (size_t i = 0; i < result.n_predictions; i++) {
                const struct roast_prediction *one = &result.predictions[i];
                double rounds = ceil(160.0 / (double)workers[i]);

                assert_int_equal(one->workers, workers[i]);
                assert_int_equal(one->chunks, 160);
                assert_near(one->makespan_s, 3 + rounds * 1.01 + 0.1, 0.04);
                assert_true(one->low_s <= one->makespan_s && one->makespan_s <= one->high_s);
                assert_near(one->cost_s, (double)workers[i] * one->makespan_s, 1e-9);
                assert_true(one->idle_share >= 0 && one->idle_share < 1);
        }
        assert_true(result.predictions[6].idle_share > 0.9);
        assert_true(result.n_assumptions >= 4);
}

static bool says(const struct roast_forecast *forecast, const char *words)
{
        for (size_t i = 0; i < forecast->n_assumptions; i++)
                if (strstr(forecast->assumptions[i], words))
                        return true;
        return false;
}

/* 20 workers, one after the other, of four chunks each */
static void test_workers_that_take_turns_are_one(void **state)
{
        const struct scene scene = { .workers = 20, .chunks = 4, .in_turns = true };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&scene);
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &(struct roast_predict_options){ 0 });

        (void)state;
        assert_int_equal(result.workers, 1);
        assert_int_equal(result.predictions[0].workers, 1);
        assert_near(result.again_s, result.elapsed_s, 0.04);
        assert_near(result.predictions[0].makespan_s, result.elapsed_s, 0.04);
        assert_false(says(&result, "take care"));
}

/* Three of four workers go after an eighth of the time. */
static void is_soon_alone(struct scene_chunk *chunk)
{
        if (chunk->worker > 0 && chunk->order >= 5)
                chunk->wall = 0;
}

static void test_a_simulation_that_is_off_is_told(void **state)
{
        const struct scene scene = { .shape = is_soon_alone, .goes = true };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&scene);
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &(struct roast_predict_options){ 0 });

        (void)state;
        assert_int_equal(result.workers, 4);
        assert_near(result.again_s, 55.0 / 4, 0.1);
        assert_true(says(&result, "the run itself is 6") && says(&result, "% too short"));
}

/* A run whose workers are on a host with so many cores, which is the client's too */
static struct roast_run *run_on_cores(const struct scene *scene, int64_t cores)
{
        struct roast_run *run = scene_run(scene);

        assert_int_equal(roast_run_fact_int(run, "env.cpus", cores, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "env.host", "here", NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        return run;
}

/* Chunks wait for a core half of their time: what is left is the other half, times the load. */
static void waits(struct scene_chunk *chunk)
{
        chunk->queue = 0.5;
        chunk->host = "here";
        chunk->worker %= 4;
}

/* Four threads on two cores: half of the time is waiting. */
static void test_contention_goes_with_the_workers(void **state)
{
        static const int64_t workers[] = { 1, 4 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = run_on_cores(&(struct scene){ .shape = waits }, 2);
        const struct roast_predict_options options = { .workers = workers, .n_workers = 2 };
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast here = forecast(run, &options);
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast there = { 0 };

        (void)state;
        assert_near(here.predictions[1].makespan_s, here.elapsed_s, 0.05);
        assert_near(here.predictions[0].makespan_s, 160 * 0.51, 0.05);
        /* somewhere else nothing is known of the cores: the wait stays */
        assert_int_equal(roast_run_fact_text(run, "env.host", "there", NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        there = forecast(run, &options);
        assert_near(there.predictions[0].makespan_s, 160 * 1.01, 0.05);
}

/* A damaged file says that the host has more cores than can be counted one by one. */
static void test_any_number_of_cores_has_a_forecast(void **state)
{
        static const int64_t workers[] = { 1, 4 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = run_on_cores(&(struct scene){ .shape = waits }, INT64_MAX);
        const struct roast_predict_options options = { .workers = workers, .n_workers = 2 };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &options);

        (void)state;
        for (size_t i = 0; i < 2; i++) {
                double chunks_s = 160 / (double)workers[i];

                /* half of the time was waiting: all of it comes again, or none */
                assert_true(result.predictions[i].makespan_s >= chunks_s * 0.5);
                assert_true(result.predictions[i].makespan_s <= chunks_s * 1.05);
        }
}

/* Four threads wait three quarters of their time on two cores: four other threads want them too. */
static void waits_for_others(struct scene_chunk *chunk)
{
        waits(chunk);
        chunk->queue = 0.75;
}

static void test_who_shares_the_cores_is_left_open(void **state)
{
        static const int64_t workers[] = { 1, 4 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = run_on_cores(&(struct scene){ .shape = waits_for_others }, 2);
        const struct roast_predict_options options = { .workers = workers, .n_workers = 2 };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &options);
        const struct roast_prediction *alone = &result.predictions[0];

        (void)state;
        assert_near(result.predictions[1].makespan_s, result.elapsed_s, 0.05);
        /* a quarter of a second on a core: as it is if cores go by program, 5 threads for 2
         * cores if they go by thread */
        assert_true(alone->low_s > 160 * 0.25 && alone->low_s < 160 * 0.25 * 1.3);
        assert_true(alone->high_s < 160 * (0.25 * 2.5 + 0.03) && alone->high_s > 160 * 0.25 * 2.2);
}

/* Two threads have two cores, and wait a fifth of their time all the same: on one worker they may
 * do so again, if what they wait for are the workers' own threads. */
static void waits_for_its_own(struct scene_chunk *chunk)
{
        chunk->queue = 0.2;
        chunk->host = "here";
}

static void test_workers_may_wait_for_their_own_threads(void **state)
{
        static const int64_t workers[] = { 1 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = run_on_cores(
                &(struct scene){ .shape = waits_for_its_own, .workers = 2, .chunks = 80 }, 2);
        const struct roast_predict_options options = { .workers = workers, .n_workers = 1 };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &options);
        const struct roast_prediction *alone = &result.predictions[0];

        (void)state;
        assert_near(alone->low_s, 160 * (0.8 + 0.01), 0.03);
        assert_near(alone->makespan_s, 160 * (0.9 + 0.01), 0.03);
        assert_near(alone->high_s, 160 * (1 + 0.01), 0.03);
}

/* 0.2 s for each chunk and 80 us for each event: chunks of 10,000 events take a second. */
static void differs_in_size(struct scene_chunk *chunk)
{
        chunk->events = chunk->order % 2 ? 5000 : 15000;
        chunk->entry_start = chunk->order % 2 ? 15000 : 0;
        chunk->wall = 0.2 + 80e-6 * (double)chunk->events;
        snprintf(chunk->file, sizeof(chunk->file), "/data/%d-%d.root", chunk->worker,
                 chunk->order / 2);
}

static void test_a_chunk_size_has_its_fixed_part(void **state)
{
        static const int64_t workers[] = { 4 };
        static const int64_t sizes[] = { 2500, 5000, 10000, 20000 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = scene_run(&(struct scene){ .shape = differs_in_size });

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(sizes); i++) {
                const struct roast_predict_options options = { .workers = workers,
                                                               .n_workers = 1,
                                                               .chunksize = sizes[i] };
                ROAST_CLEANUP(roast_forecast_deinit)
                struct roast_forecast result = forecast(run, &options);
                double n = 80.0 * 20000 / (double)sizes[i];

                assert_int_equal(result.predictions[0].chunks, n);
                assert_near(result.predictions[0].makespan_s,
                            n / 4 * (0.21 + 80e-6 * (double)sizes[i]), 0.05);
        }
}

/* The same times, but a tenth of the chunks took three times as long. */
static void differs_with_outliers(struct scene_chunk *chunk)
{
        differs_in_size(chunk);
        if ((chunk->worker * 40 + chunk->order) % 10 == 3)
                chunk->wall *= 3;
}

static void test_slow_chunks_do_not_move_the_fixed_part(void **state)
{
        static const int64_t workers[] = { 1 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = scene_run(&(struct scene){ .shape = differs_with_outliers });
        const struct roast_predict_options options = { .workers = workers,
                                                       .n_workers = 1,
                                                       .chunksize = 2500 };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &options);

        (void)state;
        /* as many of the new chunks are slow */
        assert_near(result.predictions[0].makespan_s, 640 * (0.01 + 1.2 * (0.2 + 80e-6 * 2500)),
                    0.06);
}

/* 160 chunks of 10,000 events and a second each, cut in two: 160 rounds of half a second if all of
 * it goes with the events, of a second if none of it does. */
static void test_equal_chunks_leave_the_fixed_part_open(void **state)
{
        static const int64_t workers[] = { 2 };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&(struct scene){ 0 });
        struct roast_predict_options options = { .workers = workers,
                                                 .n_workers = 1,
                                                 .chunksize = 5000 };
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast half = forecast(run, &options);
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast same = { 0 };

        (void)state;
        assert_int_equal(half.predictions[0].chunks, 320);
        assert_near(half.predictions[0].low_s, 160 * (0.5 * 1.05 + 0.01), 0.06);
        assert_near(half.predictions[0].high_s, 160 * (0.95 + 0.01), 0.06);
        assert_has(half.assumptions[0], "anything from none to all of it");
        /* of chunks as they were nothing is open */
        options.chunksize = 0;
        same = forecast(run, &options);
        assert_true(same.predictions[0].high_s - same.predictions[0].low_s <
                    0.1 * same.predictions[0].low_s);
}

/* Merging 160 outputs of 0.25 s each: 8 merges of 20, and one of 8. */
static void test_merges_run_on_the_same_threads(void **state)
{
        static const int64_t workers[] = { 1, 160 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = scene_run(&(struct scene){ .reduce = 42 });
        const struct roast_predict_options options = { .workers = workers, .n_workers = 2 };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &options);

        (void)state;
        assert_near(result.predictions[0].makespan_s, 160 * 1.01 + 42, 0.03);
        assert_near(result.predictions[1].makespan_s, 1 + 5 + 2, 0.1);
}

static void test_failures_cost_half_an_attempt(void **state)
{
        static const int64_t workers[] = { 4 };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&(struct scene){ 0 });
        struct roast_predict_options options = { .workers = workers,
                                                 .n_workers = 1,
                                                 .has_fail_rate = true };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast without = forecast(run, &options);
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast with = { 0 };

        (void)state;
        assert_true(without.predictions[0].fails == 0);
        options.fail_rate = 0.2;
        with = forecast(run, &options);
        /* 0.2 + 0.04 + ... failed attempts for each chunk, half a second each */
        assert_near(with.predictions[0].makespan_s,
                    without.predictions[0].makespan_s * (1 + 0.25 * 0.5), 0.04);
        assert_true(with.predictions[0].fails > 0.05); /* 160 chunks, 0.2^4 each */
        assert_true(with.n_assumptions > without.n_assumptions);
}

/* 160 chunks, of which each fails 0.9^4 of the time */
static void test_what_would_fail_is_not_recommended(void **state)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&(struct scene){ 0 });
        struct roast_predict_options options = { .has_fail_rate = true,
                                                 .fail_rate = 0.9,
                                                 .deadline_s = 10000 };
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast doomed = forecast(run, &options);
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast fine = { 0 };

        (void)state;
        assert_true(doomed.predictions[0].fails == 1);
        assert_false(doomed.has_best);
        options.fail_rate = 0;
        fine = forecast(run, &options);
        assert_true(fine.has_best);
}

static void test_the_same_question_has_the_same_answer(void **state)
{
        static const int64_t workers[] = { 3, 7 };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&(struct scene){ 0 });
        const struct roast_predict_options options = { .workers = workers, .n_workers = 2 };
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast a = forecast(run, &options);
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast b = forecast(run, &options);

        (void)state;
        assert_memory_equal(a.predictions, b.predictions, 2 * sizeof(*a.predictions));
}

static void test_the_fewest_workers_that_make_a_deadline(void **state)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&(struct scene){ 0 });
        const struct roast_predict_options options = { .deadline_s = 20.5 };
        const struct roast_predict_options hopeless = { .deadline_s = 0.01 };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &options);
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast none = forecast(run, &hopeless);

        (void)state;
        assert_true(result.has_best);
        assert_true(result.best.high_s <= 20.5);
        assert_true(result.best.workers == 8);
        assert_has(result.advice, "8 workers");
        assert_false(none.has_best);
        assert_has(none.advice, "no number of workers");
}

static void test_the_fastest_within_a_cost(void **state)
{
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = scene_run(&(struct scene){ .first = 10 });
        const struct roast_predict_options options = { .cost_s = 300 };
        ROAST_CLEANUP(roast_forecast_deinit)
        struct roast_forecast result = forecast(run, &options);

        (void)state;
        assert_true(result.has_best);
        assert_true((double)result.best.workers * result.best.high_s <= 300);
        /* w x (10 + 160 / w) = 300 at 14 */
        assert_true(result.best.workers >= 10 && result.best.workers <= 14);
}

static void test_what_makes_no_sense_is_refused(void **state)
{
        static const int64_t bad[] = { 0 };
        static const int64_t many[] = { INT64_MAX };
        const struct roast_predict_options options[] = {
                { .workers = bad, .n_workers = 1 },
                { .workers = many, .n_workers = 1 },
                { .chunksize = -1 },
                { .has_fail_rate = true, .fail_rate = 1 },
                { .has_fail_rate = true, .fail_rate = (double)NAN },
                { .deadline_s = -1 },
                { .cost_s = (double)NAN },
        };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&(struct scene){ 0 });
        ROAST_CLEANUP(sample_freep) struct roast_run *empty = NULL;
        struct roast_forecast result;
        struct roast_error error = { 0 };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(options); i++)
                assert_int_equal(roast_predict(&result, run, &options[i], &error), ROAST_E_INVALID);
        assert_int_equal(roast_run_create(&empty, NULL, &error), 0);
        assert_int_equal(roast_run_commit(empty, &error), 0);
        assert_int_equal(
                roast_predict(&result, empty, &(struct roast_predict_options){ 0 }, &error),
                ROAST_E_STATE);
        assert_has(error.message, "no chunk");
}

static void test_allocation_failures_are_errors(void **state)
{
        static const int64_t workers[] = { 4 };
        ROAST_CLEANUP(sample_freep)
        struct roast_run *run = scene_run(&(struct scene){ .chunks = 2 });
        const struct roast_predict_options options = {
                .workers = workers, .n_workers = 1, .chunksize = 5000, .deadline_s = 10
        };
        int r = -1;

        (void)state;
        for (long count = 0; r < 0; count++) {
                struct roast_forecast result = { 0 };
                struct roast_error error = { 0 };
                char *json = NULL;

                alloc_fail_after(count);
                r = roast_predict(&result, run, &options, &error);
                if (r >= 0)
                        r = roast_forecast_to_json(&json, &result, &error);
                if (r < 0)
                        assert_true(alloc_failed());
                alloc_fail_after(-1);
                roast_forecast_deinit(&result);
                free(json);
                assert_true(count < 10000);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_equal_chunks_are_divided_by_the_workers),
                cmocka_unit_test(test_workers_that_take_turns_are_one),
                cmocka_unit_test(test_a_simulation_that_is_off_is_told),
                cmocka_unit_test(test_contention_goes_with_the_workers),
                cmocka_unit_test(test_any_number_of_cores_has_a_forecast),
                cmocka_unit_test(test_who_shares_the_cores_is_left_open),
                cmocka_unit_test(test_workers_may_wait_for_their_own_threads),
                cmocka_unit_test(test_a_chunk_size_has_its_fixed_part),
                cmocka_unit_test(test_slow_chunks_do_not_move_the_fixed_part),
                cmocka_unit_test(test_equal_chunks_leave_the_fixed_part_open),
                cmocka_unit_test(test_merges_run_on_the_same_threads),
                cmocka_unit_test(test_failures_cost_half_an_attempt),
                cmocka_unit_test(test_what_would_fail_is_not_recommended),
                cmocka_unit_test(test_the_same_question_has_the_same_answer),
                cmocka_unit_test(test_the_fewest_workers_that_make_a_deadline),
                cmocka_unit_test(test_the_fastest_within_a_cost),
                cmocka_unit_test(test_what_makes_no_sense_is_refused),
                cmocka_unit_test(test_allocation_failures_are_errors),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
