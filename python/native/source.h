#pragma once
/* Objects of Python as plain values: util/source.h */

#include "native.h"
#include "util/source.h"

enum { SOURCE_DEPTH = 16, SOURCE_PLACES = 80 };

/* A container that is being walked */
struct source_frame {
        PyObject *dict;     /* a plain dict, or NULL */
        PyObject *iterator; /* over the items of another one, or its pairs */
        Py_ssize_t at;
        size_t place;
        PyObject *key;
        PyObject *value;
};

struct source_python {
        struct source source;
        PyObject *value; /* that comes next; borrowed */
        struct source_frame frames[SOURCE_DEPTH];
        size_t depth;
        PyObject *bytes;               /* a text that is not UTF-8, in bytes */
        PyObject *kept[SOURCE_PLACES]; /* keys of the outer object, so that they stay themselves */
        PyObject *epochs[2];           /* 1970 without a zone, and in UTC; NULL: not needed yet */
};

/* The source of one value after the other; a call that fails leaves an exception. */
struct source *source_python_init(struct source_python *py);
void source_python_set(struct source_python *py, PyObject *value);
void source_python_deinit(struct source_python *py);
