/* What is read at the two edges of a chunk: see snapshot.h */

#include "probe/snapshot.h"

static void snapshot_clocks(struct probe_snapshot *snapshot)
{
        snapshot->thread_cpu_ns = probe_thread_cpu_ns();
        snapshot->utc_ns = probe_utc_ns();
        snapshot->monotonic_ns = probe_monotonic_ns();
}

void probe_snapshot_take(struct probe_snapshot *snapshot, enum probe_edge edge)
{
        if (edge == PROBE_CLOSING)
                snapshot_clocks(snapshot);
        snapshot->runqueue_ns = probe_runqueue_ns();
        snapshot->throttled_ns = probe_throttled_ns();
        snapshot->major_faults = probe_thread_major_faults();
        snapshot->rss_bytes = probe_rss_bytes();
        probe_io_read(&snapshot->io);
        if (edge == PROBE_OPENING)
                snapshot_clocks(snapshot);
}

void probe_snapshot_difference(struct probe_snapshot *difference,
                               const struct probe_snapshot *opening,
                               const struct probe_snapshot *closing)
{
        *difference = (struct probe_snapshot){
                .monotonic_ns = probe_difference(opening->monotonic_ns, closing->monotonic_ns),
                .utc_ns = probe_difference(opening->utc_ns, closing->utc_ns),
                .thread_cpu_ns = probe_difference(opening->thread_cpu_ns, closing->thread_cpu_ns),
                .runqueue_ns = probe_difference(opening->runqueue_ns, closing->runqueue_ns),
                .throttled_ns = probe_difference(opening->throttled_ns, closing->throttled_ns),
                .major_faults = probe_difference(opening->major_faults, closing->major_faults),
                .rss_bytes = opening->rss_bytes < 0 || closing->rss_bytes < 0
                                     ? 0
                                     : closing->rss_bytes - opening->rss_bytes,
                .io = {
                        .rchar = probe_difference(opening->io.rchar, closing->io.rchar),
                        .wchar = probe_difference(opening->io.wchar, closing->io.wchar),
                        .read_bytes =
                                probe_difference(opening->io.read_bytes, closing->io.read_bytes),
                        .write_bytes =
                                probe_difference(opening->io.write_bytes, closing->io.write_bytes),
                },
        };
}
