/* What two bare clock reads cost, in ns: the measure for a section's own cost. */

#include <stdio.h>
#include <time.h>

#define PAIRS  200000
#define ROUNDS 15

static double seconds(clockid_t clock)
{
        struct timespec now;

        clock_gettime(clock, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void)
{
        double best = 1;

        for (int round = 0; round < ROUNDS; round++) {
                double begin = seconds(CLOCK_THREAD_CPUTIME_ID), took;
                struct timespec now;

                for (int i = 0; i < PAIRS; i++) {
                        clock_gettime(CLOCK_MONOTONIC, &now);
                        clock_gettime(CLOCK_MONOTONIC, &now);
                }
                took = seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
                if (took < best)
                        best = took;
        }
        printf("%.2f\n", best / PAIRS * 1e9);
        return 0;
}
