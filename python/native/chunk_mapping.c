/*
 * The dict that a chunk is while it runs
 *
 * `timing`, `memory` and `bytes` are made from the sections whenever they are
 * looked at; what the user writes into them, or under any other key, is kept and
 * becomes part of the record.
 */

#include "probe.h"

static struct probe_state *chunk_state_of(PyObject *self)
{
        return PyType_GetModuleState(Py_TYPE(self));
}

/* Which of the three dicts a key means: 0 to 2, -1: none, -2: an exception is set */
static int chunk_view_of(PyObject *self, PyObject *key)
{
        struct probe_state *state = chunk_state_of(self);

        for (int i = 0; i < N_KINDS; i++) {
                int same = key == state->keys[i] ? 1
                           : PyUnicode_Check(key)
                                   ? PyObject_RichCompareBool(key, state->keys[i], Py_EQ)
                                   : 0;

                if (same)
                        return same < 0 ? -2 : i;
        }
        return -1;
}

static PyObject *chunk_section_value(const struct section_entry *entry)
{
        switch (entry->kind) {
        case KIND_TIME:
                return PyFloat_FromDouble((double)entry->total_ns / 1e9);
        case KIND_MEMORY:
                return PyFloat_FromDouble((double)entry->rss_delta_bytes / (1 << 20));
        default:
                return PyLong_FromLongLong(entry->bytes);
        }
}

/* The dict of one kind, up to date; borrowed. */
static PyObject *chunk_view(ChunkObject *self, int kind)
{
        if (!self->views[kind] && !(self->views[kind] = PyDict_New()))
                return NULL;
        for (size_t i = 0; i < self->sections.n; i++) {
                const struct section_entry *entry = &self->sections.entries[i];
                PyObject *value;
                int r;

                if ((int)entry->kind != kind || !entry->count)
                        continue;
                value = chunk_section_value(entry);
                r = value ? PyObject_SetItem(self->views[kind], entry->name, value) : -1;
                Py_XDECREF(value);
                if (r < 0)
                        return NULL;
        }
        return self->views[kind];
}

/* Everything as one dict, in the documented order; a new reference */
static PyObject *chunk_whole(PyObject *object)
{
        struct probe_state *state = chunk_state_of(object);
        ChunkObject *self = (ChunkObject *)object;
        PyObject *dict = PyDict_New();

        for (int i = 0; dict && i < N_KINDS; i++) {
                PyObject *value = chunk_view(self, i);

                if (!value || PyDict_SetItem(dict, state->keys[i], value) < 0)
                        Py_CLEAR(dict);
        }
        if (dict && PyDict_Update(dict, self->custom) < 0)
                Py_CLEAR(dict);
        return dict;
}

PyObject *chunk_subscript(PyObject *self, PyObject *key)
{
        int kind = chunk_view_of(self, key);
        PyObject *value;

        if (kind == -2)
                return NULL;
        if (kind >= 0) {
                value = chunk_view((ChunkObject *)self, kind);
        } else {
                value = PyDict_GetItemWithError(((ChunkObject *)self)->custom, key);
                if (!value && !PyErr_Occurred())
                        PyErr_SetObject(PyExc_KeyError, key);
        }
        return value ? Py_NewRef(value) : NULL;
}

int chunk_assign(PyObject *self, PyObject *key, PyObject *value)
{
        ChunkObject *chunk = (ChunkObject *)self;
        int kind = chunk_view_of(self, key);
        PyObject *before;

        if (kind == -2)
                return -1;
        if (kind < 0)
                return value ? PyDict_SetItem(chunk->custom, key, value)
                             : PyDict_DelItem(chunk->custom, key);
        if (value && !PyDict_Check(value)) {
                PyErr_Format(PyExc_TypeError, "chunk[%R] is a dict", key);
                return -1;
        }
        before = chunk->views[kind];
        chunk->views[kind] = Py_XNewRef(value);
        Py_XDECREF(before);
        return 0;
}

