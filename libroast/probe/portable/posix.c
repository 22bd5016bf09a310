/*
 * What POSIX gives: clocks and getrusage()
 *
 * The distance between UTC and the monotonic clock is a column of its own: it is
 * constant until somebody sets the clock, and a constant column costs nothing.
 */

#include <sys/resource.h>

#include "probe/platform.h"
#include "util/clock.h"
#include "util/size.h"

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

static void posix_read_rusage(int64_t *values)
{
        struct rusage usage;

        if (getrusage(RUSAGE_SELF, &usage) < 0) {
                for (size_t i = 0; i < probe_rusage.n_columns; i++)
                        values[i] = PROBE_ABSENT;
                return;
        }
        values[0] = posix_ns(&usage.ru_utime);
        values[1] = posix_ns(&usage.ru_stime);
        values[2] = usage.ru_majflt;
        values[3] = usage.ru_minflt;
        values[4] = usage.ru_nvcsw;
        values[5] = usage.ru_nivcsw;
}

static const struct probe_column posix_rusage_columns[] = {
        { "cpu_user_ns", "ns", PROBE_COUNTER, 1000000 },
        { "cpu_system_ns", "ns", PROBE_COUNTER, 1000000 },
        { "major_faults", "count", PROBE_COUNTER, 1 },
        { "minor_faults", "count", PROBE_COUNTER, 1 },
        { "voluntary_switches", "count", PROBE_COUNTER, 1 },
        { "involuntary_switches", "count", PROBE_COUNTER, 1 },
};

const struct probe probe_rusage = {
        .name = "rusage",
        .columns = posix_rusage_columns,
        .n_columns = ROAST_ARRAY_SIZE(posix_rusage_columns),
        .read = posix_read_rusage,
};

static void posix_read_clock(int64_t *values)
{
        values[0] = clock_monotonic_ns();
        values[1] = probe_difference(values[0], clock_wall_ns());
}

static const struct probe_column posix_clock_columns[] = {
        { "monotonic_ns", "ns", PROBE_COUNTER, 1000000 },
        { "utc_offset_ns", "ns", PROBE_GAUGE, 1000000 },
};

const struct probe probe_clock = {
        .name = "clock",
        .columns = posix_clock_columns,
        .n_columns = ROAST_ARRAY_SIZE(posix_clock_columns),
        .read = posix_read_clock,
};
