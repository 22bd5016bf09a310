#pragma once
/* The types of _roast; each add_ function puts its type into the module. */

#include "native.h"
#include "roast-metrics.h"

PyObject *native_inspect_json(PyObject *module, PyObject *args);
int native_add_run(PyObject *module);
int native_add_summary(PyObject *module);

/* A Summary object that takes over the summary; `type` is found in the run's module. */
PyObject *native_summary_new(PyObject *module, struct roast_summary *summary);

/* Datasets and sections of a plain metrics dict ("per_dataset", "sections"); -1: an exception. */
int native_summary_read_parts(struct roast_summary *summary, PyObject *mapping);
