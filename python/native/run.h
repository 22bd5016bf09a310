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

/* Parts of a summary as dicts; NULL: an exception is set */
PyObject *native_bytes_dict(const struct roast_bytes *bytes);
PyObject *native_file_dict(const struct roast_summary *summary, size_t i);
PyObject *native_branch_dict(const struct roast_summary *summary, size_t i);
PyObject *native_failure_dict(const struct roast_summary *summary, size_t i);
