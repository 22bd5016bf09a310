/* The metrics of a run: one JSON object, or a row each */

#include <math.h>
#include <stdlib.h>

#include "export/export.h"
#include "roast-show.h"
#include "util/cleanup.h"
#include "util/size.h"

static const struct rows_column columns[] = {
        { "metric", false }, { "value", false },  { "unit", false },  { "state", false },
        { "reason", false }, { "better", false }, { "title", false },
};

static const char *const states[] = { "absent", "known", "estimated" };
static const char *const betters[] = { "neutral", "more", "less" };

static void metrics_put_row(struct rows *rows, const struct roast_metric_set *set,
                            enum roast_metric metric)
{
        const struct roast_metric_info *info = &roast_metrics[metric];
        const struct roast_value *value = &set->values[metric];

        rows_row(rows);
        rows_string(rows, info->key);
        if (value->state == ROAST_ABSENT)
                rows_absent(rows);
        else if (info->type == ROAST_TYPE_COUNT)
                rows_int(rows, value->count);
        else
                rows_real(rows, value->real);
        rows_string(rows, roast_unit_names[info->unit]);
        rows_string(rows, states[value->state]);
        rows_string(rows, value->state == ROAST_KNOWN ? NULL : roast_metric_reason(set, metric));
        rows_string(rows, betters[info->better]);
        rows_string(rows, info->title);
        rows_row_end(rows);
}

/* A metric that the user registered */
static void metrics_put_custom(struct rows *rows, const struct roast_custom *custom)
{
        const struct roast_value *value = &custom->value;

        rows_row(rows);
        rows_string(rows, custom->key);
        rows_real(rows, value->state == ROAST_ABSENT ? (double)NAN : value->real);
        rows_string(rows, custom->unit);
        rows_string(rows, states[value->state]);
        rows_string(rows, value->reason);
        rows_string(rows, betters[custom->better]);
        rows_string(rows, custom->title);
        rows_row_end(rows);
}

int export_metrics(struct roast_run *run, const struct roast_export_options *options,
                   struct out *out, struct roast_error *error)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct rows rows;
        int r;

        r = roast_summary_of_run(&summary, run, error);
        if (r < 0)
                return r;
        if (options->format == ROAST_EXPORT_JSON) {
                r = roast_show_to_json(&text, run, &summary, NULL, error);
                if (r >= 0)
                        out_puts(out, text);
                return r;
        }
        rows_begin(&rows, out, options->format, columns, ROAST_ARRAY_SIZE(columns));
        for (int i = 0; i < ROAST_N_METRICS; i++)
                metrics_put_row(&rows, &summary.metrics, (enum roast_metric)i);
        for (size_t i = 0; i < summary.n_customs; i++)
                metrics_put_custom(&rows, &summary.customs[i]);
        rows_end(&rows);
        return 0;
}
