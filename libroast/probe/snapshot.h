#pragma once
/*
 * What is read at the two edges of a chunk, in one call
 *
 * The clocks stand next to each other and at the inner side of the edge: last
 * at the opening one, first at the closing one, so that the readings themselves
 * are not part of what is measured.
 */

#include <stdint.h>

#include "probe/readings.h"

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
