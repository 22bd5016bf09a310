/* Clocks: see clock.h */

#include <stdatomic.h>
#include <time.h>

#include "util/clock.h"

static int64_t clock_now_ns(clockid_t clock)
{
        struct timespec now;

        if (clock_gettime(clock, &now) < 0)
                return CLOCK_ABSENT;
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_monotonic_ns(void)
{
        return clock_now_ns(CLOCK_MONOTONIC);
}

int64_t clock_thread_cpu_ns(void)
{
        return clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_wall_ns(void)
{
        return clock_now_ns(CLOCK_REALTIME);
}

static _Atomic int64_t clock_offset_ns = CLOCK_ABSENT;

void clock_set_utc_offset(int64_t ns)
{
        clock_offset_ns = ns;
}

int64_t clock_utc_offset_ns(void)
{
        int64_t offset_ns = clock_offset_ns, now_ns, wall_ns;

        if (offset_ns != CLOCK_ABSENT)
                return offset_ns;
        now_ns = clock_monotonic_ns();
        wall_ns = clock_wall_ns();
        return now_ns < 0 || wall_ns < now_ns ? CLOCK_ABSENT : wall_ns - now_ns;
}

int64_t clock_utc_ns(void)
{
        int64_t now_ns = clock_monotonic_ns(), offset_ns = clock_utc_offset_ns();

        return now_ns < 0 || offset_ns == CLOCK_ABSENT ? CLOCK_ABSENT : now_ns + offset_ns;
}
