#pragma once
/*
 * Other processes of this user, seen from outside
 *
 * For pools of processes that run none of our code. The columns have the names
 * of the sampler's, where they mean the same.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/readings.h"

enum process_column {
        PROCESS_RSS_BYTES,
        PROCESS_CPU_USER_NS,
        PROCESS_CPU_SYSTEM_NS,
        PROCESS_MAJOR_FAULTS,
        PROCESS_RCHAR,
        PROCESS_WCHAR,
        PROCESS_READ_BYTES,
        PROCESS_WRITE_BYTES,
        PROCESS_THREADS,
        PROCESS_N_COLUMNS
};

extern const struct probe_column *const process_columns[PROCESS_N_COLUMNS];

struct process_reading {
        int64_t values[PROCESS_N_COLUMNS]; /* PROBE_ABSENT: not told */
        int64_t start_ticks; /* since boot: tells processes of the same number apart */
};

/* False: there is no such process any more. */
bool process_read(pid_t pid, struct process_reading *reading);

/* Children, and theirs, of a process; returns how many were found, at most `max`. */
size_t process_descendants(pid_t pid, pid_t *pids, size_t max);
