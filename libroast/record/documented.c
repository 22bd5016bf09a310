/* Keys of the documented dict of a chunk: see documented.h. */

#include "record/documented.h"

const struct documented_number documented_numbers[] = {
        { "t_start", CHUNK_START_UTC_NS, 1e9 },
        { "duration", CHUNK_WALL_NS, 1e9 },
        { "cpu_time", CHUNK_CPU_NS, 1e9 },
        { "mem_before_mb", CHUNK_RSS_START_BYTES, 1 << 20 },
        { "mem_after_mb", CHUNK_RSS_END_BYTES, 1 << 20 },
        { "mem_peak_mb", CHUNK_RSS_PEAK_BYTES, 1 << 20 },
        { "bytes_read", CHUNK_REQUESTED_BYTES, 1 },
        { 0 },
};

const struct documented_number documented_split[] = {
        { "cpu", CHUNK_CPU_NS, 1e9 },
        { "runqueue", CHUNK_RUNQUEUE_NS, 1e9 },
        { "throttled", CHUNK_THROTTLED_NS, 1e9 },
        { "block_io", CHUNK_BLOCK_IO_NS, 1e9 },
        { "gil", CHUNK_GIL_NS, 1e9 },
        { "other", CHUNK_OTHER_NS, 1e9 },
        { "samples", CHUNK_SPLIT_SAMPLES, 1 },
        { 0 },
};

const char *const documented_derived[] = {
        "t_end",         "timestamp",       "mem_delta_mb",          "num_branches_accessed",
        "chunk_id",      "sections",        "memory_sections",       "memory_start_gb",
        "memory_end_gb", "memory_delta_gb", "branches_read_percent", NULL,
};
