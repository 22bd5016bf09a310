/* roast metrics: the registry, for people and programs */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-show.h"
#include "show/build.h"
#include "util/cleanup.h"
#include "util/json.h"

static const char *const better_names[] = { "", "more", "less" };

static const struct roast_column columns[] = {
        { "key", "Key", false },
        { "group", "Group", false },
        { "unit", "Unit", false },
        { "better", "Better", false },
        { "formula", "Formula; source", false },
};

static int format;

static int metrics_add_row(struct roast_table *table, const struct roast_metric_info *info)
{
        struct roast_cell *cells = build_row(table);

        if (!cells)
                return ROAST_E_NOMEM;
        build_text(&cells[0], "%s", info->key);
        build_text(&cells[1], "%s", roast_group_names[info->group]);
        build_text(&cells[2], "%s", roast_unit_names[info->unit]);
        build_text(&cells[3], "%s", better_names[info->better]);
        build_text(&cells[4], "%s", info->formula);
        return 0;
}

static void metrics_put_json(struct json *json, int metric)
{
        const struct roast_metric_info *info = &roast_metrics[metric];

        json_object(json);
        json_pair(json, "key", info->key);
        json_pair(json, "title", info->title);
        json_pair(json, "group", roast_group_names[info->group]);
        json_pair(json, "unit", roast_unit_names[info->unit]);
        json_pair(json, "better", better_names[info->better]);
        json_pair(json, "formula", info->formula);
        json_key(json, "aliases");
        json_array(json);
        for (size_t i = 0; i < roast_n_aliases; i++)
                if ((int)roast_aliases[i].metric == metric)
                        json_string(json, roast_aliases[i].key);
        json_end(json);
        json_end(json);
}

static int metrics_print_json(const bool *chosen)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out };
        char *text;

        json_array(&json);
        for (int i = 0; i < ROAST_N_METRICS; i++)
                if (chosen[i])
                        metrics_put_json(&json, i);
        json_end(&json);
        text = json.error < 0 || buf_puts(&out, "\n") < 0 ? NULL : buf_release_string(&out);
        return text ? cli_print("metrics", text) : cli_fail("metrics", "out of memory");
}

static int metrics_print_table(const bool *chosen)
{
        ROAST_CLEANUP(roast_table_deinit)
        struct roast_table table = {
                .name = "metrics",
                .title = "Metrics",
                .columns = columns,
                .n_columns = sizeof(columns) / sizeof(columns[0]),
        };
        int r = 0;

        for (int i = 0; i < ROAST_N_METRICS && r >= 0; i++)
                if (chosen[i])
                        r = metrics_add_row(&table, &roast_metrics[i]);
        if (r < 0 || build_result(&table) < 0)
                return cli_fail("metrics", "out of memory");
        return cli_print_table("metrics", &table, format);
}

static int metrics_words(int n, char **words)
{
        bool chosen[ROAST_N_METRICS] = { false };

        for (int i = 0; i < n; i++) {
                int metric = roast_metric_find(words[i]);

                if (metric < 0)
                        return cli_fail("metrics", "there is no metric '%s'", words[i]);
                chosen[metric] = true;
        }
        if (n == 0)
                memset(chosen, true, sizeof(chosen));
        return format == CLI_JSON ? metrics_print_json(chosen) : metrics_print_table(chosen);
}

static void metrics_complete(const char *typed)
{
        for (size_t i = 0; i < ROAST_N_METRICS; i++)
                verb_offer(typed, "", roast_metrics[i].key, roast_metrics[i].title);
}

static const struct cli_option metrics_options[] = {
        CLI_FORMAT_OPTION(cli_formats, &format),
        { 0 },
};

const struct cli_verb verb_metrics = {
        .name = "metrics",
        .summary = "explain every metric: unit, formula, source",
        .arguments = "[KEY]...",
        .about = "Explains the metrics: unit, which direction is better, formula and source.\n"
                 "Older names are understood.\n",
        .options = metrics_options,
        .complete = metrics_complete,
        .run = metrics_words,
};