int chunk_contains(PyObject *self, PyObject *key)
{
        int kind = chunk_view_of(self, key);

        if (kind == -2)
                return -1;
        return kind >= 0 ? 1 : PyDict_Contains(((ChunkObject *)self)->custom, key);
}

Py_ssize_t chunk_length(PyObject *self)
{
        return N_KINDS + PyDict_Size(((ChunkObject *)self)->custom);
}

static PyObject *chunk_of_whole(PyObject *self, PyObject *(*function)(PyObject *))
{
        PyObject *dict = chunk_whole(self), *value;

        if (!dict)
                return NULL;
        value = function(dict);
        Py_DECREF(dict);
        return value;
}

PyObject *chunk_iter(PyObject *self)
{
        return chunk_of_whole(self, PyObject_GetIter);
}

PyObject *chunk_repr(PyObject *self)
{
        return chunk_of_whole(self, PyObject_Repr);
}

PyObject *chunk_keys(PyObject *self, PyObject *unused)
{
        (void)unused;
        return chunk_of_whole(self, PyDict_Keys);
}

PyObject *chunk_values(PyObject *self, PyObject *unused)
{
        (void)unused;
        return chunk_of_whole(self, PyDict_Values);
}

PyObject *chunk_items(PyObject *self, PyObject *unused)
{
        (void)unused;
        return chunk_of_whole(self, PyDict_Items);
}

PyObject *chunk_richcompare(PyObject *self, PyObject *other, int operation)
{
        PyObject *dict, *result;

        if (self == other && (operation == Py_EQ || operation == Py_NE))
                return PyBool_FromLong(operation == Py_EQ);
        if (!PyDict_Check(other))
                Py_RETURN_NOTIMPLEMENTED;
        dict = chunk_whole(self);
        if (!dict)
                return NULL;
        result = PyObject_RichCompare(dict, other, operation);
        Py_DECREF(dict);
        return result;
}

PyObject *chunk_get(PyObject *self, PyObject *args)
{
        PyObject *key, *value, *fallback = Py_None;

        if (!PyArg_ParseTuple(args, "O|O:get", &key, &fallback))
                return NULL;
        value = chunk_subscript(self, key);
        if (!value && PyErr_ExceptionMatches(PyExc_KeyError)) {
                PyErr_Clear();
                return Py_NewRef(fallback);
        }
        return value;
}

PyObject *chunk_setdefault(PyObject *self, PyObject *args)
{
        PyObject *key, *value, *fallback = Py_None;

        if (!PyArg_ParseTuple(args, "O|O:setdefault", &key, &fallback))
                return NULL;
        value = chunk_subscript(self, key);
        if (!value && PyErr_ExceptionMatches(PyExc_KeyError)) {
                PyErr_Clear();
                return chunk_assign(self, key, fallback) < 0 ? NULL : Py_NewRef(fallback);
        }
        return value;
}

PyObject *chunk_pop(PyObject *self, PyObject *args)
{
        PyObject *key, *value, *fallback = NULL;

        if (!PyArg_ParseTuple(args, "O|O:pop", &key, &fallback))
                return NULL;
        value = chunk_subscript(self, key);
        if (!value && fallback && PyErr_ExceptionMatches(PyExc_KeyError)) {
                PyErr_Clear();
                return Py_NewRef(fallback);
        }
        if (value && chunk_assign(self, key, NULL) < 0)
                Py_CLEAR(value);
        return value;
}

/* As dict.update(): whatever dict() accepts, then keywords */
PyObject *chunk_update(PyObject *self, PyObject *args, PyObject *kwargs)
{
        PyObject *fields = PyObject_Call((PyObject *)&PyDict_Type, args, kwargs);
        PyObject *key, *value;
        Py_ssize_t at = 0;

        if (!fields)
                return NULL;
        while (PyDict_Next(fields, &at, &key, &value))
                if (chunk_assign(self, key, value) < 0) {
                        Py_DECREF(fields);
                        return NULL;
                }
        Py_DECREF(fields);
        Py_RETURN_NONE;
}
