/*
 * Objects of Python as plain values: see source.h.
 *
 * A dict is a dict, anything else with keys() a mapping, anything else that can be walked an array;
 * a number is whatever has an index or a float, such as NumPy's. What the objects raise is raised.
 */

#include <math.h>
#include <stdlib.h>

#include "cbor.h"
#include "source.h"
#include "util/cleanup.h"

static struct source_python *source_of(struct source *in)
{
        return (struct source_python *)in;
}

static bool source_good(struct source *in, bool good)
{
        if (!good)
                in->bad = true;
        return good;
}

/* Of what is no plain float, int, str, dict, list or None */
static enum json_type source_odd_type(PyObject *value)
{
        if (PyBool_Check(value))
                return JSON_BOOL;
        if (PyUnicode_Check(value))
                return JSON_STRING;
        if (PyLong_Check(value) || PyFloat_Check(value))
                return JSON_NUMBER;
        if (PyDict_Check(value))
                return JSON_OBJECT;
        if (PyTuple_Check(value) || PyList_Check(value) || PyAnySet_Check(value))
                return JSON_ARRAY;
        if (PyBytes_Check(value) || PyByteArray_Check(value))
                return JSON_NULL;
        if (PyObject_HasAttrString(value, "keys"))
                return JSON_OBJECT;
        if (PyIndex_Check(value) || PyType_GetSlot(Py_TYPE(value), Py_nb_float)) {
                if (PySequence_Check(value) && PyObject_Size(value) >= 0)
                        return JSON_ARRAY;
                PyErr_Clear();
                return JSON_NUMBER;
        }
        return PyType_GetSlot(Py_TYPE(value), Py_tp_iter) ? JSON_ARRAY : JSON_NULL;
}

static enum json_type source_type_of(PyObject *value)
{
        if (PyFloat_CheckExact(value) || PyLong_CheckExact(value))
                return JSON_NUMBER;
        if (PyUnicode_CheckExact(value))
                return JSON_STRING;
        if (PyDict_CheckExact(value))
                return JSON_OBJECT;
        if (PyList_CheckExact(value))
                return JSON_ARRAY;
        return value == Py_None ? JSON_NULL : source_odd_type(value);
}

static enum json_type source_py_type(struct source *in)
{
        return source_type_of(source_of(in)->value);
}

static void source_frame_clear(struct source_frame *frame)
{
        Py_CLEAR(frame->key);
        Py_CLEAR(frame->value);
        Py_CLEAR(frame->dict);
        Py_CLEAR(frame->iterator);
}

static bool source_py_enter(struct source *in)
{
        struct source_python *py = source_of(in);
        struct source_frame *frame = &py->frames[py->depth];
        PyObject *pairs;

        if (py->depth == SOURCE_DEPTH)
                return source_fail(in, "it is nested too deeply");
        *frame = (struct source_frame){ 0 };
        if (PyDict_CheckExact(py->value)) {
                frame->dict = Py_NewRef(py->value);
        } else if (source_type_of(py->value) == JSON_OBJECT) {
                pairs = PyMapping_Items(py->value);
                frame->iterator = pairs ? PyObject_GetIter(pairs) : NULL;
                Py_XDECREF(pairs);
        } else {
                frame->iterator = PyObject_GetIter(py->value);
        }
        if (!frame->dict && !frame->iterator)
                return source_good(in, false);
        py->depth++;
        return true;
}

/* The walk over the innermost container has ended, well or not. */
static bool source_py_leave(struct source_python *py)
{
        source_frame_clear(&py->frames[--py->depth]);
        source_good(&py->source, !PyErr_Occurred());
        return false;
}

static bool source_next_pair(struct source_frame *frame)
{
        PyObject *pair = PyIter_Next(frame->iterator);

        if (!pair)
                return false;
        frame->key = PySequence_GetItem(pair, 0);
        frame->value = frame->key ? PySequence_GetItem(pair, 1) : NULL;
        Py_DECREF(pair);
        return frame->value;
}

