#pragma once
/* The types of _roast; each add_ function puts its type into the module. */

#include "native.h"
#include "roast-metrics.h"
#include "roast-run.h"
#include "roast-show.h"

PyObject *native_inspect_json(PyObject *module, PyObject *args);
PyObject *native_rules(PyObject *module, PyObject *unused);
int native_add_run(PyObject *module);
/* sqlite_choose.c: must come before anything that opens a run. */
int native_choose_sqlite(PyObject *module);

/* answers.c: methods of Run */
PyObject *native_run_explain(PyObject *self, PyObject *unused);
PyObject *native_run_predict(PyObject *self, PyObject *args);

/* run.c: takes the run's lock; NULL with an exception set if the run is closed. */
struct roast_run *native_run_enter(PyObject *self);
/* Lets the lock go; None or an exception. */
PyObject *native_run_leave(PyObject *self, int r, const struct roast_error *error);
/* Lets a function write the run to a path; None or an exception. */
PyObject *native_run_write_to(PyObject *self, PyObject *path,
                              int (*function)(struct roast_run *, const char *,
                                              struct roast_error *));

/* run_write.c: methods of Run */
PyObject *native_run_fact(PyObject *self, PyObject *args);
PyObject *native_run_add_chunks(PyObject *self, PyObject *args);
PyObject *native_run_add_worker_event(PyObject *self, PyObject *args);
PyObject *native_run_add_tasks(PyObject *self, PyObject *args);
PyObject *native_run_add_tasks_of(PyObject *self, PyObject *args);
PyObject *native_run_add_activity(PyObject *self, PyObject *args);
PyObject *native_run_add_series(PyObject *self, PyObject *args);
PyObject *native_run_add_samples(PyObject *self, PyObject *args);
PyObject *native_run_add_values(PyObject *self, PyObject *args);
PyObject *native_run_set_clock(PyObject *self, PyObject *args);
PyObject *native_run_add_span(PyObject *self, PyObject *args);

/* run_add.c: methods of Run that take plain data */
PyObject *native_run_add_times(PyObject *self, PyObject *args);
PyObject *native_run_add_report(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *native_run_add_records(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *native_run_add_sections(PyObject *self, PyObject *sections);
PyObject *native_run_add_spans(PyObject *self, PyObject *spans);
PyObject *native_run_add_tracking(PyObject *self, PyObject *tracking_data);
PyObject *native_run_add_metrics(PyObject *self, PyObject *mapping);

int native_add_units(PyObject *module);

/* run_resample.c: methods of Run */
PyObject *native_run_resample(PyObject *self, PyObject *args);
PyObject *native_run_resample_rate(PyObject *self, PyObject *args);
PyObject *native_run_resample_workers(PyObject *self, PyObject *args);

/* run_read.c: methods of Run */
PyObject *native_run_columns(PyObject *self, PyObject *args);
PyObject *native_run_texts(PyObject *self, PyObject *unused);
PyObject *native_run_spans(PyObject *self, PyObject *unused);
PyObject *native_run_series_names(PyObject *self, PyObject *unused);
PyObject *native_run_series(PyObject *self, PyObject *args);

/* run_shown.c: methods of Run */
PyObject *native_run_report(PyObject *self, PyObject *path);
PyObject *native_run_repr_html(PyObject *self, PyObject *unused);

int native_add_summary(PyObject *module);

/* The functions over several runs */
PyObject *native_compare(PyObject *module, PyObject *args);
PyObject *native_report_comparison(PyObject *module, PyObject *args);
PyObject *native_scaling(PyObject *module, PyObject *args);

/* Lets the lock go, whatever became of it. */
void native_run_unlock(PyObject *self);

/* A table as (title, [(column title, right aligned)], [((text, emphasis), ...)]) */
PyObject *native_table(const struct roast_table *table);

/* A Summary object that takes over the summary; `type` is found in the run's module. */
PyObject *native_summary_new(PyObject *module, struct roast_summary *summary);

/* summary_lists.c: lists of dicts, and {key: dict} of the user's own metrics */
PyObject *native_summary_datasets(const struct roast_summary *summary);
PyObject *native_summary_sections(const struct roast_summary *summary);
PyObject *native_summary_files(const struct roast_summary *summary);
PyObject *native_summary_file_metadata(const struct roast_summary *summary);
PyObject *native_summary_branches(const struct roast_summary *summary);
PyObject *native_summary_failures(const struct roast_summary *summary);
PyObject *native_summary_custom(const struct roast_summary *summary);
/* (per dataset, per section): the documented dicts by name */
PyObject *native_summary_documented(const struct roast_summary *summary);

/* summary_bytes.c: parts of a summary as dicts; NULL: an exception is set */
PyObject *native_bytes_dict(const struct roast_bytes *bytes);
PyObject *native_branch_dict(const struct roast_summary *summary, size_t i);
PyObject *native_failure_dict(const struct roast_summary *summary, size_t i);
