#pragma once
/*
 * What the finished chunks of a run cost, by columns
 *
 * A unit is a chunk, or all chunks of a file together. Measures are sums over
 * the unit (seconds, bytes); divided by its events they are rates, which can be
 * held against those of another run whatever the size of the units.
 *
 * Chunks of one run are not independent: those that one worker did one after
 * the other shared its conditions. So units are in clusters: a worker, in as
 * many stretches of time as make up enough clusters.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-metrics.h"
#include "roast-run.h"
#include "util/intern.h"

enum cost_measure {
        COST_WALL,
        COST_CPU,
        COST_RUNQUEUE,
        COST_THROTTLED,
        COST_BLOCK_IO,
        COST_GIL,
        COST_OTHER,
        COST_REQUESTED, /* bytes */
        COST_N_MEASURES
};

/* At most so many sections are kept, those with the most time. */
#define COST_SECTIONS_MAX 24
#define COST_NO_NAME      UINT32_MAX

struct cost_section {
        uint32_t name; /* in names */
        double total_s;
        float *seconds; /* by unit; NaN: the unit has no such section */
};

struct costs {
        size_t n;
        uint32_t *file;    /* in files */
        uint32_t *dataset; /* in names, or COST_NO_NAME */
        uint16_t *cluster;
        float *events;
        int64_t *entry_start; /* INT64_MIN: not known */
        int64_t *entry_stop;
        float *measures[COST_N_MEASURES]; /* NaN: not known */
        size_t n_clusters;
        struct cost_section *sections;
        size_t n_sections;

        struct intern names; /* of datasets and sections */
        uint64_t *file_name; /* hash of file name and tree */
        uint64_t *file_uuid; /* hash of uuid and tree; 0: not known */
        size_t n_files;
        size_t from_tasks; /* units whose time is that of the whole task: no record */
        double events_total;
        double chunk_events; /* median events of a unit */
};

/* Reads a run once for both. */
int costs_read(struct costs *costs, struct roast_summary *summary, struct roast_run *run,
               struct roast_error *error);
/* The same with a unit for each file. */
int costs_by_file(struct costs *files, const struct costs *costs);
void costs_deinit(struct costs *costs);
