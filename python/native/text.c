/*
 * Strings of a run as str, and back
 *
 * Names come from files, logs and databases of others: they need not be UTF-8.
 * Bytes that are not become lone surrogates, as Python has them in names of
 * files, so that different names stay different and find their way back.
 */

#include <string.h>

#include "native.h"

PyObject *native_text_n(const char *text, size_t len)
{
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
}

PyObject *native_text(const char *text)
{
        return text ? native_text_n(text, strlen(text)) : Py_NewRef(Py_None);
}

PyObject *native_text_bytes(PyObject *text)
{
        PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");

        if (bytes || !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
                return bytes;
        PyErr_Clear(); /* a surrogate that stands for no byte */
        return PyUnicode_AsEncodedString(text, "utf-8", "replace");
}

int native_text_converter(PyObject *text, void *bytes)
{
        if (!text) { /* the arguments after this one were not good */
                Py_CLEAR(*(PyObject **)bytes);
                return 1;
        }
        if (!PyUnicode_Check(text)) {
                PyErr_Format(PyExc_TypeError, "a name is a str, not %R", Py_TYPE(text));
                return 0;
        }
        *(PyObject **)bytes = native_text_bytes(text);
        return *(PyObject **)bytes ? Py_CLEANUP_SUPPORTED : 0;
}

PyObject *native_shown(const char *text)
{
        return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                    : Py_NewRef(Py_None);
}

int native_put(PyObject *dict, const char *key, PyObject *value)
{
        PyObject *name = value ? native_text(key) : NULL;
        int r = name ? PyDict_SetItem(dict, name, value) : -1;

        Py_XDECREF(name);
        Py_XDECREF(value);
        return r;
}
