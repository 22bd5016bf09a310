#pragma once
/*
 * The watcher: one thread per process that looks 20 to 50 times a second at the
 * threads that run a chunk, and notes what they wait for
 *
 * It begins with the first chunk and ends by itself a second after the last one.
 * A chunk's thread never waits for it: the two share a fixed table of slots with
 * atomic fields only. A slot's counters never go back; a chunk takes their
 * difference.
 */

#include <stdbool.h>
#include <stdint.h>

#include "probe/platform.h"

#define WATCH_SLOTS 256

struct watch_seen {
        uint32_t counts[THREAD_STATE_COUNT];
        int64_t rss_max_bytes; /* highest since watch_begin(), PROBE_ABSENT if none was looked at */
};

/* A claim on a slot; zeroes claim nothing. */
struct watch_claim {
        uint64_t token;
        uint32_t slot;
        struct watch_seen before;
};

/*
 * Watches the calling thread, and the memory of the process if that is wanted.
 * False: no slot is free, or the watcher cannot run.
 */
bool watch_begin(struct watch_claim *claim, bool wants_rss);
/* What was seen since; from any thread. False: nothing, as nobody watched. */
bool watch_end(struct watch_claim *claim, struct watch_seen *seen);

/* Ends the watcher now. Chunks that still run are watched again from the next watch_begin() on. */
void probe_watch_stop(void);
/* CPU time of the watcher so far. */
int64_t probe_watch_cpu_ns(void);
