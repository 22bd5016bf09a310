/* Methods of _roast.Run that add to it */

#include <string.h>

#include "roast-run.h"
#include "run.h"

static int run_add_number(struct roast_run *run, const char *name, PyObject *value,
                          struct roast_error *error)
{
        int overflow = 0;
        long long integer =
                PyLong_Check(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 0;

        if (PyLong_Check(value) && !overflow)
                return roast_run_fact_int(run, name, integer, error);
        return roast_run_fact_real(run, name, PyFloat_AsDouble(value), error);
}

/* fact(name, value, reason=None): an int, a float, a str, or None with a reason */
PyObject *native_run_fact(PyObject *self, PyObject *args)
{
        struct roast_error error = { 0 };
        PyObject *value, *text = NULL;
        const char *name, *reason = NULL;
        struct roast_run *run;
        int r;

        if (!PyArg_ParseTuple(args, "sO|z", &name, &value, &reason))
                return NULL;
        if (PyUnicode_Check(value) && !(text = native_text_bytes(value)))
                return NULL;
        if (value != Py_None && !text && !PyLong_Check(value) && !PyFloat_Check(value)) {
                PyErr_Format(PyExc_TypeError, "fact %s: an int, a float, a str or None is wanted",
                             name);
                return NULL;
        }
        run = native_run_enter(self);
        if (!run) {
                Py_XDECREF(text);
                return NULL;
        }
        if (value == Py_None)
                r = roast_run_fact_absent(run, name, reason ? reason : "not known", &error);
        else if (text)
                r = roast_run_fact_text(run, name, PyBytes_AsString(text), &error);
        else
                r = run_add_number(run, name, value, &error);
        if (PyErr_Occurred()) { /* an int that is too large even for a float */
                PyErr_Clear();
                r = roast_run_fact_absent(run, name, "too large", &error);
        }
        Py_XDECREF(text);
        return native_run_leave(self, r, &error);
}

PyObject *native_run_add_chunks(PyObject *self, PyObject *args)
{
        struct roast_error error = { 0 };
        struct roast_run *run;
        Py_buffer data;
        int r;

        if (!PyArg_ParseTuple(args, "y*", &data))
                return NULL;
        run = native_run_enter(self);
        if (!run) {
                PyBuffer_Release(&data);
                return NULL;
        }
        Py_BEGIN_ALLOW_THREADS r = roast_run_add_chunks(run, data.buf, (size_t)data.len, &error);
        Py_END_ALLOW_THREADS PyBuffer_Release(&data);
        Py_XDECREF(native_run_leave(self, r, &error));
        return r < 0 ? NULL : PyLong_FromLong(r);
}

/* add_worker_event(utc_ns, kind, name, host=None, pid=-1, threads=-1, memory_limit_bytes=-1) */
PyObject *native_run_add_worker_event(PyObject *self, PyObject *args)
{
        struct roast_worker worker = { .pid = -1, .threads = -1, .memory_limit_bytes = -1 };
        long long utc_ns, pid = -1, threads = -1, limit = -1;
        struct roast_error error = { 0 };
        struct roast_run *run;
        int kind, r;

        if (!PyArg_ParseTuple(args, "Lis|zLLL", &utc_ns, &kind, &worker.name, &worker.host, &pid,
                              &threads, &limit))
                return NULL;
        worker.pid = pid;
        worker.threads = threads;
        worker.memory_limit_bytes = limit;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        r = roast_run_add_worker_event(run, utc_ns, (enum roast_worker_event)kind, &worker, &error);
        return native_run_leave(self, r, &error);
}

/* A row of add_tasks(): the columns of libroast/run/task.def without the worker */
static int run_parse_task(PyObject *row, struct roast_task *task)
{
        long long numbers[14];

        if (!PyTuple_Check(row)) {
                PyErr_SetString(PyExc_TypeError, "a task is a tuple");
                return -1;
        }
        if (!PyArg_ParseTuple(row, "szLLLLLLLLLLLzzzzzzLLL;a task has 22 columns", &task->key,
                              &task->prefix, &numbers[0], &numbers[1], &numbers[2], &numbers[3],
                              &numbers[4], &numbers[5], &numbers[6], &numbers[7], &numbers[8],
                              &numbers[9], &numbers[10], &task->error_type, &task->error_message,
                              &task->dataset, &task->file, &task->tree, &task->uuid, &numbers[11],
                              &numbers[12], &numbers[13]))
                return -1;
        task->attempt = numbers[0];
        task->outcome = numbers[1];
        task->start_utc_ns = numbers[2];
        task->stop_utc_ns = numbers[3];
        task->compute_start_utc_ns = numbers[4];
        task->compute_ns = numbers[5];
        task->transfer_ns = numbers[6];
        task->deserialize_ns = numbers[7];
        task->disk_ns = numbers[8];
        task->result_bytes = numbers[9];
        task->transfer_bytes = numbers[10];
        task->entry_start = numbers[11];
        task->entry_stop = numbers[12];
        task->execution = numbers[13];
        return 0;
}

/* add_tasks(worker, rows): how many of them were new */
PyObject *native_run_add_tasks(PyObject *self, PyObject *args)
{
        struct roast_task task = ROAST_TASK_INIT;
        struct roast_error error = { 0 };
        struct roast_run *run;
        PyObject *rows;
        Py_ssize_t n_new = 0;
        int r = 0;

        if (!PyArg_ParseTuple(args, "sO!", &task.worker, &PyList_Type, &rows))
                return NULL;
        for (Py_ssize_t i = 0; i < PyList_Size(rows); i++)
                if (run_parse_task(PyList_GetItem(rows, i), &task) < 0)
                        return NULL;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        for (Py_ssize_t i = 0; i < PyList_Size(rows) && r >= 0; i++) {
                if (run_parse_task(PyList_GetItem(rows, i), &task) < 0)
                        break;
                r = roast_run_add_task(run, &task, &error);
                n_new += r > 0;
        }
        Py_XDECREF(native_run_leave(self, r, &error));
        return r < 0 || PyErr_Occurred() ? NULL : PyLong_FromSsize_t(n_new);
}

/* add_tasks_of(path, from_utc_ns): how many of them were new */
PyObject *native_run_add_tasks_of(PyObject *self, PyObject *args)
{
        struct roast_error error = { 0 };
        struct roast_run *run;
        PyObject *path;
        long long from_utc_ns;
        int r;

        if (!PyArg_ParseTuple(args, "O&L", PyUnicode_FSConverter, &path, &from_utc_ns))
                return NULL;
        run = native_run_enter(self);
        if (!run) {
                Py_DECREF(path);
                return NULL;
        }
        Py_BEGIN_ALLOW_THREADS r =
                roast_run_add_tasks_of(run, PyBytes_AsString(path), from_utc_ns, &error);
        Py_END_ALLOW_THREADS Py_DECREF(path);
        Py_XDECREF(native_run_leave(self, r, &error));
        return r < 0 ? NULL : PyLong_FromLong(r);
}

/* add_activity(worker, kind, prefix, activity, unit, value) */
PyObject *native_run_add_activity(PyObject *self, PyObject *args)
{
        const char *worker, *kind, *prefix, *activity, *unit;
        struct roast_error error = { 0 };
        struct roast_run *run;
        double value;
        int r;

        if (!PyArg_ParseTuple(args, "sszszd", &worker, &kind, &prefix, &activity, &unit, &value))
                return NULL;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        r = roast_run_add_activity(run, worker, kind, prefix, activity, unit, value, &error);
        return native_run_leave(self, r, &error);
}

/* Adds a block and lets its buffer go; -1: an exception is set. */
static int run_add_block(PyObject *self, const char *worker, const char *columns, Py_buffer *block)
{
        struct roast_error error = { 0 };
        struct roast_run *run = columns ? native_run_enter(self) : NULL;
        PyObject *result = NULL;

        if (run)
                result = native_run_leave(self,
                                          roast_run_add_series(run, worker, columns, block->buf,
                                                               (size_t)block->len, &error),
                                          &error);
        PyBuffer_Release(block);
        Py_XDECREF(result);
        return result ? 0 : -1;
}

/* add_series(worker, columns, block) */
PyObject *native_run_add_series(PyObject *self, PyObject *args)
{
        const char *worker, *columns;
        Py_buffer block;

        if (!PyArg_ParseTuple(args, "ssy*", &worker, &columns, &block))
                return NULL;
        if (run_add_block(self, worker, columns, &block) < 0)
                return NULL;
        Py_RETURN_NONE;
}

/* What C can have as a string; NULL: an exception */
static const char *run_text_of(PyObject *object)
{
        Py_ssize_t len;
        const char *text = PyUnicode_AsUTF8AndSize(object, &len);

        if (!text || strlen(text) == (size_t)len)
                return text;
        PyErr_SetString(PyExc_ValueError, "embedded null character");
        return NULL;
}

/* The names of columns, which may be told by their number in `known`; NULL: an exception */
static const char *run_columns_of(PyObject *columns, PyObject *known)
{
        Py_ssize_t number;

        if (PyUnicode_Check(columns))
                return run_text_of(columns);
        number = PyLong_AsSsize_t(columns);
        if (number == -1 && PyErr_Occurred())
                return NULL;
        if (number < 0 || number >= PyTuple_Size(known)) {
                PyErr_Format(PyExc_ValueError, "there are no columns number %zd", number);
                return NULL;
        }
        return run_text_of(PyTuple_GetItem(known, number));
}

/* The blocks of add_samples(), a tuple: their bytes, -1: an exception is set */
static Py_ssize_t run_add_blocks(PyObject *self, const char *worker, PyObject *blocks,
                                 PyObject *known)
{
        Py_ssize_t total = 0;

        for (Py_ssize_t i = 0; i < PyTuple_Size(blocks); i++) {
                PyObject *pair = PyTuple_GetItem(blocks, i), *columns;
                Py_buffer block;

                if (!PyTuple_Check(pair)) {
                        PyErr_SetString(PyExc_TypeError, "a block comes with its columns");
                        return -1;
                }
                if (!PyArg_ParseTuple(pair, "Oy*", &columns, &block))
                        return -1;
                total += block.len;
                if (run_add_block(self, worker, run_columns_of(columns, known), &block) < 0)
                        return -1;
        }
        return total;
}

/* add_samples(worker, [(columns, block), ...], known): how many bytes they have */
PyObject *native_run_add_samples(PyObject *self, PyObject *args)
{
        PyObject *sequence, *known, *blocks;
        const char *worker;
        Py_ssize_t total;

        if (!PyArg_ParseTuple(args, "sOO!", &worker, &sequence, &PyTuple_Type, &known))
                return NULL;
        blocks = PySequence_Tuple(sequence);
        if (!blocks)
                return NULL;
        total = run_add_blocks(self, worker, blocks, known);
        Py_DECREF(blocks);
        return total < 0 ? NULL : PyLong_FromSsize_t(total);
}

/* One value of add_values(); -1: an exception is set */
static int run_add_value(PyObject *self, PyObject *worker, const char *column, const char *clock,
                         int64_t utc_ms, PyObject *value)
{
        const char *name = run_text_of(worker);
        int64_t number = name ? PyLong_AsLongLong(value) : -1;
        struct roast_error error = { 0 };
        struct roast_run *run;
        PyObject *result;

        if (number == -1 && PyErr_Occurred())
                return -1;
        run = native_run_enter(self);
        if (!run)
                return -1;
        result = native_run_leave(
                self, roast_run_add_value(run, name, column, clock, utc_ms, number, &error),
                &error);
        Py_XDECREF(result);
        return result ? 0 : -1;
}

/* add_values(column, clock, utc_ms, {worker: value}) */
PyObject *native_run_add_values(PyObject *self, PyObject *args)
{
        PyObject *given, *values, *worker, *value;
        const char *column, *clock;
        Py_ssize_t at = 0;
        long long utc_ms;
        int r = 0;

        if (!PyArg_ParseTuple(args, "ssLO!", &column, &clock, &utc_ms, &PyDict_Type, &given))
                return NULL;
        values = PyDict_Copy(given); /* nobody else can change it meanwhile */
        if (!values)
                return NULL;
        while (r >= 0 && PyDict_Next(values, &at, &worker, &value))
                r = run_add_value(self, worker, column, clock, utc_ms, value);
        Py_DECREF(values);
        if (r < 0)
                return NULL;
        Py_RETURN_NONE;
}

/* set_clock(worker, offset_ns, error_ns) */
PyObject *native_run_set_clock(PyObject *self, PyObject *args)
{
        struct roast_error error = { 0 };
        long long offset_ns, error_ns;
        struct roast_run *run;
        const char *worker;

        if (!PyArg_ParseTuple(args, "sLL", &worker, &offset_ns, &error_ns))
                return NULL;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        return native_run_leave(self, roast_run_set_clock(run, worker, offset_ns, error_ns, &error),
                                &error);
}

/* add_span(kind, prefix, activity, unit, value) */
PyObject *native_run_add_span(PyObject *self, PyObject *args)
{
        const char *kind, *prefix, *activity, *unit;
        struct roast_error error = { 0 };
        struct roast_run *run;
        double value;
        int r;

        if (!PyArg_ParseTuple(args, "szszd", &kind, &prefix, &activity, &unit, &value))
                return NULL;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        r = roast_run_add_span(run, kind, prefix, activity, unit, value, &error);
        return native_run_leave(self, r, &error);
}
