/* Python values as CBOR, and back: see cbor.h. */

#include "cbor.h"
#include "util/cbor.h"

#define CBOR_DEPTH_MAX 64
#define CBOR_TEXT_MAX  512 /* of a value that is kept as its str() */

static int cbor_encode_value(struct buf *out, PyObject *value, int depth);

static int cbor_check(int r)
{
        if (r < 0)
                PyErr_NoMemory();
        return r < 0 ? -1 : 0;
}

static int cbor_put_length(struct buf *out, enum cbor_type type, uint64_t value)
{
        return cbor_check(cbor_put(out, type, value));
}

static int cbor_put_string(struct buf *out, enum cbor_type type, const void *data, Py_ssize_t len)
{
        if (cbor_put_length(out, type, (uint64_t)len) < 0)
                return -1;
        return cbor_check(buf_append(out, data, (size_t)len));
}

static int cbor_put_bytes_object(struct buf *out, enum cbor_type type, PyObject *bytes)
{
        char *data;
        Py_ssize_t len;
        int r = bytes ? PyBytes_AsStringAndSize(bytes, &data, &len) : -1;

        if (r == 0)
                r = cbor_put_string(out, type, data, len);
        Py_XDECREF(bytes);
        return r;
}

static int cbor_put_unicode(struct buf *out, PyObject *text)
{
        Py_ssize_t len;
        const char *data = PyUnicode_AsUTF8AndSize(text, &len);

        if (data)
                return cbor_put_string(out, CBOR_TEXT, data, len);
        PyErr_Clear();
        return cbor_put_bytes_object(out, CBOR_TEXT,
                                     PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
}

/* An int beyond 64 bits: its magnitude as bytes, most significant first */
static int cbor_put_big(struct buf *out, PyObject *value)
{
        PyObject *zero = PyLong_FromLong(0), *magnitude = NULL, *bits = NULL, *bytes = NULL;
        int negative = zero ? PyObject_RichCompareBool(value, zero, Py_LT) : -1, r = -1;
        size_t n_bits;

        if (negative >= 0)
                magnitude = negative ? PyNumber_Invert(value) : Py_NewRef(value);
        if (magnitude)
                bits = PyObject_CallMethod(magnitude, "bit_length", NULL);
        if (bits && (n_bits = PyLong_AsSize_t(bits)) != (size_t)-1)
                bytes = PyObject_CallMethod(magnitude, "to_bytes", "ns",
                                            (Py_ssize_t)((n_bits + 7) / 8), "big");
        if (bytes && cbor_put_length(out, CBOR_TAG, negative ? CBOR_BIG_NEGATIVE : CBOR_BIG) == 0)
                r = cbor_put_bytes_object(out, CBOR_BYTES, Py_NewRef(bytes));
        Py_XDECREF(zero);
        Py_XDECREF(magnitude);
        Py_XDECREF(bits);
        Py_XDECREF(bytes);
        return r;
}

static int cbor_put_long(struct buf *out, PyObject *value)
{
        int overflow;
        long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);

        if (overflow)
                return cbor_put_big(out, value);
        if (integer == -1 && PyErr_Occurred())
                return -1;
        return cbor_check(cbor_put_int(out, integer));
}

static int cbor_put_sequence(struct buf *out, PyObject *value, int depth)
{
        PyObject *tuple = PySequence_Tuple(value);
        Py_ssize_t n = tuple ? PyTuple_Size(tuple) : 0;
        int r = tuple ? cbor_put_length(out, CBOR_ARRAY, (uint64_t)n) : -1;

        for (Py_ssize_t i = 0; r == 0 && i < n; i++)
                r = cbor_encode_value(out, PyTuple_GetItem(tuple, i), depth + 1);
        Py_XDECREF(tuple);
        return r;
}

static int cbor_put_dict(struct buf *out, PyObject *value, int depth)
{
        /* a copy: encoding may run code that changes the original */
        PyObject *items = PyDict_Items(value);
        Py_ssize_t n = items ? PyList_Size(items) : 0;
        int r = items ? cbor_put_length(out, CBOR_MAP, (uint64_t)n) : -1;

        for (Py_ssize_t i = 0; r == 0 && i < n; i++) {
                PyObject *item = PyList_GetItem(items, i);

                r = cbor_encode_value(out, PyTuple_GetItem(item, 0), depth + 1);
                if (r == 0)
                        r = cbor_encode_value(out, PyTuple_GetItem(item, 1), depth + 1);
        }
        Py_XDECREF(items);
        return r;
}

static int cbor_put_str(struct buf *out, PyObject *value)
{
        PyObject *text = PyObject_Str(value), *cut = NULL;
        int r = -1;

        if (text)
                cut = PyUnicode_Substring(text, 0, CBOR_TEXT_MAX);
        if (cut)
                r = cbor_put_unicode(out, cut);
        Py_XDECREF(text);
        Py_XDECREF(cut);
        return r;
}

/* NumPy's scalars and arrays, and whatever behaves like them */
static int cbor_put_other(struct buf *out, PyObject *value, int depth)
{
        static const char *const ways[] = { "item", "tolist" };

        for (int i = PyObject_HasAttrString(value, "__len__"); i < 2; i++) {
                PyObject *plain;
                int r;

                if (PyType_Check(value) || !PyObject_HasAttrString(value, ways[i]))
                        continue;
                plain = PyObject_CallMethod(value, ways[i], NULL);
                if (!plain) {
                        PyErr_Clear();
                        continue;
                }
                r = plain == value ? 1 : cbor_encode_value(out, plain, depth + 1);
                Py_DECREF(plain);
                if (r <= 0)
                        return r;
        }
        return cbor_put_str(out, value);
}

