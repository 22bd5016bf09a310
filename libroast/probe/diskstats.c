/*
 * Disk bytes of the host: whole disks that stand for a device. Partitions, and
 * the loop, device mapper and RAID devices on top, would count bytes twice.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/file.h"
#include "probe/readings.h"
#include "probe/scan.h"
#include "util/size.h"

#define DISKSTATS_SECTOR_BYTES 512 /* whatever the disk's own sectors are */

static struct probe_file diskstats_file = PROBE_FILE("/proc/diskstats");

static bool diskstats_is_device(const char *name, size_t len)
{
        char path[128];

        if (!len || len > 64)
                return false;
        snprintf(path, sizeof(path), "/sys/block/%.*s/device", (int)len, name);
        return access(path, F_OK) == 0;
}

/* major minor name reads merged sectors ms writes merged sectors ... */
static void diskstats_read(int64_t *values)
{
        struct probe_lines lines;
        int64_t read, written, read_sectors = 0, written_sectors = 0;
        const char *at, *name;
        bool known = false;
        size_t len;
        char *line;

        probe_lines_init(&lines, probe_file_fd(&diskstats_file));
        while ((line = probe_lines_next(&lines))) {
                at = line;
                probe_scan_skip(&at, 2);
                name = at + strspn(at, " ");
                len = strcspn(name, " ");
                at = name + len;
                probe_scan_skip(&at, 2);
                read = probe_scan(&at);
                probe_scan_skip(&at, 3);
                written = probe_scan(&at);
                if (read < 0 || written < 0)
                        continue;
                known = true;
                if (!(read || written) || !diskstats_is_device(name, len))
                        continue; /* asking about idle ones would be most of the cost */
                read_sectors += read;
                written_sectors += written;
        }
        if (lines.failed)
                known = false; /* the rest is not */
        values[0] = known ? read_sectors * DISKSTATS_SECTOR_BYTES : PROBE_ABSENT;
        values[1] = known ? written_sectors * DISKSTATS_SECTOR_BYTES : PROBE_ABSENT;
}

static const struct probe_column diskstats_columns[] = {
        { "host_disk_read_bytes", "bytes", PROBE_COUNTER, DISKSTATS_SECTOR_BYTES },
        { "host_disk_write_bytes", "bytes", PROBE_COUNTER, DISKSTATS_SECTOR_BYTES },
};

const struct probe probe_diskstats = {
        .name = "diskstats",
        .columns = diskstats_columns,
        .n_columns = ROAST_ARRAY_SIZE(diskstats_columns),
        .read = diskstats_read,
};
