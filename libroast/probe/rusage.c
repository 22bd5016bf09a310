/* getrusage(): CPU time, page faults and context switches. */

#include <sys/resource.h>

#include "probe/readings.h"
#include "util/size.h"

int64_t probe_thread_major_faults(void)
{
        struct rusage usage;

        return getrusage(RUSAGE_THREAD, &usage) < 0 ? PROBE_ABSENT : usage.ru_majflt;
}

static int64_t rusage_ns(const struct timeval *time)
{
        return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

static void rusage_read(int64_t *values)
{
        struct rusage usage;

        if (getrusage(RUSAGE_SELF, &usage) < 0) {
                for (size_t i = 0; i < probe_rusage.n_columns; i++)
                        values[i] = PROBE_ABSENT;
                return;
        }
        values[0] = rusage_ns(&usage.ru_utime);
        values[1] = rusage_ns(&usage.ru_stime);
        values[2] = usage.ru_majflt;
        values[3] = usage.ru_minflt;
        values[4] = usage.ru_nvcsw;
        values[5] = usage.ru_nivcsw;
}

static const struct probe_column rusage_columns[] = {
        { "cpu_user_ns", "ns", PROBE_COUNTER, 1000000 },
        { "cpu_system_ns", "ns", PROBE_COUNTER, 1000000 },
        { "major_faults", "count", PROBE_COUNTER, 1 },
        { "minor_faults", "count", PROBE_COUNTER, 1 },
        { "voluntary_switches", "count", PROBE_COUNTER, 1 },
        { "involuntary_switches", "count", PROBE_COUNTER, 1 },
};

const struct probe probe_rusage = {
        .name = "rusage",
        .columns = rusage_columns,
        .n_columns = ROAST_ARRAY_SIZE(rusage_columns),
        .read = rusage_read,
};
