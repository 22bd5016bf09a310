#pragma once
/*
 * The functions behind roastcoffea.aggregation: they read plain dicts and hand the figures to
 * libroast. Each add_ function puts its file's functions into the module.
 */

#include "plain.h"
#include "run.h"

int native_add_aggregate(PyObject *module);
int native_add_aggregate_chunks(PyObject *module);
int native_add_aggregate_coverage(PyObject *module);
int native_add_aggregate_workers(PyObject *module);
