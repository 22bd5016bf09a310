#pragma once
/* From a run to base facts: one file a source, each fills its part of the summary. */

#include "metrics/imported.h"
#include "metrics/report.h"
#include "metrics/tasks.h"
#include "roast-metrics.h"
#include "run/run.h"

/* What several sources need to know about the run */
struct collect {
        struct roast_run *run;
        struct roast_summary *summary;
        int64_t start_utc_ns; /* INT64_MIN: not known */
        int64_t end_utc_ns;   /* of an unfinished run: the last thing that is known */
        double interval_s;
        char processor[256];         /* class of the processor; empty: not known */
        char no_spans[200];          /* why there are no spans; empty: not said */
        char few_spans[200];         /* why they are incomplete; empty: they are not */
        struct report_custom custom; /* the user's own figures */
        struct imported imported;
        struct task_sums tasks;
        struct intern texts; /* the text table: id - 1 */
};

int collect_facts(struct collect *collect, struct roast_error *error);
int collect_workers(struct collect *collect, struct roast_error *error);
int collect_series(struct collect *collect, struct roast_error *error);
int collect_spans(struct collect *collect, struct roast_error *error);
int collect_chunks(struct collect *collect, struct roast_error *error);
/* behind collect_workers(), which finds where an unfinished run ends, and before the next two */
int collect_tasks(struct collect *collect, struct roast_error *error);
int collect_ledger(struct collect *collect, struct roast_error *error);

/* The string of a `_text` column; NULL when the column is null. */
const char *collect_text(const struct collect *collect, const struct run_value *value, size_t *len);
