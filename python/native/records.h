#pragma once
/*
 * _probe.Records: a sequence of chunk records
 *
 * A segment is a run of rows in encoded bytes, or one dict that a user put there.
 * Sequences are joined by sharing segments; the bytes are read only when a record
 * is looked at, and written anew, together, when the sequence is pickled.
 */

#include "probe.h"

struct segment {
        PyObject *data; /* bytes, or a dict that is kept as it is */
        uint32_t from;  /* the first row of the bytes that belongs here */
        uint32_t n;
};

typedef struct {
        PyObject_HEAD struct segment *segments;
        size_t n_segments;
        size_t cap;
        size_t n;
        size_t *firsts; /* the index of each segment's first record, as far as it was needed */
        size_t n_firsts;
        struct chunk_table table; /* the rows of `decoded` */
        PyObject *decoded;        /* which bytes were looked at last, or NULL */
} RecordsObject;

PyObject *records_new_empty(PyTypeObject *type);
/* All of these: 0, or -1 with an exception */
int records_add_segment(RecordsObject *self, PyObject *data, size_t from, size_t n);
int records_add_bytes(RecordsObject *self, PyObject *bytes);
int records_add(RecordsObject *self, PyObject *other);

/* records.c: the slots of the type */
PyObject *records_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
int records_traverse(PyObject *object, visitproc visit, void *arg);
int records_clear(PyObject *object);
void records_dealloc(PyObject *object);
Py_ssize_t records_length(PyObject *self);
PyObject *records_item(PyObject *object, Py_ssize_t index);
PyObject *records_subscript(PyObject *object, PyObject *key);
PyObject *records_nb_add(PyObject *left, PyObject *right);
PyObject *records_iadd(PyObject *self, PyObject *other);

/* records_bytes.c: all rows together */
PyObject *records_blocks(PyObject *self, PyObject *unused);
PyObject *records_to_bytes(PyObject *self, PyObject *unused);
PyObject *records_reduce(PyObject *self, PyObject *unused);
PyObject *records_totals(PyObject *self, PyObject *unused);

/* record_dict.c: row `row` of the table as the documented dict */
PyObject *record_dict(const struct chunk_table *table, size_t row, size_t chunk_id);
