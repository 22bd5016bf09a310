#pragma once
/*
 * Clocks, in nanoseconds
 *
 * Durations are differences of the monotonic clock. CLOCK_ABSENT: it could not be read.
 */

#include <stdint.h>

#define CLOCK_ABSENT ((int64_t)-1)

int64_t clock_monotonic_ns(void);
/* CPU time of the calling thread */
int64_t clock_thread_cpu_ns(void);
/* UTC as the wall clock has it now */
int64_t clock_wall_ns(void);
/*
 * UTC as it was by the wall clock at one instant, and by the monotonic one since: no clock step
 * changes it. The distance of the two is set when a run begins; until then the wall clock counts.
 */
int64_t clock_utc_ns(void);
int64_t clock_utc_offset_ns(void);
void clock_set_utc_offset(int64_t ns);
