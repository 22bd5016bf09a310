/* roast compare: what differs between runs, and what can be said about it */

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-compare.h"
#include "util/cleanup.h"

#define NOTE_WIDTH 88

struct request {
        enum cli_format format;
        double fail_on; /* NaN: never */
        struct cli_runs runs;
};

static void compare_help(void)
{
        fputs("Usage: roast compare RUN RUN... [--fail-on PERCENT]\n"
              "                     [--format text|json|csv|markdown]\n"
              "       roast compare RUN... -- RUN...  (groups of runs of the same thing)\n"
              "Tells what differs between runs: around them, then in what an event cost. Each "
              "run,\n"
              "or group, is held against the first. '~' stands where nothing can be said.\n\n"
              "      --fail-on PERCENT  exit with 1 if anything became worse by more than that, "
              "and\n"
              "                         that is significant\n"
              "  -f, --format FORMAT    text (default), json, csv or markdown\n"
              "  -h, --help             this text\n\n"
              "One run on each side cannot tell how runs vary by themselves: repeat them, and "
              "give\n"
              "the repetitions as groups. Chunks are matched by file and entries.\n",
              stdout);
}

/* "5" or "5%" */
static bool compare_parse_percent(const char *word, double *share)
{
        char *end;

        *share = strtod(word, &end) / 100;
        return end != word && (!*end || !strcmp(end, "%")) && isfinite(*share) && *share >= 0;
}

/* Sentences below the tables */
static int compare_print_notes(const struct roast_comparison *comparison)
{
        ROAST_CLEANUP(cleanup_free) char *notes = roast_comparison_notes(comparison);
        size_t width = cli_width();
        char *rest = notes, *note;

        if (!notes)
                return cli_fail("compare", "out of memory");
        if (width == 0 || width > NOTE_WIDTH)
                width = NOTE_WIDTH;
        while ((note = strsep(&rest, "\n")) && *note) {
                putchar('\n');
                cli_print_words("", note, width, 0);
        }
        return EXIT_GOOD;
}

static int compare_print(const struct roast_comparison *comparison, const struct request *request)
{
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        struct roast_error error = { 0 };
        char *text;
        int code;

        if (request->format == CLI_JSON) {
                if (roast_comparison_to_json(&text, comparison, &error) < 0)
                        return cli_fail("compare", "%s", error.message);
                return cli_print("compare", text);
        }
        if (roast_comparison_tables(&tables, comparison, &error) < 0)
                return cli_fail("compare", "%s", error.message);
        code = cli_print_tables("compare", &tables, request->format);
        if (code == EXIT_GOOD && request->format == CLI_TEXT)
                code = compare_print_notes(comparison);
        return code;
}

static int compare_judge(const struct roast_comparison *comparison, double fail_on)
{
        const struct roast_compare_row *row;

        if (isnan(fail_on))
                return EXIT_GOOD;
        row = roast_comparison_regression(comparison, fail_on);
        if (!row)
                return EXIT_GOOD;
        if (isinf(row->change))
                cli_fail("compare", "%s '%s' became worse: it was 0", row->group, row->title);
        else
                cli_fail("compare", "%s '%s' became worse by %.1f %%, more than %g %%", row->group,
                         row->title, 100 * fabs(row->change), 100 * fail_on);
        return EXIT_NO;
}

static int compare_answer(const struct request *request)
{
        struct roast_comparison comparison;
        struct roast_error error = { 0 };
        int code;

        if (roast_compare(&comparison, request->runs.runs, request->runs.groups, request->runs.n,
                          &error) < 0)
                return cli_fail("compare", "%s", error.message);
        code = compare_print(&comparison, request);
        if (code == EXIT_GOOD)
                code = compare_judge(&comparison, request->fail_on);
        roast_comparison_deinit(&comparison);
        return code;
}

int verb_compare(int argc, char **argv)
{
        static const struct option options[] = {
                { "format", required_argument, NULL, 'f' },
                { "fail-on", required_argument, NULL, 'F' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        struct request request = { .fail_on = (double)NAN };
        int option, code;

        cli_runs_divide(argc, argv);
        while ((option = getopt_long(argc, argv, "f:h", options, NULL)) != -1) {
                switch (option) {
                case 'f':
                        if (cli_format("compare", optarg, &request.format) < 0)
                                return EXIT_CANNOT;
                        break;
                case 'F':
                        if (!compare_parse_percent(optarg, &request.fail_on))
                                return cli_fail("compare", "'%s' is not a percentage", optarg);
                        break;
                case 'h':
                        compare_help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("compare");
                }
        }
        code = cli_runs_open(&request.runs, "compare", argc - optind, argv + optind);
        if (code == EXIT_GOOD && request.runs.n_groups < 2) {
                cli_fail("compare", "two RUNs are wanted, or more, not %zu", request.runs.n);
                code = cli_usage("compare");
        }
        if (code == EXIT_GOOD)
                code = compare_answer(&request);
        cli_runs_close(&request.runs);
        return code;
}
