#pragma once
/* What the files of the extension modules share */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "roast-error.h"

/* A name or a text of a run as a str, bytes that are not UTF-8 as lone surrogates; NULL: None */
PyObject *native_text(const char *text);
PyObject *native_text_n(const char *text, size_t len);
/* The str as the bytes that it has in a run: a new reference, or NULL with an exception */
PyObject *native_text_bytes(PyObject *text);
/* The same for "O&" of PyArg_ParseTuple() */
int native_text_converter(PyObject *text, void *bytes);
/* What is only looked at, a table or a message: what is not UTF-8 is replaced; NULL: None */
PyObject *native_shown(const char *text);

/* dict[key] = value, which is taken over; NULL: an exception is set. 0 or -1 */
int native_put(PyObject *dict, const char *key, PyObject *value);

/* The one place that maps errors of libroast to exceptions; returns NULL. */
PyObject *native_raise(const struct roast_error *error);
/* -1 with an exception set, for functions that return int */
int native_raise_int(const struct roast_error *error);
