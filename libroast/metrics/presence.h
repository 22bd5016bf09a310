#pragma once
/*
 * Workers and their cores over time, from samples
 *
 * At the instants of the samples the cores of the workers that are there are
 * added up, and the sum is averaged over time by the trapezoidal rule: workers
 * that come, go or differ in size count for as long as they were there. A
 * worker is there at an instant of which it has a sample. Between two of its
 * samples it is taken to be there too, with the cores of the earlier one,
 * unless the number of workers is known for that instant and others account for
 * all of them.
 */

#include <stddef.h>
#include <stdint.h>

struct presence_mark {
        double time;
        int64_t worker; /* PRESENCE_COUNT: the value is the number of workers */
        double value;
        size_t order; /* of being added: the last one of an instant counts */
};

struct presence {
        struct presence_mark *marks;
        size_t n;
        size_t cap;
};

#define PRESENCE_COUNT (-1)

void presence_deinit(struct presence *presence);
/*
 * A sample of a worker's cores (workers are numbered from 0), or of the number of workers. What is
 * not finite is passed over. 0 or ROAST_E_NOMEM.
 */
int presence_add(struct presence *presence, double time, int64_t worker, double value);
/*
 * The average of all cores, and of the workers that have them; returns the number of instants that
 * it rests on, 0 if no worker has a sample, or ROAST_E_NOMEM.
 */
int presence_average(struct presence *presence, double *cores, double *workers);
