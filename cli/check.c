/* roast check: whether run files are whole */

#include <getopt.h>
#include <stdio.h>

#include "cli.h"
#include "roast-run.h"

static void check_help(void)
{
        fputs("Usage: roast check RUN...\n"
              "Reads every row of the runs against the checksums of their commits.\n\n"
              "  -q, --quiet    print nothing, answer by the exit code\n"
              "  -h, --help     this text\n\n"
              "Exit codes: 0 all are whole, 1 one is damaged, 2 one cannot be read at all.\n",
              stdout);
}

static void check_count_rows(const char *table, int64_t rows, void *context)
{
        int64_t *sum = context;

        (void)table;
        *sum += rows;
}

static int check(const char *path, bool quiet)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        int64_t rows = 0;
        int r;

        r = roast_run_open_any(&run, path, &error);
        if (r >= 0)
                r = roast_run_check(run, check_count_rows, &rows, &error);
        roast_run_free(run);
        if (r >= 0 && !quiet)
                printf("%s: whole, %lld row%s\n", path, (long long)rows, rows == 1 ? "" : "s");
        if (r >= 0)
                return EXIT_GOOD;
        if (!quiet || r != ROAST_E_CORRUPT)
                cli_fail("check", "%s", error.message);
        return r == ROAST_E_CORRUPT ? EXIT_NO : EXIT_CANNOT;
}

int verb_check(int argc, char **argv)
{
        static const struct option options[] = {
                { "quiet", no_argument, NULL, 'q' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        int option, code = EXIT_GOOD;
        bool quiet = false;

        while ((option = getopt_long(argc, argv, "qh", options, NULL)) != -1) {
                switch (option) {
                case 'q':
                        quiet = true;
                        break;
                case 'h':
                        check_help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("check");
                }
        }
        if (optind == argc) {
                cli_fail("check", "at least one RUN is wanted");
                return cli_usage("check");
        }
        for (int i = optind; i < argc; i++) {
                int one = check(argv[i], quiet);

                if (one > code)
                        code = one;
        }
        return code;
}
