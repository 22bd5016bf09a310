#pragma once
/* The types of _roast; each add_ function puts its type into the module. */

#include "native.h"
#include "roast-metrics.h"
#include "roast-show.h"

PyObject *native_inspect_json(PyObject *module, PyObject *args);
int native_add_run(PyObject *module);
int native_add_summary(PyObject *module);

/* The functions over several runs */
PyObject *native_compare(PyObject *module, PyObject *args);
PyObject *native_scaling(PyObject *module, PyObject *args);

/* Takes the lock of a Run object; NULL with an exception set if the run is closed. */
struct roast_run *native_run_enter(PyObject *run);
void native_run_leave(PyObject *run);

/* A table as (title, [(column title, right aligned)], [((text, emphasis), ...)]) */
PyObject *native_table(const struct roast_table *table);

/* A Summary object that takes over the summary; `type` is found in the run's module. */
PyObject *native_summary_new(PyObject *module, struct roast_summary *summary);

/* Datasets and sections of a plain metrics dict ("per_dataset", "sections"); -1: an exception. */
int native_summary_read_parts(struct roast_summary *summary, PyObject *mapping);
