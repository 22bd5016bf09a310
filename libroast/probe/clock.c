/*
 * Clocks
 *
 * Durations are differences of the monotonic clock. The distance between it and
 * UTC is a column of its own: it is constant until somebody sets the clock, and
 * a constant column costs nothing.
 */

#include "probe/readings.h"

int64_t probe_clock_ns(clockid_t clock)
{
        struct timespec now;

        if (clock_gettime(clock, &now) < 0)
                return PROBE_ABSENT;
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t probe_monotonic_ns(void)
{
        return probe_clock_ns(CLOCK_MONOTONIC);
}

static _Atomic int64_t clock_utc_offset_ns = PROBE_ABSENT;

void probe_set_utc_offset(int64_t ns)
{
        clock_utc_offset_ns = ns;
}

int64_t probe_utc_offset_ns(void)
{
        int64_t offset_ns = clock_utc_offset_ns;

        if (offset_ns != PROBE_ABSENT)
                return offset_ns;
        return probe_difference(probe_monotonic_ns(), probe_clock_ns(CLOCK_REALTIME));
}

int64_t probe_utc_ns(void)
{
        int64_t now_ns = probe_monotonic_ns(), offset_ns = probe_utc_offset_ns();

        return now_ns < 0 || offset_ns == PROBE_ABSENT ? PROBE_ABSENT : now_ns + offset_ns;
}

int64_t probe_thread_cpu_ns(void)
{
        return probe_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void clock_read(int64_t *row)
{
        row[SAMPLE_MONOTONIC_NS] = probe_monotonic_ns();
        row[SAMPLE_UTC_OFFSET_NS] =
                probe_difference(row[SAMPLE_MONOTONIC_NS], probe_clock_ns(CLOCK_REALTIME));
}

const struct probe probe_clock = {
        .name = "clock",
        .read = clock_read,
};
