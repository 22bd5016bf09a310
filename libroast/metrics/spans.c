/* Base facts from Dask's fine metrics, as the run holds them */

#include <stdio.h>
#include <string.h>

#include "metrics/collect.h"
#include "metrics/fine.h"

static struct fine_name spans_name_of(const struct run_value *value)
{
        if (value->type != RUN_STRING)
                return (struct fine_name){ 0 };
        return (struct fine_name){ value->data, value->len };
}

/* How much of a prefix is the processor's, as its tasks tell; negative: they do not */
static double spans_share_of(const struct collect *collect, struct fine_name prefix)
{
        for (size_t i = 0; i < collect->times.n_prefixes && prefix.data; i++) {
                const struct task_prefix *known = &collect->times.prefixes[i];
                struct run_value text = run_int(known->text);
                size_t len;
                const char *name = collect_text(collect, &text, &len);

                if (name && len == prefix.len && !memcmp(name, prefix.data, len))
                        return task_share(&collect->times, known->text);
        }
        return -1;
}

static bool spans_add(const struct collect *collect, struct fine_sums *sums,
                      struct fine_name prefix, struct fine_name activity, struct fine_name unit,
                      const struct run_value *value)
{
        double share = collect->times.has_chunks ? spans_share_of(collect, prefix) : -1;

        if (value->type != RUN_REAL)
                return false;
        if (share < 0)
                return fine_add(sums, prefix, activity, unit, value->real);
        return fine_add_share(sums, share, activity, unit, value->real);
}

/* Of the run's span; values: kind, prefix, activity, unit, value */
static int spans_sum(const struct collect *collect, struct fine_sums *sums, bool *any,
                     struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_SPAN, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                const struct run_value *values = scan.values;

                if (!fine_equal(spans_name_of(&values[SPAN_KIND]), "execute"))
                        continue;
                *any |= spans_add(collect, sums, spans_name_of(&values[SPAN_PREFIX]),
                                  spans_name_of(&values[SPAN_ACTIVITY]),
                                  spans_name_of(&values[SPAN_UNIT]), &values[SPAN_VALUE]);
        }
        run_scan_end(&scan);
        return r;
}

static struct fine_name spans_text_of(const struct collect *collect, const struct run_value *value)
{
        struct fine_name name;

        name.data = collect_text(collect, value, &name.len);
        return name;
}

/* What the workers counted while the run lasted, whatever span it was for; values: worker_text,
 * kind_text, prefix_text, activity_text, unit_text, value */
static int spans_sum_activities(const struct collect *collect, struct fine_sums *sums, bool *any,
                                struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_ACTIVITY, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                const struct run_value *values = scan.values;

                if (!fine_equal(spans_text_of(collect, &values[ACTIVITY_KIND]), "execute"))
                        continue;
                *any |= spans_add(collect, sums, spans_text_of(collect, &values[ACTIVITY_PREFIX]),
                                  spans_text_of(collect, &values[ACTIVITY_ACTIVITY]),
                                  spans_text_of(collect, &values[ACTIVITY_UNIT]),
                                  &values[ACTIVITY_VALUE]);
        }
        run_scan_end(&scan);
        return r;
}

/*
 * While futures of an earlier run live, Dask counts the same tasks for that run's span: then ours
 * is missing, or lacks a part of the time. The workers' own counts have all of it.
 */
#define SPAN_LACKS 0.9

int collect_spans(struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        struct fine_sums spans = { .processor = collect->processor };
        struct fine_sums counts = { .processor = collect->processor };
        bool has_spans = false, has_counts = false;
        char reason[300];
        int r;

        r = spans_sum(collect, &spans, &has_spans, error);
        if (r >= 0)
                r = spans_sum_activities(collect, &counts, &has_counts, error);
        if (r < 0)
                return r;
        if (collect->few_spans[0])
                spans.estimated = collect->few_spans;
        if (has_counts &&
            (!has_spans || fine_processor_s(&spans) < SPAN_LACKS * fine_processor_s(&counts))) {
                snprintf(reason, sizeof(reason), "from the workers' own counts: %s",
                         has_spans && collect->few_spans[0] ? collect->few_spans
                         : has_spans                        ? "the span lacks a part"
                         : collect->no_spans[0]             ? collect->no_spans
                                                            : "there is no span");
                counts.estimated = reason;
                r = fine_set(set, &counts);
        } else if (has_spans) {
                r = fine_set(set, &spans);
        } else if (collect->no_spans[0]) {
                r = fine_set_absent(set, collect->no_spans);
        }
        return r < 0 ? roast_fail_nomem(error) : 0;
}
