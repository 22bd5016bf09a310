/* Which workers and chunk size keep a deadline or a cost: see roast-predict.h. */

#include <math.h>
#include <stdio.h>

#include "analyze/predictor.h"
#include "analyze/rule.h"
#include "util/cleanup.h"
#include "util/size.h"

#define WORKERS_MAX 1000000
/* So many chunks are simulated, over all tries, before further chunk sizes are left out. */
#define SEARCH_MAX 12000000

static bool recommend_fits_memory(const struct predictor *predictor,
                                  const struct roast_prediction *prediction)
{
        double limit = predictor->model.limit_bytes;

        return !(limit > 0) || isnan(prediction->memory_bytes) ||
               prediction->memory_bytes < 0.8 * limit;
}

/* By what is safe: another chunk size of which little is known is no better for that. */
static bool recommend_is_better(const struct roast_predict_options *options,
                                const struct roast_prediction *a, const struct roast_prediction *b)
{
        if (options->deadline_s > 0)
                return a->workers != b->workers ? a->workers < b->workers
                                                : a->high_s < 0.95 * b->high_s;
        return a->high_s < 0.95 * b->high_s;
}

/* In 95 % of the simulations */
static bool recommend_is_within(const struct roast_predict_options *options,
                                const struct roast_prediction *prediction)
{
        if (prediction->fails > 0.05)
                return false;
        if (options->deadline_s > 0 && prediction->high_s > options->deadline_s)
                return false;
        return !(options->cost_s > 0) ||
               (double)prediction->workers * prediction->high_s <= options->cost_s;
}

/* Numbers of workers that have not been excluded, and the next one to try */
struct range {
        int64_t low, high, next;
};

/*
 * If a number is known that will do, another chunk size is better only with as many or fewer
 * workers, for a deadline, and with as many or more for a cost. If none is after the first size,
 * all workers may not be enough for the others, or one too many. For most sizes one try tells.
 */
static struct range recommend_range_of(const struct predictor *predictor, size_t n)
{
        const struct roast_forecast *forecast = predictor->forecast;
        struct range range = { 1, (int64_t)n < WORKERS_MAX ? (int64_t)n : WORKERS_MAX, 0 };
        bool fewest = predictor->options->deadline_s > 0;
        int64_t known = fewest ? range.high : range.low;

        range.next = (int64_t)sqrt((double)range.high);
        if (predictor->searched == 0)
                return range;
        if (forecast->has_best && forecast->best.workers < range.high)
                known = forecast->best.workers;
        else if (forecast->has_best)
                known = range.high;
        *(fewest ? &range.high : &range.low) = known;
        range.next = known;
        return range;
}

static bool recommend_is_narrow(const struct range *range)
{
        return range->low > range->high || range->high - range->low < range->low / 100;
}

/* Of how many chunks there may be one more try */
static size_t recommend_chunks_left(const struct predictor *predictor)
{
        size_t searched = predictor->searched;

        return searched < SEARCH_MAX ? (SEARCH_MAX - searched) / PREDICTOR_REPEATS : 0;
}

/*
 * More workers are faster and, from some number on, dearer: halves the interval, in its ratio for
 * the answer is mostly near its low end. 0: that is done; 1: it would have been too much, and what
 * was found so far, which may be far from the fewest workers, does not count.
 */
static int recommend_search(struct predictor *predictor, const struct model_chunk *chunks, size_t n,
                            int64_t chunksize, bool bounded)
{
        const struct roast_predict_options *options = predictor->options;
        struct roast_forecast *forecast = predictor->forecast;
        struct range range = recommend_range_of(predictor, n);
        struct roast_prediction best = forecast->best;
        bool has_best = forecast->has_best;
        bool fewest = options->deadline_s > 0;

        do {
                struct roast_prediction one = { .workers = range.next, .chunksize = chunksize };
                bool within;

                if (bounded && n > recommend_chunks_left(predictor))
                        return 1;
                if (predictor_predict(predictor, &one, chunks, n, PREDICTOR_REPEATS) < 0)
                        return ROAST_E_NOMEM;
                predictor->searched += n * PREDICTOR_REPEATS;
                within = recommend_is_within(options, &one) &&
                         recommend_fits_memory(predictor, &one);
                if (within && (!has_best || recommend_is_better(options, &one, &best))) {
                        best = one;
                        has_best = true;
                }
                if (fewest ? within || one.high_s <= options->deadline_s : !within)
                        range.high = one.workers - 1;
                else
                        range.low = one.workers + 1;
                range.next = (int64_t)sqrt((double)range.low * (double)range.high);
        } while (!recommend_is_narrow(&range));
        forecast->best = best;
        forecast->has_best = has_best;
        return 0;
}

