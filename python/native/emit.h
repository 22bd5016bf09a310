#pragma once
/*
 * What is pushed (util/emit.h) as Python's objects: dicts, lists, tuples, float,
 * int, str, None, and naive datetimes in UTC. One datetime serves an instant as
 * long as its neighbours come in order, or for good where a list of them is given.
 *
 *     struct emit_python python;
 *     emit_python_init(&python);
 *     put(&python.emit);
 *     return emit_python_value(&python);
 */

#include "native.h"
#include "util/emit.h"

#define EMIT_PYTHON_DEPTH 8

struct emit_python {
        struct emit emit;
        struct emit_level {
                PyObject *container;
                PyObject *key; /* of a dict, or NULL */
                size_t at;     /* of a tuple */
        } levels[EMIT_PYTHON_DEPTH];
        unsigned int depth;
        bool is_key;
        PyObject *value;    /* that stands in no other */
        PyObject *datetime; /* the class, once it was used */
        PyObject *times;    /* a borrowed list of datetimes, or NULL; */
        int64_t start_ns;   /* when the first is, */
        int64_t step_ns;    /* and how far they are from each other */
};

void emit_python_init(struct emit_python *self);
/* What was pushed, or NULL with an exception; the emitter is done with. */
PyObject *emit_python_value(struct emit_python *self);
/* The same of what may have failed in the library */
PyObject *emit_python_end(struct emit_python *self, int r, const struct roast_error *error);
