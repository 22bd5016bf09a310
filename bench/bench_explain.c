/*
 * What answers about a run of a million chunks cost
 *
 *   bench-explain [CHUNKS]
 *
 * CPU time and memory of explain, and of predict on 10,000 workers. The run is the tests' sample: a
 * task, two sections and one or two branches for each chunk. Beside them stands what opening the
 * run and all its metrics cost.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "result.h"
#include "roast-explain.h"
#include "roast-metrics.h"
#include "roast-predict.h"
#include "sample.h"

#define BOUND_S 2.0 /* of a million chunks */
#define ROUNDS  3

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

static int metrics(struct roast_run *run, struct roast_error *error)
{
        struct roast_summary summary;
        int r = roast_summary_of_run(&summary, run, error);

        if (r >= 0)
                roast_summary_deinit(&summary);
        return r;
}

static int measure(struct figure *took, const char *path,
                   int (*function)(struct roast_run *, struct roast_error *))
{
        struct roast_error error = { 0 };
        struct roast_run *run;
        double rounds[ROUNDS];

        for (int i = 0; i < ROUNDS; i++) {
                double begin = cpu_s();

                if (roast_run_open(&run, path, &error) < 0 || function(run, &error) < 0) {
                        fprintf(stderr, "%s\n", error.message);
                        return -1;
                }
                roast_run_free(run);
                rounds[i] = cpu_s() - begin;
        }
        *took = figure_best(rounds, ROUNDS);
        return 0;
}

static int answers(const char *path)
{
        struct figure all, took;

        if (measure(&all, path, metrics) < 0 || measure(&took, path, explain) < 0)
                return -1;
        result_print(&(struct result){ "explain, CPU", took, "s", .at_most = BOUND_S });
        result_print(&(struct result){ "explain, CPU", figure_ratio(took, all),
                                       .of = "all metrics of the run" });
        if (measure(&took, path, predict) < 0)
                return -1;
        result_print(&(struct result){ "predict on 10,000 workers, CPU", took, "s",
                                       .at_most = BOUND_S });
        result_print(&(struct result){ "predict on 10,000 workers, CPU", figure_ratio(took, all),
                                       .of = "all metrics of the run" });
        result_print(&(struct result){ "memory of all of them", { peak_mb(), 0 }, "MB" });
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
        if (make(path, n) >= 0 && answers(path) >= 0)
                code = 0;
        unlink(path);
        return code;
}
