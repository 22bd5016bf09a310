/* This process's memory, and units for the documented helpers */

#include "probe/platform.h"
#include "roast-units.h"
#include "run.h"

static PyObject *units_process_memory(PyObject *module, PyObject *unused)
{
        int64_t bytes = probe_rss_bytes();

        (void)module;
        (void)unused;
        return PyFloat_FromDouble(bytes < 0 ? 0 : (double)bytes / (1024 * 1024));
}

static PyObject *units_format_with(PyObject *number, char *(*format)(char *, size_t, double))
{
        char text[ROAST_UNITS_MAX];
        double value = PyFloat_AsDouble(number);

        if (value == -1 && PyErr_Occurred())
                return NULL;
        return PyUnicode_FromString(format(text, sizeof(text), value));
}

static PyObject *units_format_bytes(PyObject *module, PyObject *number)
{
        (void)module;
        return units_format_with(number, roast_format_bytes_1024);
}

static PyObject *units_format_time(PyObject *module, PyObject *number)
{
        (void)module;
        return units_format_with(number, roast_format_seconds_coarse);
}

static PyMethodDef functions[] = {
        { "process_memory_mb", units_process_memory, METH_NOARGS,
          "process_memory_mb()\n--\n\nThis process's resident set in units of 2**20 bytes." },
        { "format_bytes", units_format_bytes, METH_O,
          "format_bytes(bytes)\n--\n\nBytes for people, by powers of 1024." },
        { "format_time", units_format_time, METH_O,
          "format_time(seconds)\n--\n\nSeconds for people, to a tenth." },
        { 0 },
};

int native_add_units(PyObject *module)
{
        return PyModule_AddFunctions(module, functions);
}
