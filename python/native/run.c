/*
 * _roast.Run: a run that is written or read
 *
 * Events arrive on the client's loop thread while the user's thread commits or
 * asks for a summary: every method takes the run's lock, with the GIL released.
 */

#include <pthread.h>
#include <stdlib.h>

#include "roast-run.h"
#include "run.h"

typedef struct {
        PyObject_HEAD struct roast_run *run; /* NULL: closed */
        pthread_mutex_t lock;
} RunObject;

struct roast_run *native_run_enter(PyObject *self)
{
        RunObject *object = (RunObject *)self;

        Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&object->lock);
        Py_END_ALLOW_THREADS if (!object->run)
        {
                pthread_mutex_unlock(&object->lock);
                PyErr_SetString(PyExc_RuntimeError, "the run is closed");
        }
        return object->run;
}

PyObject *native_run_leave(PyObject *self, int r, const struct roast_error *error)
{
        pthread_mutex_unlock(&((RunObject *)self)->lock);
        if (r < 0)
                return native_raise(error);
        Py_RETURN_NONE;
}

void native_run_unlock(PyObject *self)
{
        pthread_mutex_unlock(&((RunObject *)self)->lock);
}

static PyObject *make(PyObject *type, PyObject *path,
                      int (*function)(struct roast_run **, const char *, struct roast_error *))
{
        PyObject *(*alloc)(PyTypeObject *, Py_ssize_t) =
                (PyObject * (*)(PyTypeObject *, Py_ssize_t))
                        PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        PyObject *bytes = NULL, *self;
        int r;

        if (path != Py_None && !PyUnicode_FSConverter(path, &bytes))
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = function(&run, bytes ? PyBytes_AsString(bytes) : NULL, &error);
        Py_END_ALLOW_THREADS Py_XDECREF(bytes);
        if (r < 0)
                return native_raise(&error);
        self = alloc((PyTypeObject *)type, 0);
        if (!self) {
                roast_run_free(run);
                return NULL;
        }
        ((RunObject *)self)->run = run;
        pthread_mutex_init(&((RunObject *)self)->lock, NULL);
        return self;
}

static PyObject *run_create(PyObject *type, PyObject *path)
{
        return make(type, path, roast_run_create);
}

static PyObject *run_open(PyObject *type, PyObject *path)
{
        if (path == Py_None) {
                PyErr_SetString(PyExc_TypeError, "a path is wanted");
                return NULL;
        }
        return make(type, path, roast_run_open_any);
}

static int add_number(struct roast_run *run, const char *name, PyObject *value,
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
static PyObject *run_fact(PyObject *self, PyObject *args)
{
        const char *name, *reason = NULL, *text = NULL;
        struct roast_error error = { 0 };
        struct roast_run *run;
        PyObject *value;
        int r;

        if (!PyArg_ParseTuple(args, "sO|z", &name, &value, &reason))
                return NULL;
        if (PyUnicode_Check(value) && !(text = PyUnicode_AsUTF8AndSize(value, NULL)))
                return NULL;
        if (value != Py_None && !text && !PyLong_Check(value) && !PyFloat_Check(value)) {
                PyErr_Format(PyExc_TypeError, "fact %s: an int, a float, a str or None is wanted",
                             name);
                return NULL;
        }
        run = native_run_enter(self);
        if (!run)
                return NULL;
        if (value == Py_None)
                r = roast_run_fact_absent(run, name, reason ? reason : "not known", &error);
        else if (text)
                r = roast_run_fact_text(run, name, text, &error);
        else
                r = add_number(run, name, value, &error);
        if (PyErr_Occurred()) { /* an int that is too large even for a float */
                PyErr_Clear();
                r = roast_run_fact_absent(run, name, "too large", &error);
        }
        return native_run_leave(self, r, &error);
}

static PyObject *run_add_chunks(PyObject *self, PyObject *args)
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
static PyObject *run_add_worker_event(PyObject *self, PyObject *args)
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
static int parse_task(PyObject *row, struct roast_task *task)
{
        long long numbers[13];

        if (!PyTuple_Check(row)) {
                PyErr_SetString(PyExc_TypeError, "a task is a tuple");
                return -1;
        }
        if (!PyArg_ParseTuple(row, "szLLLLLLLLLLLzzzzzzLL;a task has 21 columns", &task->key,
                              &task->prefix, &numbers[0], &numbers[1], &numbers[2], &numbers[3],
                              &numbers[4], &numbers[5], &numbers[6], &numbers[7], &numbers[8],
                              &numbers[9], &numbers[10], &task->error_type, &task->error_message,
                              &task->dataset, &task->file, &task->tree, &task->uuid, &numbers[11],
                              &numbers[12]))
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
        return 0;
}

/* add_tasks(worker, rows): how many of them were new */
static PyObject *run_add_tasks(PyObject *self, PyObject *args)
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
                if (parse_task(PyList_GetItem(rows, i), &task) < 0)
                        return NULL;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        for (Py_ssize_t i = 0; i < PyList_Size(rows) && r >= 0; i++) {
                if (parse_task(PyList_GetItem(rows, i), &task) < 0)
                        break;
                r = roast_run_add_task(run, &task, &error);
                n_new += r > 0;
        }
        Py_XDECREF(native_run_leave(self, r, &error));
        return r < 0 || PyErr_Occurred() ? NULL : PyLong_FromSsize_t(n_new);
}