static bool source_next_of_dict(struct source_frame *frame)
{
        if (!PyDict_Next(frame->dict, &frame->at, &frame->key, &frame->value)) {
                frame->key = frame->value = NULL;
                return false;
        }
        Py_INCREF(frame->key);
        Py_INCREF(frame->value);
        return true;
}

static bool source_py_key(struct source *in)
{
        struct source_python *py = source_of(in);
        struct source_frame *frame = &py->frames[py->depth - 1];

        if (in->bad)
                return false;
        Py_CLEAR(frame->key);
        Py_CLEAR(frame->value);
        if (frame->dict ? !source_next_of_dict(frame) : !source_next_pair(frame))
                return source_py_leave(py);
        py->value = frame->value;
        in->key = NULL;
        if (py->depth == 1 && frame->place < SOURCE_PLACES && PyUnicode_CheckExact(frame->key)) {
                PyObject **kept = &py->kept[frame->place++];

                if (*kept != frame->key) {
                        Py_XDECREF(*kept);
                        *kept = Py_NewRef(frame->key);
                }
                in->key = frame->key;
        }
        return true;
}

static bool source_py_element(struct source *in)
{
        struct source_python *py = source_of(in);
        struct source_frame *frame = &py->frames[py->depth - 1];

        if (in->bad)
                return false;
        Py_CLEAR(frame->value);
        frame->value = PyIter_Next(frame->iterator);
        if (!frame->value)
                return source_py_leave(py);
        py->value = frame->value;
        return true;
}

/* The text of a str; of one that is not UTF-8 as the bytes that it has in a run, or none */
static bool source_text_of(struct source_python *py, PyObject *object, struct json_text *text)
{
        Py_ssize_t len = 0;

        *text = (struct json_text){ 0 };
        if (!PyUnicode_Check(object))
                return true;
        text->data = PyUnicode_AsUTF8AndSize(object, &len);
        if (!text->data) {
                PyErr_Clear();
                Py_XDECREF(py->bytes);
                py->bytes = native_text_bytes(object);
                if (!py->bytes) {
                        PyErr_Clear();
                        return true;
                }
                text->data = PyBytes_AsString(py->bytes);
                len = PyBytes_Size(py->bytes);
        }
        text->len = (size_t)len;
        return true;
}

static bool source_py_text(struct source *in, struct json_text *text)
{
        return source_text_of(source_of(in), source_of(in)->value, text);
}

/* A key that is no str is its str(); None has none. */
static bool source_py_key_text(struct source *in, struct json_text *text)
{
        struct source_python *py = source_of(in);
        struct source_frame *frame = &py->frames[py->depth - 1];

        if (!PyUnicode_Check(frame->key) && frame->key != Py_None) {
                PyObject *shown = PyObject_Str(frame->key);

                if (!shown)
                        return source_good(in, false);
                Py_DECREF(frame->key);
                frame->key = shown;
        }
        return source_text_of(py, frame->key, text);
}

/* An exact integer where the object is one and fits; 1, 0, or -1 with an exception set. */
static int source_whole_of(PyObject *value, int64_t *whole)
{
        PyObject *integer;
        int overflow;

        if (PyLong_CheckExact(value)) {
                *whole = PyLong_AsLongLongAndOverflow(value, &overflow);
                return !overflow;
        }
        if (PyFloat_Check(value) || !PyIndex_Check(value))
                return 0;
        integer = PyNumber_Index(value);
        if (!integer) {
                if (!PyErr_ExceptionMatches(PyExc_TypeError))
                        return -1;
                PyErr_Clear(); /* an array of several numbers has the slot, too */
                return 0;
        }
        *whole = PyLong_AsLongLongAndOverflow(integer, &overflow);
        Py_DECREF(integer);
        return !overflow;
}

