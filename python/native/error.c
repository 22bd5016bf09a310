/* Errors of libroast as exceptions */

#include "native.h"

static PyObject *error_exception_of(int code)
{
        switch (code) {
        case ROAST_E_NOMEM:
                return PyExc_MemoryError;
        case ROAST_E_NOENT:
                return PyExc_FileNotFoundError;
        case ROAST_E_IO:
                return PyExc_OSError;
        case ROAST_E_STATE:
                return PyExc_RuntimeError;
        default:
                return PyExc_ValueError;
        }
}

PyObject *native_raise(const struct roast_error *error)
{
        PyObject *message = native_shown(error->message);

        if (message)
                PyErr_SetObject(error_exception_of(error->code), message);
        Py_XDECREF(message);
        return NULL;
}

int native_raise_int(const struct roast_error *error)
{
        native_raise(error);
        return -1;
}
