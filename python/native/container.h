#pragma once
/* A dict that was put on a processor by hand as `_roastcoffea_current_chunk` */

#include "probe.h"

/* The container of a processor: a new reference, or NULL without an exception. */
PyObject *container_find(struct probe_state *state, PyObject *owner);
/* container[key][name] += value; -1 with an exception */
int container_add(PyObject *container, PyObject *key, PyObject *name, PyObject *value);
