/* The list of the sources, and one row of all their readings. */

#include "probe/readings.h"

const struct probe *const probes[] = {
        &probe_clock, /* first: the time column */
        &probe_statm,    &probe_rusage,    &probe_io_source, &probe_counts, &probe_cgroup_source,
        &probe_pressure, &probe_diskstats, &probe_netdev,    NULL,
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
