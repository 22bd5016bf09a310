#pragma once
/* A run that is being predicted from: forecast.c simulates it, recommend.c looks for the best */

#include "analyze/simulate.h"
#include "analyze/study.h"
#include "roast-predict.h"

/* So often, at least, is every prediction simulated. */
#define PREDICTOR_REPEATS 3

struct predictor {
        struct study study;
        struct model model;
        struct simulate_room room;
        const struct roast_predict_options *options;
        double fail_rate;
        size_t searched;     /* chunks that were simulated in the search for the best */
        int64_t left_out[4]; /* chunk sizes that were not searched to the end */
        size_t n_left_out;
        struct roast_forecast *forecast;
};

/* Fills in the prediction; its workers and chunk size are given. */
int predictor_predict(struct predictor *predictor, struct roast_prediction *prediction,
                      const struct model_chunk *chunks, size_t n_chunks, size_t repeats);
/*
 * The chunks of a size, at most so many, or ROAST_E_INVALID. 0: those of the run; the caller frees
 * `made`, which is NULL for these.
 */
int predictor_chunks(struct predictor *predictor, int64_t chunksize, size_t most,
                     struct model_chunk **made, const struct model_chunk **chunks, size_t *n,
                     struct roast_error *error);
/* Writes best and advice into the forecast, if a deadline or a cost was given. */
int predictor_recommend(struct predictor *predictor, struct roast_error *error);
