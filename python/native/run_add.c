/* Methods of _roast.Run that take plain data: reports, records, samples, metrics */

#include <math.h>
#include <string.h>

#include "roast-run.h"
#include "run.h"
#include "source.h"
#include "util/cleanup.h"
#include "v1/plain.h"
#include "v1/v1.h"

typedef bool (*run_reader)(struct roast_run *run, struct source *in, struct roast_error *error);

/* None, or an exception: that of an object that was read, or the run's error */
static PyObject *run_added(bool good, const struct roast_error *error)
{
        if (error->code < 0) {
                PyErr_Clear();
                return native_raise(error);
        }
        if (!good && !PyErr_Occurred())
                PyErr_NoMemory();
        return good ? Py_NewRef(Py_None) : NULL;
}

/* Lets a function read an object into the run; None adds nothing. */
static PyObject *run_add_plain(PyObject *self, PyObject *value, run_reader read)
{
        ROAST_CLEANUP(source_python_deinit) struct source_python py;
        struct source *in = source_python_init(&py);
        struct roast_error error = { 0 };
        struct roast_run *run;
        bool good;

        if (value == Py_None)
                Py_RETURN_NONE;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        source_python_set(&py, value);
        good = read(run, in, &error);
        native_run_unlock(self);
        return run_added(good, &error);
}

/* add_times(t_start, t_end): seconds */
PyObject *native_run_add_times(PyObject *self, PyObject *args)
{
        struct roast_error error = { 0 };
        double start_s, end_s;
        struct roast_run *run;
        int r;

        if (!PyArg_ParseTuple(args, "dd:add_times", &start_s, &end_s))
                return NULL;
        run = native_run_enter(self);
        if (!run)
                return NULL;
        if (isfinite(end_s - start_s))
                r = roast_run_fact_real(run, "run.elapsed_ns", (end_s - start_s) * 1e9, &error);
        else
                r = roast_run_fact_absent(run, "run.elapsed_ns", "the times are not finite",
                                          &error);
        return native_run_leave(self, r, &error);
}

/* add_report(report, custom_metrics=None, fallback=False) */
PyObject *native_run_add_report(PyObject *self, PyObject *args, PyObject *kwargs)
{
        static char *names[] = { (char *)"report", (char *)"custom_metrics", (char *)"fallback",
                                 NULL };
        PyObject *report, *custom = Py_None, *done;
        struct roast_error error = { 0 };
        struct roast_run *run;
        int fallback = 0, r;

        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op:add_report", names, &report, &custom,
                                         &fallback))
                return NULL;
        done = run_add_plain(self, report, v1_report_read);
        if (done) {
                Py_DECREF(done);
                done = custom == Py_None ? PyDict_New() : Py_NewRef(custom);
        }
        if (done) {
                PyObject *figures = done;

                done = run_add_plain(self, figures, v1_custom_read);
                Py_DECREF(figures);
        }
        if (!done || !fallback)
                return done;
        Py_DECREF(done);
        run = native_run_enter(self);
        if (!run)
                return NULL;
        r = roast_run_fact_text(run, "report.fallback", "elapsed", &error);
        return native_run_leave(self, r, &error);
}

/* As documented: no key is another dataset than None, and a chunk that finished took some time */
static bool run_check_record(struct v1_record *record, struct source *in, bool timed)
{
        static const struct json_text unknown = { "unknown", 7 };
        struct v1_value *dataset = &record->values[CHUNK_DATASET];

        if (timed && !record->has_duration &&
            record->values[CHUNK_OUTCOME].integer == CHUNK_FINISHED) {
                PyErr_SetString(PyExc_KeyError, "duration");
                return false;
        }
        if (record->has_dataset)
                return true;
        *dataset = (struct v1_value){ .type = V1_TEXT, .len = unknown.len };
        return v1_keep_text(record, in, &unknown, &dataset->at);
}

