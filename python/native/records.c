/* _probe.Records: see records.h. This file is the sequence itself. */

#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "records.h"
#include "v1/put-record.h"

PyObject *records_new_empty(PyTypeObject *type)
{
        PyObject *(*alloc)(PyTypeObject *, Py_ssize_t) =
                (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(type, Py_tp_alloc);
        PyObject *self = alloc(type, 0);

        if (self)
                chunk_table_init(&((RecordsObject *)self)->table);
        return self;
}

static void records_drop_segments(RecordsObject *self, size_t from)
{
        while (self->n_segments > from) {
                struct segment *segment = &self->segments[--self->n_segments];

                self->n -= segment->n;
                Py_DECREF(segment->data);
        }
        if (self->n_firsts > from)
                self->n_firsts = from;
}

int records_add_segment(RecordsObject *self, PyObject *data, size_t from, size_t n)
{
        size_t cap = self->cap ? 2 * self->cap : 1;
        struct segment *segments;

        if (self->n_segments == self->cap) {
                segments = cap <= SIZE_MAX / sizeof(*segments) / 2
                                   ? realloc(self->segments, cap * sizeof(*segments))
                                   : NULL;
                if (!segments) {
                        PyErr_NoMemory();
                        return -1;
                }
                self->segments = segments;
                self->cap = cap;
        }
        self->segments[self->n_segments++] =
                (struct segment){ Py_NewRef(data), (uint32_t)from, (uint32_t)n };
        self->n += n;
        return 0;
}

int records_add_bytes(RecordsObject *self, PyObject *bytes)
{
        struct roast_error error = { 0 };
        char *data;
        Py_ssize_t len;
        int64_t rows;

        if (PyBytes_AsStringAndSize(bytes, &data, &len) < 0)
                return -1;
        rows = chunk_table_peek(data, (size_t)len, &error);
        if (rows < 0)
                return native_raise_int(&error);
        return rows ? records_add_segment(self, bytes, 0, (size_t)rows) : 0;
}

static bool records_check(RecordsObject *self, PyObject *other)
{
        return Py_TYPE(other) == Py_TYPE((PyObject *)self);
}

static int records_add_item(RecordsObject *self, PyObject *item)
{
        if (PyBytes_Check(item))
                return records_add_bytes(self, item);
        if (records_check(self, item))
                return records_add(self, item);
        if (PyDict_Check(item))
                return records_add_segment(self, item, 0, 1);
        PyErr_Format(PyExc_TypeError, "a record is a dict, not %R", Py_TYPE(item));
        return -1;
}

/* Everything in another sequence of records, or any iterable; all or nothing */
int records_add(RecordsObject *self, PyObject *other)
{
        size_t before = self->n_segments;
        PyObject *items, *item;

        if (records_check(self, other)) {
                RecordsObject *records = (RecordsObject *)other;
                size_t n = records->n_segments; /* it may be ourselves */

                for (size_t i = 0; i < n; i++) {
                        struct segment *segment = &records->segments[i];

                        if (records_add_segment(self, segment->data, segment->from, segment->n) < 0)
                                goto failed;
                }
                return 0;
        }
        items = PyObject_GetIter(other);
        if (!items)
                return -1;
        while ((item = PyIter_Next(items))) {
                int r = records_add_item(self, item);

                Py_DECREF(item);
                if (r < 0)
                        break;
        }
        Py_DECREF(items);
        if (!PyErr_Occurred())
                return 0;
failed:
        records_drop_segments(self, before);
        return -1;
}

PyObject *records_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
        PyObject *self, *items = NULL;

        (void)kwargs;
        if (!PyArg_ParseTuple(args, "|O:Records", &items))
                return NULL;
        self = records_new_empty(type);
        if (self && items && records_add((RecordsObject *)self, items) < 0)
                Py_CLEAR(self);
        return self;
}

int records_traverse(PyObject *object, visitproc visit, void *arg)
{
        RecordsObject *self = (RecordsObject *)object;

        Py_VISIT(Py_TYPE(object));
        for (size_t i = 0; i < self->n_segments; i++)
                Py_VISIT(self->segments[i].data);
        return 0;
}

int records_clear(PyObject *object)
{
        RecordsObject *self = (RecordsObject *)object;

        records_drop_segments(self, 0);
        Py_CLEAR(self->decoded);
        return 0;
}

void records_dealloc(PyObject *object)
{
        PyTypeObject *type = Py_TYPE(object);
        void (*release)(void *) = (void (*)(void *))PyType_GetSlot(type, Py_tp_free);

        PyObject_GC_UnTrack(object);
        records_clear(object);
        free(((RecordsObject *)object)->segments);
        free(((RecordsObject *)object)->firsts);
        chunk_table_deinit(&((RecordsObject *)object)->table);
        release(object);
        Py_DECREF(type);
}

/* Brings `firsts` up to date; segments are only ever added. */
static int records_index_segments(RecordsObject *self)
{
        size_t *firsts;

        if (self->n_firsts == self->n_segments)
                return 0;
        firsts = realloc(self->firsts, self->cap * sizeof(*firsts));
        if (!firsts) {
                PyErr_NoMemory();
                return -1;
        }
        self->firsts = firsts;
        for (size_t i = self->n_firsts; i < self->n_segments; i++)
                firsts[i] = i ? firsts[i - 1] + self->segments[i - 1].n : 0;
        self->n_firsts = self->n_segments;
        return 0;
}

