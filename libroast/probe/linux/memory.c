/*
 * Resident memory, the second number of /proc/self/statm in pages, and its peak
 *
 * The kernel keeps the highest RSS of an address space (VmHWM). Writing 5 to
 * /proc/self/clear_refs sets it back to the present RSS, so that the peak within
 * a stretch of time can be read exactly (proc(5); Linux 4.0).
 *
 * The descriptor for writing is not kept: were it closed by somebody and its
 * number given to a file of the user, the next reset would write into that.
 */

#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "probe/linux/file.h"
#include "probe/linux/sources.h"

static struct probe_file memory_file = PROBE_FILE("/proc/self/statm");
static struct probe_file memory_status_file = PROBE_FILE("/proc/self/status");
static _Atomic bool peak_reset_forbidden;
static _Atomic bool peak_reset_impossible;

void probe_peak_allow_reset(bool allow)
{
        peak_reset_forbidden = !allow;
}

bool probe_peak_reset(void)
{
        ssize_t n;
        int fd;

        if (peak_reset_forbidden || peak_reset_impossible)
                return false;
        fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
        if (fd < 0) {
                peak_reset_impossible = true;
                return false;
        }
        n = write(fd, "5", 1);
        close(fd);
        if (n != 1)
                peak_reset_impossible = true;
        return n == 1;
}

int64_t probe_peak_bytes(void)
{
        char text[4096];
        int64_t kilobytes;

        if (!probe_file_read(&memory_status_file, text, sizeof(text)))
                return PROBE_ABSENT;
        kilobytes = probe_scan_key(text, "VmHWM:");
        return kilobytes < 0 ? PROBE_ABSENT : kilobytes * 1024;
}

int64_t probe_rss_bytes(void)
{
        char text[128];
        const char *at = text;
        int64_t pages;

        if (!probe_file_read(&memory_file, text, sizeof(text)))
                return PROBE_ABSENT;
        probe_scan_skip(&at, 1);
        pages = probe_scan(&at);
        return pages < 0 ? PROBE_ABSENT : pages * sysconf(_SC_PAGESIZE);
}

static void memory_read(int64_t *row)
{
        row[SAMPLE_RSS_BYTES] = probe_rss_bytes();
}

const struct probe probe_memory = {
        .name = "memory",
        .read = memory_read,
};
