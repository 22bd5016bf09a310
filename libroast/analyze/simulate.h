#pragma once
/*
 * A run, simulated event by event
 *
 * Threads take the next chunk as they become free; an output goes into coffea's
 * tree of merges, whose tasks run on the same threads as soon as their inputs
 * are there.
 */

#include "analyze/model.h"

struct simulation {
        const struct model *model;
        const struct model_chunk *chunks;
        size_t n_chunks;
        size_t threads;
        double fail_rate;
        struct model_doubt doubt;
};

struct simulated {
        double makespan_s;
        double busy_s; /* of the threads */
        double tail_s;
        double merged_s;  /* from the last chunk's end to that of the last merge */
        double exhausted; /* chunks that failed more often than they are tried */
};

/* Memory that simulations of the same size share; all-zero is empty. */
struct simulate_room {
        void *memory;
        size_t size;
};

void simulate_room_deinit(struct simulate_room *room);

/* ROAST_E_NOMEM, or 0. The same seed gives the same result. */
int simulate(struct simulated *ret, const struct simulation *simulation, struct simulate_room *room,
             uint64_t seed);
