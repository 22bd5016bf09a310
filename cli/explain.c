/* roast explain: why a run took as long as it did */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "roast-explain.h"
#include "util/cleanup.h"

struct request {
        enum cli_format format;
        bool all;
};

static void explain_help(void)
{
        struct roast_rule rule;

        fputs("Usage: roast explain RUN [--all] [--format text|json|markdown]\n"
              "Finds where a run lost time, and ranks what it finds by the time it could save.\n\n"
              "  -a, --all            also the rules that found nothing, and why\n"
              "  -f, --format FORMAT  text (default), json or markdown\n"
              "  -h, --help           this text\n\n"
              "Savings are wall time of the run. They overlap: two findings can explain the\n"
              "same time. JSON is {\"elapsed_s\", \"threads\", \"findings\", \"checked\"}.\n\n"
              "Rules:\n",
              stdout);
        for (size_t i = 0; roast_explain_rule(i, &rule); i++)
                printf("  %-19s %s\n", rule.name, rule.asks);
}

static int explain(struct roast_run *run, const struct request *request)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation explanation = { 0 };
        const struct roast_explain_view view = { .markdown = request->format == CLI_MARKDOWN,
                                                 .color =
                                                         request->format == CLI_TEXT && cli_color(),
                                                 .width = cli_width(),
                                                 .all = request->all };
        struct roast_error error = { 0 };
        char *text = NULL;
        int r;

        r = roast_explain(&explanation, run, &error);
        if (r >= 0 && request->format == CLI_JSON)
                r = roast_explanation_to_json(&text, &explanation, &error);
        else if (r >= 0)
                r = roast_explanation_to_text(&text, &explanation, &view, &error);
        return r < 0 ? cli_fail("explain", "%s", error.message) : cli_print("explain", text);
}

int verb_explain(int argc, char **argv)
{
        static const struct option options[] = {
                { "all", no_argument, NULL, 'a' },
                { "format", required_argument, NULL, 'f' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        struct request request = { 0 };
        struct roast_error error = { 0 };
        struct roast_run *run;
        int option, code;

        while ((option = getopt_long(argc, argv, "af:h", options, NULL)) != -1) {
                switch (option) {
                case 'a':
                        request.all = true;
                        break;
                case 'f':
                        if (cli_prose_format("explain", optarg, &request.format) < 0)
                                return EXIT_CANNOT;
                        break;
                case 'h':
                        explain_help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("explain");
                }
        }
        if (argc - optind != 1) {
                cli_fail("explain", "one RUN is wanted, not %d", argc - optind);
                return cli_usage("explain");
        }
        if (roast_run_open_any(&run, argv[optind], &error) < 0)
                return cli_fail("explain", "%s", error.message);
        code = explain(run, &request);
        roast_run_free(run);
        return code;
}
