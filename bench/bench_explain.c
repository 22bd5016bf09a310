/*
 * What answers about a run of a million chunks cost
 *
 *   bench-explain [CHUNKS]
 *
 * Prints CPU time and memory of explain, and of predict on 10,000 workers. The run is the tests'
 * sample: two sections and one or two branches for each chunk. The bounds are two seconds each.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "roast-explain.h"
#include "roast-predict.h"
#include "sample.h"

#define BOUND_S 2.0

static double cpu_s(void)
{
        struct timespec time;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double peak_mb(void)
{
        struct rusage usage;

        getrusage(RUSAGE_SELF, &usage);
        return (double)usage.ru_maxrss / 1000;
}

static int explain(struct roast_run *run, struct roast_error *error)
{
        struct roast_explanation explanation;
        int r = roast_explain(&explanation, run, error);

        if (r >= 0)
                roast_explanation_deinit(&explanation);
        return r;
}

static int predict(struct roast_run *run, struct roast_error *error)
{
        static const int64_t workers[] = { 10000 };
        const struct roast_predict_options options = { .workers = workers, .n_workers = 1 };
        struct roast_forecast forecast;
        int r = roast_predict(&forecast, run, &options, error);

        if (r >= 0)
                roast_forecast_deinit(&forecast);
        return r;
}

static int measure(const char *path, const char *name,
                   int (*function)(struct roast_run *, struct roast_error *))
{
        struct roast_error error = { 0 };
        struct roast_run *run;
        double best = 1e9;

        for (int i = 0; i < 3; i++) {
                double begin = cpu_s();

                if (roast_run_open(&run, path, &error) < 0 || function(run, &error) < 0) {
                        fprintf(stderr, "%s\n", error.message);
                        return 1;
                }
                roast_run_free(run);
                if (cpu_s() - begin < best)
                        best = cpu_s() - begin;
        }
        printf("%-44s %6.2f s CPU %6.0f MB %s\n", name, best, peak_mb(),
               best > BOUND_S ? "MISSED" : "");
        return 0;
}

static int make(const char *path, size_t n)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        int r = roast_run_create(&run, path, &error);

        if (r >= 0)
                r = sample_fill(run, n, &error);
        if (r >= 0)
                r = roast_run_finish(run, &error);
        roast_run_free(run);
        if (r < 0)
                fprintf(stderr, "%s\n", error.message);
        return r;
}

int main(int argc, char **argv)
{
        size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
        char path[] = "/tmp/bench-explain-XXXXXX.roast";
        int fd = mkstemps(path, 6), code = 1;

        if (fd < 0)
                return 1;
        close(fd);
        unlink(path);
        if (make(path, n) >= 0)
                code = measure(path, "explain, 1 M chunks", explain) |
                       measure(path, "predict, 1 M chunks on 10,000 workers", predict);
        unlink(path);
        return code;
}
