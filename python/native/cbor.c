/* Python values as CBOR, and back: see cbor.h. */

#include <string.h>

#include "cbor.h"

#define CBOR_DEPTH_MAX 64
#define CBOR_TEXT_MAX  512 /* of a value that is kept as its str() */

enum {
        MAJOR_UINT,
        MAJOR_NEGATIVE,
        MAJOR_BYTES,
        MAJOR_TEXT,
        MAJOR_ARRAY,
        MAJOR_MAP,
        MAJOR_TAG,
        MAJOR_SIMPLE
};
enum { SIMPLE_FALSE = 20, SIMPLE_TRUE = 21, SIMPLE_NULL = 22, SIMPLE_F64 = 27 };
enum { TAG_BIG = 2, TAG_BIG_NEGATIVE = 3 };

static int encode(struct buf *out, PyObject *value, int depth);

static int put(int r)
{
        if (r < 0)
                PyErr_NoMemory();
        return r < 0 ? -1 : 0;
}

static int put_head(struct buf *out, unsigned int major, uint64_t value)
{
        unsigned int n = value < 24            ? 0
                         : value <= UINT8_MAX  ? 1
                         : value <= UINT16_MAX ? 2
                         : value <= UINT32_MAX ? 4
                                               : 8;
        static const uint8_t codes[] = { 0, 24, 25, 0, 26, 0, 0, 0, 27 };
        uint8_t bytes[9];

        bytes[0] = (uint8_t)(major << 5 | (n ? codes[n] : (uint8_t)value));
        for (unsigned int i = 0; i < n; i++)
                bytes[1 + i] = (uint8_t)(value >> 8 * (n - 1 - i));
        return put(buf_append(out, bytes, 1 + n));
}

static int put_string(struct buf *out, unsigned int major, const void *data, Py_ssize_t len)
{
        if (put_head(out, major, (uint64_t)len) < 0)
                return -1;
        return put(buf_append(out, data, (size_t)len));
}

static int put_bytes_object(struct buf *out, unsigned int major, PyObject *bytes)
{
        char *data;
        Py_ssize_t len;
        int r = bytes ? PyBytes_AsStringAndSize(bytes, &data, &len) : -1;

        if (r == 0)
                r = put_string(out, major, data, len);
        Py_XDECREF(bytes);
        return r;
}

static int put_text(struct buf *out, PyObject *text)
{
        Py_ssize_t len;
        const char *data = PyUnicode_AsUTF8AndSize(text, &len);

        if (data)
                return put_string(out, MAJOR_TEXT, data, len);
        PyErr_Clear();
        return put_bytes_object(out, MAJOR_TEXT,
                                PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
}

/* An int beyond 64 bits: its magnitude as bytes, most significant first */
static int put_big(struct buf *out, PyObject *value)
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
        if (bytes && put_head(out, MAJOR_TAG, negative ? TAG_BIG_NEGATIVE : TAG_BIG) == 0)
                r = put_bytes_object(out, MAJOR_BYTES, Py_NewRef(bytes));
        Py_XDECREF(zero);
        Py_XDECREF(magnitude);
        Py_XDECREF(bits);
        Py_XDECREF(bytes);
        return r;
}

static int put_int(struct buf *out, PyObject *value)
{
        int overflow;
        long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);

        if (overflow)
                return put_big(out, value);
        if (integer == -1 && PyErr_Occurred())
                return -1;
        if (integer < 0)
                return put_head(out, MAJOR_NEGATIVE, ~(uint64_t)integer);
        return put_head(out, MAJOR_UINT, (uint64_t)integer);
}

static int put_float(struct buf *out, double value)
{
        uint8_t bytes[9] = { MAJOR_SIMPLE << 5 | SIMPLE_F64 };
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        for (int i = 0; i < 8; i++)
                bytes[1 + i] = (uint8_t)(bits >> 8 * (7 - i));
        return put(buf_append(out, bytes, sizeof(bytes)));
}

static int put_sequence(struct buf *out, PyObject *value, int depth)
{
        PyObject *tuple = PySequence_Tuple(value);
        Py_ssize_t n = tuple ? PyTuple_Size(tuple) : 0;
        int r = tuple ? put_head(out, MAJOR_ARRAY, (uint64_t)n) : -1;

        for (Py_ssize_t i = 0; r == 0 && i < n; i++)
                r = encode(out, PyTuple_GetItem(tuple, i), depth + 1);
        Py_XDECREF(tuple);
        return r;
}

static int put_dict(struct buf *out, PyObject *value, int depth)
{
        /* a copy: encoding may run code that changes the original */
        PyObject *items = PyDict_Items(value);
        Py_ssize_t n = items ? PyList_Size(items) : 0;
        int r = items ? put_head(out, MAJOR_MAP, (uint64_t)n) : -1;

        for (Py_ssize_t i = 0; r == 0 && i < n; i++) {
                PyObject *item = PyList_GetItem(items, i);

                r = encode(out, PyTuple_GetItem(item, 0), depth + 1);
                if (r == 0)
                        r = encode(out, PyTuple_GetItem(item, 1), depth + 1);
        }
        Py_XDECREF(items);
        return r;
}

static int put_str(struct buf *out, PyObject *value)
{
        PyObject *text = PyObject_Str(value), *cut = NULL;
        int r = -1;

        if (text)
                cut = PyUnicode_Substring(text, 0, CBOR_TEXT_MAX);
        if (cut)
                r = put_text(out, cut);
        Py_XDECREF(text);
        Py_XDECREF(cut);
        return r;
}

/* NumPy's scalars and arrays, and whatever behaves like them */
static int put_other(struct buf *out, PyObject *value, int depth)
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
                r = plain == value ? 1 : encode(out, plain, depth + 1);
                Py_DECREF(plain);
                if (r <= 0)
                        return r;
        }
        return put_str(out, value);
}

