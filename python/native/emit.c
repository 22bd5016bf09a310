/* What is pushed as Python's objects: see emit.h. */

#include "emit.h"
#include "cbor.h"
#include "util/utc.h"

/* Puts a value where it belongs and takes the reference; NULL: an exception is set. */
static void emit_store(struct emit_python *self, PyObject *value)
{
        struct emit_level *level = self->depth ? &self->levels[self->depth - 1] : NULL;
        int r = 0;

        if (!value) {
                self->emit.error = ROAST_E_NOMEM;
                return;
        }
        if (!level) {
                Py_XDECREF(self->value);
                self->value = value;
                return;
        }
        if (PyTuple_Check(level->container)) {
                if (PyTuple_SetItem(level->container, (Py_ssize_t)level->at++, value) < 0)
                        self->emit.error = ROAST_E_NOMEM;
                return;
        }
        if (self->is_key) {
                self->is_key = false;
                Py_XDECREF(level->key);
                level->key = value;
                return;
        }
        if (PyDict_Check(level->container)) {
                r = PyDict_SetItem(level->container, level->key, value);
                Py_CLEAR(level->key);
        } else {
                r = PyList_Append(level->container, value);
        }
        Py_DECREF(value);
        if (r < 0)
                self->emit.error = ROAST_E_NOMEM;
}

/* A tuple that is a key is one while it is filled, and so the level around it waits for it. */
static void emit_open(struct emit_python *self, PyObject *container)
{
        if (self->depth == EMIT_PYTHON_DEPTH && container) {
                PyErr_SetString(PyExc_RecursionError, "a value is nested too deeply");
                Py_CLEAR(container);
        }
        if (!container)
                self->emit.error = ROAST_E_NOMEM;
        else
                self->levels[self->depth++] = (struct emit_level){ .container = container };
}

static PyObject *emit_datetime(struct emit_python *self, int64_t utc_ns)
{
        struct utc utc = utc_of_ns(utc_ns);

        if (!self->datetime) {
                PyObject *module = PyImport_ImportModule("datetime");

                self->datetime = module ? PyObject_GetAttrString(module, "datetime") : NULL;
                Py_XDECREF(module);
        }
        return self->datetime ? PyObject_CallFunction(self->datetime, "iiiiiii", utc.year,
                                                      utc.month, utc.day, utc.hour, utc.minute,
                                                      utc.second, utc.microsecond)
                              : NULL;
}

static PyObject *emit_time_of(struct emit_python *self, int64_t utc_ns)
{
        Py_ssize_t at = self->times ? (Py_ssize_t)((utc_ns - self->start_ns) / self->step_ns) : 0;

        return self->times && at < PyList_Size(self->times)
                       ? Py_XNewRef(PyList_GetItem(self->times, at))
                       : emit_datetime(self, utc_ns);
}

static PyObject *emit_scalar(struct emit_python *self, const struct emit_value *value)
{
        PyObject *key;

        switch (value->type) {
        case EMIT_KEY:
                key = native_text(value->text);
                if (key)
                        PyUnicode_InternInPlace(&key);
                return key;
        case EMIT_INT:
                return PyLong_FromLongLong(value->integer);
        case EMIT_WHOLE:
                return PyLong_FromDouble(value->real);
        case EMIT_REAL:
                return PyFloat_FromDouble(value->real);
        case EMIT_TEXT:
                return native_text_n(value->text, value->len);
        case EMIT_BOOL:
                return PyBool_FromLong(value->integer);
        case EMIT_TIME:
                return emit_time_of(self, value->integer);
        case EMIT_CBOR:
                return cbor_decode(value->text, value->len);
        default:
                return Py_NewRef(Py_None);
        }
}

static void emit_python_put(struct emit *emit, const struct emit_value *value)
{
        struct emit_python *self = (struct emit_python *)emit;

        if (emit->error < 0)
                return;
        switch (value->type) {
        case EMIT_OBJECT:
                emit_open(self, PyDict_New());
                break;
        case EMIT_ARRAY:
                emit_open(self, PyList_New(0));
                break;
        case EMIT_TUPLE:
                emit_open(self, PyTuple_New((Py_ssize_t)value->len));
                break;
        case EMIT_END:
                self->depth--;
                emit_store(self, self->levels[self->depth].container);
                break;
        case EMIT_NEXT_IS_KEY:
                self->is_key = true;
                break;
        case EMIT_KEY:
                self->is_key = true;
                emit_store(self, emit_scalar(self, value));
                break;
        default:
                emit_store(self, emit_scalar(self, value));
        }
}

void emit_python_init(struct emit_python *self)
{
        *self = (struct emit_python){ .emit = { .put = emit_python_put } };
}

PyObject *emit_python_end(struct emit_python *self, int r, const struct roast_error *error)
{
        if (r < 0 && self->emit.error >= 0) {
                native_raise(error);
                self->emit.error = r;
        }
        return emit_python_value(self);
}

PyObject *emit_python_value(struct emit_python *self)
{
        while (self->depth > 0) {
                self->depth--;
                Py_XDECREF(self->levels[self->depth].container);
                Py_XDECREF(self->levels[self->depth].key);
        }
        Py_XDECREF(self->datetime);
        if (self->emit.error < 0) {
                Py_CLEAR(self->value);
                if (!PyErr_Occurred())
                        PyErr_NoMemory();
        }
        return self->value;
}