/* add_tasks_of(path, from_utc_ns): how many of them were new */
static PyObject *run_add_tasks_of(PyObject *self, PyObject *args)
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
static PyObject *run_add_activity(PyObject *self, PyObject *args)
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

/* add_series(worker, columns, block) */
static PyObject *run_add_series(PyObject *self, PyObject *args)
{
        const char *worker, *columns;
        struct roast_error error = { 0 };
        struct roast_run *run;
        PyObject *result;
        Py_buffer block;
        int r;

        if (!PyArg_ParseTuple(args, "ssy*", &worker, &columns, &block))
                return NULL;
        run = native_run_enter(self);
        if (!run) {
                PyBuffer_Release(&block);
                return NULL;
        }
        r = roast_run_add_series(run, worker, columns, block.buf, (size_t)block.len, &error);
        result = native_run_leave(self, r, &error);
        PyBuffer_Release(&block);
        return result;
}

/* set_clock(worker, offset_ns, error_ns) */
static PyObject *run_set_clock(PyObject *self, PyObject *args)
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
static PyObject *run_add_span(PyObject *self, PyObject *args)
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

static PyObject *call(PyObject *self, int (*function)(struct roast_run *, struct roast_error *))
{
        struct roast_error error = { 0 };
        struct roast_run *run = native_run_enter(self);
        int r;

        if (!run)
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = function(run, &error);
        Py_END_ALLOW_THREADS return native_run_leave(self, r, &error);
}

static PyObject *run_commit(PyObject *self, PyObject *unused)
{
        (void)unused;
        return call(self, roast_run_commit);
}

static PyObject *run_finish(PyObject *self, PyObject *unused)
{
        (void)unused;
        return call(self, roast_run_finish);
}

static PyObject *run_copy(PyObject *self, PyObject *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run;
        PyObject *bytes, *result;
        int r;

        if (!PyUnicode_FSConverter(path, &bytes))
                return NULL;
        run = native_run_enter(self);
        if (!run) {
                Py_DECREF(bytes);
                return NULL;
        }
        Py_BEGIN_ALLOW_THREADS r = roast_run_copy(run, PyBytes_AsString(bytes), &error);
        Py_END_ALLOW_THREADS result = native_run_leave(self, r, &error);
        Py_DECREF(bytes);
        return result;
}

static PyObject *run_close(PyObject *self, PyObject *unused)
{
        RunObject *object = (RunObject *)self;

        (void)unused;
        Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&object->lock);
        roast_run_free(object->run);
        object->run = NULL;
        pthread_mutex_unlock(&object->lock);
        Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *run_summary(PyObject *self, PyObject *unused)
{
        struct roast_error error = { 0 };
        struct roast_summary summary;
        struct roast_run *run;
        PyObject *module, *object;
        int r;

        (void)unused;
        module = PyType_GetModule(Py_TYPE(self));
        if (!module)
                return NULL;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = roast_run_commit(run, &error);
        if (r >= 0)
                r = roast_summary_of_run(&summary, run, &error);
        Py_END_ALLOW_THREADS Py_XDECREF(native_run_leave(self, r, &error));
        if (r < 0)
                return NULL;
        object = native_summary_new(module, &summary);
        if (!object)
                roast_summary_deinit(&summary);
        return object;
}

