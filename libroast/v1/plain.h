#pragma once
/*
 * What users give as plain data, as facts and rows of a run
 *
 * Each returns false if the source failed, which knows why, or if the run did: then the error is
 * set.
 */

#include "roast-run.h"
#include "util/source.h"

/* coffea's report: facts report.FIELD; what it lacks is absent, for that reason. */
bool v1_report_read(struct roast_run *run, struct source *in, struct roast_error *error);
/* {dataset: figures} in the place of its sums: facts custom.FIELD.DATASET; those before are void.
 */
bool v1_custom_read(struct roast_run *run, struct source *in, struct roast_error *error);
/* [{"name", "type", "duration", "mem_delta_mb"}]: sections of no chunk */
bool v1_sections_read(struct roast_run *run, struct source *in, struct roast_error *error);
/* {("execute", prefix, activity[, unit]): number} */
bool v1_spans_add(struct roast_run *run, struct source *in, struct roast_error *error);
/* tracking_data as samples, each as it was taken */
bool v1_samples_read(struct roast_run *run, struct source *in, struct roast_error *error);
/*
 * Metrics by key, with datasets and sections: facts given.KEY (metrics/given.h). The reasons are
 * {key: text} of what is absent and what is estimated.
 */
bool v1_given_read(struct roast_run *run, struct source *in, struct source *absent,
                   struct source *estimated, struct roast_error *error);

/* For them: a number as a fact; what is no number is absent for that reason. */
bool v1_add_figure(struct roast_run *run, struct source *in, const char *name,
                   const struct json_number *number, const char *why, struct roast_error *error);
