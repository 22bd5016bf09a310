/* roast report: one HTML file that shows a run, or what differs between runs */

#include "cli.h"
#include "roast-compare.h"
#include "roast-report.h"

static const char *output;

static int report_write_comparison(const struct cli_runs *runs, struct roast_error *error)
{
        struct roast_comparison comparison;
        int r = roast_compare(&comparison, runs->runs, runs->groups, runs->n, error);

        if (r < 0)
                return r;
        r = roast_report_write_comparison(&comparison, output, error);
        roast_comparison_deinit(&comparison);
        return r;
}

static int report(const struct cli_runs *runs)
{
        struct roast_error error = { 0 };
        int r = runs->n_groups == 1 ? roast_report_write(runs->runs[0], output, &error)
                                    : report_write_comparison(runs, &error);

        return r < 0 ? cli_fail("report", "%s", error.message) : EXIT_GOOD;
}

static int report_words(int n, char **words)
{
        struct cli_runs runs = { 0 };
        int code = cli_runs_open(&runs, "report", n, words);

        if (code == EXIT_GOOD)
                code = report(&runs);
        cli_runs_close(&runs);
        return code;
}

static const struct cli_option report_options[] = {
        { "output", 'o', "FILE", "the page; a file of that name is replaced, but never a run",
          .names_file = true, .required = true, .word = &output },
        { 0 },
};

const struct cli_verb verb_report = {
        .name = "report",
        .summary = "write a page that shows a run in a browser",
        .arguments = "RUN...",
        .least = 1,
        .about = "       roast report RUN... -- RUN... --output FILE  (groups of repeated runs)\n"
                 "Writes a page that shows a run in a browser: one file, which needs no network. "
                 "For\n"
                 "several runs it shows how they differ, as 'roast compare' does.\n",
        .options = report_options,
        .completes = ".roast",
        .groups = true,
        .run = report_words,
};
