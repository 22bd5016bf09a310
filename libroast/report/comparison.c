/*
 * The data of the page of several runs: see roast-report.h.
 *
 * Figures, verdicts and words are those of `roast compare`: nothing is computed
 * here.
 */

#include <stdlib.h>

#include "report/report.h"
#include "util/cleanup.h"

/* [{"start_utc_ms", "figures"}, ...]: name and group are in the comparison */
static void comparison_put_runs(struct json *json, const struct roast_comparison *comparison)
{
        json_key(json, "runs");
        json_array(json);
        for (size_t i = 0; i < comparison->n_runs; i++) {
                const struct roast_compare_run *run = &comparison->runs[i];

                json_object(json);
                json_key(json, "start_utc_ms");
                if (run->start_utc_ns == INT64_MIN)
                        json_null(json);
                else
                        json_int(json, run->start_utc_ns / 1000000);
                json_key(json, "figures");
                report_put_figures(json, &run->summary.metrics);
                json_end(json);
        }
        json_end(json);
}

int report_comparison_data(void **data, size_t *len, const struct roast_comparison *comparison,
                           struct roast_error *error)
{
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        ROAST_CLEANUP(pack_deinit) struct pack pack;
        struct json *json = &pack.json;
        int r;

        pack_init(&pack);
        r = roast_comparison_to_json(&text, comparison, error);
        if (r >= 0)
                r = roast_comparison_tables(&tables, comparison, error);
        if (r < 0)
                return r;
        json_object(json);
        json_pair(json, "version", ROAST_VERSION);
        report_put_json(json, "comparison", text);
        json_key(json, "tables");
        json_array(json);
        for (size_t i = 0; i < tables.n; i++)
                report_put_table(json, &tables.tables[i]);
        json_end(json);
        comparison_put_runs(json, comparison);
        json_end(json);
        return pack_finish(&pack, data, len, error);
}
