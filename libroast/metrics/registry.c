/* The registry: roast-metrics.def as tables. */

#include <string.h>

#include "roast-metrics.h"

const struct roast_metric_info roast_metrics[ROAST_N_METRICS] = {
#define METRIC(id, key, group, type, unit, better, fallback, fn, title, formula)                   \
        [ROAST_##id] = { key,                                                                      \
                         ROAST_GROUP_##group,                                                      \
                         ROAST_TYPE_##type,                                                        \
                         ROAST_UNIT_##unit,                                                        \
                         ROAST_BETTER_##better,                                                    \
                         ROAST_FALLBACK_##fallback,                                                \
                         title,                                                                    \
                         formula },
#define ALIAS(key, id)
#include "roast-metrics.def"
#undef METRIC
#undef ALIAS
};

const struct roast_alias roast_aliases[] = {
#define METRIC(id, ...)
#define ALIAS(key, id) { key, ROAST_##id },
#include "roast-metrics.def"
#undef METRIC
#undef ALIAS
};

const size_t roast_n_aliases = sizeof(roast_aliases) / sizeof(roast_aliases[0]);

const char *const roast_unit_names[ROAST_N_UNITS] = {
        [ROAST_UNIT_SECONDS] = "s",
        [ROAST_UNIT_BYTES] = "B",
        [ROAST_UNIT_MIB] = "MiB",
        [ROAST_UNIT_COUNT] = "1",
        [ROAST_UNIT_WORKERS] = "workers",
        [ROAST_UNIT_CORES] = "cores",
        [ROAST_UNIT_GBPS] = "Gbit/s",
        [ROAST_UNIT_MB_PER_S] = "MB/s",
        [ROAST_UNIT_KHZ] = "kHz",
        [ROAST_UNIT_KHZ_PER_CORE] = "kHz/core",
        [ROAST_UNIT_HZ_PER_CORE] = "Hz/core",
        [ROAST_UNIT_FRACTION] = "fraction",
        [ROAST_UNIT_PERCENT] = "%",
        [ROAST_UNIT_FACTOR] = "x",
};

const char *const roast_group_names[ROAST_N_GROUPS] = {
        [ROAST_GROUP_WORKFLOW] = "workflow", [ROAST_GROUP_WORKER] = "worker",
        [ROAST_GROUP_FINE] = "fine",         [ROAST_GROUP_EFFICIENCY] = "efficiency",
        [ROAST_GROUP_CHUNK] = "chunk",       [ROAST_GROUP_COVERAGE] = "coverage",
};

int roast_metric_find(const char *key)
{
        for (int i = 0; i < ROAST_N_METRICS; i++)
                if (!strcmp(roast_metrics[i].key, key))
                        return i;
        for (size_t i = 0; i < roast_n_aliases; i++)
                if (!strcmp(roast_aliases[i].key, key))
                        return (int)roast_aliases[i].metric;
        return ROAST_E_NOENT;
}
