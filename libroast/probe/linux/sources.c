/* The sources of a row on Linux. A new one is a file that ends in its `struct probe`. */

#include "probe/linux/sources.h"

const struct probe *const probes[] = {
        &probe_clock,         /* first: the time column */
        &probe_memory,        /* memory of the process, */
        &probe_rusage,        /* its CPU time, faults and switches, */
        &probe_io_source,     /* its bytes, */
        &probe_counts,        /* its descriptors and threads */
        &probe_cgroup_source, /* limits of its group */
        &probe_pressure,      /* the host */
        &probe_diskstats,     /* the host */
        &probe_netdev,        /* the host */
        NULL,
};