static PyObject *run_chunks(PyObject *self, PyObject *unused)
{
        struct roast_error error = { 0 };
        struct roast_run *run = native_run_enter(self);
        PyObject *bytes = NULL;
        void *data = NULL;
        size_t len = 0;
        int r;

        (void)unused;
        if (!run)
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = roast_run_commit(run, &error);
        if (r >= 0)
                r = roast_run_encode_chunks(run, &data, &len, &error);
        Py_END_ALLOW_THREADS Py_XDECREF(native_run_leave(self, r, &error));
        if (r >= 0)
                bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)len);
        free(data);
        return bytes;
}

struct series_context {
        PyObject *dict;
        size_t n;
};

static PyObject *value_list(const int64_t *values, size_t n)
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

static int put_series(const char *worker, const int64_t *values, void *data)
{
        struct series_context *context = data;
        PyObject *list = value_list(values, context->n);
        int r = list ? PyDict_SetItemString(context->dict, worker, list) : -1;

        Py_XDECREF(list);
        return r;
}

/* resample(column, start_utc_ns, step_ns, n) -> {worker: [value or None]} */
static PyObject *resample(PyObject *self, PyObject *args,
                          int (*function)(struct roast_run *, const char *,
                                          const struct roast_grid *, roast_series_visitor, void *,
                                          struct roast_error *))
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
                r = function(run, column, &grid, put_series, &context, &error);
        done = native_run_leave(self, r, &error);
        Py_XDECREF(done);
        if (!done || PyErr_Occurred())
                Py_CLEAR(context.dict);
        return context.dict;
}

static PyObject *run_resample(PyObject *self, PyObject *args)
{
        return resample(self, args, roast_run_resample);
}

static PyObject *run_resample_rate(PyObject *self, PyObject *args)
{
        return resample(self, args, roast_run_resample_rate);
}

static PyObject *run_resample_workers(PyObject *self, PyObject *args)
{
        return resample(self, args, roast_run_resample_workers);
}

static int put_fact(const struct roast_fact *fact, void *context)
{
        PyObject *value = NULL;
        int r;

        switch (fact->type) {
        case ROAST_FACT_INT:
                value = PyLong_FromLongLong(fact->integer);
                break;
        case ROAST_FACT_REAL:
                value = PyFloat_FromDouble(fact->real);
                break;
        case ROAST_FACT_TEXT:
                value = PyUnicode_FromString(fact->text ? fact->text : "");
                break;
        case ROAST_FACT_ABSENT:
                value = Py_NewRef(Py_None);
                break;
        }
        r = value ? PyDict_SetItemString(context, fact->name, value) : -1;
        Py_XDECREF(value);
        return r;
}

static PyObject *run_facts(PyObject *self, PyObject *unused)
{
        PyObject *dict = PyDict_New();
        struct roast_error error = { 0 };
        struct roast_run *run;
        PyObject *done;
        int r;

        (void)unused;
        run = dict ? native_run_enter(self) : NULL;
        if (!run) {
                Py_XDECREF(dict);
                return NULL;
        }
        r = roast_run_commit(run, &error);
        if (r >= 0)
                r = roast_run_facts(run, put_fact, dict, &error);
        done = native_run_leave(self, r, &error);
        Py_XDECREF(done);
        if (!done || PyErr_Occurred())
                Py_CLEAR(dict);
        return dict;
}

static void run_dealloc(PyObject *self)
{
        PyTypeObject *type = Py_TYPE(self);
        freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

        roast_run_free(((RunObject *)self)->run);
        pthread_mutex_destroy(&((RunObject *)self)->lock);
        release(self);
        Py_DECREF(type);
}

