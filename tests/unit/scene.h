#pragma once
/*
 * Runs with one trait: a good run, changed in one way
 *
 * The good one: 4 workers of a thread on 4 hosts take 40 chunks of 10,000 events
 * each, one second a chunk and 10 ms between two, nearly all of it on a core.
 */

#include "roast-run.h"

#define SCENE_START_UTC_NS INT64_C(1794772988000000000)
#define SCENE_WORKERS      4
#define SCENE_CHUNKS       40 /* of each worker */
#define SCENE_WORKERS_MAX  64

/* A chunk, in seconds and bytes; what is NULL or negative is not known. */
struct scene_chunk {
        int worker;
        int order; /* of the worker's chunks */
        double gap, wall;
        double queue, throttled, disk, gil, other; /* shares of the wall time; cpu is the rest */
        long long samples;
        long long events, entry_start;
        const char *dataset, *host;
        char file[80]; /* "": not known */
        int outcome;
        const char *error;
        double rss_start, rss_end, rss_peak;
        double requested, selected, whole, ahead, unused;
        const char *unused_names;
        double select, fill; /* sections: shares of the wall time */
};

struct scene {
        double first; /* when the chunks begin */
        double after; /* time after the last */
        int workers;  /* 0: SCENE_WORKERS */
        int chunks;   /* of each; 0: SCENE_CHUNKS */
        double limit; /* memory of a worker */
        double rss;   /* as sampled */
        double spilled;
        double lag;    /* of event loops, seconds */
        double reduce; /* tasks that merge, and packing, in seconds */
        double packing;
        double disk; /* spilling */
        void (*shape)(struct scene_chunk *chunk);
        bool no_splits; /* as a run of an executor that measures nothing */
        bool no_end;    /* as one whose client was killed */
        bool goes;      /* a worker does, after its last chunk, */
        bool in_turns;  /* and the next one comes then */
};

/* A run in memory, committed */
struct roast_run *scene_run(const struct scene *scene);
