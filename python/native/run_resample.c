/* Methods of _roast.Run that give its samples on a grid */

#include "run.h"

struct series_context {
        PyObject *dict;
        size_t n;
};

static PyObject *run_value_list(const int64_t *values, size_t n)
{
        PyObject *list = PyList_New((Py_ssize_t)n);

        for (size_t i = 0; list && i < n; i++) {
                PyObject *value = values[i] == INT64_MIN ? Py_NewRef(Py_None)
                                                         : PyLong_FromLongLong(values[i]);

                if (!value || PyList_SetItem(list, (Py_ssize_t)i, value) < 0)
                        Py_CLEAR(list);
        }
        return list;
}

static int run_put_series(const char *worker, const int64_t *values, void *data)
{
        struct series_context *context = data;
        PyObject *list = run_value_list(values, context->n);

        return native_put(context->dict, worker, list);
}

/* resample(column, start_utc_ns, step_ns, n) -> {worker: [value or None]} */
static PyObject *run_resample(PyObject *self, PyObject *args,
                              int (*function)(struct roast_run *, const char *,
                                              const struct roast_grid *, roast_series_visitor,
                                              void *, struct roast_error *))
{
        struct roast_error error = { 0 };
        struct series_context context;
        struct roast_grid grid;
        struct roast_run *run;
        const char *column;
        PyObject *done;
        long long start, step;
        Py_ssize_t n;
        int r;

        if (!PyArg_ParseTuple(args, "sLLn", &column, &start, &step, &n))
                return NULL;
        grid = (struct roast_grid){ start, step, n < 0 ? 0 : (size_t)n };
        context = (struct series_context){ PyDict_New(), grid.n };
        run = context.dict ? native_run_enter(self) : NULL;
        if (!run) {
                Py_XDECREF(context.dict);
                return NULL;
        }
        r = roast_run_commit(run, &error);
        if (r >= 0)
                r = function(run, column, &grid, run_put_series, &context, &error);
        done = native_run_leave(self, r, &error);
        Py_XDECREF(done);
        if (!done || PyErr_Occurred())
                Py_CLEAR(context.dict);
        return context.dict;
}

PyObject *native_run_resample(PyObject *self, PyObject *args)
{
        return run_resample(self, args, roast_run_resample);
}

PyObject *native_run_resample_rate(PyObject *self, PyObject *args)
{
        return run_resample(self, args, roast_run_resample_rate);
}

PyObject *native_run_resample_workers(PyObject *self, PyObject *args)
{
        return run_resample(self, args, roast_run_resample_workers);
}
