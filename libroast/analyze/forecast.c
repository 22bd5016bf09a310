/* How long a run would take with other workers or chunks: see roast-predict.h. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/predictor.h"
#include "analyze/rule.h"
#include "util/cleanup.h"
#include "util/size.h"

/* So many chunks are simulated for a prediction, over all repetitions, */
#define WORK_MAX 2000000
/* which are at most so many. */
#define REPEATS_MOST 200
/* The run itself is simulated for fewer: its mean is all that is wanted. */
#define CALIBRATION_MAX 200000

#define THREADS_MAX 10000000

/* Where the simulation of the run itself is further off than this, readers are told. */
#define ERROR_MOST 0.2

static void forecast_predictor_deinit(struct predictor *predictor)
{
        study_deinit(&predictor->study);
        model_deinit(&predictor->model);
        simulate_room_deinit(&predictor->room);
}

void roast_forecast_deinit(struct roast_forecast *forecast)
{
        for (size_t i = 0; i < forecast->n_assumptions; i++)
                free(forecast->assumptions[i]);
        free(forecast->assumptions);
        free(forecast->predictions);
        free(forecast->advice);
        *forecast = (struct roast_forecast){ 0 };
}

static int forecast_by_number(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x == y ? 0 : x < y ? -1 : 1;
}

