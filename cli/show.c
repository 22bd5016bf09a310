/* roast show: what was measured in a run, as tables */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-run.h"
#include "roast-show.h"
#include "roast-units.h"
#include "util/cleanup.h"

#define ROWS_SHOWN 20 /* of a table of things, where all tables are shown */

struct request {
        enum cli_format format;
        const char *table; /* NULL: all */
};

static void show_help(void)
{
        fputs("Usage: roast show RUN [--format text|json|csv|markdown] [--table NAME]\n"
              "Shows what was measured in a run.\n\n"
              "  -f, --format FORMAT  text (default), json, csv or markdown\n"
              "  -t, --table NAME     only this table; csv without it writes every table,\n"
              "                       each under a line '# NAME'\n"
              "  -h, --help           this text\n\n"
              "Tables:",
              stdout);
        for (size_t i = 0; roast_table_names[i]; i++)
                printf(" %s", roast_table_names[i]);
        fputs("\n\n"
              "JSON is {\"run\", \"metrics\", \"absent\", \"estimated\", \"custom\", "
              "\"time_ledger\",\n"
              "\"tables\"}: a metric that is not known is not in \"metrics\"; \"absent\" says "
              "why.\n",
              stdout);
}

static void show_headline(struct roast_run *run, const struct roast_run_about *about)
{
        char start[ROAST_UNITS_MAX] = "at an unknown time", line[1024];
        const char *name = about->name ? about->name : roast_run_path(run);
        const char *fate = "", *error = "";

        if (about->start_utc_ns != INT64_MIN)
                roast_format_utc(start, sizeof(start), about->start_utc_ns);
        if (!about->outcome) {
                fate = ", unfinished: it is still going on, or its client died";
        } else if (strcmp(about->outcome, "finished")) {
                fate = ", failed: ";
                error = about->error ? about->error : "no reason was kept";
        }
        snprintf(line, sizeof(line), "Run %s, begun %s%s%s", name, start, fate, error);
        puts(cli_clean(line));
}

static int show_print_tables(struct roast_run *run, const struct roast_tables *tables,
                             const struct request *request, struct roast_error *error)
{
        struct roast_run_about about;

        if (request->format == CLI_TEXT && !request->table) {
                if (roast_run_about(run, &about, error) < 0)
                        return cli_fail("show", "%s", error->message);
                show_headline(run, &about);
        }
        if (request->format == CLI_TEXT && request->table && !tables->tables[0].n_rows) {
                cli_fail("show", "%s: there is nothing for table '%s'", roast_run_path(run),
                         request->table);
                return EXIT_NO;
        }
        for (size_t i = 0; i < tables->n; i++) {
                int code;

                if (request->format == CLI_TEXT ? !request->table : i > 0)
                        putchar('\n');
                if (request->format == CLI_CSV && !request->table)
                        printf("# %s\n", tables->tables[i].name);
                code = cli_print_table_part(
                        "show", &tables->tables[i], request->format,
                        request->table || tables->tables[i].n_columns == 2 ? 0 : ROWS_SHOWN);
                if (code != EXIT_GOOD)
                        return code;
        }
        return EXIT_GOOD;
}

static int show_make_tables(struct roast_tables *tables, const struct roast_summary *summary,
                            const char *only, struct roast_error *error)
{
        int r;

        if (!only)
                return roast_tables_make(tables, summary, error);
        tables->tables = calloc(1, sizeof(*tables->tables));
        if (!tables->tables)
                return roast_fail_nomem(error);
        r = roast_table_make(tables->tables, only, summary, error);
        tables->n = r >= 0;
        return r;
}

static int show(struct roast_run *run, const struct request *request)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        struct roast_error error = { 0 };
        char *text = NULL;

        if (roast_summary_of_run(&summary, run, &error) < 0 ||
            show_make_tables(&tables, &summary, request->table, &error) < 0)
                return cli_fail("show", "%s", error.message);
        if (request->format != CLI_JSON)
                return show_print_tables(run, &tables, request, &error);
        if (roast_show_to_json(&text, run, &summary, &tables, &error) < 0)
                return cli_fail("show", "%s", error.message);
        return cli_print("show", text);
}

int verb_show(int argc, char **argv)
{
        static const struct option options[] = {
                { "format", required_argument, NULL, 'f' },
                { "table", required_argument, NULL, 't' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        struct request request = { 0 };
        struct roast_error error = { 0 };
        struct roast_run *run;
        int option, code;

        while ((option = getopt_long(argc, argv, "f:t:h", options, NULL)) != -1) {
                switch (option) {
                case 'f':
                        if (cli_format("show", optarg, &request.format) < 0)
                                return EXIT_CANNOT;
                        break;
                case 't':
                        if (cli_choice(optarg, roast_table_names) < 0)
                                return cli_fail("show", "there is no table '%s'", optarg);
                        request.table = optarg;
                        break;
                case 'h':
                        show_help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("show");
                }
        }
        if (argc - optind != 1) {
                cli_fail("show", "one RUN is wanted, not %d", argc - optind);
                return cli_usage("show");
        }
        if (roast_run_open_any(&run, argv[optind], &error) < 0)
                return cli_fail("show", "%s", error.message);
        code = show(run, &request);
        roast_run_free(run);
        return code;
}
