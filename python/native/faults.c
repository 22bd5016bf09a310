/*
 * Faults of our own that cannot be raised
 *
 * A section that fails must not disturb the user's code. The number of faults
 * and the first one are kept until the decorator asks for them.
 */

#include <stdio.h>

#include "probe.h"

static unsigned long n_faults;
static char first_fault[256];

void fault_note(const char *where)
{
        PyObject *type, *value, *traceback, *text;
        const char *message = NULL;

        PyErr_Fetch(&type, &value, &traceback);
        text = value ? PyObject_Str(value) : NULL;
        if (text)
                message = PyUnicode_AsUTF8AndSize(text, NULL);
        if (!n_faults++)
                snprintf(first_fault, sizeof(first_fault), "%s: %s", where,
                         message ? message : "unknown fault");
        Py_XDECREF(text);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        PyErr_Clear();
}

PyObject *fault_take(PyObject *module, PyObject *unused)
{
        unsigned long n = n_faults;

        (void)module;
        (void)unused;
        n_faults = 0;
        if (!n)
                Py_RETURN_NONE;
        return Py_BuildValue("(ks)", n, first_fault);
}
