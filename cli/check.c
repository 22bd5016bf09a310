/* roast check: whether run files are whole */

#include <stdio.h>

#include "cli.h"
#include "roast-run.h"

static bool quiet;

static void check_count_rows(const char *table, int64_t rows, void *context)
{
        int64_t *sum = context;

        (void)table;
        *sum += rows;
}

static int check(const char *path)
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

static int check_runs(int n, char **words)
{
        int code = EXIT_GOOD;

        for (int i = 0; i < n; i++) {
                int one = check(words[i]);

                if (one > code)
                        code = one;
        }
        return code;
}

static const struct cli_option check_options[] = {
        { "quiet", 'q', NULL, "print nothing; the exit code is the answer", .flag = &quiet },
        { 0 },
};

const struct cli_verb verb_check = {
        .name = "check",
        .summary = "check whether run files are intact",
        .arguments = "RUN...",
        .least = 1,
        .about = "Reads every row of the runs and compares them with the checksums of their "
                 "commits.\n",
        .options = check_options,
        .notes = "Exit codes: 0 all are intact, 1 one is damaged, 2 one cannot be read at all.\n",
        .completes = ".roast",
        .run = check_runs,
};
