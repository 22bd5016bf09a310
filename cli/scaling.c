/* roast scaling: how throughput grows with the number of cores, over several runs */

#include <stdlib.h>

#include "cli.h"
#include "roast-scaling.h"
#include "util/cleanup.h"

static int format;

static int scaling_print(const struct roast_scaling *scaling)
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

static int scaling_words(int n, char **words)
{
        struct cli_runs runs = { 0 };
        struct roast_error error = { 0 };
        struct roast_scaling scaling;
        int code = cli_runs_open(&runs, "scaling", n, words);

        if (code == EXIT_GOOD && roast_scaling(&scaling, runs.runs, runs.n, &error) < 0)
                code = cli_fail("scaling", "%s", error.message);
        cli_runs_close(&runs);
        if (code != EXIT_GOOD)
                return code;
        code = scaling_print(&scaling);
        roast_scaling_deinit(&scaling);
        return code;
}

static const struct cli_option scaling_options[] = {
        CLI_FORMAT_OPTION(cli_formats, &format),
        { 0 },
};

const struct cli_verb verb_scaling = {
        .name = "scaling",
        .summary = "show how throughput grows with cores, over several runs",
        .arguments = "RUN...",
        .least = 1,
        .about =
                "Shows how throughput grew with the number of cores over runs of the same "
                "analysis,\n"
                "fits Amdahl's law and the universal scalability law, and reports beyond how many\n"
                "cores it gets slower.\n",
        .options = scaling_options,
        .notes = "The intervals need several runs of each size.\n",
        .completes = ".roast",
        .run = scaling_words,
};
