/* _probe.Records: its type and the methods that need no look at segments */

#include "records.h"

static PyObject *records_as_list(PyObject *self)
{
        return PySequence_List(self);
}

static PyObject *records_richcompare(PyObject *self, PyObject *other, int operation)
{
        PyObject *left, *right, *result = NULL;

        if ((operation != Py_EQ && operation != Py_NE) ||
            (Py_TYPE(other) != Py_TYPE(self) && !PyList_Check(other)))
                Py_RETURN_NOTIMPLEMENTED;
        if (PyObject_Size(other) != PyObject_Size(self))
                return PyBool_FromLong(operation == Py_NE);
        left = records_as_list(self);
        right = left ? records_as_list(other) : NULL;
        if (right)
                result = PyObject_RichCompare(left, right, operation);
        Py_XDECREF(left);
        Py_XDECREF(right);
        return result;
}

static PyObject *records_repr(PyObject *self)
{
        PyObject *list = records_as_list(self), *repr;

        if (!list)
                return NULL;
        repr = PyObject_Repr(list);
        Py_DECREF(list);
        return repr;
}

static PyObject *records_append(PyObject *self, PyObject *record)
{
        if (!PyDict_Check(record)) {
                PyErr_Format(PyExc_TypeError, "a record is a dict, not %R", Py_TYPE(record));
                return NULL;
        }
        if (records_add_segment((RecordsObject *)self, record, 0, 1) < 0)
                return NULL;
        Py_RETURN_NONE;
}

static PyObject *records_extend(PyObject *self, PyObject *other)
{
        if (records_add((RecordsObject *)self, other) < 0)
                return NULL;
        Py_RETURN_NONE;
}

/* They are documented as a list, and isinstance() says so. */
static PyObject *records_class(PyObject *self, void *unused)
{
        (void)self;
        (void)unused;
        return Py_NewRef((PyObject *)&PyList_Type);
}

static PyGetSetDef properties[] = {
        { .name = "__class__", .get = records_class },
        { 0 },
};

static PyObject *records_empty(PyObject *self, PyObject *unused)
{
        (void)unused;
        return records_new_empty(Py_TYPE(self));
}

static PyObject *records_copy(PyObject *self, PyObject *unused)
{
        PyObject *copy = records_empty(self, unused);

        if (copy && records_add((RecordsObject *)copy, self) < 0)
                Py_CLEAR(copy);
        return copy;
}

/* The bytes never change and are shared; the user's own dicts are copied. */
static PyObject *records_deepcopy(PyObject *self, PyObject *memo)
{
        RecordsObject *copy = (RecordsObject *)records_copy(self, NULL);
        PyObject *module = copy ? PyImport_ImportModule("copy") : NULL;

        for (size_t i = 0; module && i < copy->n_segments; i++) {
                struct segment *segment = &copy->segments[i];
                PyObject *data;

                if (PyBytes_Check(segment->data))
                        continue;
                data = PyObject_CallMethod(module, "deepcopy", "OO", segment->data, memo);
                if (!data) {
                        Py_CLEAR(module);
                        break;
                }
                Py_DECREF(segment->data);
                segment->data = data;
        }
        if (!module) {
                Py_XDECREF((PyObject *)copy);
                return NULL;
        }
        Py_DECREF(module);
        return (PyObject *)copy;
}

/* A worker without this module sends JSON. */
static int records_add_json(RecordsObject *self, PyObject *bytes)
{
        PyObject *module = PyImport_ImportModule("json"), *value = NULL;
        int r = -1;

        if (module)
                value = PyObject_CallMethod(module, "loads", "O", bytes);
        if (value)
                r = PyDict_Check(value) ? records_add_segment(self, value, 0, 1)
                                        : records_add(self, value);
        Py_XDECREF(module);
        Py_XDECREF(value);
        return r;
}

static PyObject *records_from_bytes(PyObject *type, PyObject *object)
{
        PyObject *self = records_new_empty((PyTypeObject *)type);
        PyObject *bytes = PyBytes_FromObject(object);
        const char *data = bytes ? PyBytes_AsString(bytes) : NULL;
        int r = -1;

        if (self && data)
                r = data[0] == '{' || data[0] == '['
                            ? records_add_json((RecordsObject *)self, bytes)
                            : records_add_bytes((RecordsObject *)self, bytes);
        Py_XDECREF(bytes);
        if (r < 0)
                Py_CLEAR(self);
        return self;
}

static PyMethodDef methods[] = {
        { "from_bytes", records_from_bytes, METH_O | METH_CLASS,
          "from_bytes(data, /)\n--\n\nRecords from what to_bytes() or a chunk gave." },
        { "to_bytes", records_to_bytes, METH_NOARGS, "to_bytes()\n--\n\nAll records, encoded." },
        { "blocks", records_blocks, METH_NOARGS,
          "blocks()\n--\n\nThe same as a list of blocks, none of which takes much memory." },
        { "totals", records_totals, METH_NOARGS,
          "totals()\n--\n\nSums over all records, without making a dict of each.\n"
          "A field that no record knows is not in it." },
        { "append", records_append, METH_O, "append(record, /)\n--\n\nAdd a dict as it is." },
        { "extend", records_extend, METH_O, "extend(records, /)\n--\n\nAdd many." },
        { "copy", records_copy, METH_NOARGS, "copy()\n--\n\n" },
        { "identity", records_empty, METH_NOARGS, "identity()\n--\n\nFor coffea: no records." },
        { "add", records_extend, METH_O,
          "add(records, /)\n--\n\nFor coffea: the same as extend()." },
        { "__copy__", records_copy, METH_NOARGS, NULL },
        { "__deepcopy__", records_deepcopy, METH_O, NULL },
        { "__reduce__", records_reduce, METH_NOARGS, NULL },
        { 0 },
};

static char doc[] = "Records(records=(), /)\n--\n\n"
                    "Chunk records: a sequence of dicts that are made when they are looked at.";

static PyType_Slot slots[] = {
        { Py_tp_doc, doc },
        { Py_tp_new, records_new },
        { Py_tp_dealloc, records_dealloc },
        { Py_tp_traverse, records_traverse },
        { Py_tp_clear, records_clear },
        { Py_tp_methods, methods },
        { Py_tp_getset, properties },
        { Py_tp_iter, PySeqIter_New },
        { Py_tp_repr, records_repr },
        { Py_tp_richcompare, records_richcompare },
        { Py_tp_hash, PyObject_HashNotImplemented },
        { Py_sq_length, records_length },
        { Py_sq_item, records_item },
        { Py_mp_length, records_length },
        { Py_mp_subscript, records_subscript },
        { Py_nb_add, records_nb_add },
        { Py_nb_inplace_add, records_iadd },
        { 0 },
};

static PyType_Spec spec = {
        .name = "roastcoffea._probe.Records",
        .basicsize = sizeof(RecordsObject),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
};

int native_add_records(PyObject *module, struct probe_state *state)
{
        state->records_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
        if (!state->records_type)
                return -1;
        return PyModule_AddType(module, state->records_type);
}
