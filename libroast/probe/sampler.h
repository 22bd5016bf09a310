#pragma once
/*
 * The sampler: one row of all readings of the process and its host per tick
 *
 * The columns are those of samples.def, in that order; the first one is the
 * time. Rows wait in a ring until somebody takes them; when it is full the oldest
 * row makes place and is counted as dropped. The sampler's thread knows nothing
 * of Python and never waits for whoever takes the rows.
 *
 * After fork() the child has a stopped, empty sampler that can be started again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/readings.h"

#define SAMPLER_INTERVAL_MIN_S 0.05
#define SAMPLER_INTERVAL_MAX_S 60.0

struct sampler;

struct sampler_options {
        double interval_s;    /* 0: 1 s */
        size_t capacity_rows; /* 0: 1024 */
};

struct sampler_state {
        uint64_t rows;    /* sampled so far */
        uint64_t dropped; /* of these, those that nobody took in time */
        uint64_t missed;  /* ticks that came too late to be of use, or whose time is not known */
        int64_t cpu_ns;   /* of the sampler's thread */
        bool runs;
};

/* ROAST_E_INVALID: an option is out of its range; ROAST_E_NOMEM. `options` may be NULL. */
int sampler_new(struct sampler **ret, const struct sampler_options *options);
/* Stops it first. NULL is allowed. */
struct sampler *sampler_free(struct sampler *sampler);
void sampler_freep(struct sampler **sampler);

/* The first row is taken at once. Starting what runs is no error. */
int sampler_start(struct sampler *sampler);
void sampler_stop(struct sampler *sampler);
/* Adds a row now, on the calling thread, whether or not the sampler's own runs. */
int sampler_read(struct sampler *sampler);
/* Changes the interval, from the next tick on. ROAST_E_INVALID: out of range. */
int sampler_set_interval(struct sampler *sampler, double interval_s);

/*
 * Moves up to `max_rows` rows, oldest first, to `rows` (row after row, each of
 * N_SAMPLES values). Returns their number.
 */
size_t sampler_take(struct sampler *sampler, int64_t *rows, size_t max_rows);
void sampler_state(struct sampler *sampler, struct sampler_state *state);
/* CPU time of the thread so far, alone. */
int64_t sampler_cpu_ns(struct sampler *sampler);
