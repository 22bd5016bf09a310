#pragma once
/* What the files of the extension modules share */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "roast-error.h"

/* The one place that maps errors of libroast to exceptions; returns NULL. */
PyObject *native_raise(const struct roast_error *error);
/* -1 with an exception set, for functions that return int */
int native_raise_int(const struct roast_error *error);
