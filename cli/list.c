/* roast list: the runs in a directory, by name */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-run.h"
#include "roast-show.h"
#include "roast-units.h"
#include "run/list.h"
#include "show/build.h"
#include "util/cleanup.h"

static const struct roast_column columns[] = {
        { "run", "Run", false },
        { "begun", "Started", false, 2 },
        { "state", "State", false, 0, ROAST_CUT_END },
        { "elapsed_s", "Elapsed", true },
        { "events", "Events", true, 1 },
        { "data_rate_gbps", "Gbps", true, 4 },
        { "event_rate_khz", "kHz", true, 3 },
};

static int format;

/* The column is titled with the unit. */
static void list_metric(struct roast_cell *cell, const struct roast_summary *summary,
                        enum roast_metric which)
{
        const struct roast_value *value = &summary->metrics.values[which];
        char text[ROAST_UNITS_MAX];

        if (value->state == ROAST_ABSENT)
                return;
        if (which == ROAST_TOTAL_EVENTS) {
                build_count(cell, value->count);
        } else if (which == ROAST_ELAPSED_TIME_SECONDS) {
                build_seconds(cell, value->real);
        } else {
                roast_format_value(text, sizeof(text), which, value);
                text[strcspn(text, " ")] = '\0';
                build_real(cell, value->real, text);
        }
}

/* Why it cannot be read; which run that is stands beside it. */
static void list_fail(struct roast_cell *cell, const char *path, const struct roast_error *error)
{
        const char *why = error->message;
        size_t len = strlen(path);

        if (!strncmp(why, path, len) && !strncmp(why + len, ": ", 2))
                why += len + 2;
        build_text(cell, "%s", why);
        cell->emphasis = ROAST_ALERT;
}

static void list_describe(struct roast_cell *cells, struct roast_run *run, const char *path)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_error error = { 0 };
        struct roast_run_about about;
        char text[ROAST_UNITS_MAX];

        if (roast_run_about(run, &about, &error) < 0 ||
            roast_summary_of_run(&summary, run, &error) < 0) {
                list_fail(&cells[2], path, &error);
                return;
        }
        if (about.start_utc_ns != INT64_MIN)
                build_text(&cells[1], "%s",
                           roast_format_utc(text, sizeof(text), about.start_utc_ns));
        build_text(&cells[2], "%s", run_state(&about));
        list_metric(&cells[3], &summary, ROAST_ELAPSED_TIME_SECONDS);
        list_metric(&cells[4], &summary, ROAST_TOTAL_EVENTS);
        list_metric(&cells[5], &summary, ROAST_DATA_RATE_GBPS);
        list_metric(&cells[6], &summary, ROAST_EVENT_RATE_ELAPSED_KHZ);
}

/* A run that cannot be read is listed with the reason. */
static int list_add_run(struct roast_table *table, const char *directory, const char *name)
{
        ROAST_CLEANUP(cleanup_free) char *path = NULL;
        struct roast_cell *cells = build_row(table);
        struct roast_error error = { 0 };
        struct roast_run *run;

        if (!cells)
                return ROAST_E_NOMEM;
        if (asprintf(&path, "%s/%s", directory, name) < 0) {
                path = NULL;
                return ROAST_E_NOMEM;
        }
        build_text(&cells[0], "%s", name);
        if (roast_run_open_any(&run, path, &error) < 0) {
                list_fail(&cells[2], path, &error);
                return 0;
        }
        list_describe(cells, run, path);
        roast_run_free(run);
        return 0;
}

static int list(const char *directory)
{
        ROAST_CLEANUP(roast_table_deinit)
        struct roast_table table = {
                .name = "runs",
                .title = "Runs",
                .columns = columns,
                .n_columns = sizeof(columns) / sizeof(columns[0]),
        };
        struct roast_error error = { 0 };
        struct dirent **entries;
        int n, r = 0;

        n = run_list(&entries, directory, &error);
        if (n < 0)
                return cli_fail("list", "%s", error.message);
        for (int i = 0; i < n; i++) {
                if (r >= 0)
                        r = list_add_run(&table, directory, entries[i]->d_name);
                free(entries[i]);
        }
        free(entries);
        if (r < 0 || build_result(&table) < 0)
                return cli_fail("list", "out of memory");
        if (n == 0) {
                cli_fail("list", "%s: no runs (*.roast) here", directory);
                return EXIT_NO;
        }
        return cli_print_table("list", &table, format);
}

static int list_words(int n, char **words)
{
        const char *directory = n ? words[0] : getenv("ROAST_DIR");

        return list(directory && *directory ? directory : ".");
}

static const struct cli_option list_options[] = {
        CLI_FORMAT_OPTION(cli_formats, &format),
        { 0 },
};

const struct cli_verb verb_list = {
        .name = "list",
        .summary = "list the runs in a directory",
        .arguments = "[DIR]",
        .most = 1,
        .about = "Lists the runs (*.roast) in a directory: DIR, $ROAST_DIR, or the current one.\n",
        .options = list_options,
        .completes = "/",
        .run = list_words,
};
