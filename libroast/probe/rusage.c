/* getrusage(): CPU time, page faults and context switches. */

#include <sys/resource.h>

#include "probe/readings.h"

int64_t probe_thread_major_faults(void)
{
        struct rusage usage;

        return getrusage(RUSAGE_THREAD, &usage) < 0 ? PROBE_ABSENT : usage.ru_majflt;
}

static int64_t rusage_ns(const struct timeval *time)
{
        return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

static void rusage_read(int64_t *row)
{
        struct rusage usage;

        if (getrusage(RUSAGE_SELF, &usage) < 0)
                return;
        row[SAMPLE_CPU_USER_NS] = rusage_ns(&usage.ru_utime);
        row[SAMPLE_CPU_SYSTEM_NS] = rusage_ns(&usage.ru_stime);
        row[SAMPLE_MAJOR_FAULTS] = usage.ru_majflt;
        row[SAMPLE_MINOR_FAULTS] = usage.ru_minflt;
        row[SAMPLE_VOLUNTARY_SWITCHES] = usage.ru_nvcsw;
        row[SAMPLE_INVOLUNTARY_SWITCHES] = usage.ru_nivcsw;
}

const struct probe probe_rusage = {
        .name = "rusage",
        .read = rusage_read,
};
