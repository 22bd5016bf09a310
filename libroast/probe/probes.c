/* The columns of all sources, and one row of their readings: see readings.h */

#include "probe/platform.h"

const struct probe_column process_columns[PROCESS_N_COLUMNS] = {
        [PROCESS_RSS_BYTES] = { "rss_bytes", "bytes", PROBE_GAUGE, 4096 },
        [PROCESS_CPU_USER_NS] = { "cpu_user_ns", "ns", PROBE_COUNTER, 1000000 },
        [PROCESS_CPU_SYSTEM_NS] = { "cpu_system_ns", "ns", PROBE_COUNTER, 1000000 },
        [PROCESS_MAJOR_FAULTS] = { "major_faults", "count", PROBE_COUNTER, 1 },
        [PROCESS_RCHAR] = { "rchar", "bytes", PROBE_COUNTER, 1 },
        [PROCESS_WCHAR] = { "wchar", "bytes", PROBE_COUNTER, 1 },
        [PROCESS_READ_BYTES] = { "read_bytes", "bytes", PROBE_COUNTER, 512 },
        [PROCESS_WRITE_BYTES] = { "write_bytes", "bytes", PROBE_COUNTER, 512 },
        [PROCESS_THREADS] = { "threads", "count", PROBE_GAUGE, 1 },
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
                if (probes[i]->read)
                        probes[i]->read(row);
                for (size_t k = 0; k < probes[i]->n_columns; k++) {
                        const struct probe_column *column = &probes[i]->columns[k];

                        row[k] = probe_column_unpack(column, probe_column_pack(column, row[k]));
                }
                row += probes[i]->n_columns;
        }
}
