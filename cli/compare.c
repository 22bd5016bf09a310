/* roast compare: what differs between runs, and what can be said about it */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-compare.h"
#include "util/cleanup.h"

#define NOTE_WIDTH 88

static int format;
static double fail_on = (double)NAN; /* NaN: never */

/* "5" or "5%" */
static int compare_take_fail_on(const char *word)
{
        char *end;

        fail_on = strtod(word, &end) / 100;
        if (end != word && (!*end || !strcmp(end, "%")) && isfinite(fail_on) && fail_on >= 0)
                return 0;
        cli_fail("compare", "'%s' is not a percentage", word);
        return -1;
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

static int compare_print(const struct roast_comparison *comparison)
{
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        struct roast_error error = { 0 };
        char *text;
        int code;

        if (format == CLI_JSON) {
                if (roast_comparison_to_json(&text, comparison, &error) < 0)
                        return cli_fail("compare", "%s", error.message);
                return cli_print("compare", text);
        }
        if (roast_comparison_tables(&tables, comparison, &error) < 0)
                return cli_fail("compare", "%s", error.message);
        code = cli_print_tables("compare", &tables, format);
        if (code == EXIT_GOOD && format == CLI_TEXT)
                code = compare_print_notes(comparison);
        return code;
}

static int compare_judge(const struct roast_comparison *comparison)
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

static int compare_answer(const struct cli_runs *runs)
{
        struct roast_comparison comparison;
        struct roast_error error = { 0 };
        int code;

        if (roast_compare(&comparison, runs->runs, runs->groups, runs->n, &error) < 0)
                return cli_fail("compare", "%s", error.message);
        code = compare_print(&comparison);
        if (code == EXIT_GOOD)
                code = compare_judge(&comparison);
        roast_comparison_deinit(&comparison);
        return code;
}

static int compare_words(int n, char **words)
{
        struct cli_runs runs = { 0 };
        int code = cli_runs_open(&runs, "compare", n, words);

        if (code == EXIT_GOOD && runs.n_groups < 2) {
                cli_fail("compare", "missing another RUN to compare with");
                code = cli_usage("compare");
        }
        if (code == EXIT_GOOD)
                code = compare_answer(&runs);
        cli_runs_close(&runs);
        return code;
}

static const struct cli_option compare_options[] = {
        { "fail-on", 0, "PERCENT",
          "exit with 1 if anything got worse by more than that, and significantly",
          .take = compare_take_fail_on },
        CLI_FORMAT_OPTION(cli_formats, &format),
        { 0 },
};

const struct cli_verb verb_compare = {
        .name = "compare",
        .summary = "compare runs, with the significance of each difference",
        .arguments = "RUN RUN...",
        .least = 1,
        .about = "       roast compare RUN... -- RUN...  (groups of repeated runs)\n"
                 "Compares runs: their conditions, then the cost of an event. Each run, or group, "
                 "is\n"
                 "compared with the first. '~' marks figures without a significant difference.\n",
        .options = compare_options,
        .notes = "A single run on each side does not show how much runs vary: repeat them, and "
                 "pass\n"
                 "the repetitions as groups. Chunks are matched by file and entries.\n",
        .completes = ".roast",
        .groups = true,
        .run = compare_words,
};
