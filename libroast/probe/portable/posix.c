/*
 * What POSIX gives: clocks and getrusage()
 *
 * The distance between UTC and the monotonic clock is a column of its own: it is
 * constant until somebody sets the clock, and a constant column costs nothing.
 */

#include <sys/resource.h>

#include "probe/platform.h"
#include "util/clock.h"

#ifdef __APPLE__
#define POSIX_MAXRSS_UNIT 1
#else
#define POSIX_MAXRSS_UNIT 1024
#endif

/*
 * It costs a fraction of what /proc/self/status does, but takes the maximum with what the process
 * had before exec(), which no reset reaches: hence "floor".
 */
int64_t probe_peak_floor_bytes(void)
{
        struct rusage usage;

        if (getrusage(RUSAGE_SELF, &usage) < 0)
                return PROBE_ABSENT;
        return (int64_t)usage.ru_maxrss * POSIX_MAXRSS_UNIT;
}

static int64_t posix_ns(const struct timeval *time)
{
        return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

static void posix_read_rusage(int64_t *row)
{
        struct rusage usage;

        if (getrusage(RUSAGE_SELF, &usage) < 0)
                return;
        row[SAMPLE_CPU_USER_NS] = posix_ns(&usage.ru_utime);
        row[SAMPLE_CPU_SYSTEM_NS] = posix_ns(&usage.ru_stime);
        row[SAMPLE_MAJOR_FAULTS] = usage.ru_majflt;
        row[SAMPLE_MINOR_FAULTS] = usage.ru_minflt;
        row[SAMPLE_VOLUNTARY_SWITCHES] = usage.ru_nvcsw;
        row[SAMPLE_INVOLUNTARY_SWITCHES] = usage.ru_nivcsw;
}

const struct probe probe_rusage = {
        .name = "rusage",
        .read = posix_read_rusage,
};

static void posix_read_clock(int64_t *row)
{
        row[SAMPLE_MONOTONIC_NS] = clock_monotonic_ns();
        row[SAMPLE_UTC_OFFSET_NS] = probe_difference(row[SAMPLE_MONOTONIC_NS], clock_wall_ns());
}

const struct probe probe_clock = {
        .name = "clock",
        .read = posix_read_clock,
};
