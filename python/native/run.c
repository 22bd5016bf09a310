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

        if (pthread_mutex_trylock(&object->lock) != 0) { /* others go on while this one waits */
                Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&object->lock);
                Py_END_ALLOW_THREADS
        }
        if (!object->run) {
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

/* The object of a run, which is its own from now on; r: of what made the run */
static PyObject *run_new(PyTypeObject *type, struct roast_run *run, int r,
                         const struct roast_error *error)
{
        PyObject *(*alloc)(PyTypeObject *, Py_ssize_t) =
                (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(type, Py_tp_alloc);
        PyObject *self;

        if (r < 0)
                return native_raise(error);
        self = alloc(type, 0);
        if (!self) {
                roast_run_free(run);
                return NULL;
        }
        ((RunObject *)self)->run = run;
        pthread_mutex_init(&((RunObject *)self)->lock, NULL);
        return self;
}

static PyObject *run_make(PyObject *type, PyObject *path,
                          int (*function)(struct roast_run **, const char *, struct roast_error *))
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        PyObject *bytes = NULL;
        int r;

        if (path != Py_None && !PyUnicode_FSConverter(path, &bytes))
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = function(&run, bytes ? PyBytes_AsString(bytes) : NULL, &error);
        Py_END_ALLOW_THREADS Py_XDECREF(bytes);
        return run_new((PyTypeObject *)type, run, r, &error);
}

static PyObject *run_create(PyObject *type, PyObject *path)
{
        return run_make(type, path, roast_run_create);
}

static PyObject *run_from_metrics(PyObject *type, PyObject *mapping)
{
        PyObject *self = run_make(type, Py_None, roast_run_create), *done;
        struct roast_error error = { 0 };

        if (!self)
                return NULL;
        if (roast_run_fact_int(((RunObject *)self)->run, "given.whole", 1, &error) < 0)
                done = native_raise(&error);
        else
                done = native_run_add_metrics(self, mapping);
        if (!done)
                Py_CLEAR(self);
        Py_XDECREF(done);
        return self;
}

static PyObject *run_open(PyObject *type, PyObject *path)
{
        if (path == Py_None) {
                PyErr_SetString(PyExc_TypeError, "a path is wanted");
                return NULL;
        }
        return run_make(type, path, roast_run_open_any);
}

static PyObject *run_call(PyObject *self, int (*function)(struct roast_run *, struct roast_error *))
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
        return run_call(self, roast_run_commit);
}

static PyObject *run_finish(PyObject *self, PyObject *unused)
{
        (void)unused;
        return run_call(self, roast_run_finish);
}

PyObject *native_run_write_to(PyObject *self, PyObject *path,
                              int (*function)(struct roast_run *, const char *,
                                              struct roast_error *))
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
        Py_BEGIN_ALLOW_THREADS r = function(run, PyBytes_AsString(bytes), &error);
        Py_END_ALLOW_THREADS result = native_run_leave(self, r, &error);
        Py_DECREF(bytes);
        return result;
}

static PyObject *run_copy(PyObject *self, PyObject *path)
{
        return native_run_write_to(self, path, roast_run_copy);
}

/* The names in a tuple (NULL: none), with a NULL at the end; NULL with an exception */
static const char **run_table_names(PyObject *tuple)
{
        Py_ssize_t n = tuple ? PyTuple_Size(tuple) : 0;
        const char **names = PyMem_Calloc((size_t)n + 1, sizeof(*names));

        if (!names)
                return (const char **)PyErr_NoMemory();
        for (Py_ssize_t i = 0; i < n; i++) {
                names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL);
                if (!names[i]) {
                        PyMem_Free(names);
                        return NULL;
                }
        }
        return names;
}

