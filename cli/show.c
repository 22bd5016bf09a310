/* roast show: what was measured in a run, as tables */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-run.h"
#include "roast-show.h"
#include "roast-units.h"
#include "util/cleanup.h"

#define ROWS_SHOWN 20 /* of a table of things, where all tables are shown */

static int format;
static const char *only; /* this table; NULL: all */

static void show_headline(struct roast_run *run, const struct roast_run_about *about)
{
        char start[ROAST_UNITS_MAX] = "at an unknown time", line[1024];
        const char *name = about->name ? about->name : roast_run_path(run);
        const char *fate = "", *error = "";

        if (about->start_utc_ns != INT64_MIN)
                roast_format_utc(start, sizeof(start), about->start_utc_ns);
        if (!about->outcome) {
                fate = ", unfinished: still running, or its client died";
        } else if (strcmp(about->outcome, "finished")) {
                fate = ", failed: ";
                error = about->error ? about->error : "no reason was kept";
        }
        snprintf(line, sizeof(line), "Run %s, started %s%s%s", name, start, fate, error);
        puts(cli_clean(line));
}

static int show_print_tables(struct roast_run *run, const struct roast_tables *tables,
                             struct roast_error *error)
{
        struct roast_run_about about;

        if (format == CLI_TEXT && !only) {
                if (roast_run_about(run, &about, error) < 0)
                        return cli_fail("show", "%s", error->message);
                show_headline(run, &about);
        }
        if (format == CLI_TEXT && only && !tables->tables[0].n_rows) {
                cli_fail("show", "%s: no data for table '%s'", roast_run_path(run), only);
                return EXIT_NO;
        }
        for (size_t i = 0; i < tables->n; i++) {
                int code;

                if (format == CLI_TEXT ? !only : i > 0)
                        putchar('\n');
                if (format == CLI_CSV && !only)
                        printf("# %s\n", tables->tables[i].name);
                code = cli_print_table_part("show", &tables->tables[i], format,
                                            only || tables->tables[i].n_columns == 2 ? 0
                                                                                     : ROWS_SHOWN);
                if (code != EXIT_GOOD)
                        return code;
        }
        return EXIT_GOOD;
}

static int show_make_tables(struct roast_tables *tables, const struct roast_summary *summary,
                            struct roast_error *error)
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

static int show(struct roast_run *run)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        struct roast_error error = { 0 };
        char *text = NULL;

        if (roast_summary_of_run(&summary, run, &error) < 0 ||
            show_make_tables(&tables, &summary, &error) < 0)
                return cli_fail("show", "%s", error.message);
        if (format != CLI_JSON)
                return show_print_tables(run, &tables, &error);
        if (roast_show_to_json(&text, run, &summary, &tables, &error) < 0)
                return cli_fail("show", "%s", error.message);
        return cli_print("show", text);
}

static int show_run(int n, char **words)
{
        (void)n;
        return cli_with_run("show", words[0], show);
}

static void show_more_notes(void)
{
        fputs("\nTables:", stdout);
        for (size_t i = 0; roast_table_names[i]; i++)
                printf(" %s", roast_table_names[i]);
        fputs("\n\n"
              "JSON is {\"run\", \"metrics\", \"absent\", \"estimated\", \"custom\", "
              "\"time_ledger\",\n"
              "\"tables\"}: a metric that is not known is not in \"metrics\"; \"absent\" says "
              "why.\n",
              stdout);
}

static const struct cli_option show_options[] = {
        CLI_FORMAT_OPTION(cli_formats, &format),
        { "table", 't', "NAME",
          "print only this table; csv without it prints every table, each under a line '# NAME'",
          .choices = roast_table_names, .word = &only },
        { 0 },
};

const struct cli_verb verb_show = {
        .name = "show",
        .summary = "show what was measured in a run",
        .arguments = "RUN",
        .least = 1,
        .most = 1,
        .about = "Shows what was measured in a run.\n",
        .options = show_options,
        .more_notes = show_more_notes,
        .completes = ".roast",
        .run = show_run,
};
