/*
 * Methods of _roast.Run that read it by columns
 *
 * Columns are handed over as bytes of int64, which NumPy takes as they are. A
 * run that is being written is committed first, so that all of it is seen.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* The result of a method: the object if all went well, for which leave() has answered None */
static PyObject *run_read_finish(PyObject *self, int r, const struct roast_error *error,
                                 PyObject *object)
{
        PyObject *done = native_run_leave(self, r, error);

        Py_XDECREF(done);
        if (!done || PyErr_Occurred())
                Py_CLEAR(object);
        return object;
}

static PyObject *run_bytes_of(const struct roast_run_column *column)
{
        return PyBytes_FromStringAndSize((const char *)column->values,
                                         (Py_ssize_t)(column->n * sizeof(int64_t)));
}

static PyObject *run_read_columns(PyObject *self, const char *table,
                                  struct roast_run_column *columns, size_t n)
{
        struct roast_error error = { 0 };
        struct roast_run *run = native_run_enter(self);
        PyObject *dict = NULL;
        int r;

        if (!run)
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = roast_run_commit(run, &error);
        if (r >= 0)
                r = roast_run_read_columns(run, table, columns, n, &error);
        Py_END_ALLOW_THREADS dict = run_read_finish(self, r, &error, r < 0 ? NULL : PyDict_New());
        for (size_t i = 0; i < n; i++) {
                if (dict && native_put(dict, columns[i].name, run_bytes_of(&columns[i])) < 0)
                        Py_CLEAR(dict);
                free(columns[i].values);
        }
        return dict;
}

PyObject *native_run_columns(PyObject *self, PyObject *args)
{
        struct roast_run_column *columns;
        PyObject *names, *list, *dict = NULL;
        const char *table;
        Py_ssize_t n;

        if (!PyArg_ParseTuple(args, "sO", &table, &names) || !(list = PySequence_List(names)))
                return NULL;
        n = PyList_Size(list);
        columns = calloc((size_t)n + 1, sizeof(*columns));
        for (Py_ssize_t i = 0; columns && i < n; i++) {
                PyObject *name = PyList_GetItem(list, i);

                columns[i].name =
                        PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
                if (!columns[i].name) {
                        if (!PyErr_Occurred())
                                PyErr_Format(PyExc_TypeError, "a name is a str, not %R",
                                             Py_TYPE(name));
                        goto out;
                }
        }
        if (!columns)
                PyErr_NoMemory();
        else
                dict = run_read_columns(self, table, columns, (size_t)n);
out:
        free(columns);
        Py_DECREF(list);
        return dict;
}

/* Runs a walk over the run that fills an object. */
static PyObject *run_walk(PyObject *self, PyObject *object,
                          int (*function)(struct roast_run *, PyObject *, struct roast_error *))
{
        struct roast_error error = { 0 };
        struct roast_run *run = object ? native_run_enter(self) : NULL;
        int r;

        if (!run) {
                Py_XDECREF(object);
                return NULL;
        }
        r = roast_run_commit(run, &error);
        if (r >= 0)
                r = function(run, object, &error);
        return run_read_finish(self, r, &error, object);
}

static int run_append_text(const char *text, size_t len, void *context)
{
        PyObject *filled = context;
        PyObject *string = native_text_n(text, len);
        int r = string ? PyList_Append(filled, string) : -1;

        Py_XDECREF(string);
        return r;
}

static int run_walk_texts(struct roast_run *run, PyObject *filled, struct roast_error *error)
{
        return roast_run_texts(run, run_append_text, filled, error);
}

PyObject *native_run_texts(PyObject *self, PyObject *unused)
{
        (void)unused;
        return run_walk(self, PyList_New(0), run_walk_texts);
}

static int run_put_span(const struct roast_span *span, void *context)
{
        PyObject *filled = context;
        PyObject *key, *value;
        int r = -1;

        if (!span->kind || !span->activity || !isfinite(span->value))
                return 0;
        key = span->unit
                      ? Py_BuildValue("(NNNN)", native_text(span->kind), native_text(span->prefix),
                                      native_text(span->activity), native_text(span->unit))
                      : Py_BuildValue("(NNN)", native_text(span->kind), native_text(span->prefix),
                                      native_text(span->activity));
        value = span->unit && strcmp(span->unit, "seconds") != 0 && span->value == rint(span->value)
                        ? PyLong_FromDouble(span->value)
                        : PyFloat_FromDouble(span->value);
        if (key && value)
                r = PyDict_SetItem(filled, key, value);
        Py_XDECREF(key);
        Py_XDECREF(value);
        return r;
}

static int run_walk_spans(struct roast_run *run, PyObject *filled, struct roast_error *error)
{
        return roast_run_spans(run, run_put_span, filled, error);
}

PyObject *native_run_spans(PyObject *self, PyObject *unused)
{
        (void)unused;
        return run_walk(self, PyDict_New(), run_walk_spans);
}

/* "rss_bytes/4096,cpu_user_ns/1000000": the names, each once in the worker's list */
static int run_put_names(const char *worker, const char *columns, void *context)
{
        PyObject *filled = context, *key = native_text(worker), *list = NULL;
        int r = key ? 0 : -1;

        if (key)
                list = Py_XNewRef(PyDict_GetItemWithError(filled, key));
        if (key && !list)
                r = PyErr_Occurred() || !(list = PyList_New(0)) ? -1
                                                                : PyDict_SetItem(filled, key, list);
        Py_XDECREF(key);
        for (const char *at = columns; r >= 0 && *at;) {
                size_t len = strcspn(at, ","), name = strcspn(at, ",/");
                PyObject *string = native_text_n(at, name);

                r = string ? PySequence_Contains(list, string) : -1;
                if (r == 0)
                        r = PyList_Append(list, string);
                Py_XDECREF(string);
                at += len + (at[len] == ',');
        }
        Py_XDECREF(list);
        return r < 0;
}

static int run_walk_names(struct roast_run *run, PyObject *filled, struct roast_error *error)
{
        return roast_run_series_names(run, run_put_names, filled, error);
}

PyObject *native_run_series_names(PyObject *self, PyObject *unused)
{
        (void)unused;
        return run_walk(self, PyDict_New(), run_walk_names);
}

PyObject *native_run_series(PyObject *self, PyObject *args)
{
        struct roast_run_column times = { 0 }, values = { 0 };
        struct roast_error error = { 0 };
        const char *name;
        struct roast_run *run;
        PyObject *worker, *done, *pair = NULL;
        int r;

        if (!PyArg_ParseTuple(args, "O&s", native_text_converter, &worker, &name))
                return NULL;
        run = native_run_enter(self);
        if (!run) {
                Py_DECREF(worker);
                return NULL;
        }
        Py_BEGIN_ALLOW_THREADS r = roast_run_commit(run, &error);
        if (r >= 0)
                r = roast_run_read_series(run, PyBytes_AsString(worker), name, &times, &values,
                                          &error);
        Py_END_ALLOW_THREADS done = native_run_leave(self, r, &error);
        if (done)
                pair = Py_BuildValue("(NN)", run_bytes_of(&times), run_bytes_of(&values));
        Py_XDECREF(done);
        Py_DECREF(worker);
        free(times.values);
        free(values.values);
        return pair;
}