static int cbor_encode_value(struct buf *out, PyObject *value, int depth)
{
        char *data;
        Py_ssize_t len;

        if (depth > CBOR_DEPTH_MAX)
                return cbor_put_string(out, CBOR_TEXT, "...", 3);
        if (value == Py_None)
                return cbor_put_length(out, CBOR_SIMPLE, CBOR_NULL);
        if (PyBool_Check(value))
                return cbor_put_length(out, CBOR_SIMPLE, value == Py_True ? CBOR_TRUE : CBOR_FALSE);
        if (PyLong_Check(value))
                return cbor_put_long(out, value);
        if (PyFloat_Check(value))
                return cbor_check(cbor_put_real(out, PyFloat_AsDouble(value)));
        if (PyUnicode_Check(value))
                return cbor_put_unicode(out, value);
        if (PyBytes_Check(value))
                return PyBytes_AsStringAndSize(value, &data, &len) < 0
                               ? -1
                               : cbor_put_string(out, CBOR_BYTES, data, len);
        if (PyDict_Check(value))
                return cbor_put_dict(out, value, depth);
        if (PyList_Check(value) || PyTuple_Check(value) || PyAnySet_Check(value))
                return cbor_put_sequence(out, value, depth);
        return cbor_put_other(out, value, depth);
}

int cbor_encode(struct buf *out, PyObject *value)
{
        return cbor_encode_value(out, value, 0);
}

static PyObject *cbor_decode_value(struct cursor *in, int depth);

static PyObject *cbor_damaged(void)
{
        if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "damaged CBOR");
        return NULL;
}

static PyObject *cbor_decode_big(struct cursor *in, uint64_t tag, int depth)
{
        PyObject *bytes = cbor_decode_value(in, depth + 1), *value = NULL, *flipped;

        if (!bytes || !PyBytes_Check(bytes) || (tag != CBOR_BIG && tag != CBOR_BIG_NEGATIVE)) {
                Py_XDECREF(bytes);
                return cbor_damaged();
        }
        value = PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "Os", bytes, "big");
        Py_DECREF(bytes);
        if (!value || tag == CBOR_BIG)
                return value;
        flipped = PyNumber_Invert(value);
        Py_DECREF(value);
        return flipped;
}

static PyObject *cbor_decode_array(struct cursor *in, uint64_t n, int depth)
{
        PyObject *list = PyList_New(0);

        for (uint64_t i = 0; list && i < n; i++) {
                PyObject *value = cbor_decode_value(in, depth + 1);

                if (!value || PyList_Append(list, value) < 0)
                        Py_CLEAR(list);
                Py_XDECREF(value);
        }
        return list;
}

static PyObject *cbor_decode_key(struct cursor *in, int depth)
{
        PyObject *key = cbor_decode_value(in, depth), *tuple;

        if (!key || !PyList_Check(key))
                return key;
        tuple = PyList_AsTuple(key);
        Py_DECREF(key);
        return tuple;
}

static PyObject *cbor_decode_map(struct cursor *in, uint64_t n, int depth)
{
        PyObject *dict = PyDict_New();

        for (uint64_t i = 0; dict && i < n; i++) {
                PyObject *key = cbor_decode_key(in, depth + 1);
                PyObject *value = key ? cbor_decode_value(in, depth + 1) : NULL;

                if (!value || PyDict_SetItem(dict, key, value) < 0)
                        Py_CLEAR(dict);
                Py_XDECREF(key);
                Py_XDECREF(value);
        }
        return dict;
}

static PyObject *cbor_decode_simple(uint64_t value)
{
        switch (value) {
        case CBOR_FALSE:
                Py_RETURN_FALSE;
        case CBOR_TRUE:
                Py_RETURN_TRUE;
        case CBOR_NULL:
                Py_RETURN_NONE;
        default:
                return cbor_damaged();
        }
}

static PyObject *cbor_decode_value(struct cursor *in, int depth)
{
        struct cbor_item item = cbor_next(in);
        const char *data = (const char *)item.data;

        if (depth > CBOR_DEPTH_MAX + 2)
                return cbor_damaged();
        switch (item.type) {
        case CBOR_UINT:
                return PyLong_FromUnsignedLongLong(item.value);
        case CBOR_NEGATIVE:
                return item.value > INT64_MAX ? cbor_damaged()
                                              : PyLong_FromLongLong(~(int64_t)item.value);
        case CBOR_BYTES:
                return PyBytes_FromStringAndSize(data, (Py_ssize_t)item.value);
        case CBOR_TEXT:
                return PyUnicode_DecodeUTF8(data, (Py_ssize_t)item.value, "surrogatepass");
        case CBOR_ARRAY:
                return cbor_decode_array(in, item.value, depth);
        case CBOR_MAP:
                return cbor_decode_map(in, item.value, depth);
        case CBOR_TAG:
                return cbor_decode_big(in, item.value, depth);
        case CBOR_SIMPLE:
                return cbor_decode_simple(item.value);
        case CBOR_REAL:
                return PyFloat_FromDouble(item.real);
        default:
                return cbor_damaged();
        }
}

PyObject *cbor_decode(const void *data, size_t len)
{
        struct cursor in = cursor_init(data, len);
        PyObject *value = cbor_decode_value(&in, 0);

        if (value && cursor_left(&in)) {
                Py_DECREF(value);
                return cbor_damaged();
        }
        return value;
}