static int encode(struct buf *out, PyObject *value, int depth)
{
        char *data;
        Py_ssize_t len;

        if (depth > CBOR_DEPTH_MAX)
                return put_string(out, MAJOR_TEXT, "...", 3);
        if (value == Py_None)
                return put_head(out, MAJOR_SIMPLE, SIMPLE_NULL);
        if (PyBool_Check(value))
                return put_head(out, MAJOR_SIMPLE, value == Py_True ? SIMPLE_TRUE : SIMPLE_FALSE);
        if (PyLong_Check(value))
                return put_int(out, value);
        if (PyFloat_Check(value))
                return put_float(out, PyFloat_AsDouble(value));
        if (PyUnicode_Check(value))
                return put_text(out, value);
        if (PyBytes_Check(value))
                return PyBytes_AsStringAndSize(value, &data, &len) < 0
                               ? -1
                               : put_string(out, MAJOR_BYTES, data, len);
        if (PyDict_Check(value))
                return put_dict(out, value, depth);
        if (PyList_Check(value) || PyTuple_Check(value) || PyAnySet_Check(value))
                return put_sequence(out, value, depth);
        return put_other(out, value, depth);
}

int cbor_encode(struct buf *out, PyObject *value)
{
        return encode(out, value, 0);
}

static PyObject *decode(struct cursor *in, int depth);

static PyObject *damaged(void)
{
        if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "damaged CBOR");
        return NULL;
}

static uint64_t take_be(struct cursor *in, unsigned int n)
{
        uint64_t value = 0;

        for (unsigned int i = 0; i < n; i++)
                value = value << 8 | cursor_u8(in);
        return value;
}

static PyObject *decode_float(uint64_t bits)
{
        double value;

        memcpy(&value, &bits, sizeof(value));
        return PyFloat_FromDouble(value);
}

static PyObject *decode_big(struct cursor *in, uint64_t tag, int depth)
{
        PyObject *bytes = decode(in, depth + 1), *value = NULL, *flipped;

        if (!bytes || !PyBytes_Check(bytes) || (tag != TAG_BIG && tag != TAG_BIG_NEGATIVE)) {
                Py_XDECREF(bytes);
                return damaged();
        }
        value = PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "Os", bytes, "big");
        Py_DECREF(bytes);
        if (!value || tag == TAG_BIG)
                return value;
        flipped = PyNumber_Invert(value);
        Py_DECREF(value);
        return flipped;
}

static PyObject *decode_array(struct cursor *in, uint64_t n, int depth)
{
        PyObject *list = n > cursor_left(in) ? damaged() : PyList_New(0);

        for (uint64_t i = 0; list && i < n; i++) {
                PyObject *value = decode(in, depth + 1);

                if (!value || PyList_Append(list, value) < 0)
                        Py_CLEAR(list);
                Py_XDECREF(value);
        }
        return list;
}

static PyObject *decode_key(struct cursor *in, int depth)
{
        PyObject *key = decode(in, depth), *tuple;

        if (!key || !PyList_Check(key))
                return key;
        tuple = PyList_AsTuple(key);
        Py_DECREF(key);
        return tuple;
}

static PyObject *decode_map(struct cursor *in, uint64_t n, int depth)
{
        PyObject *dict = n > cursor_left(in) ? damaged() : PyDict_New();

        for (uint64_t i = 0; dict && i < n; i++) {
                PyObject *key = decode_key(in, depth + 1);
                PyObject *value = key ? decode(in, depth + 1) : NULL;

                if (!value || PyDict_SetItem(dict, key, value) < 0)
                        Py_CLEAR(dict);
                Py_XDECREF(key);
                Py_XDECREF(value);
        }
        return dict;
}

static PyObject *decode_simple(uint64_t value)
{
        switch (value) {
        case SIMPLE_FALSE:
                Py_RETURN_FALSE;
        case SIMPLE_TRUE:
                Py_RETURN_TRUE;
        case SIMPLE_NULL:
                Py_RETURN_NONE;
        default:
                return damaged();
        }
}

static PyObject *decode(struct cursor *in, int depth)
{
        uint8_t head = cursor_u8(in), low = head & 31;
        uint64_t value = low < 24 ? low : low <= 27 ? take_be(in, 1u << (low - 24)) : 0;
        const char *data;

        if (in->bad || low > 27 || depth > CBOR_DEPTH_MAX + 2)
                return damaged();
        switch (head >> 5) {
        case MAJOR_UINT:
                return PyLong_FromUnsignedLongLong(value);
        case MAJOR_NEGATIVE:
                return value > INT64_MAX ? damaged() : PyLong_FromLongLong(~(int64_t)value);
        case MAJOR_BYTES:
        case MAJOR_TEXT:
                data = value > cursor_left(in) ? NULL : (const char *)cursor_take(in, value);
                if (!data)
                        return damaged();
                return head >> 5 == MAJOR_BYTES
                               ? PyBytes_FromStringAndSize(data, (Py_ssize_t)value)
                               : PyUnicode_DecodeUTF8(data, (Py_ssize_t)value, "surrogatepass");
        case MAJOR_ARRAY:
                return decode_array(in, value, depth);
        case MAJOR_MAP:
                return decode_map(in, value, depth);
        case MAJOR_TAG:
                return decode_big(in, value, depth);
        default:
                return low == SIMPLE_F64 ? decode_float(value) : decode_simple(value);
        }
}

PyObject *cbor_decode(const void *data, size_t len)
{
        struct cursor in = cursor_init(data, len);
        PyObject *value = decode(&in, 0);

        if (value && cursor_left(&in)) {
                Py_DECREF(value);
                return damaged();
        }
        return value;
}
