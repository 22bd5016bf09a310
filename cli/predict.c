/* roast predict: how long a run would take with other workers or chunks */

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-predict.h"
#include "roast-units.h"
#include "util/cleanup.h"

#define WORKERS_MAX 64

struct request {
        struct roast_predict_options options;
        int64_t workers[WORKERS_MAX];
        enum cli_format format;
};

static void predict_help(void)
{
        fputs("Usage: roast predict RUN [--workers N,N,...] [--chunksize N] [--fail-rate F]\n"
              "                     [--deadline T | --cost T] [--format text|json|csv|markdown]\n"
              "Simulates the chunks of a run on other numbers of workers, or cut otherwise.\n\n"
              "  -w, --workers N,N,...  numbers of workers; without: as many as there were\n"
              "  -c, --chunksize N      events of a chunk; without: the chunks as they were\n"
              "  -r, --fail-rate F      share of attempts that fail, 0 to 1; without: as it was\n"
              "  -d, --deadline T       recommend the fewest workers that take no longer\n"
              "  -C, --cost T           recommend the fastest that takes no more of workers' time\n"
              "  -f, --format FORMAT    text (default), json, csv or markdown\n"
              "  -h, --help             this text\n\n"
              "T is a number of seconds, or one with a unit: 90s, 15m, 2h, 1d. The time is the\n"
              "median of the simulations, with their 5 % and 95 %. What is assumed is said below\n"
              "the table. JSON is {\"measured\", \"simulations\", \"predictions\", "
              "\"recommended\",\n"
              "\"advice\", \"assumptions\"}.\n",
              stdout);
}

static int predict_read_count(const char *option, const char *text, char **end, int64_t *count)
{
        long long value;

        errno = 0;
        value = strtoll(text, end, 10);
        if (errno || *end == text || value < 1) {
                cli_fail("predict", "--%s: '%s' is no positive number", option, text);
                return -1;
        }
        *count = value;
        return 0;
}

static int predict_read_workers(struct request *request, const char *text)
{
        char *end;

        for (request->options.n_workers = 0;; text = end + 1) {
                if (request->options.n_workers == WORKERS_MAX) {
                        cli_fail("predict", "--workers: more than %d numbers", WORKERS_MAX);
                        return -1;
                }
                if (predict_read_count("workers", text, &end,
                                       &request->workers[request->options.n_workers++]) < 0)
                        return -1;
                if (*end == '\0')
                        return 0;
                if (*end != ',') {
                        cli_fail("predict", "--workers: '%s' is no list of numbers", text);
                        return -1;
                }
        }
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
                cli_fail("predict", "--%s: '%s' is no time, such as 90s, 15m or 2h", option, text);
                return -1;
        }
        *seconds = value * factors[unit - units];
        return 0;
}

static int predict_read_rate(struct request *request, const char *text)
{
        char *end;
        double value = strtod(text, &end);

        if (end == text || *end || !(value >= 0 && value < 1)) {
                cli_fail("predict", "--fail-rate: '%s' is no share from 0 to 1", text);
                return -1;
        }
        request->options.has_fail_rate = true;
        request->options.fail_rate = value;
        return 0;
}

static int predict_read_chunksize(struct request *request, const char *text)
{
        char *end;

        if (predict_read_count("chunksize", text, &end, &request->options.chunksize) < 0)
                return -1;
        if (*end) {
                cli_fail("predict", "--chunksize: '%s' is no positive number", text);
                return -1;
        }
        return 0;
}

static void predict_print_rest(const struct roast_forecast *forecast, enum cli_format format)
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

static int predict_show(const struct roast_forecast *forecast, enum cli_format format)
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
                predict_print_rest(forecast, format);
        return code;
}

static int predict(const char *path, struct request *request)
{
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast forecast = { 0 };
        struct roast_error error = { 0 };
        struct roast_run *run;
        int r;

        request->options.workers = request->workers;
        if (roast_run_open_any(&run, path, &error) < 0)
                return cli_fail("predict", "%s", error.message);
        r = roast_predict(&forecast, run, &request->options, &error);
        roast_run_free(run);
        return r < 0 ? cli_fail("predict", "%s", error.message)
                     : predict_show(&forecast, request->format);
}

/* 0, or -1 after a message */
static int predict_take_option(struct request *request, int option)
{
        switch (option) {
        case 'w':
                return predict_read_workers(request, optarg);
        case 'c':
                return predict_read_chunksize(request, optarg);
        case 'r':
                return predict_read_rate(request, optarg);
        case 'd':
                return predict_read_time("deadline", optarg, &request->options.deadline_s);
        case 'C':
                return predict_read_time("cost", optarg, &request->options.cost_s);
        case 'f':
                return cli_format("predict", optarg, &request->format);
        default:
                cli_usage("predict");
                return -1;
        }
}

int verb_predict(int argc, char **argv)
{
        static const struct option options[] = {
                { "workers", required_argument, NULL, 'w' },
                { "chunksize", required_argument, NULL, 'c' },
                { "fail-rate", required_argument, NULL, 'r' },
                { "deadline", required_argument, NULL, 'd' },
                { "cost", required_argument, NULL, 'C' },
                { "format", required_argument, NULL, 'f' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        struct request request = { 0 };
        int option;

        while ((option = getopt_long(argc, argv, "w:c:r:d:C:f:h", options, NULL)) != -1) {
                if (option == 'h') {
                        predict_help();
                        return EXIT_GOOD;
                }
                if (predict_take_option(&request, option) < 0)
                        return EXIT_CANNOT;
        }
        if (request.options.deadline_s > 0 && request.options.cost_s > 0)
                return cli_fail("predict", "a deadline or a cost is wanted, not both");
        if (argc - optind != 1) {
                cli_fail("predict", "one RUN is wanted, not %d", argc - optind);
                return cli_usage("predict");
        }
        return predict(argv[optind], &request);
}
