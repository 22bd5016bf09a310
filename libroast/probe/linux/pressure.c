/*
 * Pressure stall information of the host: time in which some, or all, tasks
 * waited for a core, for memory or for I/O (Linux 4.20, where it is switched on).
 */

#include <string.h>

#include "probe/linux/file.h"
#include "probe/linux/sources.h"
#include "util/size.h"

static struct probe_file pressure_cpu = PROBE_FILE("/proc/pressure/cpu");
static struct probe_file pressure_memory = PROBE_FILE("/proc/pressure/memory");
static struct probe_file pressure_io = PROBE_FILE("/proc/pressure/io");

/* some avg10=0.00 avg60=0.00 avg300=0.00 total=<microseconds> */
static int64_t pressure_total_ns(const char *text, const char *who)
{
        const char *line = strstr(text, who);
        const char *at = line ? strstr(line, "total=") : NULL;
        int64_t us;

        if (!at)
                return PROBE_ABSENT;
        at += strlen("total=");
        us = probe_scan(&at);
        return us < 0 ? PROBE_ABSENT : us * 1000;
}

static void pressure_read(int64_t *values)
{
        char text[256];

        probe_file_read(&pressure_cpu, text, sizeof(text));
        values[0] = pressure_total_ns(text, "some");
        probe_file_read(&pressure_memory, text, sizeof(text));
        values[1] = pressure_total_ns(text, "some");
        values[2] = pressure_total_ns(text, "full");
        probe_file_read(&pressure_io, text, sizeof(text));
        values[3] = pressure_total_ns(text, "some");
        values[4] = pressure_total_ns(text, "full");
}

static const struct probe_column pressure_columns[] = {
        { "pressure_cpu_some_ns", "ns", PROBE_COUNTER, 1000000 },
        { "pressure_memory_some_ns", "ns", PROBE_COUNTER, 1000000 },
        { "pressure_memory_full_ns", "ns", PROBE_COUNTER, 1000000 },
        { "pressure_io_some_ns", "ns", PROBE_COUNTER, 1000000 },
        { "pressure_io_full_ns", "ns", PROBE_COUNTER, 1000000 },
};

const struct probe probe_pressure = {
        .name = "pressure",
        .columns = pressure_columns,
        .n_columns = ROAST_ARRAY_SIZE(pressure_columns),
        .read = pressure_read,
};