static PyMethodDef methods[] = {
        { "create", run_create, METH_O | METH_CLASS,
          "create(path)\n--\n\nA new run file, mode 0600; None: in memory." },
        { "open", run_open, METH_O | METH_CLASS, "open(path)\n--\n\nA run file for reading." },
        { "fact", run_fact, METH_VARARGS,
          "fact(name, value, reason=None)\n--\n\nNotes a named value; None with a reason." },
        { "add_chunks", run_add_chunks, METH_VARARGS,
          "add_chunks(data)\n--\n\nAdds encoded chunk records; returns how many." },
        { "add_worker_event", run_add_worker_event, METH_VARARGS,
          "add_worker_event(utc_ns, kind, name, host=None, pid=-1, threads=-1, limit=-1)\n--\n\n"
          "kind: 1 here at the start, 2 came, 3 went." },
        { "add_tasks", run_add_tasks, METH_VARARGS,
          "Adds attempts of a worker at tasks, and returns how many of them were new." },
        { "add_tasks_of", run_add_tasks_of, METH_VARARGS,
          "add_tasks_of(path, from_utc_ns)\n--\n\nAdds the tasks of an executor's own log, "
          "without those that ended before, and returns how many of them were new." },
        { "add_activity", run_add_activity, METH_VARARGS,
          "Adds one of Dask's fine metrics of one worker." },
        { "add_series", run_add_series, METH_VARARGS,
          "add_series(worker, columns, block)\n--\n\nAdds a block of samples of a worker." },
        { "add_span", run_add_span, METH_VARARGS,
          "add_span(kind, prefix, activity, unit, value)\n--\n\nOne of Dask's fine metrics." },
        { "set_clock", run_set_clock, METH_VARARGS,
          "set_clock(worker, offset_ns, error_ns)\n--\n\nWhat is added to the stamps of a "
          "worker from now on." },
        { "chunks", run_chunks, METH_NOARGS, "chunks()\n--\n\nThe chunk records, encoded." },
        { "resample", run_resample, METH_VARARGS,
          "resample(column, start_utc_ns, step_ns, n)\n--\n\nA sampled column on a grid, by "
          "worker." },
        { "resample_rate", run_resample_rate, METH_VARARGS,
          "resample_rate(column, start_utc_ns, step_ns, n)\n--\n\nWhat a counter grew by per "
          "second, on a grid, by worker." },
        { "resample_workers", run_resample_workers, METH_VARARGS,
          "resample_workers(column, start_utc_ns, step_ns, n)\n--\n\nthreads or "
          "memory_limit_bytes on a grid, by worker." },
        { "columns", native_run_columns, METH_VARARGS,
          "columns(table, names)\n--\n\nWhole columns as bytes of int64, by name; the smallest "
          "int64 is null." },
        { "texts", native_run_texts, METH_NOARGS,
          "texts()\n--\n\nThe strings that columns ending in _text refer to, number 1 first." },
        { "spans", native_run_spans, METH_NOARGS,
          "spans()\n--\n\nDask's fine metrics: {(kind, prefix, activity, unit): value}." },
        { "series_names", native_run_series_names, METH_NOARGS,
          "series_names()\n--\n\nThe names of the series of each worker." },
        { "series", native_run_series, METH_VARARGS,
          "series(worker, name)\n--\n\nTimes (ns UTC) and values, each as bytes of int64." },
        { "commit", run_commit, METH_NOARGS, "commit()\n--\n\nMakes what was added durable." },
        { "finish", run_finish, METH_NOARGS,
          "finish()\n--\n\nCommits and turns the file into its resting form." },
        { "copy", run_copy, METH_O, "copy(path)\n--\n\nA complete copy, replacing that file." },
        { "close", run_close, METH_NOARGS, "close()\n--\n\nCloses the file." },
        { "summary", run_summary, METH_NOARGS, "summary()\n--\n\nAll metrics of the run." },
        { "explain", native_run_explain, METH_NOARGS,
          "explain()\n--\n\nWhy it took as long as it did, as JSON." },
        { "predict", native_run_predict, METH_VARARGS,
          "predict(workers, chunksize, fail_rate, deadline_s, cost_s)\n--\n\nHow long it would "
          "take "
          "otherwise, as JSON." },
        { "report", native_run_report, METH_O,
          "report(path)\n--\n\nWrites the run as a page for a browser." },
        { "_repr_html_", native_run_repr_html, METH_NOARGS,
          "_repr_html_()\n--\n\nThe run as HTML, for notebooks." },
        { "facts", run_facts, METH_NOARGS, "facts()\n--\n\nThe last value of every fact." },
        { 0 },
};

static PyType_Slot slots[] = {
        { Py_tp_doc, (void *)"A run file, or a run in memory. Use Run.create() or Run.open()." },
        { Py_tp_dealloc, run_dealloc },
        { Py_tp_methods, methods },
        { 0 },
};

static PyType_Spec spec = {
        .name = "roastcoffea._roast.Run",
        .basicsize = sizeof(RunObject),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
};

int native_add_run(PyObject *module)
{
        PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
        int r = type ? PyModule_AddObjectRef(module, "Run", type) : -1;

        Py_XDECREF(type);
        return r;
}
