/* roast scaling: how throughput grows with the number of cores, over several runs */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "roast-scaling.h"
#include "util/cleanup.h"

static void scaling_help(void)
{
        fputs("Usage: roast scaling RUN... [--format text|json|csv|markdown]\n"
              "Tells how throughput grew with the number of cores over runs of the same analysis,\n"
              "fits Amdahl's law and the universal scalability law to them, and tells beyond how\n"
              "many cores it gets slower.\n\n"
              "  -f, --format FORMAT  text (default), json, csv or markdown\n"
              "  -h, --help           this text\n\n"
              "Several runs of each size make the intervals mean something.\n",
              stdout);
}

static int scaling_print(const struct roast_scaling *scaling, enum cli_format format)
{
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        struct roast_error error = { 0 };
        char *text;

        if (format == CLI_JSON) {
                if (roast_scaling_to_json(&text, scaling, &error) < 0)
                        return cli_fail("scaling", "%s", error.message);
                return cli_print("scaling", text);
        }
        if (roast_scaling_tables(&tables, scaling, &error) < 0)
                return cli_fail("scaling", "%s", error.message);
        return cli_print_tables("scaling", &tables, format);
}

static int scaling_do(char **paths, size_t n, enum cli_format format)
{
        struct roast_run **runs = calloc(n, sizeof(*runs));
        struct roast_error error = { 0 };
        struct roast_scaling scaling;
        int r = runs ? 0 : roast_fail_nomem(&error), code;

        for (size_t i = 0; i < n && r >= 0; i++)
                r = roast_run_open_any(&runs[i], paths[i], &error);
        if (r >= 0)
                r = roast_scaling(&scaling, runs, n, &error);
        for (size_t i = 0; i < n && runs; i++)
                roast_run_free(runs[i]);
        free(runs);
        if (r < 0)
                return cli_fail("scaling", "%s", error.message);
        code = scaling_print(&scaling, format);
        roast_scaling_deinit(&scaling);
        return code;
}

int verb_scaling(int argc, char **argv)
{
        static const struct option options[] = {
                { "format", required_argument, NULL, 'f' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        enum cli_format format = CLI_TEXT;
        int option;

        while ((option = getopt_long(argc, argv, "f:h", options, NULL)) != -1) {
                switch (option) {
                case 'f':
                        if (cli_format("scaling", optarg, &format) < 0)
                                return EXIT_CANNOT;
                        break;
                case 'h':
                        scaling_help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("scaling");
                }
        }
        if (optind == argc) {
                cli_fail("scaling", "a RUN is wanted");
                return cli_usage("scaling");
        }
        return scaling_do(argv + optind, (size_t)(argc - optind), format);
}
