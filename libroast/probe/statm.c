/* Resident memory: the second number of /proc/self/statm, in pages. */

#include <unistd.h>

#include "probe/file.h"
#include "probe/readings.h"
#include "probe/scan.h"

static struct probe_file statm_file = PROBE_FILE("/proc/self/statm");

int64_t probe_rss_bytes(void)
{
        char text[128];
        const char *at = text;
        int64_t pages;

        if (!probe_file_read(&statm_file, text, sizeof(text)))
                return PROBE_ABSENT;
        probe_scan_skip(&at, 1);
        pages = probe_scan(&at);
        return pages < 0 ? PROBE_ABSENT : pages * sysconf(_SC_PAGESIZE);
}

static void statm_read(int64_t *row)
{
        row[SAMPLE_RSS_BYTES] = probe_rss_bytes();
}

const struct probe probe_statm = {
        .name = "statm",
        .read = statm_read,
};