/* Between the sorted numbers, as far along as q */
static double forecast_quantile(const double *sorted, size_t n, double q)
{
        double at = q * (double)(n - 1);
        size_t low = (size_t)at;

        if (low + 1 >= n)
                return sorted[n - 1];
        return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

/* How often so many chunks are simulated, so that there are about `work` of them */
static size_t forecast_repeats_for(size_t n_chunks, size_t work, size_t least)
{
        size_t n = work / (n_chunks ? n_chunks : 1);

        return n < least ? least : n > REPEATS_MOST ? REPEATS_MOST : n;
}

static double forecast_memory_of(const struct model *model, const struct model_chunk *chunks,
                                 size_t n)
{
        double most = 0;

        if (!(model->peak_bytes > 0))
                return (double)NAN;
        for (size_t i = 0; i < n; i++)
                most = fmax(most, chunks[i].events);
        return fmax(model->peak_bytes - model->growth_bytes, 0) +
               model->growth_bytes * (model->most_events > 0 ? most / model->most_events : 1);
}

/*
 * What is not known is spread evenly over the simulations, so that few of them see all of it; the
 * one independent of the other (H. Weyl's sequence of the golden ratio).
 */
static struct model_doubt forecast_doubt_of(size_t i, size_t repeats)
{
        double whole;

        return (struct model_doubt){
                .fixed = ((double)i + 0.5) / (double)repeats,
                .sharing = modf(((double)i + 0.5) * 0.6180339887498949, &whole),
        };
}

int predictor_predict(struct predictor *predictor, struct roast_prediction *prediction,
                      const struct model_chunk *chunks, size_t n_chunks, size_t repeats)
{
        const struct model *model = &predictor->model;
        double threads = fmax((double)prediction->workers * model->threads_each, 1);
        struct simulation simulation = { .model = model,
                                         .chunks = chunks,
                                         .n_chunks = n_chunks,
                                         .threads = (size_t)threads,
                                         .fail_rate = predictor->fail_rate };
        double makespans[REPEATS_MOST], busy_s = 0, all_s = 0;
        size_t failed = 0;

        prediction->threads = (int64_t)threads;
        prediction->chunks = (int64_t)n_chunks;
        prediction->tail_s = 0;
        for (size_t i = 0; i < repeats; i++) {
                struct simulated one;

                simulation.doubt = forecast_doubt_of(i, repeats);
                if (simulate(&one, &simulation, &predictor->room, i + 1) < 0)
                        return ROAST_E_NOMEM;
                makespans[i] = one.makespan_s;
                busy_s += one.busy_s;
                all_s += one.makespan_s * threads;
                prediction->tail_s += one.tail_s / (double)repeats;
                failed += one.exhausted > 0;
        }
        prediction->fails = (double)failed / (double)repeats;
        qsort(makespans, repeats, sizeof(*makespans), forecast_by_number);
        prediction->makespan_s = forecast_quantile(makespans, repeats, 0.5);
        prediction->low_s = forecast_quantile(makespans, repeats, 0.05);
        prediction->high_s = forecast_quantile(makespans, repeats, 0.95);
        prediction->idle_share = all_s > 0 ? fmax(1 - busy_s / all_s, 0) : 0;
        prediction->cost_s = (double)prediction->workers * prediction->makespan_s;
        prediction->memory_bytes = forecast_memory_of(model, chunks, n_chunks);
        return 0;
}

/* The run itself, simulated: what it leaves after the last chunk is not merging. */
static int forecast_calibrate(struct predictor *predictor)
{
        struct model *model = &predictor->model;
        struct simulation simulation = { .model = model,
                                         .chunks = model->chunks,
                                         .n_chunks = model->n_chunks,
                                         .threads = (size_t)fmax(model->threads, 1),
                                         .fail_rate = model->fail_rate };
        size_t repeats = forecast_repeats_for(model->n_chunks, CALIBRATION_MAX, 1);
        double merged_s = 0, makespan_s = 0;

        for (size_t i = 0; i < repeats; i++) {
                struct simulated one;

                simulation.doubt = forecast_doubt_of(i, repeats);
                if (simulate(&one, &simulation, &predictor->room, i + 1) < 0)
                        return ROAST_E_NOMEM;
                merged_s += one.merged_s / (double)repeats;
                makespan_s += one.makespan_s / (double)repeats;
        }
        makespan_s -= model->after_s;
        model->after_s = fmax(model->after_s - merged_s, 0);
        predictor->forecast->again_s = makespan_s + model->after_s;
        return 0;
}

__attribute__((format(printf, 2, 3))) static int forecast_assume(struct roast_forecast *forecast,
                                                                 const char *format, ...)
{
        char **grown =
                realloc(forecast->assumptions, (forecast->n_assumptions + 1) * sizeof(*grown));
        va_list args;
        int n;

        if (!grown)
                return ROAST_E_NOMEM;
        forecast->assumptions = grown;
        va_start(args, format);
        n = vasprintf(&grown[forecast->n_assumptions], format, args);
        va_end(args);
        if (n < 0)
                return ROAST_E_NOMEM;
        forecast->n_assumptions++;
        return 0;
}

static int forecast_assume_chunks(struct roast_forecast *forecast, const struct model *model)
{
        if (model_is_separated(model))
                return forecast_assume(
                        forecast,
                        "a chunk takes what chunks of its dataset took, without waiting "
                        "for a core: %s (%s to %s) whatever its size, the rest for its "
                        "events",
                        say_s(model->fixed_s), say_s(model_fixed(model, 0.05)),
                        say_s(model_fixed(model, 0.95)));
        return forecast_assume(
                forecast,
                "a chunk takes what chunks of its dataset took, without waiting for a core; "
                "chunks were too equally large to tell how much of that goes with the "
                "events: for other sizes, anything from none to all of it does");
}

/* What the run itself tells of its simulation; a run without a length tells nothing. */
static int forecast_warn_of_error(struct roast_forecast *forecast)
{
        double off = forecast->again_s / forecast->elapsed_s - 1;

        if (!(fabs(off) > ERROR_MOST) || !isfinite(off))
                return 0;
        return forecast_assume(
                forecast,
                "take care: the simulation of the run itself is %.0f %% too %s; predictions "
                "may be as far off",
                100 * fabs(off), off < 0 ? "short, as it is where workers come and go" : "long");
}

static int forecast_assume_cores(struct roast_forecast *forecast, const struct model *model)
{
        char others[160] = "";

        if (!(model->cores > 0))
                return forecast_assume(forecast,
                                       "every worker has the cores that those of the run had: "
                                       "waiting for a core stretches its time on one by %.2f, as "
                                       "measured",
                                       model->slowdown);
        if (model->others > 0)
                snprintf(others, sizeof(others),
                         ", with others that want %.1f of them, from the measured wait for a core; "
                         "whose these are is open",
                         model->others);
        return forecast_assume(
                forecast,
                "up to %.0f threads share the %.0f cores of this host%s; workers beyond that "
                "bring cores of their own",
                fmax(model->cores, model->threads), model->cores, others);
}

static int forecast_tell_left_out(const struct predictor *predictor)
{
        int r = 0;

        for (size_t i = 0; i < predictor->n_left_out && r >= 0; i++)
                r = forecast_assume(
                        predictor->forecast,
                        "chunks of %s events were not tried, or not with enough numbers of "
                        "workers: that would take too long",
                        say_count((double)predictor->left_out[i]));
        return r;
}

static int forecast_state_assumptions(struct predictor *predictor)
{
        struct roast_forecast *forecast = predictor->forecast;
        const struct model *model = &predictor->model;
        int r;

        r = forecast_assume_chunks(forecast, model);
        if (r >= 0)
                r = forecast_assume_cores(forecast, model);
        if (r >= 0)
                r = forecast_assume(
                        forecast,
                        "between two chunks of a thread lie %s on average, and the first chunk "
                        "of a thread takes %s more, whatever their size",
                        say_s(predictor->study.overhead_s / fmax((double)model->n_gaps, 1)),
                        say_s(model->cold_s));
        if (r >= 0)
                r = forecast_assume(
                        forecast,
                        "chunks begin after %s, of which %s of work is shared by the threads; "
                        "threads come as they came in the run",
                        say_s(model->begin_s), say_s(model->ahead_s));
        if (r >= 0)
                r = forecast_assume(
                        forecast,
                        "merging %d outputs takes %s; scheduler, network and storage keep up "
                        "with any number of workers",
                        MODEL_TREE, say_s(model->merge_s * MODEL_TREE));
        if (r >= 0 && predictor->fail_rate > 0)
                r = forecast_assume(forecast,
                                    "%.2g %% of attempts fail, halfway on average, and are "
                                    "repeated at once, up to %d times",
                                    100 * predictor->fail_rate, MODEL_RETRIES);
        if (r >= 0)
                r = forecast_warn_of_error(forecast);
        return r;
}

int predictor_chunks(struct predictor *predictor, int64_t chunksize, size_t most,
                     struct model_chunk **made, const struct model_chunk **chunks, size_t *n,
                     struct roast_error *error)
{
        int r;

        *made = NULL;
        *chunks = predictor->model.chunks;
        *n = predictor->model.n_chunks;
        if (chunksize <= 0)
                return 0;
        r = model_rechunk(&predictor->model, &predictor->study, chunksize, most, made, n, error);
        *chunks = *made;
        return r;
}

static int forecast_predict_all(struct predictor *predictor, struct roast_error *error)
{
        const struct roast_predict_options *options = predictor->options;
        struct roast_forecast *forecast = predictor->forecast;
        ROAST_CLEANUP(cleanup_free) struct model_chunk *made = NULL;
        const int64_t *workers = options->n_workers ? options->workers : &forecast->workers;
        size_t n_workers = options->n_workers ? options->n_workers : 1, n;
        const struct model_chunk *chunks;
        int r;

        r = predictor_chunks(predictor, options->chunksize, MODEL_CHUNKS_MAX, &made, &chunks, &n,
                             error);
        if (r < 0)
                return r;
        forecast->simulations = (int64_t)forecast_repeats_for(n, WORK_MAX, PREDICTOR_REPEATS);
        forecast->predictions = calloc(n_workers, sizeof(*forecast->predictions));
        if (!forecast->predictions)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < n_workers; i++) {
                struct roast_prediction *prediction = &forecast->predictions[i];

                if (workers[i] < 1 ||
                    (double)workers[i] * predictor->model.threads_each > THREADS_MAX)
                        return roast_fail(error, ROAST_E_INVALID,
                                          "a run on %lld workers cannot be predicted",
                                          (long long)workers[i]);
                prediction->workers = workers[i];
                prediction->chunksize = options->chunksize;
                if (predictor_predict(predictor, prediction, chunks, n,
                                      forecast_repeats_for(n, WORK_MAX, PREDICTOR_REPEATS)) < 0)
                        return roast_fail_nomem(error);
                forecast->n_predictions++;
        }
        return 0;
}

