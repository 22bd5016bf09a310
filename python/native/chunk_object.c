/*
 * _probe.Chunk: the measurement of one chunk
 *
 *     chunk = Chunk(processor)
 *     chunk.begin()
 *     ...                       sections find it, the user writes fields into it
 *     chunk.end()               everything is read; what follows is not measured
 *     data = chunk.encode({"dataset": ..., "file": ..., "branches": [(name, bytes), ...]})
 *     chunk.sent()
 *
 * All CPU time of its thread from Chunk() to sent() that is not between begin() and
 * end() is what measuring took.
 */

#include <unistd.h>

#include "cbor.h"
#include "probe.h"
#include "util/clock.h"

static PyObject *chunk_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
        PyObject *(*alloc)(PyTypeObject *, Py_ssize_t) =
                (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(type, Py_tp_alloc);
        ChunkObject *self;
        PyObject *owner;

        (void)kwargs;
        if (!PyArg_ParseTuple(args, "O:Chunk", &owner))
                return NULL;
        self = (ChunkObject *)alloc(type, 0);
        if (!self)
                return NULL;
        self->made_cpu_ns = clock_thread_cpu_ns();
        self->encoded_cpu_ns = PROBE_ABSENT;
        self->owner = Py_NewRef(owner);
        sections_init(&self->sections, &native_thread);
        self->custom = PyDict_New();
        if (!self->custom) {
                Py_DECREF(self);
                return NULL;
        }
        return (PyObject *)self;
}

static int chunk_traverse(PyObject *object, visitproc visit, void *arg)
{
        ChunkObject *self = (ChunkObject *)object;

        Py_VISIT(Py_TYPE(object));
        Py_VISIT(self->owner);
        Py_VISIT(self->guests);
        Py_VISIT(self->custom);
        for (int i = 0; i < N_KINDS; i++)
                Py_VISIT(self->views[i]);
        return 0;
}

static int chunk_clear(PyObject *object)
{
        ChunkObject *self = (ChunkObject *)object;

        Py_CLEAR(self->owner);
        Py_CLEAR(self->guests);
        Py_CLEAR(self->custom);
        for (int i = 0; i < N_KINDS; i++)
                Py_CLEAR(self->views[i]);
        return 0;
}

static void chunk_dealloc(PyObject *object)
{
        PyTypeObject *type = Py_TYPE(object);
        void (*release)(void *) = (void (*)(void *))PyType_GetSlot(type, Py_tp_free);

        PyObject_GC_UnTrack(object);
        sections_close(&((ChunkObject *)object)->sections, 0);
        sections_deinit(&((ChunkObject *)object)->sections);
        chunk_clear(object);
        release(object);
        Py_DECREF(type);
}

static PyObject *chunk_begin(PyObject *object, PyObject *unused)
{
        ChunkObject *self = (ChunkObject *)object;
        bool same_thread;

        (void)unused;
        if (self->begun) {
                PyErr_SetString(PyExc_RuntimeError, "the chunk has begun already");
                return NULL;
        }
        self->begun = true;
        same_thread = self->sections.stack.thread == &native_thread;
        self->sections.stack.thread = &native_thread;
        chunk_push(self);
        probe_chunk_begin(&self->probe);
        if (same_thread)
                self->probe.probe_ns =
                        probe_difference(self->made_cpu_ns, self->probe.opening.thread_cpu_ns);
        Py_RETURN_NONE;
}

static PyObject *chunk_end(PyObject *object, PyObject *unused)
{
        ChunkObject *self = (ChunkObject *)object;

        (void)unused;
        if (!self->begun || self->ended) {
                PyErr_SetString(PyExc_RuntimeError, "the chunk is not active");
                return NULL;
        }
        probe_chunk_end(&self->probe, &self->result);
        sections_close(&self->sections, self->result.closing.monotonic_ns);
        Py_INCREF(object);
        self->ended = true;
        chunk_drop(self);
        Py_CLEAR(self->owner);
        Py_CLEAR(self->guests);
        Py_DECREF(object);
        Py_RETURN_NONE;
}

