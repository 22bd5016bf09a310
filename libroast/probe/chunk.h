#pragma once
/*
 * The readings around one chunk
 *
 *     struct probe_chunk chunk;
 *     struct probe_result result;
 *
 *     probe_chunk_begin(&chunk);
 *     ... the chunk ...
 *     probe_chunk_end(&chunk, &result);
 *
 * Any number of chunks may be active, in any threads, also nested; each begin has
 * one end. Normally both are called by one thread; an end by another one, or in a
 * forked child, is not an error but knows less, which the flags say. A chunk has
 * no address that matters. One that never ends is forgotten by the watcher with its
 * thread, but keeps others from an exact peak.
 *
 * Name the interpreter's lock with probe_lock_add_symbol("_PyRuntime") (see
 * thread-state.h) once per process, or its waits are among the other ones.
 */

#include <stdbool.h>
#include <stdint.h>

#include "probe/platform.h"
#include "probe/split.h"
#include "probe/watch.h"

/*
 * What is read at the two edges of a chunk, in one call
 *
 * The clocks stand next to each other and at the inner side of the edge: last
 * at the opening one, first at the closing one, so that the readings themselves
 * are not part of what is measured.
 */
enum probe_edge {
        PROBE_OPENING,
        PROBE_CLOSING,
};

/* Each value may be PROBE_ABSENT: see readings.h. */
struct probe_snapshot {
        int64_t monotonic_ns;
        int64_t utc_ns;
        int64_t thread_cpu_ns; /* of the calling thread */
        int64_t runqueue_ns;   /* of the calling thread, throttling included */
        int64_t throttled_ns;  /* of the control group */
        int64_t major_faults;  /* of the calling thread */
        int64_t rss_bytes;     /* of the process, as are the bytes below */
        struct probe_io io;
};

void probe_snapshot_take(struct probe_snapshot *snapshot, enum probe_edge edge);

/*
 * closing - opening, value by value; rss_bytes may be negative and is 0 if it is
 * not known, every other one is PROBE_ABSENT where it is not known.
 */
void probe_snapshot_difference(struct probe_snapshot *difference,
                               const struct probe_snapshot *opening,
                               const struct probe_snapshot *closing);

enum probe_peak {
        PROBE_PEAK_NONE,    /* not known */
        PROBE_PEAK_SAMPLED, /* highest of the edges and of the watcher's looks */
        PROBE_PEAK_EXACT,   /* the kernel's own high-water mark within the chunk */
};

enum probe_flag {
        PROBE_UNWATCHED = 1 << 0, /* no looks were possible: over WATCH_SLOTS chunks, no threads */
        PROBE_MOVED = 1 << 1,     /* ended by another thread: cpu, run queue and faults unknown */
        PROBE_FORKED = 1 << 2,    /* ended in a forked child: the same, and no bytes */
};

struct probe_chunk {
        struct probe_snapshot opening;
        struct watch_claim claim;
        int64_t peak_before_bytes;
        bool peak_was_reset;
        uint32_t thread; /* which one began it */
        uint32_t process;
        int64_t probe_ns;
};

struct probe_result {
        struct probe_snapshot opening;
        struct probe_snapshot closing;
        struct probe_snapshot difference;
        struct probe_split split;
        int64_t peak_rss_bytes;
        enum probe_peak peak;
        unsigned int flags;
        int64_t probe_ns;   /* CPU time of begin and end themselves, outside split.wall_ns */
        int64_t end_cpu_ns; /* the calling thread's CPU clock when that was all done */
};

void probe_chunk_begin(struct probe_chunk *chunk);
void probe_chunk_end(struct probe_chunk *chunk, struct probe_result *result);

/* Chunks that are active in this process. */
uint32_t probe_chunks_active(void);