/* Names the keys that are to be read; None: all of them. 0, or -1 with an exception */
static int run_pick_keys(struct v1_record *record, PyObject *keys)
{
        for (Py_ssize_t i = 0; keys != Py_None && i < PyTuple_Size(keys); i++) {
                struct json_text key;
                Py_ssize_t len;

                key.data = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(keys, i), &len);
                if (!key.data)
                        return -1;
                key.len = (size_t)len;
                v1_record_pick(record, &key);
        }
        return PyErr_Occurred() ? -1 : 0;
}

static PyObject *run_add_each(PyObject *self, PyObject *records, bool exact, bool timed,
                              PyObject *keys)
{
        ROAST_CLEANUP(v1_record_deinit) struct v1_record record = { 0 };
        ROAST_CLEANUP(source_python_deinit) struct source_python py;
        struct source *in = source_python_init(&py);
        PyObject *iterator = PyObject_GetIter(records), *item;
        struct roast_error error = { 0 };
        bool good = iterator && run_pick_keys(&record, keys) == 0;

        while (good && (item = PyIter_Next(iterator))) {
                struct roast_run *run = NULL;

                source_python_set(&py, item);
                if (source_type(in) != JSON_OBJECT)
                        PyErr_Format(PyExc_TypeError, "a chunk record must be a mapping, not %R",
                                     Py_TYPE(item));
                else if (v1_record_read(&record, in) && run_check_record(&record, in, timed))
                        run = native_run_enter(self); /* what is read may ask the run itself */
                Py_DECREF(item);
                good = run && v1_record_add(&record, run, exact, &error) >= 0;
                if (run)
                        native_run_unlock(self);
        }
        Py_XDECREF(iterator);
        return run_added(good && !PyErr_Occurred(), &error);
}

/* add_records(records, exact=False, timed=False, keys=None): dicts, or Records */
PyObject *native_run_add_records(PyObject *self, PyObject *args, PyObject *kwargs)
{
        static char *names[] = { (char *)"records", (char *)"exact", (char *)"timed",
                                 (char *)"keys", NULL };
        PyObject *records, *keys = Py_None, *bytes, *packed, *done = NULL;
        int exact = 0, timed = 0;

        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|ppO:add_records", names, &records, &exact,
                                         &timed, &keys))
                return NULL;
        if (!PyObject_HasAttrString(records, "blocks")) /* as Records have */
                return run_add_each(self, records, exact, timed, keys);
        bytes = PyObject_CallMethod(records, "to_bytes", NULL);
        packed = bytes ? PyTuple_Pack(1, bytes) : NULL;
        if (packed)
                done = native_run_add_chunks(self, packed);
        Py_XDECREF(bytes);
        Py_XDECREF(packed);
        if (!done)
                return NULL;
        Py_DECREF(done);
        Py_RETURN_NONE;
}

PyObject *native_run_add_sections(PyObject *self, PyObject *sections)
{
        return run_add_plain(self, sections, v1_sections_read);
}

PyObject *native_run_add_spans(PyObject *self, PyObject *spans)
{
        return run_add_plain(self, spans, v1_spans_add);
}

PyObject *native_run_add_tracking(PyObject *self, PyObject *tracking_data)
{
        return run_add_plain(self, tracking_data, v1_samples_read);
}

/* mapping[key], if it is there: 0, or -1 with an exception */
static int run_pick(PyObject *picked, PyObject *mapping, const char *key)
{
        PyObject *value = PyMapping_GetItemString(mapping, key);

        if (value)
                return native_put(picked, key, value);
        if (!PyErr_ExceptionMatches(PyExc_KeyError))
                return -1;
        PyErr_Clear();
        return 0;
}

/* What of a mapping a run knows; the rest, which may be large or not made yet, is not touched. */
static PyObject *run_pick_metrics(PyObject *mapping)
{
        PyObject *picked = PyDict_New();
        int r = picked ? 0 : -1;

        for (int i = 0; r == 0 && i < ROAST_N_METRICS; i++)
                r = run_pick(picked, mapping, roast_metrics[i].key);
        if (r < 0 || run_pick(picked, mapping, "per_dataset") < 0 ||
            run_pick(picked, mapping, "sections") < 0)
                Py_CLEAR(picked);
        return picked;
}

