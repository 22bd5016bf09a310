#pragma once
/* The sources of a row that only Linux has */

#include "probe/platform.h"

extern const struct probe probe_memory;
extern const struct probe probe_io_source;
extern const struct probe probe_counts;
extern const struct probe probe_cgroup_source;
extern const struct probe probe_pressure;
extern const struct probe probe_diskstats;
extern const struct probe probe_netdev;
