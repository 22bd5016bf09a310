/*
 * Disk bytes of the host: whole disks that stand for a device. Partitions, and
 * the loop, device mapper and RAID devices on top, would count bytes twice.
 */

#include <string.h>

#include "probe/linux/device.h"
#include "probe/linux/file.h"
#include "probe/linux/sources.h"

#define DISKSTATS_SECTOR_BYTES 512 /* whatever the disk's own sectors are */

static struct probe_file diskstats_file = PROBE_FILE("/proc/diskstats");

/* major minor name reads merged sectors ms writes merged sectors ... */
static void diskstats_read(int64_t *row)
{
        static _Thread_local struct probe_devices devices;
        struct probe_lines lines;
        int64_t read, written, read_sectors = 0, written_sectors = 0;
        const char *at, *name;
        bool known = false;
        size_t len;
        char *line;

        probe_devices_begin(&devices);
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
                if (!(read || written) || !probe_devices_has(&devices, "/sys/block", name, len))
                        continue;
                read_sectors += read;
                written_sectors += written;
        }
        if (lines.failed)
                known = false; /* the rest is not */
        row[SAMPLE_HOST_DISK_READ_BYTES] =
                known ? read_sectors * DISKSTATS_SECTOR_BYTES : PROBE_ABSENT;
        row[SAMPLE_HOST_DISK_WRITE_BYTES] =
                known ? written_sectors * DISKSTATS_SECTOR_BYTES : PROBE_ABSENT;
}

const struct probe probe_diskstats = {
        .name = "diskstats",
        .read = diskstats_read,
};