/* The number of the segment that holds a record, once they are indexed */
static size_t records_find(const RecordsObject *self, size_t index)
{
        size_t low = 0, high = self->n_segments;

        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;

                if (self->firsts[middle] <= index)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

static int records_look_at(RecordsObject *self, PyObject *bytes)
{
        struct roast_error error = { 0 };
        char *data;
        Py_ssize_t len;

        if (self->decoded == bytes)
                return 0;
        Py_CLEAR(self->decoded);
        chunk_table_clear(&self->table);
        if (PyBytes_AsStringAndSize(bytes, &data, &len) < 0)
                return -1;
        if (chunk_table_decode(&self->table, data, (size_t)len, &error) < 0)
                return native_raise_int(&error);
        self->decoded = Py_NewRef(bytes);
        return 0;
}

static PyObject *records_item_at(RecordsObject *self, size_t index)
{
        const struct segment *segment;
        struct emit_python python;
        size_t at;

        if (records_index_segments(self) < 0)
                return NULL;
        at = records_find(self, index);
        segment = &self->segments[at];
        if (!PyBytes_Check(segment->data))
                return Py_NewRef(segment->data);
        if (records_look_at(self, segment->data) < 0)
                return NULL;
        emit_python_init(&python);
        emit_object(&python.emit);
        v1_put_record(&python.emit,
                      &(struct v1_record){ .table = &self->table,
                                           .row = segment->from + index - self->firsts[at],
                                           .chunk_id = (int64_t)index,
                                           .fallbacks = true });
        emit_end(&python.emit);
        return emit_python_value(&python);
}

Py_ssize_t records_length(PyObject *self)
{
        return (Py_ssize_t)((RecordsObject *)self)->n;
}

PyObject *records_item(PyObject *object, Py_ssize_t index)
{
        RecordsObject *self = (RecordsObject *)object;

        if (index < 0 || (size_t)index >= self->n) {
                PyErr_SetString(PyExc_IndexError, "index out of range");
                return NULL;
        }
        return records_item_at(self, (size_t)index);
}

/* Adds rows `from` to `to` of another sequence. */
static int records_add_range(RecordsObject *self, const RecordsObject *other, size_t from,
                             size_t to)
{
        while (from < to) {
                size_t at = records_find(other, from);
                const struct segment *segment = &other->segments[at];
                size_t skip = from - other->firsts[at], n = segment->n - skip;

                if (n > to - from)
                        n = to - from;
                if (records_add_segment(self, segment->data, segment->from + skip, n) < 0)
                        return -1;
                from += n;
        }
        return 0;
}

static PyObject *records_slice(RecordsObject *self, PyObject *slice)
{
        PyObject *result = records_new_empty(Py_TYPE((PyObject *)self));
        Py_ssize_t start, stop, step, n;
        int r = 0;

        if (!result || PySlice_Unpack(slice, &start, &stop, &step) < 0 ||
            records_index_segments(self) < 0)
                goto failed;
        n = PySlice_AdjustIndices((Py_ssize_t)self->n, &start, &stop, step);
        if (step == 1)
                r = records_add_range((RecordsObject *)result, self, (size_t)start,
                                      (size_t)(start + n));
        for (Py_ssize_t i = 0; step != 1 && r == 0 && i < n; i++)
                r = records_add_range((RecordsObject *)result, self, (size_t)(start + i * step),
                                      (size_t)(start + i * step + 1));
        if (r == 0)
                return result;
failed:
        Py_XDECREF(result);
        return NULL;
}

PyObject *records_subscript(PyObject *object, PyObject *key)
{
        RecordsObject *self = (RecordsObject *)object;
        Py_ssize_t index;

        if (PySlice_Check(key))
                return records_slice(self, key);
        index = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (index == -1 && PyErr_Occurred())
                return NULL;
        return records_item(object, index < 0 ? index + (Py_ssize_t)self->n : index);
}

/* What can be added: records, a list, or the 0 that sum() and defaultdict(int) begin with */
static bool records_addable(PyTypeObject *type, PyObject *value)
{
        return Py_TYPE(value) == type || PyList_Check(value) ||
               (PyLong_Check(value) && !PyObject_IsTrue(value)) ||
               (PyFloat_Check(value) && PyFloat_AsDouble(value) == 0);
}

static PyTypeObject *records_type_of(PyObject *left, PyObject *right)
{
        newfunc of_left = (newfunc)PyType_GetSlot(Py_TYPE(left), Py_tp_new);

        return of_left == records_new ? Py_TYPE(left) : Py_TYPE(right);
}

PyObject *records_nb_add(PyObject *left, PyObject *right)
{
        PyTypeObject *type = records_type_of(left, right);
        PyObject *result, *operands[] = { left, right };

        if (!records_addable(type, left) || !records_addable(type, right))
                Py_RETURN_NOTIMPLEMENTED;
        result = records_new_empty(type);
        for (int i = 0; result && i < 2; i++)
                if ((Py_TYPE(operands[i]) == type || PyList_Check(operands[i])) &&
                    records_add((RecordsObject *)result, operands[i]) < 0)
                        Py_CLEAR(result);
        return result;
}

PyObject *records_iadd(PyObject *self, PyObject *other)
{
        if (records_add((RecordsObject *)self, other) < 0)
                return NULL;
        return Py_NewRef(self);
}
