/* Runs that a verb names: one, or several in groups (A B C, or A1 A2 -- B1 B2) */

#include <string.h>

#include "cli.h"

/* Put in place of each "--": getopt_long(3) would take it for the end of the options. */
static char divider[] = "and";

void cli_runs_divide(int argc, char **argv)
{
        for (int i = 1; i < argc; i++)
                if (!strcmp(argv[i], "--"))
                        argv[i] = divider;
}

static int runs_open(struct cli_runs *runs, const char *verb, const char *path, size_t group)
{
        struct roast_error error = { 0 };

        if (runs->n == CLI_RUNS_MAX)
                return cli_fail(verb, "more than %d runs are too many", CLI_RUNS_MAX);
        if (roast_run_open_any(&runs->runs[runs->n], path, &error) < 0)
                return cli_fail(verb, "%s", error.message);
        runs->groups[runs->n++] = group;
        return EXIT_GOOD;
}

int cli_runs_open(struct cli_runs *runs, const char *verb, int n, char **words)
{
        bool grouped = false, empty = true;
        int code = EXIT_GOOD;

        for (int i = 0; i < n; i++)
                grouped |= words[i] == divider;
        for (int i = 0; i < n && code == EXIT_GOOD; i++) {
                if (words[i] != divider) {
                        code = runs_open(runs, verb, words[i], grouped ? runs->n_groups : runs->n);
                        empty = false;
                        continue;
                }
                if (empty)
                        return cli_fail(verb, "there is no RUN before '--'");
                runs->n_groups++;
                empty = true;
        }
        if (code != EXIT_GOOD)
                return code;
        if (grouped && empty)
                return cli_fail(verb, "there is no RUN after '--'");
        runs->n_groups = grouped ? runs->n_groups + 1 : runs->n;
        return EXIT_GOOD;
}

void cli_runs_close(struct cli_runs *runs)
{
        for (size_t i = 0; i < runs->n; i++)
                roast_run_free(runs->runs[i]);
        runs->n = 0;
}

int cli_with_run(const char *verb, const char *path, int (*use)(struct roast_run *run))
{
        struct roast_error error = { 0 };
        struct roast_run *run;
        int code;

        if (roast_run_open_any(&run, path, &error) < 0)
                return cli_fail(verb, "%s", error.message);
        code = use(run);
        roast_run_free(run);
        return code;
}
