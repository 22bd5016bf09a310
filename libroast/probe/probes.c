/* The list of the sources, and one row of all their readings. */

#include "probe/readings.h"

const struct probe *const probes[] = {
        &probe_clock,         /* the time, */
        &probe_statm,         /* memory of the process, */
        &probe_rusage,        /* its CPU time, faults and switches, */
        &probe_io_source,     /* its bytes, */
        &probe_counts,        /* its descriptors and threads */
        &probe_cgroup_source, /* limits of its group */
        &probe_pressure,      /* the host */
        &probe_diskstats,     /* the host */
        &probe_netdev,        /* the host */
        NULL,
};

const struct probe_column probe_columns[N_SAMPLES] = {
#define SAMPLE(id, name, unit, kind, resolution, ...) { #name, #unit, PROBE_##kind, resolution },
#include "probe/samples.def"
#undef SAMPLE
};

int64_t probe_column_pack(const struct probe_column *column, int64_t value)
{
        return value < 0 ? PROBE_ABSENT : value / column->resolution;
}

int64_t probe_column_unpack(const struct probe_column *column, int64_t packed)
{
        return packed < 0 ? PROBE_ABSENT : packed * column->resolution;
}

void probe_row_read(int64_t *row)
{
        for (size_t i = 0; i < N_SAMPLES; i++)
                row[i] = PROBE_ABSENT;
        for (size_t i = 0; probes[i]; i++)
                probes[i]->read(row);
        for (size_t i = 0; i < N_SAMPLES; i++)
                row[i] = probe_column_unpack(&probe_columns[i],
                                             probe_column_pack(&probe_columns[i], row[i]));
}
