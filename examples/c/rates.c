/*
 * Prints a few metrics of a run: how a program in C uses libroast
 *
 *     ./rates runs/zmumu.roast
 *
 * Every call that can fail returns a negative number and leaves one sentence in
 * the error object. What is not known of a run is absent, with the reason.
 */

#include <stdio.h>
#include <stdlib.h>

#include <roast-metrics.h>
#include <roast-run.h>
#include <roast-units.h>

static const enum roast_metric shown[] = {
        ROAST_ELAPSED_TIME_SECONDS,   ROAST_TOTAL_EVENTS,      ROAST_NUM_CHUNKS,
        ROAST_EVENT_RATE_ELAPSED_KHZ, ROAST_PEAK_MEMORY_BYTES,
};

static void print_metric(const struct roast_metric_set *set, enum roast_metric metric)
{
        const struct roast_value *value = &set->values[metric];
        char text[ROAST_UNITS_MAX];

        if (value->state == ROAST_ABSENT)
                printf("%s: not known (%s)\n", roast_metrics[metric].title,
                       roast_metric_reason(set, metric));
        else
                printf("%s: %s%s\n", roast_metrics[metric].title,
                       roast_format_value(text, sizeof(text), metric, value),
                       value->state == ROAST_ESTIMATED ? " (estimated)" : "");
}

int main(int argc, char **argv)
{
        struct roast_run *run = NULL;
        struct roast_summary summary = { 0 };
        struct roast_error error;
        int r;

        if (argc != 2) {
                fprintf(stderr, "usage: %s RUN\n", argv[0]);
                return EXIT_FAILURE;
        }
        r = roast_run_open_any(&run, argv[1], &error);
        if (r >= 0)
                r = roast_summary_of_run(&summary, run, &error);
        if (r < 0)
                fprintf(stderr, "%s: %s\n", argv[0], error.message);
        for (size_t i = 0; r >= 0 && i < sizeof(shown) / sizeof(shown[0]); i++)
                print_metric(&summary.metrics, shown[i]);
        roast_summary_deinit(&summary);
        roast_run_free(run);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