static bool source_number_of(PyObject *value, struct json_number *number)
{
        int r;

        *number = (struct json_number){ .real = (double)NAN };
        r = source_whole_of(value, &number->integer);
        if (r < 0)
                return false;
        number->whole = r > 0;
        number->real = r > 0 ? (double)number->integer : PyFloat_AsDouble(value);
        if (number->real != -1 || r > 0 || !PyErr_Occurred())
                return true;
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
                number->real = (double)INFINITY;
        else if (PyErr_ExceptionMatches(PyExc_TypeError) ||
                 PyErr_ExceptionMatches(PyExc_ValueError))
                number->real = (double)NAN;
        else
                return false;
        PyErr_Clear();
        return true;
}

static bool source_py_number(struct source *in, struct json_number *number)
{
        return source_good(in, source_number_of(source_of(in)->value, number));
}

static bool source_py_boolean(struct source *in, bool *value)
{
        int truth = PyObject_IsTrue(source_of(in)->value);

        *value = truth > 0;
        return source_good(in, truth >= 0);
}

/* datetime(1970, 1, 1), with a zone or without */
static PyObject *source_epoch(struct source_python *py, bool aware)
{
        PyObject *module, *zone = NULL;

        if (py->epochs[aware])
                return py->epochs[aware];
        module = PyImport_ImportModule("datetime");
        if (module && aware) {
                PyObject *zones = PyObject_GetAttrString(module, "timezone");

                zone = zones ? PyObject_GetAttrString(zones, "utc") : NULL;
                Py_XDECREF(zones);
        }
        if (module && (zone || !aware))
                py->epochs[aware] = PyObject_CallMethod(module, "datetime", "iiiiiiiO", 1970, 1, 1,
                                                        0, 0, 0, 0, zone ? zone : Py_None);
        Py_XDECREF(zone);
        Py_XDECREF(module);
        return py->epochs[aware];
}

static bool source_attribute(PyObject *object, const char *name, int64_t *value)
{
        PyObject *attribute = PyObject_GetAttrString(object, name);

        *value = attribute ? PyLong_AsLongLong(attribute) : 0;
        Py_XDECREF(attribute);
        return !PyErr_Occurred();
}

/* A datetime, to its last digit */
static bool source_datetime_of(struct source_python *py, PyObject *time, struct json_number *ns)
{
        PyObject *zone = PyObject_GetAttrString(time, "tzinfo"), *epoch, *since;
        int64_t days = 0, seconds = 0, microseconds = 0;
        bool good;

        if (!zone)
                PyErr_Clear();
        epoch = source_epoch(py, zone && zone != Py_None);
        Py_XDECREF(zone);
        since = epoch ? PyNumber_Subtract(time, epoch) : NULL;
        if (!since)
                return false;
        good = source_attribute(since, "days", &days) &&
               source_attribute(since, "seconds", &seconds) &&
               source_attribute(since, "microseconds", &microseconds);
        Py_DECREF(since);
        ns->real = ((double)days * 86400 + (double)seconds) * 1e9 + (double)microseconds * 1e3;
        ns->whole = good && days > -100000 && days < 100000;
        if (ns->whole)
                ns->integer = ((days * 86400 + seconds) * 1000000 + microseconds) * 1000;
        return good;
}

/* Seconds, a datetime, or a text as isoformat() writes it */
static bool source_instant_of(struct source_python *py, PyObject *time, struct json_number *ns)
{
        struct json_text text;

        *ns = (struct json_number){ .real = (double)NAN };
        switch (source_type_of(time)) {
        case JSON_STRING:
                source_text_of(py, time, &text);
                ns->whole = text.data && python_time_read(text.data, text.len, &ns->integer);
                if (ns->whole)
                        ns->real = (double)ns->integer;
                return true;
        case JSON_NUMBER:
                if (!source_number_of(time, ns))
                        return false;
                ns->real *= 1e9;
                ns->whole = fabs(ns->real) < 9.2e18;
                if (ns->whole)
                        ns->integer = llround(ns->real);
                return true;
        default:
                return source_datetime_of(py, time, ns);
        }
}

