#pragma once
/*
 * How long a run would take with other workers or chunks
 *
 * The chunks of a measured run are simulated on the wanted number of workers:
 * their own times, drawn again and again, the time that tasks cost beside them,
 * the way until work begins, coffea's tree of merges, and attempts that fail.
 * What is assumed is said.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"
#include "roast-run.h"

/* All-zero: as the run was. */
struct roast_predict_options {
        const int64_t *workers; /* numbers of workers to predict for */
        size_t n_workers;
        int64_t chunksize;  /* events; 0: the chunks as they were */
        bool has_fail_rate; /* else that of the run */
        double fail_rate;   /* of attempts, 0 to 1 */
        double deadline_s;  /* recommend the fewest workers that make it; 0: no such wish */
        double cost_s;      /* recommend the fastest within so much time of workers; 0: none */
};

struct roast_prediction {
        int64_t workers;
        int64_t threads;
        int64_t chunksize; /* 0: as they were */
        int64_t chunks;
        double makespan_s; /* median of the simulations */
        double low_s;      /* 5 % and 95 % of them */
        double high_s;
        double idle_share;   /* of the threads' time */
        double tail_s;       /* from the first thread without work to the last chunk's end */
        double cost_s;       /* workers x makespan */
        double memory_bytes; /* of a worker; NaN: not known */
        double fails;        /* chance that a chunk fails more often than coffea tries */
};

struct roast_forecast {
        int64_t workers; /* of the run, the most at a time */
        int64_t chunks;
        double elapsed_s;
        double again_s; /* what the simulation of the run itself gives */
        int64_t simulations;
        struct roast_prediction *predictions;
        size_t n_predictions;
        struct roast_prediction best; /* recommended */
        bool has_best;
        char *advice; /* why, or why nothing can be recommended; NULL: nothing was asked */
        char **assumptions;
        size_t n_assumptions;
};

int roast_predict(struct roast_forecast *forecast, struct roast_run *run,
                  const struct roast_predict_options *options, struct roast_error *error);
void roast_forecast_deinit(struct roast_forecast *forecast);

int roast_forecast_to_json(char **ret, const struct roast_forecast *forecast,
                           struct roast_error *error);

struct roast_table;
/* The predictions as a table, for people; the caller deinitialises it. */
int roast_forecast_table(struct roast_table *table, const struct roast_forecast *forecast,
                         struct roast_error *error);
