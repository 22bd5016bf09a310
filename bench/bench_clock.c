/* What two bare clock reads cost, in ns: the measure for a section's own cost. */

#include <time.h>

#include "result.h"

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
        double took[ROUNDS];

        for (int round = 0; round < ROUNDS; round++) {
                double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
                struct timespec now;

                for (int i = 0; i < PAIRS; i++) {
                        clock_gettime(CLOCK_MONOTONIC, &now);
                        clock_gettime(CLOCK_MONOTONIC, &now);
                }
                took[round] = (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) / PAIRS * 1e9;
        }
        result_print(&(struct result){
                .name = "two clock reads", .figure = figure_best(took, ROUNDS), .unit = "ns" });
        return 0;
}
