/* The summary of a run: base facts from every source, then the formulas */

#include <stdlib.h>

#include "metrics/collect.h"
#include "metrics/custom.h"
#include "run/series.h"
#include "util/cleanup.h"

static int summary_collect_texts(struct collect *collect, struct roast_error *error)
{
        return run_read_texts(collect->run, &collect->texts, error);
}

const char *collect_text(const struct collect *collect, const struct run_value *value, size_t *len)
{
        *len = 0;
        if (value->type != RUN_INT || value->integer < 1 ||
            (uint64_t)value->integer > collect->texts.n)
                return NULL;
        return intern_get(&collect->texts, (size_t)value->integer - 1, len);
}

/* Where rows may be missing, what was made of rows is an estimate. */
static int summary_mark_shortfall(const struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;

        for (size_t i = 0; i < ROAST_N_METRICS && collect->shortfall[0]; i++) {
                enum roast_group group = roast_metrics[i].group;
                bool of_rows = group == ROAST_GROUP_WORKER || group == ROAST_GROUP_CHUNK ||
                               group == ROAST_GROUP_COVERAGE || i == ROAST_NUM_CHUNKS;

                if (of_rows && set->values[i].state == ROAST_KNOWN &&
                    roast_metric_set_estimated(set, i, set->values[i].real, "%s",
                                               collect->shortfall) < 0)
                        return roast_fail_nomem(error);
        }
        return 0;
}

/* The formulas, and again where an imported figure gave them an input */
static int summary_derive(const struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        int r;

        r = summary_mark_shortfall(collect, error);
        if (r >= 0)
                r = roast_metric_set_derive(set, error);
        if (r < 0)
                return r;
        r = imported_fill(set, &collect->imported);
        if (r < 0)
                return roast_fail_nomem(error);
        return r > 0 ? roast_metric_set_derive(set, error) : 0;
}

int roast_summary_of_run(struct roast_summary *summary, struct roast_run *run,
                         struct roast_error *error)
{
        return collect_summary(summary, run, NULL, error);
}

int collect_summary(struct roast_summary *summary, struct roast_run *run,
                    const struct collect_watch *watch, struct roast_error *error)
{
        static int (*const sources[])(struct collect *, struct roast_error *) = {
                summary_collect_texts, collect_facts,  collect_chunks,  collect_tasks,
                collect_workers,       collect_series, collect_samples, collect_task_times,
                collect_spans,         collect_ledger,
        };
        struct collect collect = {
                .run = run, .summary = summary, .watch = watch, .interval_s = 1
        };
        int r;

        *summary = (struct roast_summary){ 0 };
        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && r >= 0; i++)
                r = sources[i](&collect, error);
        run_view_end(run);
        intern_deinit(&collect.texts);
        task_times_deinit(&collect.times);
        free(collect.workers);
        if (r >= 0)
                r = summary_derive(&collect, error);
        if (r < 0)
                roast_summary_deinit(summary);
        return r;
}

void roast_summary_deinit(struct roast_summary *summary)
{
        roast_metric_set_deinit(&summary->metrics);
        for (size_t i = 0; i < summary->n_datasets; i++)
                free(summary->datasets[i].name);
        for (size_t i = 0; i < summary->n_sections; i++) {
                free(summary->sections[i].name);
                free(summary->sections[i].type);
        }
        for (size_t i = 0; i < summary->n_tasks; i++)
                free(summary->tasks[i].prefix);
        for (size_t i = 0; i < summary->n_files; i++) {
                free(summary->files[i].name);
                free(summary->files[i].metadata);
        }
        for (size_t i = 0; i < summary->n_branches; i++)
                free(summary->branches[i].name);
        for (size_t i = 0; i < summary->n_failures; i++) {
                free(summary->failures[i].error_type);
                free(summary->failures[i].error_message);
                free(summary->failures[i].file);
        }
        for (size_t i = 0; i < summary->n_customs; i++)
                custom_deinit(&summary->customs[i]);
        free(summary->datasets);
        free(summary->tasks);
        free(summary->sections);
        for (size_t i = 0; i < summary->n_ledger; i++)
                free(summary->ledger[i].worker);
        free(summary->ledger);
        free(summary->files);
        free(summary->branches);
        free(summary->failures);
        free(summary->customs);
        *summary = (struct roast_summary){ 0 };
}