static int forecast_check_options(const struct roast_predict_options *options,
                                  struct roast_error *error)
{
        if (options->chunksize < 0)
                return roast_fail(error, ROAST_E_INVALID, "a chunk size of %lld events",
                                  (long long)options->chunksize);
        if (options->has_fail_rate && !(options->fail_rate >= 0 && options->fail_rate < 1))
                return roast_fail(error, ROAST_E_INVALID, "a fail rate of %g", options->fail_rate);
        if (!(options->deadline_s >= 0) || !(options->cost_s >= 0))
                return roast_fail(error, ROAST_E_INVALID, "a deadline or cost that is no time");
        return 0;
}

static int forecast_run_predictor(struct predictor *predictor, struct roast_run *run,
                                  struct roast_error *error)
{
        int r;

        r = study_run(&predictor->study, run, false, error);
        if (r >= 0)
                r = model_make(&predictor->model, &predictor->study, error);
        if (r < 0)
                return r;
        predictor->fail_rate = predictor->options->has_fail_rate ? predictor->options->fail_rate
                                                                 : predictor->model.fail_rate;
        predictor->forecast->workers = (int64_t)predictor->model.workers;
        predictor->forecast->chunks = (int64_t)predictor->model.n_chunks;
        predictor->forecast->elapsed_s = predictor->study.elapsed_s;
        if (forecast_calibrate(predictor) < 0 || forecast_state_assumptions(predictor) < 0)
                return roast_fail_nomem(error);
        r = forecast_predict_all(predictor, error);
        if (r >= 0)
                r = predictor_recommend(predictor, error);
        if (r < 0)
                return r;
        return forecast_tell_left_out(predictor) < 0 ? roast_fail_nomem(error) : 0;
}

int roast_predict(struct roast_forecast *forecast, struct roast_run *run,
                  const struct roast_predict_options *options, struct roast_error *error)
{
        ROAST_CLEANUP(forecast_predictor_deinit)
        struct predictor predictor = { .options = options, .forecast = forecast };
        int r;

        *forecast = (struct roast_forecast){ 0 };
        r = forecast_check_options(options, error);
        if (r >= 0)
                r = forecast_run_predictor(&predictor, run, error);
        if (r < 0)
                roast_forecast_deinit(forecast);
        return r < 0 ? r : 0;
}
