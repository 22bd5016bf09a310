#pragma once
/* Figures out of plain Python objects: anybody's dicts, lists and numbers */

#include "native.h"
#include "roast-run.h"

/* mapping[key]: 1 and a new reference, 0 if there is none, -1 with an exception set. */
int plain_get(PyObject *mapping, const char *key, PyObject **ret);
int plain_get_object(PyObject *mapping, PyObject *key, PyObject **ret);

/*
 * The object as a fact: a number, ROAST_FACT_ABSENT for NULL and None, ROAST_FACT_TEXT for what is
 * no number. A number beyond every double is infinite. -1 with an exception set.
 */
int plain_fact(struct roast_fact *fact, PyObject *value);
/* The object as a double, NaN if it is no number; *ret is set also on failure. */
int plain_real(double *ret, PyObject *value);
/* mapping[key] as a fact or a double; no such key: absent, NaN. */
int plain_get_fact(struct roast_fact *fact, PyObject *mapping, const char *key);
int plain_get_real(double *ret, PyObject *mapping, const char *key);
/* A fact as an integer: the nearest, or the largest that there is; 0 if it is no number. */
int64_t plain_integer(const struct roast_fact *fact);

/* Calls the function with each item; stops at the first that returns -1. */
int plain_each(PyObject *iterable, int (*function)(PyObject *item, void *context), void *context);
/* The same with each key and value of a mapping; None has none. */
int plain_each_pair(PyObject *mapping,
                    int (*function)(PyObject *key, PyObject *value, void *context), void *context);

/* dict[key] = value, which is taken over; NULL: an exception is set. */
int plain_put(PyObject *dict, const char *key, PyObject *value);

/* The position of a key in an index {key: position}; a new key is given the next one. -1: error. */
Py_ssize_t plain_index(PyObject *index, PyObject *key);
/* The same of a key that must be there; -1 without an exception if it is not. */
Py_ssize_t plain_known(PyObject *index, PyObject *key);

/*
 * Instants as seconds since the first one: numbers, or whatever can be subtracted from each other
 * and has total_seconds(), such as datetimes.
 */
struct plain_clock {
        PyObject *origin;
};

void plain_clock_deinit(struct plain_clock *clock);
int plain_clock_read(struct plain_clock *clock, double *seconds, PyObject *time);
