/* roast explain: why a run took as long as it did */

#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "roast-explain.h"
#include "util/cleanup.h"

static int format;
static bool all;

static int explain(struct roast_run *run)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation explanation = { 0 };
        const struct roast_explain_view view = { .markdown = format == CLI_MARKDOWN,
                                                 .color = format == CLI_TEXT && cli_color(),
                                                 .width = cli_width(),
                                                 .all = all };
        struct roast_error error = { 0 };
        char *text = NULL;
        int r;

        r = roast_explain(&explanation, run, &error);
        if (r >= 0 && format == CLI_JSON)
                r = roast_explanation_to_json(&text, &explanation, &error);
        else if (r >= 0)
                r = roast_explanation_to_text(&text, &explanation, &view, &error);
        return r < 0 ? cli_fail("explain", "%s", error.message) : cli_print("explain", text);
}

static int explain_run(int n, char **words)
{
        (void)n;
        return cli_with_run("explain", words[0], explain);
}

static void explain_more_notes(void)
{
        struct roast_rule rule;

        puts("\nRules:");
        for (size_t i = 0; roast_explain_rule(i, &rule); i++)
                printf("  %-19s %s\n", rule.name, rule.asks);
}

static const struct cli_option explain_options[] = {
        { "all", 'a', NULL, "also list the rules that found nothing, and why", .flag = &all },
        CLI_FORMAT_OPTION(cli_prose_formats, &format),
        { 0 },
};

const struct cli_verb verb_explain = {
        .name = "explain",
        .summary = "explain why a run took as long as it did",
        .arguments = "RUN",
        .least = 1,
        .most = 1,
        .about = "Finds where a run lost time, and ranks the findings by the time they could "
                 "save.\n",
        .options = explain_options,
        .notes = "Savings are wall time of the run. They overlap: two findings can explain the\n"
                 "same time. JSON is {\"elapsed_s\", \"threads\", \"findings\", \"checked\"}.\n",
        .more_notes = explain_more_notes,
        .completes = ".roast",
        .run = explain_run,
};
