/* roast predict: how long a run would take with other workers or chunks */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-predict.h"
#include "roast-units.h"
#include "util/cleanup.h"

#define WORKERS_MAX 64

static struct roast_predict_options wanted;
static int64_t workers[WORKERS_MAX];
static int format;

/* The functions that take an option return 0, or -1 after a message. */
static int predict_read_count(const char *option, const char *text, char **end, int64_t *count)
{
        long long value;

        errno = 0;
        value = strtoll(text, end, 10);
        if (errno || *end == text || value < 1) {
                cli_fail("predict", "--%s: '%s' is not a positive number", option, text);
                return -1;
        }
        *count = value;
        return 0;
}

static int predict_take_workers(const char *text)
{
        char *end;

        for (wanted.n_workers = 0;; text = end + 1) {
                if (wanted.n_workers == WORKERS_MAX) {
                        cli_fail("predict", "--workers: more than %d numbers", WORKERS_MAX);
                        return -1;
                }
                if (predict_read_count("workers", text, &end, &workers[wanted.n_workers++]) < 0)
                        return -1;
                if (*end == '\0')
                        return 0;
                if (*end != ',') {
                        cli_fail("predict", "--workers: '%s' is not a list of numbers", text);
                        return -1;
                }
        }
}

static int predict_take_chunksize(const char *text)
{
        char *end;

        if (predict_read_count("chunksize", text, &end, &wanted.chunksize) < 0)
                return -1;
        if (!*end)
                return 0;
        cli_fail("predict", "--chunksize: '%s' is not a positive number", text);
        return -1;
}

static int predict_take_rate(const char *text)
{
        char *end;

        wanted.fail_rate = strtod(text, &end);
        wanted.has_fail_rate = true;
        if (end != text && !*end && wanted.fail_rate >= 0 && wanted.fail_rate < 1)
                return 0;
        cli_fail("predict", "--fail-rate: '%s' is not a share from 0 to 1", text);
        return -1;
}

static int predict_read_time(const char *option, const char *text, double *seconds)
{
        static const char units[] = "smhd";
        static const double factors[] = { 1, 60, 3600, 86400 };
        const char *unit;
        char *end;
        double value = strtod(text, &end);

        unit = *end ? strchr(units, *end) : units;
        if (end == text || !unit || (*end && end[1]) || !(value > 0) || !isfinite(value)) {
                cli_fail("predict", "--%s: '%s' is not a time such as 90s, 15m or 2h", option,
                         text);
                return -1;
        }
        *seconds = value * factors[unit - units];
        return 0;
}

static int predict_take_deadline(const char *text)
{
        return predict_read_time("deadline", text, &wanted.deadline_s);
}

static int predict_take_cost(const char *text)
{
        return predict_read_time("cost", text, &wanted.cost_s);
}

static void predict_print_rest(const struct roast_forecast *forecast)
{
        char took[ROAST_UNITS_MAX], again[ROAST_UNITS_MAX];
        const char *bullet = format == CLI_MARKDOWN ? "- " : "  - ";
        size_t width = format == CLI_MARKDOWN ? 0 : cli_width();

        roast_format_seconds(took, sizeof(took), forecast->elapsed_s);
        roast_format_seconds(again, sizeof(again), forecast->again_s);
        printf("\nThe run took %s with %lld worker%s; its own simulation gives %s.\n", took,
               (long long)forecast->workers, forecast->workers == 1 ? "" : "s", again);
        if (forecast->advice) {
                putchar('\n');
                cli_print_words("Recommended: ", forecast->advice, width, 0);
        }
        printf("\nAssumed, in %lld simulations each:\n", (long long)forecast->simulations);
        if (format == CLI_MARKDOWN)
                putchar('\n');
        for (size_t i = 0; i < forecast->n_assumptions; i++)
                cli_print_words(bullet, forecast->assumptions[i], width, 4);
}

static int predict_show(const struct roast_forecast *forecast)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };
        struct roast_error error = { 0 };
        char *text;
        int code;

        if (format == CLI_JSON) {
                if (roast_forecast_to_json(&text, forecast, &error) < 0)
                        return cli_fail("predict", "%s", error.message);
                return cli_print("predict", text);
        }
        if (roast_forecast_table(&table, forecast, &error) < 0)
                return cli_fail("predict", "%s", error.message);
        code = cli_print_table("predict", &table, format);
        if (code == EXIT_GOOD && format != CLI_CSV)
                predict_print_rest(forecast);
        return code;
}

static int predict(struct roast_run *run)
{
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast forecast = { 0 };
        struct roast_error error = { 0 };

        return roast_predict(&forecast, run, &wanted, &error) < 0
                       ? cli_fail("predict", "%s", error.message)
                       : predict_show(&forecast);
}

static int predict_run(int n, char **words)
{
        (void)n;
        wanted.workers = workers;
        if (wanted.deadline_s > 0 && wanted.cost_s > 0)
                return cli_fail("predict", "--deadline and --cost exclude each other");
        return cli_with_run("predict", words[0], predict);
}

static const struct cli_option predict_options[] = {
        { "workers", 'w', "N,N,...", "numbers of workers; default: as many as there were",
          .take = predict_take_workers },
        { "chunksize", 'c', "N", "events per chunk; default: the chunks as they were",
          .take = predict_take_chunksize },
        { "fail-rate", 'r', "F", "share of attempts that fail, 0 to 1; default: as in the run",
          .take = predict_take_rate },
        { "deadline", 'd', "T", "recommend the fewest workers that take no longer",
          .take = predict_take_deadline },
        { "cost", 'C', "T", "recommend the fastest that takes no more worker time",
          .take = predict_take_cost },
        CLI_FORMAT_OPTION(cli_formats, &format),
        { 0 },
};

const struct cli_verb verb_predict = {
        .name = "predict",
        .summary = "predict the time with other workers or chunks",
        .arguments = "RUN",
        .least = 1,
        .most = 1,
        .about = "Simulates the chunks of a run on other numbers of workers, or with another "
                 "size.\n",
        .options = predict_options,
        .notes = "T is a number of seconds, or one with a unit: 90s, 15m, 2h, 1d. The time is the\n"
                 "median of the simulations, with their 5 % and 95 %. The assumptions are printed\n"
                 "below the table. JSON is {\"measured\", \"simulations\", \"predictions\",\n"
                 "\"recommended\", \"advice\", \"assumptions\"}.\n",
        .completes = ".roast",
        .run = predict_run,
};
