/*
 * _probe.Sampler: the native sampler thread of a worker process, and blocks
 *
 * Rows become blocks of timeline/block.h: times in ms UTC, values in units of
 * their resolution, names in SAMPLER_COLUMNS as roast_run_add_series() wants them.
 */

#include <stdlib.h>

#include "probe.h"
#include "probe/sampler.h"
#include "probe/watch.h"
#include "timeline/block.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define TAKE_MAX    1024
#define NS_PER_MS   1000000
#define CLOCK_FIRST (SAMPLE_UTC_OFFSET_NS + 1) /* behind the columns of the clock */

typedef struct {
        PyObject_HEAD struct sampler *sampler;
} SamplerObject;

static PyObject *sampler_object_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
        static char *names[] = { (char *)"interval", NULL };
        struct sampler_options options = { 0 };
        PyObject *(*alloc)(PyTypeObject *, Py_ssize_t) =
                (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(type, Py_tp_alloc);
        SamplerObject *self;
        int r;

        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|d", names, &options.interval_s))
                return NULL;
        self = (SamplerObject *)alloc(type, 0);
        if (!self)
                return NULL;
        r = sampler_new(&self->sampler, &options);
        if (r == ROAST_E_INVALID)
                PyErr_Format(PyExc_ValueError, "the interval must be from %s to %s seconds", "0.05",
                             "60");
        else if (r < 0)
                PyErr_NoMemory();
        if (r < 0) {
                Py_DECREF(self);
                return NULL;
        }
        return (PyObject *)self;
}

static void sampler_object_dealloc(PyObject *object)
{
        SamplerObject *self = (SamplerObject *)object;
        PyTypeObject *type = Py_TYPE(object);
        freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

        Py_BEGIN_ALLOW_THREADS sampler_free(self->sampler);
        Py_END_ALLOW_THREADS release(object);
        Py_DECREF(type);
}

static PyObject *sampler_object_start(PyObject *object, PyObject *unused)
{
        (void)unused;
        if (sampler_start(((SamplerObject *)object)->sampler) < 0) {
                PyErr_SetString(PyExc_RuntimeError, "the sampler's thread cannot be started");
                return NULL;
        }
        Py_RETURN_NONE;
}

static PyObject *sampler_object_stop(PyObject *object, PyObject *unused)
{
        (void)unused;
        Py_BEGIN_ALLOW_THREADS sampler_stop(((SamplerObject *)object)->sampler);
        Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* Rows to columns, absolute times to ms UTC, values to units of their resolution */
static int sampler_encode_rows(const int64_t *rows, size_t n, int64_t utc_offset_ns,
                               struct buf *out, struct roast_error *error)
{
        size_t width = N_SAMPLES, k = width - CLOCK_FIRST;
        ROAST_CLEANUP(cleanup_free) int64_t *cells = malloc((k + 1) * n * sizeof(*cells));
        ROAST_CLEANUP(cleanup_free) const int64_t **series = malloc(k * sizeof(*series));

        if (!cells || !series)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < n; i++)
                cells[i] = (rows[i * width] + utc_offset_ns) / NS_PER_MS;
        for (size_t j = 0; j < k; j++) {
                int64_t resolution = probe_columns[j + CLOCK_FIRST].resolution;
                int64_t *column = cells + (j + 1) * n;

                for (size_t i = 0; i < n; i++) {
                        int64_t value = rows[i * width + j + CLOCK_FIRST];

                        column[i] = value < 0 ? PROBE_ABSENT : value / resolution;
                }
                series[j] = column;
        }
        return block_encode(out, cells, series, n, k, error);
}

/* take() -> a block of the rows since the last call, or None */
static PyObject *sampler_object_take(PyObject *object, PyObject *unused)
{
        SamplerObject *self = (SamplerObject *)object;
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) int64_t *rows = NULL;
        int64_t utc_offset_ns = clock_utc_offset_ns();
        struct roast_error error = { 0 };
        size_t n;

        (void)unused;
        if (utc_offset_ns == PROBE_ABSENT) /* the rows wait until their time can be told */
                Py_RETURN_NONE;
        rows = malloc(TAKE_MAX * N_SAMPLES * sizeof(*rows));
        if (!rows)
                return PyErr_NoMemory();
        n = sampler_take(self->sampler, rows, TAKE_MAX);
        if (n == 0)
                Py_RETURN_NONE;
        if (sampler_encode_rows(rows, n, utc_offset_ns, &out, &error) < 0)
                return native_raise(&error);
        return PyBytes_FromStringAndSize((const char *)out.data, (Py_ssize_t)out.len);
}

static PyObject *sampler_object_read(PyObject *object, PyObject *unused)
{
        int r;

        (void)unused;
        Py_BEGIN_ALLOW_THREADS r = sampler_read(((SamplerObject *)object)->sampler);
        Py_END_ALLOW_THREADS if (r < 0) return PyErr_NoMemory();
        Py_RETURN_NONE;
}

static PyObject *sampler_object_state(PyObject *object, PyObject *unused)
{
        struct sampler_state state;

        (void)unused;
        sampler_state(((SamplerObject *)object)->sampler, &state);
        return Py_BuildValue("{s:K,s:K,s:K,s:L}", "rows", (unsigned long long)state.rows, "dropped",
                             (unsigned long long)state.dropped, "missed",
                             (unsigned long long)state.missed, "cpu_ns", (long long)state.cpu_ns);
}