static PyObject *chunk_lend(PyObject *object, PyObject *processor)
{
        ChunkObject *self = (ChunkObject *)object;

        if (!self->guests && !(self->guests = PyList_New(0)))
                return NULL;
        if (PyList_Append(self->guests, processor) < 0)
                return NULL;
        Py_RETURN_NONE;
}

static PyObject *chunk_take_back(PyObject *object, PyObject *unused)
{
        ChunkObject *self = (ChunkObject *)object;
        Py_ssize_t n = self->guests ? PyList_Size(self->guests) : 0;

        (void)unused;
        if (n > 0 && PyList_SetSlice(self->guests, n - 1, n, NULL) < 0)
                return NULL;
        Py_RETURN_NONE;
}

static PyObject *chunk_get_ended(PyObject *object, void *unused)
{
        (void)unused;
        return PyBool_FromLong(((ChunkObject *)object)->ended);
}

static PyMethodDef methods[] = {
        { "begin", chunk_begin, METH_NOARGS, "begin()\n--\n\nTake the readings; sections count." },
        { "end", chunk_end, METH_NOARGS, "end()\n--\n\nTake the readings again." },
        { "lend", chunk_lend, METH_O,
          "lend(processor, /)\n--\n\nCount the sections of this processor, too." },
        { "take_back", chunk_take_back, METH_NOARGS,
          "take_back()\n--\n\nNo longer count those of the one lent to last." },
        { "encode", chunk_encode, METH_O,
          "encode(fields, /)\n--\n\nThe record as bytes; fields are what only Python knows." },
        { "sent", chunk_sent, METH_NOARGS,
          "sent()\n--\n\nLet the next record tell the time since encode()." },
        { "get", chunk_get, METH_VARARGS, "get(key, default=None, /)\n--\n\n" },
        { "setdefault", chunk_setdefault, METH_VARARGS,
          "setdefault(key, default=None, /)\n--\n\n" },
        { "update", (PyCFunction)(void (*)(void))chunk_update, METH_VARARGS | METH_KEYWORDS,
          "update(other=(), /, **fields)\n--\n\n" },
        { "pop", chunk_pop, METH_VARARGS, "pop(key, default=..., /)\n--\n\n" },
        { "keys", chunk_keys, METH_NOARGS, "keys()\n--\n\n" },
        { "values", chunk_values, METH_NOARGS, "values()\n--\n\n" },
        { "items", chunk_items, METH_NOARGS, "items()\n--\n\n" },
        { 0 },
};

static PyGetSetDef getset[] = {
        { "ended", chunk_get_ended, NULL, "True once the readings at the end are taken.", NULL },
        { 0 },
};

static char doc[] = "Chunk(processor)\n--\n\nThe measurement of one chunk, and its custom fields.";

static PyType_Slot slots[] = {
        { Py_tp_doc, doc },
        { Py_tp_new, chunk_new },
        { Py_tp_dealloc, chunk_dealloc },
        { Py_tp_traverse, chunk_traverse },
        { Py_tp_clear, chunk_clear },
        { Py_tp_methods, methods },
        { Py_tp_getset, getset },
        { Py_tp_iter, chunk_iter },
        { Py_tp_repr, chunk_repr },
        { Py_tp_richcompare, chunk_richcompare },
        { Py_tp_hash, PyObject_HashNotImplemented },
        { Py_mp_length, chunk_length },
        { Py_mp_subscript, chunk_subscript },
        { Py_mp_ass_subscript, chunk_assign },
        { Py_sq_contains, chunk_contains },
        { 0 },
};

static PyType_Spec spec = {
        .name = "roastcoffea._probe.Chunk",
        .basicsize = sizeof(ChunkObject),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
};

int native_add_chunk(PyObject *module, struct probe_state *state)
{
        state->chunk_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
        if (!state->chunk_type)
                return -1;
        return PyModule_AddType(module, state->chunk_type);
}
