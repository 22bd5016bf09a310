/* The documented metrics dict of a run as Python's objects, and as a measurement directory */

#include <stdlib.h>

#include "emit.h"
#include "roast-export.h"
#include "run.h"
#include "v1/documented.h"

/* All that is not large, and which large parts there are: (dict, [key]) */
static PyObject *run_put_all(const struct v1_source *source, struct roast_error *error)
{
        struct emit_python python;
        struct emit *emit = &python.emit;
        int r = 0;

        emit_python_init(&python);
        emit_tuple(emit, 2);
        emit_object(emit);
        v1_put_figures(source, emit);
        for (const struct v1_part *part = v1_parts; part->key && r >= 0; part++) {
                if (part->large || !v1_part_is_there(part, source))
                        continue;
                emit_key(emit, part->key);
                r = v1_put_part(part, source, emit, error);
        }
        emit_end(emit);
        emit_array(emit);
        for (const struct v1_part *part = v1_parts; part->key && r >= 0; part++)
                if (part->large && v1_part_is_there(part, source))
                        emit_text(emit, part->key);
        emit_end(emit);
        emit_end(emit);
        return emit_python_end(&python, r, error);
}

static PyObject *run_put_part(const struct v1_source *source, const char *key,
                              struct roast_error *error)
{
        struct emit_python python;
        const struct v1_part *part = v1_parts;
        int r;

        while (part->key && strcmp(part->key, key) != 0)
                part++;
        emit_python_init(&python);
        r = part->key ? v1_put_part(part, source, &python.emit, error)
                      : roast_fail(error, ROAST_E_NOENT, "there is no part '%s'", key);
        return emit_python_end(&python, r, error);
}

/* documented(summary, with_workers, key=None): with_workers < 0: as the run says */
PyObject *native_run_documented(PyObject *self, PyObject *args)
{
        struct roast_error error = { 0 };
        PyObject *summary, *result = NULL;
        struct v1_source source;
        struct roast_run *run;
        const char *key = NULL;
        int with_workers, r;

        if (!PyArg_ParseTuple(args, "Oi|z:documented", &summary, &with_workers, &key))
                return NULL;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        r = roast_run_commit(run, &error);
        if (r >= 0)
                r = v1_source_init(&source, run, native_summary_of(summary), &error);
        if (r < 0) {
                native_raise(&error);
        } else {
                if (with_workers >= 0)
                        source.with_workers = with_workers;
                result = key ? run_put_part(&source, key, &error) : run_put_all(&source, &error);
                v1_source_deinit(&source);
        }
        native_run_unlock(self);
        return result;
}

/* grid() -> (start_utc_ns, step_ns, n) of the run's tracking data, or None */
PyObject *native_run_grid(PyObject *self, PyObject *unused)
{
        struct roast_error error = { 0 };
        struct roast_run *run = native_run_enter(self);
        struct roast_grid grid = { 0 };
        PyObject *done;
        int r;

        (void)unused;
        if (!run)
                return NULL;
        r = roast_run_commit(run, &error);
        if (r >= 0)
                r = v1_grid_of_run(&grid, run, &error);
        done = native_run_leave(self, r, &error);
        if (!done || !grid.n)
                return done;
        Py_DECREF(done);
        return Py_BuildValue("(LLn)", (long long)grid.start_utc_ns, (long long)grid.step_ns,
                             (Py_ssize_t)grid.n);
}

/* tracking(key, start_utc_ns, step_ns, times): a documented series at these datetimes */
PyObject *native_run_tracking(PyObject *self, PyObject *args)
{
        struct roast_error error = { 0 };
        struct emit_python python;
        long long start_ns, step_ns;
        struct roast_grid grid;
        struct roast_run *run;
        PyObject *times, *result;
        const char *key;
        int r;

        if (!PyArg_ParseTuple(args, "sLLO:tracking", &key, &start_ns, &step_ns, &times))
                return NULL;
        grid = (struct roast_grid){ start_ns, step_ns, (size_t)PyList_Size(times) };
        if (PyErr_Occurred() || !(run = native_run_enter(self)))
                return NULL;
        emit_python_init(&python);
        python.times = times;
        python.start_ns = start_ns;
        python.step_ns = step_ns;
        r = roast_run_commit(run, &error);
        if (r >= 0)
                r = v1_put_series(run, &grid, key, false, &python.emit, &error);
        result = emit_python_end(&python, r, &error);
        native_run_unlock(self);
        return result;
}

/* utc_times(start_utc_ns, step_ns, n) -> [naive datetime] */
PyObject *native_utc_times(PyObject *module, PyObject *args)
{
        struct emit_python python;
        long long start_ns, step_ns;
        Py_ssize_t n;

        (void)module;
        if (!PyArg_ParseTuple(args, "LLn:utc_times", &start_ns, &step_ns, &n))
                return NULL;
        emit_python_init(&python);
        emit_array(&python.emit);
        for (Py_ssize_t i = 0; i < n; i++)
                emit_time(&python.emit, start_ns + i * step_ns);
        emit_end(&python.emit);
        return emit_python_value(&python);
}

/* ---- measurements ---- */

/* {key as bytes: JSON or None} as pairs; the dict keeps the texts. -1: an exception */
static int run_read_pairs(PyObject *dict, struct roast_v1_pair **pairs, size_t *n)
{
        PyObject *key, *value;
        Py_ssize_t at = 0;

        *n = 0;
        *pairs = calloc((size_t)PyDict_Size(dict) + 1, sizeof(**pairs));
        if (!*pairs) {
                PyErr_NoMemory();
                return -1;
        }
        while (PyDict_Next(dict, &at, &key, &value)) {
                struct roast_v1_pair *pair = &(*pairs)[(*n)++];

                pair->key = PyBytes_AsString(key);
                if (pair->key && value != Py_None)
                        pair->json = PyUnicode_AsUTF8AndSize(value, NULL);
                if (PyErr_Occurred())
                        return -1;
        }
        return 0;
}

/*
 * save_v1(run, path, summary, start_s, end_s, config, pairs): a measurement directory, which may
 * replace another one. Without a summary metrics.json has the pairs alone.
 */
PyObject *native_save_v1(PyObject *module, PyObject *args)
{
        struct roast_v1_options options = { .replace = true, .has_times = true };
        PyObject *self, *path, *summary, *pairs;
        struct roast_v1_pair *read = NULL;
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        int r = -1;

        (void)module;
        if (!PyArg_ParseTuple(args, "OO&OddzO!:save_v1", &self, PyUnicode_FSConverter, &path,
                              &summary, &options.start_s, &options.end_s, &options.config,
                              &PyDict_Type, &pairs))
                return NULL;
        if (run_read_pairs(pairs, &read, &options.n_pairs) == 0 &&
            (self == Py_None || (run = native_run_enter(self)))) {
                options.pairs = read;
                options.only_pairs = summary == Py_None;
                options.summary = summary == Py_None ? NULL : native_summary_of(summary);
                Py_BEGIN_ALLOW_THREADS r =
                        roast_export_v1(run, PyBytes_AsString(path), &options, &error);
                Py_END_ALLOW_THREADS if (run) native_run_unlock(self);
                if (r < 0)
                        native_raise(&error);
        }
        free(read);
        Py_DECREF(path);
        if (r < 0)
                return NULL;
        Py_RETURN_NONE;
}
