/* _probe.read_process(), _probe.descendants(): pools of processes, seen from outside */

#include "probe.h"
#include "probe/platform.h"
#include "util/cleanup.h"

#define DESCENDANTS_MAX 4096

/* read_process(pid) -> (start, *values in units of their resolution), or None */
PyObject *native_read_process(PyObject *module, PyObject *number)
{
        struct process_reading reading;
        long pid = PyLong_AsLong(number);
        PyObject *row;

        (void)module;
        if (pid == -1 && PyErr_Occurred())
                return NULL;
        if (!process_read((pid_t)pid, &reading))
                Py_RETURN_NONE;
        row = PyTuple_New(PROCESS_N_COLUMNS + 1);
        for (Py_ssize_t i = 0; row && i <= PROCESS_N_COLUMNS; i++) {
                int64_t value =
                        i == 0 ? reading.start_ticks
                               : probe_column_pack(process_columns[i - 1], reading.values[i - 1]);
                PyObject *item = PyLong_FromLongLong(value);

                if (!item || PyTuple_SetItem(row, i, item) < 0)
                        Py_CLEAR(row);
        }
        return row;
}

/* descendants(pid) -> [pid, ...] */
PyObject *native_descendants(PyObject *module, PyObject *number)
{
        ROAST_CLEANUP(cleanup_free) pid_t *pids = malloc(DESCENDANTS_MAX * sizeof(*pids));
        long pid = PyLong_AsLong(number);
        PyObject *list;
        size_t n;

        (void)module;
        if (pid == -1 && PyErr_Occurred())
                return NULL;
        if (!pids)
                return PyErr_NoMemory();
        n = process_descendants((pid_t)pid, pids, DESCENDANTS_MAX);
        list = PyList_New((Py_ssize_t)n);
        for (size_t i = 0; list && i < n; i++) {
                PyObject *item = PyLong_FromLong(pids[i]);

                if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
                        Py_CLEAR(list);
        }
        return list;
}

static const struct probe_column *process_column(size_t index)
{
        return index < PROCESS_N_COLUMNS ? process_columns[index] : NULL;
}

int native_add_process(PyObject *module)
{
        return native_add_columns(module, "PROCESS_COLUMNS", process_column);
}