/* A dict that the mapping may have as an attribute; None: it has none */
static PyObject *run_attribute(PyObject *mapping, const char *name)
{
        PyObject *value = PyObject_GetAttrString(mapping, name);

        if (value && PyDict_Check(value))
                return value;
        PyErr_Clear();
        Py_XDECREF(value);
        return Py_NewRef(Py_None);
}

static PyObject *run_call_fact(PyObject *self, const char *key, const char *part, PyObject *value,
                               PyObject *reason)
{
        PyObject *name =
                PyUnicode_FromFormat("metric.%s%s%s", key, part ? "." : "", part ? part : "");
        PyObject *number = NULL, *args, *done;

        if (!PyUnicode_Check(value) && value != Py_None && !PyLong_Check(value) &&
            !PyFloat_Check(value)) {
                number = PyNumber_Float(value); /* NumPy's */
                PyErr_Clear();
                value = number ? number : Py_None;
        }
        args = name ? Py_BuildValue("(OOO)", name, value, reason) : NULL;
        done = args ? native_run_fact(self, args) : NULL;
        Py_XDECREF(name);
        Py_XDECREF(args);
        Py_XDECREF(number);
        return done;
}

/* The user's own metrics: {key: {"title", "unit", "better"}} */
static int run_add_customs(PyObject *self, PyObject *mapping, PyObject *customs, PyObject *absent)
{
        static const char *const parts[] = { "title", "unit", "better" };
        PyObject *name, *about;
        Py_ssize_t at = 0;

        while (customs != Py_None && PyDict_Next(customs, &at, &name, &about)) {
                const char *key =
                        PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
                PyObject *reason, *value, *done;

                if (!key)
                        continue;
                reason = absent != Py_None ? PyDict_GetItemWithError(absent, name) : NULL;
                value = reason ? Py_NewRef(Py_None) : PyObject_GetItem(mapping, name);
                PyErr_Clear();
                done = run_call_fact(self, key, NULL, value ? value : Py_None,
                                     reason ? reason : Py_None);
                Py_XDECREF(value);
                for (size_t i = 0; done && PyDict_Check(about) && i < 3; i++) {
                        PyObject *text = PyDict_GetItemString(about, parts[i]);

                        if (!text || !PyUnicode_Check(text))
                                continue;
                        Py_DECREF(done);
                        done = run_call_fact(self, key, parts[i], text, Py_None);
                }
                if (!done)
                        return -1;
                Py_DECREF(done);
        }
        return 0;
}

/* add_metrics(mapping): figures by key, in the place of what is measured */
PyObject *native_run_add_metrics(PyObject *self, PyObject *mapping)
{
        PyObject *objects[3] = { run_pick_metrics(mapping), run_attribute(mapping, "absent"),
                                 run_attribute(mapping, "estimated") };
        PyObject *customs = run_attribute(mapping, "custom"), *done = NULL;
        struct source_python sources[3];
        struct roast_error error = { 0 };
        struct roast_run *run = objects[0] ? native_run_enter(self) : NULL;
        bool good = run;

        for (size_t i = 0; i < 3; i++) {
                source_python_init(&sources[i]);
                source_python_set(&sources[i], objects[i] ? objects[i] : Py_None);
        }
        if (run) {
                good = v1_given_read(run, &sources[0].source, &sources[1].source,
                                     &sources[2].source, &error);
                native_run_unlock(self);
        }
        done = run_added(good, &error);
        if (done && run_add_customs(self, mapping, customs, objects[1]) < 0)
                Py_CLEAR(done);
        for (size_t i = 0; i < 3; i++) {
                source_python_deinit(&sources[i]);
                Py_XDECREF(objects[i]);
        }
        Py_DECREF(customs);
        return done;
}
