/*
 * Network bytes of the host
 *
 * Bridges, bonds and VLANs show the bytes of the card below them once more. So
 * where there are interfaces of real devices only those are summed; elsewhere
 * (a container's own network) all but the loopback.
 */

#include <string.h>

#include "probe/linux/device.h"
#include "probe/linux/file.h"
#include "probe/linux/sources.h"

static struct probe_file netdev_file = PROBE_FILE("/proc/self/net/dev");

struct netdev_sum {
        int64_t received;
        int64_t sent;
        bool any;
};

static void netdev_add(struct netdev_sum *sum, int64_t received, int64_t sent)
{
        sum->received += received;
        sum->sent += sent;
        sum->any = true;
}

static void netdev_read(int64_t *row)
{
        static _Thread_local struct probe_devices known;
        struct netdev_sum all = { 0 }, devices = { 0 }, *sum;
        struct probe_lines lines;
        int64_t received, sent;
        const char *at;
        char *line, *colon;

        probe_devices_begin(&known);
        probe_lines_init(&lines, probe_file_fd(&netdev_file));
        while ((line = probe_lines_next(&lines))) {
                line += strspn(line, " ");
                colon = strchr(line, ':');
                if (!colon)
                        continue;
                *colon = 0;
                at = colon + 1;
                received = probe_scan(&at);
                probe_scan_skip(&at, 7);
                sent = probe_scan(&at);
                if (received < 0 || sent < 0 || !strcmp(line, "lo"))
                        continue;
                netdev_add(&all, received, sent);
                if ((received || sent) &&
                    probe_devices_has(&known, "/sys/class/net", line, (size_t)(colon - line)))
                        netdev_add(&devices, received, sent);
        }
        if (lines.failed)
                all.any = devices.any = false; /* the rest is not known */
        sum = devices.any ? &devices : &all;
        row[SAMPLE_HOST_NET_RECV_BYTES] = sum->any ? sum->received : PROBE_ABSENT;
        row[SAMPLE_HOST_NET_SENT_BYTES] = sum->any ? sum->sent : PROBE_ABSENT;
}

const struct probe probe_netdev = {
        .name = "netdev",
        .read = netdev_read,
};
