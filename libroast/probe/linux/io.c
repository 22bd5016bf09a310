/*
 * Bytes that the process read and wrote
 *
 * rchar and wchar count what went through read() and write(), read_bytes and
 * write_bytes what a disk had to do for it: their difference is the page cache.
 * The probes' own reads of /proc are taken off rchar.
 */

#include "probe/linux/file.h"
#include "probe/linux/sources.h"
#include "util/size.h"

static struct probe_file io_file = PROBE_FILE("/proc/self/io");

void probe_io_read(struct probe_io *io)
{
        int64_t own = probe_file_total_bytes();
        char text[256];

        probe_file_read(&io_file, text, sizeof(text));
        io->rchar = probe_scan_key(text, "rchar: ");
        if (io->rchar >= own)
                io->rchar -= own;
        io->wchar = probe_scan_key(text, "wchar: ");
        io->read_bytes = probe_scan_key(text, "read_bytes: ");
        io->write_bytes = probe_scan_key(text, "write_bytes: ");
}

static void io_read(int64_t *values)
{
        struct probe_io io;

        probe_io_read(&io);
        values[0] = io.rchar;
        values[1] = io.wchar;
        values[2] = io.read_bytes;
        values[3] = io.write_bytes;
}

static const struct probe_column io_columns[] = {
        { "rchar", "bytes", PROBE_COUNTER, 1 },
        { "wchar", "bytes", PROBE_COUNTER, 1 },
        { "read_bytes", "bytes", PROBE_COUNTER, 512 },
        { "write_bytes", "bytes", PROBE_COUNTER, 512 },
};

const struct probe probe_io_source = {
        .name = "io",
        .columns = io_columns,
        .n_columns = ROAST_ARRAY_SIZE(io_columns),
        .read = io_read,
};
