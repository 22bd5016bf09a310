/* The columns of all sources, and one row of their readings: see readings.h */

#include "probe/platform.h"

const struct probe_column *const process_columns[PROCESS_N_COLUMNS] = {
        [PROCESS_RSS_BYTES] = &probe_columns[SAMPLE_RSS_BYTES],
        [PROCESS_CPU_USER_NS] = &probe_columns[SAMPLE_CPU_USER_NS],
        [PROCESS_CPU_SYSTEM_NS] = &probe_columns[SAMPLE_CPU_SYSTEM_NS],
        [PROCESS_MAJOR_FAULTS] = &probe_columns[SAMPLE_MAJOR_FAULTS],
        [PROCESS_RCHAR] = &probe_columns[SAMPLE_RCHAR],
        [PROCESS_WCHAR] = &probe_columns[SAMPLE_WCHAR],
        [PROCESS_READ_BYTES] = &probe_columns[SAMPLE_READ_BYTES],
        [PROCESS_WRITE_BYTES] = &probe_columns[SAMPLE_WRITE_BYTES],
        [PROCESS_THREADS] = &probe_columns[SAMPLE_THREADS],
};

const struct probe_column probe_columns[N_SAMPLES] = {
#define SAMPLE(id, name, unit, kind, resolution, ...) { #name, #unit, PROBE_##kind, resolution },
#include "timeline/samples.def"
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
                if (probes[i]->read)
                        probes[i]->read(row);
        for (size_t i = 0; i < N_SAMPLES; i++)
                row[i] = probe_column_unpack(&probe_columns[i],
                                             probe_column_pack(&probe_columns[i], row[i]));
}
