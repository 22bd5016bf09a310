/* Figures out of plain Python objects: see plain.h. */

#include <math.h>

#include "metrics/stat.h"
#include "plain.h"

int plain_get_object(PyObject *mapping, PyObject *key, PyObject **ret)
{
        *ret = NULL;
        if (PyDict_CheckExact(mapping)) {
                *ret = Py_XNewRef(PyDict_GetItemWithError(mapping, key));
                return *ret ? 1 : PyErr_Occurred() ? -1 : 0;
        }
        *ret = PyObject_GetItem(mapping, key);
        if (*ret)
                return 1;
        if (!PyErr_ExceptionMatches(PyExc_KeyError))
                return -1;
        PyErr_Clear();
        return 0;
}

int plain_get(PyObject *mapping, const char *key, PyObject **ret)
{
        PyObject *name = native_text(key);
        int r;

        *ret = NULL;
        r = name ? plain_get_object(mapping, name, ret) : -1;
        Py_XDECREF(name);
        return r;
}

/* An exact integer where the object is one and fits; 1, 0, or -1 with an exception set. */
static int plain_whole(int64_t *ret, PyObject *value)
{
        PyObject *integer;
        int overflow;

        if (PyFloat_Check(value) || !PyIndex_Check(value))
                return 0;
        integer = PyNumber_Index(value);
        if (!integer) {
                if (!PyErr_ExceptionMatches(PyExc_TypeError))
                        return -1;
                PyErr_Clear(); /* an array of several numbers has the slot, too */
                return 0;
        }
        *ret = PyLong_AsLongLongAndOverflow(integer, &overflow);
        Py_DECREF(integer);
        return !overflow;
}

int plain_fact(struct roast_fact *fact, PyObject *value)
{
        int r;

        *fact = (struct roast_fact){ .type = ROAST_FACT_ABSENT };
        if (!value || value == Py_None)
                return 0;
        r = plain_whole(&fact->integer, value);
        if (r < 0)
                return -1;
        if (r > 0) {
                fact->type = ROAST_FACT_INT;
                fact->real = (double)fact->integer;
                return 0;
        }
        fact->type = ROAST_FACT_REAL;
        fact->real = PyFloat_AsDouble(value);
        if (fact->real != -1 || !PyErr_Occurred())
                return 0;
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
                fact->real = (double)INFINITY;
        else if (PyErr_ExceptionMatches(PyExc_TypeError) ||
                 PyErr_ExceptionMatches(PyExc_ValueError))
                fact->type = ROAST_FACT_TEXT;
        else
                return -1;
        PyErr_Clear();
        return 0;
}

int plain_real(double *ret, PyObject *value)
{
        struct roast_fact fact;
        int r = plain_fact(&fact, value);
        bool number = fact.type == ROAST_FACT_INT || fact.type == ROAST_FACT_REAL;

        *ret = r >= 0 && number ? fact.real : (double)NAN;
        return r;
}

int plain_get_fact(struct roast_fact *fact, PyObject *mapping, const char *key)
{
        PyObject *value;
        int r;

        *fact = (struct roast_fact){ .type = ROAST_FACT_ABSENT };
        if (plain_get(mapping, key, &value) < 0)
                return -1;
        r = plain_fact(fact, value);
        Py_XDECREF(value);
        return r;
}

int plain_get_real(double *ret, PyObject *mapping, const char *key)
{
        PyObject *value;
        int r;

        *ret = (double)NAN;
        if (plain_get(mapping, key, &value) < 0)
                return -1;
        r = plain_real(ret, value);
        Py_XDECREF(value);
        return r;
}

int64_t plain_integer(const struct roast_fact *fact)
{
        if (fact->type == ROAST_FACT_INT)
                return fact->integer;
        return fact->type == ROAST_FACT_REAL ? stat_whole(fact->real) : 0;
}

int plain_each(PyObject *iterable, int (*function)(PyObject *item, void *context), void *context)
{
        PyObject *iterator, *item;
        int r = 0;

        if (iterable == Py_None)
                return 0;
        iterator = PyObject_GetIter(iterable);
        if (!iterator)
                return -1;
        while (r >= 0 && (item = PyIter_Next(iterator))) {
                r = function(item, context);
                Py_DECREF(item);
        }
        Py_DECREF(iterator);
        return r < 0 || PyErr_Occurred() ? -1 : 0;
}

struct pair_visit {
        int (*function)(PyObject *key, PyObject *value, void *context);
        void *context;
};

static int plain_visit_pair(PyObject *item, void *context)
{
        struct pair_visit *visit = context;
        PyObject *key = PySequence_GetItem(item, 0);
        PyObject *value = key ? PySequence_GetItem(item, 1) : NULL;
        int r = value ? visit->function(key, value, visit->context) : -1;

        Py_XDECREF(key);
        Py_XDECREF(value);
        return r;
}

int plain_each_pair(PyObject *mapping,
                    int (*function)(PyObject *key, PyObject *value, void *context), void *context)
{
        struct pair_visit visit = { function, context };
        PyObject *items;
        int r;

        if (mapping == Py_None)
                return 0;
        items = PyMapping_Items(mapping);
        if (!items)
                return -1;
        r = plain_each(items, plain_visit_pair, &visit);
        Py_DECREF(items);
        return r;
}

int plain_put(PyObject *dict, const char *key, PyObject *value)
{
        PyObject *name = value ? native_text(key) : NULL;
        int r = name ? PyDict_SetItem(dict, name, value) : -1;

        Py_XDECREF(name);
        Py_XDECREF(value);
        return r;
}

Py_ssize_t plain_known(PyObject *index, PyObject *key)
{
        PyObject *known = PyDict_GetItemWithError(index, key);

        return known ? PyLong_AsSsize_t(known) : -1;
}

Py_ssize_t plain_index(PyObject *index, PyObject *key)
{
        Py_ssize_t position = plain_known(index, key);
        PyObject *next;

        if (position >= 0 || PyErr_Occurred())
                return position;
        position = PyDict_Size(index);
        next = PyLong_FromSsize_t(position);
        if (!next || PyDict_SetItem(index, key, next) < 0)
                position = -1;
        Py_XDECREF(next);
        return position;
}

void plain_clock_deinit(struct plain_clock *clock)
{
        Py_CLEAR(clock->origin);
}

int plain_clock_read(struct plain_clock *clock, double *seconds, PyObject *time)
{
        PyObject *since, *number;

        *seconds = 0;
        if (!clock->origin) {
                clock->origin = Py_NewRef(time);
                if (PyNumber_Check(time) || PyObject_HasAttrString(time, "tzinfo"))
                        return 0;
        }
        since = PyNumber_Subtract(time, clock->origin);
        if (!since)
                return -1;
        if (PyNumber_Check(since))
                number = Py_NewRef(since);
        else
                number = PyObject_CallMethod(since, "total_seconds", NULL);
        Py_DECREF(since);
        if (!number)
                return -1;
        *seconds = PyFloat_AsDouble(number);
        Py_DECREF(number);
        return *seconds == -1 && PyErr_Occurred() ? -1 : 0;
}