static int recommend_advise(struct roast_forecast *forecast,
                            const struct roast_predict_options *options)
{
        const struct roast_prediction *best = &forecast->best;
        char chunksize[64] = "the chunks as they are";
        int n;

        if (best->chunksize > 0)
                snprintf(chunksize, sizeof(chunksize), "chunks of %s events",
                         say_count((double)best->chunksize));
        if (!forecast->has_best)
                n = asprintf(&forecast->advice,
                             "no number of workers and chunk size that was "
                             "tried stays within %s%s",
                             options->deadline_s > 0 ? say_s(options->deadline_s)
                                                     : say_s(options->cost_s),
                             options->deadline_s > 0 ? "" : " of workers' time");
        else
                n = asprintf(&forecast->advice,
                             "%s worker%s and %s: %s (%s to %s), %s of "
                             "workers' time",
                             say_count((double)best->workers), best->workers == 1 ? "" : "s",
                             chunksize, say_s(best->makespan_s), say_s(best->low_s),
                             say_s(best->high_s), say_s(best->cost_s));
        if (n < 0)
                forecast->advice = NULL;
        return n < 0 ? ROAST_E_NOMEM : 0;
}

/* The chunks as they are, or of the size that was asked for */
static int recommend_try_given(struct predictor *predictor, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct model_chunk *made = NULL;
        int64_t chunksize = predictor->options->chunksize;
        const struct model_chunk *chunks;
        size_t n;
        int r;

        r = predictor_chunks(predictor, chunksize, MODEL_CHUNKS_MAX, &made, &chunks, &n, error);
        if (r >= 0 && recommend_search(predictor, chunks, n, chunksize, false) < 0)
                r = roast_fail_nomem(error);
        return r;
}

/* As recommend_try_given(); but sizes that would be too much are left out. */
static int recommend_try_other(struct predictor *predictor, double events, double factor,
                               struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct model_chunk *made = NULL;
        int64_t chunksize = (int64_t)(events * factor);
        const struct model_chunk *chunks;
        size_t n;
        int r;

        if (chunksize < 1)
                return 0;
        r = predictor_chunks(predictor, chunksize, recommend_chunks_left(predictor), &made, &chunks,
                             &n, error);
        if (r == ROAST_E_NOMEM)
                return r;
        if (r >= 0)
                r = recommend_search(predictor, chunks, n, chunksize, true);
        if (r == ROAST_E_NOMEM)
                return roast_fail_nomem(error);
        if (r != 0)
                predictor->left_out[predictor->n_left_out++] = chunksize;
        return 0;
}

int predictor_recommend(struct predictor *predictor, struct roast_error *error)
{
        /* those with few chunks come first: they are tried soon */
        static const double factors[ROAST_ARRAY_SIZE(predictor->left_out)] = { 4, 2, 0.5, 0.25 };
        const struct roast_predict_options *options = predictor->options;
        double events = 0;
        int r;

        if (!(options->deadline_s > 0) && !(options->cost_s > 0))
                return 0;
        for (size_t i = 0; i < predictor->model.n_chunks; i++)
                events += predictor->model.chunks[i].events;
        events /= (double)predictor->model.n_chunks;
        r = recommend_try_given(predictor, error);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(factors) && r >= 0 && !options->chunksize; i++)
                r = recommend_try_other(predictor, events, factors[i], error);
        if (r < 0)
                return r;
        return recommend_advise(predictor->forecast, options) < 0 ? roast_fail_nomem(error) : 0;
}