static bool source_py_instant(struct source *in, struct json_number *ns)
{
        return source_good(in, source_instant_of(source_of(in), source_of(in)->value, ns));
}

static bool source_py_key_instant(struct source *in, struct json_number *ns)
{
        struct source_python *py = source_of(in);

        return source_good(in, source_instant_of(py, py->frames[py->depth - 1].key, ns));
}

static int source_item_of(struct source_python *py, struct python_item *item, PyObject *object)
{
        struct json_text text;

        *item = (struct python_item){ .type = PYTHON_NONE };
        if (PyUnicode_Check(object)) {
                source_text_of(py, object, &text);
                item->text = text.data ? strndup(text.data, text.len) : NULL;
                if (text.data && !item->text)
                        return ROAST_E_NOMEM;
                item->type = text.data ? PYTHON_TEXT : PYTHON_NONE;
        } else if (source_whole_of(object, &item->integer) > 0) {
                item->type = PYTHON_INT;
        }
        PyErr_Clear();
        return 0;
}

static int source_py_key_tuple(struct source *in, struct python_tuple *tuple)
{
        struct source_python *py = source_of(in);
        PyObject *key = py->frames[py->depth - 1].key;
        int r = 0;

        *tuple = (struct python_tuple){ 0 };
        if (!PyTuple_Check(key))
                return 0;
        for (Py_ssize_t i = 0; i < PyTuple_Size(key) && i < PYTHON_TUPLE_MAX && r == 0; i++) {
                r = source_item_of(py, &tuple->items[i], PyTuple_GetItem(key, i));
                tuple->n += r == 0;
        }
        if (r < 0)
                python_tuple_deinit(tuple);
        return r < 0 ? r : 1;
}

static bool source_py_skip(struct source *in)
{
        return !in->bad;
}

/* What cannot be kept is None. */
static bool source_py_cbor(struct source *in, struct buf *out)
{
        size_t before = out->len;

        if (cbor_encode(out, source_of(in)->value) == 0)
                return true;
        if (PyErr_ExceptionMatches(PyExc_MemoryError))
                return source_good(in, false);
        PyErr_Clear();
        out->len = before;
        return cbor_encode(out, Py_None) == 0 || source_good(in, false);
}

static bool source_py_fail(struct source *in, const char *problem)
{
        if (!PyErr_Occurred() && problem)
                PyErr_SetString(PyExc_ValueError, problem);
        else if (!PyErr_Occurred())
                PyErr_NoMemory();
        return source_good(in, false);
}

static const struct source_ops source_py_ops = {
        .type = source_py_type,
        .enter = source_py_enter,
        .key = source_py_key,
        .element = source_py_element,
        .key_text = source_py_key_text,
        .key_instant = source_py_key_instant,
        .key_tuple = source_py_key_tuple,
        .text = source_py_text,
        .number = source_py_number,
        .boolean = source_py_boolean,
        .instant = source_py_instant,
        .skip_one = source_py_skip,
        .cbor = source_py_cbor,
        .fail_with = source_py_fail,
};

struct source *source_python_init(struct source_python *py)
{
        *py = (struct source_python){ .source.ops = &source_py_ops };
        return &py->source;
}

void source_python_set(struct source_python *py, PyObject *value)
{
        py->value = value;
        py->source.bad = false;
}

void source_python_deinit(struct source_python *py)
{
        while (py->depth)
                source_frame_clear(&py->frames[--py->depth]);
        for (size_t i = 0; i < SOURCE_PLACES; i++)
                Py_XDECREF(py->kept[i]);
        Py_XDECREF(py->bytes);
        Py_XDECREF(py->epochs[0]);
        Py_XDECREF(py->epochs[1]);
}
