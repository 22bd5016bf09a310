/* roast report: one HTML file that shows a run */

#include <getopt.h>
#include <stdio.h>

#include "cli.h"
#include "roast-report.h"
#include "roast-run.h"

static void help(void)
{
        fputs("Usage: roast report RUN -o FILE\n"
              "Writes a page that shows a run in a browser: one file, which needs no network.\n\n"
              "  -o, --output FILE  the page; a file of that name is replaced\n"
              "  -h, --help         this text\n",
              stdout);
}

int verb_report(int argc, char **argv)
{
        static const struct option options[] = {
                { "output", required_argument, NULL, 'o' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        struct roast_error error = { 0 };
        const char *output = NULL;
        struct roast_run *run;
        int option, r;

        while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
                switch (option) {
                case 'o':
                        output = optarg;
                        break;
                case 'h':
                        help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("report");
                }
        }
        if (argc - optind != 1 || !output) {
                cli_fail("report", "one RUN is wanted, and where to write: -o FILE");
                return cli_usage("report");
        }
        if (roast_run_open_any(&run, argv[optind], &error) < 0)
                return cli_fail("report", "%s", error.message);
        r = roast_report_write(run, output, &error);
        roast_run_free(run);
        return r < 0 ? cli_fail("report", "%s", error.message) : EXIT_GOOD;
}
