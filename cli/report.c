/* roast report: one HTML file that shows a run, or what differs between runs */

#include <getopt.h>
#include <stdio.h>

#include "cli.h"
#include "roast-compare.h"
#include "roast-report.h"

static void report_help(void)
{
        fputs("Usage: roast report RUN... -o FILE\n"
              "       roast report RUN... -- RUN... -o FILE  (groups of runs of the same thing)\n"
              "Writes a page that shows a run in a browser: one file, which needs no network. Of\n"
              "several runs it shows what differs between them, as 'roast compare' does.\n\n"
              "  -o, --output FILE  the page; a file of that name is replaced, a run never\n"
              "  -h, --help         this text\n",
              stdout);
}

static int report_write_comparison(const struct cli_runs *runs, const char *output,
                                   struct roast_error *error)
{
        struct roast_comparison comparison;
        int r = roast_compare(&comparison, runs->runs, runs->groups, runs->n, error);

        if (r < 0)
                return r;
        r = roast_report_write_comparison(&comparison, output, error);
        roast_comparison_deinit(&comparison);
        return r;
}

static int report(const struct cli_runs *runs, const char *output)
{
        struct roast_error error = { 0 };
        int r = runs->n_groups == 1 ? roast_report_write(runs->runs[0], output, &error)
                                    : report_write_comparison(runs, output, &error);

        return r < 0 ? cli_fail("report", "%s", error.message) : EXIT_GOOD;
}

int verb_report(int argc, char **argv)
{
        static const struct option options[] = {
                { "output", required_argument, NULL, 'o' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        const char *output = NULL;
        struct cli_runs runs = { 0 };
        int option, code;

        cli_runs_divide(argc, argv);
        while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
                switch (option) {
                case 'o':
                        output = optarg;
                        break;
                case 'h':
                        report_help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("report");
                }
        }
        if (argc == optind || !output) {
                cli_fail("report", "a RUN is wanted, or several, and where to write: -o FILE");
                return cli_usage("report");
        }
        code = cli_runs_open(&runs, "report", argc - optind, argv + optind);
        if (code == EXIT_GOOD)
                code = report(&runs, output);
        cli_runs_close(&runs);
        return code;
}