static PyObject *run_copy_in_memory(PyObject *self, PyObject *args, PyObject *kwargs)
{
        static char without_name[] = "without";
        static char *keywords[] = { without_name, NULL };
        struct roast_error error = { 0 };
        struct roast_run *run, *copy = NULL;
        PyObject *without = NULL;
        const char **names;
        int r;

        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O!", keywords, &PyTuple_Type, &without))
                return NULL;
        names = run_table_names(without);
        run = names ? native_run_enter(self) : NULL;
        if (!run) {
                PyMem_Free(names);
                return NULL;
        }
        Py_BEGIN_ALLOW_THREADS r = roast_run_copy_in_memory(&copy, run, names, &error);
        Py_END_ALLOW_THREADS native_run_unlock(self);
        PyMem_Free(names);
        return run_new(Py_TYPE(self), copy, r, &error);
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

static int run_put_fact(const struct roast_fact *fact, void *context)
{
        PyObject *value = NULL;

        switch (fact->type) {
        case ROAST_FACT_INT:
                value = PyLong_FromLongLong(fact->integer);
                break;
        case ROAST_FACT_REAL:
                value = PyFloat_FromDouble(fact->real);
                break;
        case ROAST_FACT_TEXT:
                value = native_text(fact->text ? fact->text : "");
                break;
        case ROAST_FACT_ABSENT:
                value = Py_NewRef(Py_None);
                break;
        }
        return native_put(context, fact->name, value);
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
                r = roast_run_facts(run, run_put_fact, dict, &error);
        done = native_run_leave(self, r, &error);
        Py_XDECREF(done);
        if (!done || PyErr_Occurred())
                Py_CLEAR(dict);
        return dict;
}

static PyObject *run_path(PyObject *self, PyObject *unused)
{
        struct roast_run *run = native_run_enter(self);
        const char *path;
        PyObject *text;

        (void)unused;
        if (!run)
                return NULL;
        path = roast_run_path(run);
        text = path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
        native_run_unlock(self);
        return text;
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
        { "fact", native_run_fact, METH_VARARGS,
          "fact(name, value, reason=None)\n--\n\nNotes a named value; None with a reason." },
        { "add_chunks", native_run_add_chunks, METH_VARARGS,
          "add_chunks(data)\n--\n\nAdds encoded chunk records; returns how many." },
        { "add_worker_event", native_run_add_worker_event, METH_VARARGS,
          "add_worker_event(utc_ns, kind, name, host=None, pid=-1, threads=-1, limit=-1)\n--\n\n"
          "kind: 1 here at the start, 2 came, 3 went." },
        { "add_tasks", native_run_add_tasks, METH_VARARGS,
          "Adds attempts of a worker at tasks, and returns how many of them were new." },
        { "add_tasks_of", native_run_add_tasks_of, METH_VARARGS,
          "add_tasks_of(path, from_utc_ns)\n--\n\nAdds the tasks of an executor's own log, "
          "without those that ended before, and returns how many of them were new." },
        { "add_activity", native_run_add_activity, METH_VARARGS,
          "Adds one of Dask's fine metrics of one worker." },
        { "add_series", native_run_add_series, METH_VARARGS,
          "add_series(worker, columns, block)\n--\n\nAdds a block of samples of a worker." },
        { "add_samples", native_run_add_samples, METH_VARARGS,
          "add_samples(worker, blocks, known)\n--\n\nAdds blocks of samples of a worker, each "
          "with its columns or their number in `known`, and returns how many bytes they have." },
        { "add_values", native_run_add_values, METH_VARARGS,
          "add_values(column, clock, utc_ms, values)\n--\n\nAdds one value of each of some "
          "workers, by name, of an instant by the clock of somebody else." },
        { "add_span", native_run_add_span, METH_VARARGS,
          "add_span(kind, prefix, activity, unit, value)\n--\n\nOne of Dask's fine metrics." },
        { "add_times", native_run_add_times, METH_VARARGS,
          "add_times(t_start, t_end)\n--\n\nNotes when the run began and ended, in seconds." },
        { "add_report", (PyCFunction)(void (*)(void))native_run_add_report,
          METH_VARARGS | METH_KEYWORDS,
          "add_report(report, custom_metrics=None, fallback=False)\n--\n\nNotes coffea's report, "
          "and figures by dataset in the place of its sums. Fallback: a process time that it lacks "
          "is the elapsed time." },
        { "add_records", (PyCFunction)(void (*)(void))native_run_add_records,
          METH_VARARGS | METH_KEYWORDS,
          "add_records(records, exact=False, timed=False, keys=None)\n--\n\nAdds chunk records, as "
          "dicts or "
          "Records. Exact: to the last digit. Timed: one that finished without a duration is a "
          "KeyError. Keys: those that are read, in a tuple." },
        { "add_sections", native_run_add_sections, METH_O,
          "add_sections(sections)\n--\n\nAdds section records: dicts with name, type, duration "
          "and mem_delta_mb." },
        { "add_spans", native_run_add_spans, METH_O,
          "add_spans(spans)\n--\n\nAdds fine metrics: {(kind, prefix, activity, unit): number}." },
        { "add_tracking", native_run_add_tracking, METH_O,
          "add_tracking(tracking_data)\n--\n\nAdds samples of workers, as documented." },
        { "add_metrics", native_run_add_metrics, METH_O,
          "add_metrics(mapping)\n--\n\nAdds figures by key, in the place of what is measured." },
        { "from_metrics", run_from_metrics, METH_O | METH_CLASS,
          "from_metrics(mapping)\n--\n\nA run in memory of the documented metrics." },
        { "set_clock", native_run_set_clock, METH_VARARGS,
          "set_clock(worker, offset_ns, error_ns)\n--\n\nWhat is added to the stamps of a "
          "worker from now on." },
        { "path", run_path, METH_NOARGS,
          "path()\n--\n\nThe file, or what was imported; None: in memory." },
        { "chunks", run_chunks, METH_NOARGS, "chunks()\n--\n\nThe chunk records, encoded." },
        { "resample", native_run_resample, METH_VARARGS,
          "resample(column, start_utc_ns, step_ns, n)\n--\n\nA sampled column on a grid, by "
          "worker." },
        { "resample_rate", native_run_resample_rate, METH_VARARGS,
          "resample_rate(column, start_utc_ns, step_ns, n)\n--\n\nWhat a counter grew by per "
          "second, on a grid, by worker." },
        { "resample_workers", native_run_resample_workers, METH_VARARGS,
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
        { "copy_in_memory", (PyCFunction)(void (*)(void))run_copy_in_memory,
          METH_VARARGS | METH_KEYWORDS,
          "copy_in_memory(without=())\n--\n\nA copy to which rows can be added, without those of "
          "some tables." },
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
