/* roast compare: what differs between runs, and what can be said about it */

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-compare.h"
#include "util/cleanup.h"

#define RUNS_MAX 256

/* Put in place of each "--": getopt_long(3) would take it for the end of the options. */
static char divider[] = "and";

struct request {
        enum cli_format format;
        double fail_on; /* NaN: never */
        struct roast_run *runs[RUNS_MAX];
        size_t groups[RUNS_MAX];
        size_t n_runs;
        size_t n_groups;
};

static void help(void)
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
static bool parse_percent(const char *word, double *share)
{
        char *end;

        *share = strtod(word, &end) / 100;
        return end != word && (!*end || !strcmp(end, "%")) && isfinite(*share) && *share >= 0;
}

static int print_tables(const struct roast_tables *tables, enum cli_format format)
{
        bool first = true;

        for (size_t i = 0; i < tables->n; i++) {
                const struct roast_table *table = &tables->tables[i];
                int code;

                if (!table->n_rows)
                        continue;
                if (!first)
                        putchar('\n');
                first = false;
                if (format == CLI_CSV)
                        printf("# %s\n", table->name);
                code = cli_print_table("compare", table, format);
                if (code != EXIT_GOOD)
                        return code;
        }
        return EXIT_GOOD;
}

/* What the table cannot say by itself */
static void print_notes(const struct roast_comparison *comparison)
{
        bool single = comparison->n_runs == comparison->n_groups, called = false;
        double noise = 0;

        for (size_t i = 0; i < comparison->n_rows; i++) {
                noise = fmax(noise, comparison->rows[i].noise);
                called |= comparison->rows[i].verdict != ROAST_VERDICT_NONE;
        }
        for (size_t i = 1; i < comparison->n_groups; i++)
                if (!*comparison->matched_by[i])
                        printf("\nThe runs have too few chunks and files in common to match them: "
                               "all of %c is held\nagainst all of A.\n",
                               (char)('A' + i));
        if (single && noise > 0.05)
                printf("\nOthers used the cores: wall times of two such runs can differ by a "
                       "factor "
                       "of %.1f by\nthemselves, which is not called a difference. Groups of runs "
                       "tell more.\n",
                       1 + noise);
        if (!called)
                puts("\nNo difference can be told from chance.");
}

static int print(const struct roast_comparison *comparison, const struct request *request)
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
        code = print_tables(&tables, request->format);
        if (code == EXIT_GOOD && request->format == CLI_TEXT)
                print_notes(comparison);
        return code;
}

static int judge(const struct roast_comparison *comparison, double fail_on)
{
        const struct roast_compare_row *row;

        if (isnan(fail_on))
                return EXIT_GOOD;
        row = roast_comparison_regression(comparison, fail_on);
        if (!row)
                return EXIT_GOOD;
        cli_fail("compare", "%s '%s' became worse by %.1f %%, more than %g %%", row->group,
                 row->title, 100 * fabs(row->change), 100 * fail_on);
        return EXIT_NO;
}

static int compare(const struct request *request)
{
        struct roast_comparison comparison;
        struct roast_error error = { 0 };
        int code;

        if (roast_compare(&comparison, request->runs, request->groups, request->n_runs, &error) < 0)
                return cli_fail("compare", "%s", error.message);
        code = print(&comparison, request);
        if (code == EXIT_GOOD)
                code = judge(&comparison, request->fail_on);
        roast_comparison_deinit(&comparison);
        return code;
}

/* Words from optind on: runs, and dividers if there are groups */
static int open_runs(struct request *request, int argc, char **argv)
{
        bool grouped = false, empty = true;
        struct roast_error error = { 0 };

        for (int i = optind; i < argc; i++)
                grouped |= argv[i] == divider;
        for (int i = optind; i < argc; i++) {
                if (argv[i] == divider) {
                        if (empty)
                                return cli_fail("compare", "there is no RUN before '--'");
                        request->n_groups++;
                        empty = true;
                        continue;
                }
                if (request->n_runs == RUNS_MAX)
                        return cli_fail("compare", "more than %d runs are too many", RUNS_MAX);
                if (roast_run_open_any(&request->runs[request->n_runs], argv[i], &error) < 0)
                        return cli_fail("compare", "%s", error.message);
                request->groups[request->n_runs] = grouped ? request->n_groups : request->n_runs;
                request->n_runs++;
                empty = false;
        }
        request->n_groups = grouped ? request->n_groups + 1 : request->n_runs;
        if (grouped && empty)
                return cli_fail("compare", "there is no RUN behind '--'");
        if (request->n_groups < 2) {
                cli_fail("compare", "two RUNs are wanted, or more, not %zu", request->n_runs);
                return cli_usage("compare");
        }
        return EXIT_GOOD;
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
        int option, format, code;

        for (int i = 1; i < argc; i++)
                if (!strcmp(argv[i], "--"))
                        argv[i] = divider;
        while ((option = getopt_long(argc, argv, "f:h", options, NULL)) != -1) {
                switch (option) {
                case 'f':
                        format = cli_format("compare", optarg);
                        if (format < 0)
                                return EXIT_CANNOT;
                        request.format = (enum cli_format)format;
                        break;
                case 'F':
                        if (!parse_percent(optarg, &request.fail_on))
                                return cli_fail("compare", "'%s' is not a percentage", optarg);
                        break;
                case 'h':
                        help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("compare");
                }
        }
        code = open_runs(&request, argc, argv);
        if (code == EXIT_GOOD)
                code = compare(&request);
        for (size_t i = 0; i < request.n_runs; i++)
                roast_run_free(request.runs[i]);
        return code;
}
