#pragma once
/* A dict that was put on a processor by hand as `_roastcoffea_current_chunk` */

#include "probe.h"

/* A class whose instances have none for certain, or NULL */
extern PyTypeObject *container_without;

/* The container of a processor: a new reference, or NULL without an exception. */
PyObject *container_find(struct probe_state *state, PyObject *owner);
/* container[key][name] += value; -1 with an exception */
int container_add(PyObject *container, PyObject *key, PyObject *name, PyObject *value);
/* expect_containers(): the descriptor has put one into an instance */
PyObject *container_put(PyObject *module, PyObject *unused);
