/*
 * Pressure stall information of the host: time in which some, or all, tasks
 * waited for a core, for memory or for I/O (Linux 4.20, where it is switched on).
 */

#include <string.h>

#include "probe/linux/file.h"
#include "probe/linux/sources.h"

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

static void pressure_read(int64_t *row)
{
        char text[256];

        probe_file_read(&pressure_cpu, text, sizeof(text));
        row[SAMPLE_PRESSURE_CPU_SOME_NS] = pressure_total_ns(text, "some");
        probe_file_read(&pressure_memory, text, sizeof(text));
        row[SAMPLE_PRESSURE_MEMORY_SOME_NS] = pressure_total_ns(text, "some");
        row[SAMPLE_PRESSURE_MEMORY_FULL_NS] = pressure_total_ns(text, "full");
        probe_file_read(&pressure_io, text, sizeof(text));
        row[SAMPLE_PRESSURE_IO_SOME_NS] = pressure_total_ns(text, "some");
        row[SAMPLE_PRESSURE_IO_FULL_NS] = pressure_total_ns(text, "full");
}

const struct probe probe_pressure = {
        .name = "pressure",
        .read = pressure_read,
};