static PyObject *sampler_object_cpu_ns(PyObject *object, void *unused)
{
        (void)unused;
        return PyLong_FromLongLong(sampler_cpu_ns(((SamplerObject *)object)->sampler));
}

static PyMethodDef methods[] = {
        { "start", sampler_object_start, METH_NOARGS, "start()\n--\n\nStarts the thread." },
        { "stop", sampler_object_stop, METH_NOARGS, "stop()\n--\n\nStops the thread." },
        { "read", sampler_object_read, METH_NOARGS, "read()\n--\n\nAdds a row now." },
        { "take", sampler_object_take, METH_NOARGS,
          "take()\n--\n\nA block of the rows since the last call, or None." },
        { "state", sampler_object_state, METH_NOARGS,
          "state()\n--\n\nrows, dropped, missed, cpu_ns." },
        { 0 },
};

static PyGetSetDef attributes[] = {
        { "cpu_ns", sampler_object_cpu_ns, NULL, "CPU time of the thread so far", NULL },
        { 0 },
};

static PyType_Slot slots[] = {
        { Py_tp_doc, (void *)"Sampler(interval=1.0)\n--\n\n"
                             "Samples this process and its host in a thread of its own." },
        { Py_tp_new, sampler_object_new },
        { Py_tp_dealloc, sampler_object_dealloc },
        { Py_tp_methods, methods },
        { Py_tp_getset, attributes },
        { 0 },
};

static PyType_Spec spec = {
        .name = "roastcoffea._probe.Sampler",
        .basicsize = sizeof(SamplerObject),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
};

static const struct probe_column *sampler_sampled_column(size_t index)
{
        return index + CLOCK_FIRST < N_SAMPLES ? &probe_columns[index + CLOCK_FIRST] : NULL;
}

int native_add_columns(PyObject *module, const char *name,
                       const struct probe_column *(*column_at)(size_t index))
{
        ROAST_CLEANUP(buf_deinit) struct buf names = BUF_INIT;
        const struct probe_column *column;
        PyObject *text = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && (column = column_at(i)); i++) {
                r = buf_printf(&names, "%s%s", i ? "," : "", column->name);
                if (r >= 0 && column->resolution != 1)
                        r = buf_printf(&names, "/%lld", (long long)column->resolution);
        }
        if (r < 0)
                PyErr_NoMemory();
        else
                text = PyUnicode_FromStringAndSize((const char *)names.data, (Py_ssize_t)names.len);
        r = text ? PyModule_AddObjectRef(module, name, text) : -1;
        Py_XDECREF(text);
        return r;
}

int native_add_sampler(PyObject *module)
{
        PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
        int r = type ? PyModule_AddObjectRef(module, "Sampler", type) : -1;

        Py_XDECREF(type);
        return r < 0 ? r : native_add_columns(module, "SAMPLER_COLUMNS", sampler_sampled_column);
}

/* set_utc_offset(ns) */
PyObject *native_set_utc_offset(PyObject *module, PyObject *number)
{
        long long ns = PyLong_AsLongLong(number);

        (void)module;
        if (ns == -1 && PyErr_Occurred())
                return NULL;
        clock_set_utc_offset(ns);
        Py_RETURN_NONE;
}

static int sampler_fill_column(int64_t *column, PyObject *values, Py_ssize_t n)
{
        for (Py_ssize_t i = 0; i < n; i++) {
                PyObject *item = PySequence_GetItem(values, i);

                column[i] = item ? PyLong_AsLongLong(item) : 0;
                Py_XDECREF(item);
                if (PyErr_Occurred())
                        return -1;
        }
        return 0;
}

/* watcher_cpu_ns() -> int */
PyObject *native_watcher_cpu_ns(PyObject *module, PyObject *nothing)
{
        (void)module;
        (void)nothing;
        return PyLong_FromLongLong(probe_watch_cpu_ns());
}

/* encode_block(times_ms, columns) -> bytes */
PyObject *native_encode_block(PyObject *module, PyObject *args)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) int64_t *cells = NULL;
        const int64_t *series[BLOCK_SERIES_MAX];
        struct roast_error error = { 0 };
        PyObject *times, *columns;
        Py_ssize_t n, k;

        (void)module;
        if (!PyArg_ParseTuple(args, "OO", &times, &columns))
                return NULL;
        n = PySequence_Size(times);
        k = PySequence_Size(columns);
        if (n < 0 || k < 0)
                return NULL;
        if (n > BLOCK_ROWS_MAX || k > BLOCK_SERIES_MAX) {
                PyErr_SetString(PyExc_ValueError, "too many rows or series for one block");
                return NULL;
        }
        cells = malloc(((size_t)k + 1) * ((size_t)n + 1) * sizeof(*cells));
        if (!cells)
                return PyErr_NoMemory();
        if (sampler_fill_column(cells, times, n) < 0)
                return NULL;
        for (Py_ssize_t j = 0; j < k; j++) {
                PyObject *column = PySequence_GetItem(columns, j);
                int r = column ? sampler_fill_column(cells + (j + 1) * n, column, n) : -1;

                Py_XDECREF(column);
                if (r < 0)
                        return NULL;
                series[j] = cells + (j + 1) * n;
        }
        if (block_encode(&out, cells, series, (size_t)n, (size_t)k, &error) < 0)
                return native_raise(&error);
        return PyBytes_FromStringAndSize((const char *)out.data, (Py_ssize_t)out.len);
}
