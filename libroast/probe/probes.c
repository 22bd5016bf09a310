/* The list of the sources, and one row of all their readings. */

#include "probe/readings.h"

const struct probe *const probes[] = {
        &probe_clock,         /* first: the time column */
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

const struct probe_column *probe_column(size_t index)
{
        for (size_t i = 0; probes[i]; i++) {
                if (index < probes[i]->n_columns)
                        return &probes[i]->columns[index];
                index -= probes[i]->n_columns;
        }
        return NULL;
}

size_t probe_column_count(void)
{
        size_t n = 0;

        for (size_t i = 0; probes[i]; i++)
                n += probes[i]->n_columns;
        return n;
}

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
        for (size_t i = 0; probes[i]; i++) {
                probes[i]->read(row);
                for (size_t k = 0; k < probes[i]->n_columns; k++) {
                        const struct probe_column *column = &probes[i]->columns[k];

                        row[k] = probe_column_unpack(column, probe_column_pack(column, row[k]));
                }
                row += probes[i]->n_columns;
        }
}
