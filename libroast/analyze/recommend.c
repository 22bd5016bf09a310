/* Which workers and chunk size keep a deadline or a cost: see roast-predict.h. */

#include <math.h>
#include <stdio.h>

#include "analyze/predictor.h"
#include "analyze/rule.h"
#include "util/cleanup.h"
#include "util/size.h"

static bool fits_memory(const struct predictor *predictor,
                        const struct roast_prediction *prediction)
{
        double limit = predictor->model.limit_bytes;

        return !(limit > 0) || isnan(prediction->memory_bytes) ||
               prediction->memory_bytes < 0.8 * limit;
}

/* By what is safe: another chunk size of which little is known is no better for that. */
static bool is_better(const struct roast_predict_options *options, const struct roast_prediction *a,
                      const struct roast_prediction *b)
{
        if (options->deadline_s > 0)
                return a->workers != b->workers ? a->workers < b->workers
                                                : a->high_s < 0.95 * b->high_s;
        return a->high_s < 0.95 * b->high_s;
}

/* In 95 % of the simulations */
static bool is_within(const struct roast_predict_options *options,
                      const struct roast_prediction *prediction)
{
        if (prediction->fails > 0.05)
                return false;
        if (options->deadline_s > 0 && prediction->high_s > options->deadline_s)
                return false;
        return !(options->cost_s > 0) ||
               (double)prediction->workers * prediction->high_s <= options->cost_s;
}

/* More workers are faster and, from some number on, dearer: halves the interval. */
static int search(struct predictor *predictor, const struct model_chunk *chunks, size_t n,
                  int64_t chunksize)
{
        const struct roast_predict_options *options = predictor->options;
        struct roast_forecast *forecast = predictor->forecast;
        int64_t low = 1, high = (int64_t)n < 1000000 ? (int64_t)n : 1000000;
        bool fewest = options->deadline_s > 0;

        while (low <= high) {
                struct roast_prediction one = { .workers = low + (high - low) / 2,
                                                .chunksize = chunksize };
                bool within;

                if (predictor_predict(predictor, &one, chunks, n, PREDICTOR_REPEATS) < 0)
                        return ROAST_E_NOMEM;
                within = is_within(options, &one) && fits_memory(predictor, &one);
                if (within && (!forecast->has_best || is_better(options, &one, &forecast->best))) {
                        forecast->best = one;
                        forecast->has_best = true;
                }
                if (fewest ? within || one.high_s <= options->deadline_s : !within)
                        high = one.workers - 1;
                else
                        low = one.workers + 1;
        }
        return 0;
}

static int advise(struct roast_forecast *forecast, const struct roast_predict_options *options)
{
        const struct roast_prediction *best = &forecast->best;
        char chunksize[64] = "the chunks as they are";
        int n;

        if (best->chunksize > 0)
                snprintf(chunksize, sizeof(chunksize), "chunks of %lld events",
                         (long long)best->chunksize);
        if (!forecast->has_best)
                n = asprintf(&forecast->advice,
                             "no number of workers and chunk size that was "
                             "tried stays within %s%s",
                             options->deadline_s > 0 ? say_s(options->deadline_s)
                                                     : say_s(options->cost_s),
                             options->deadline_s > 0 ? "" : " of workers' time");
        else
                n = asprintf(&forecast->advice,
                             "%lld worker%s and %s: %s (%s to %s), %s of "
                             "workers' time",
                             (long long)best->workers, best->workers == 1 ? "" : "s", chunksize,
                             say_s(best->makespan_s), say_s(best->low_s), say_s(best->high_s),
                             say_s(best->cost_s));
        if (n < 0)
                forecast->advice = NULL;
        return n < 0 ? ROAST_E_NOMEM : 0;
}

int predictor_recommend(struct predictor *predictor, struct roast_error *error)
{
        static const double factors[] = { 1, 0.25, 0.5, 2, 4 };
        const struct roast_predict_options *options = predictor->options;
        double events = 0;

        if (!(options->deadline_s > 0) && !(options->cost_s > 0))
                return 0;
        for (size_t i = 0; i < predictor->model.n_chunks; i++)
                events += predictor->model.chunks[i].events;
        events /= (double)predictor->model.n_chunks;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(factors); i++) {
                ROAST_CLEANUP(cleanup_free) struct model_chunk *made = NULL;
                const struct model_chunk *chunks;
                int64_t chunksize = options->chunksize;
                size_t n;
                int r;

                if (chunksize == 0 && factors[i] != 1)
                        chunksize = (int64_t)(events * factors[i]);
                if (i > 0 && (options->chunksize > 0 || chunksize < 1))
                        break;
                r = predictor_chunks(predictor, chunksize, &made, &chunks, &n, error);
                if (r < 0)
                        return r;
                if (search(predictor, chunks, n, chunksize) < 0)
                        return roast_fail_nomem(error);
        }
        return advise(predictor->forecast, options) < 0 ? roast_fail_nomem(error) : 0;
}
