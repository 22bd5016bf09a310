#pragma once
/* The types of _roast; each add_ function puts its type into the module. */

#include "native.h"
#include "roast-metrics.h"
#include "roast-run.h"

PyObject *native_inspect_json(PyObject *module, PyObject *args);
PyObject *native_rules(PyObject *module, PyObject *unused);
int native_add_run(PyObject *module);

/* Takes a Run's lock; NULL with an exception set if it is closed. */
struct roast_run *native_run_enter(PyObject *self);
/* Lets the lock go; None or an exception. */
PyObject *native_run_leave(PyObject *self, int r, const struct roast_error *error);
/* Methods of Run */
PyObject *native_run_explain(PyObject *self, PyObject *unused);
PyObject *native_run_predict(PyObject *self, PyObject *args);

int native_add_summary(PyObject *module);

/* A Summary object that takes over the summary; `type` is found in the run's module. */
PyObject *native_summary_new(PyObject *module, struct roast_summary *summary);

/* Datasets and sections of a plain metrics dict ("per_dataset", "sections"); -1: an exception. */
int native_summary_read_parts(struct roast_summary *summary, PyObject *mapping);
