/*
 * _roast.compare, _roast.report_comparison and _roast.scaling: functions over several runs
 *
 * The locks of all runs are held meanwhile, taken in the order of their
 * addresses, so that two such calls at the same time cannot wait for each other.
 */

#include <stdlib.h>

#include "roast-compare.h"
#include "roast-report.h"
#include "roast-scaling.h"
#include "run.h"

struct runs {
        PyObject **objects; /* in the order given */
        PyObject **locked;  /* by address */
        struct roast_run **runs;
        size_t *groups;
        Py_ssize_t n;
        Py_ssize_t n_locked;
};

static int analyze_by_address(const void *a, const void *b)
{
        PyObject *x = *(PyObject *const *)a, *y = *(PyObject *const *)b;

        return (x > y) - (x < y);
}

static void analyze_runs_leave(struct runs *runs)
{
        for (Py_ssize_t i = 0; i < runs->n_locked; i++)
                native_run_unlock(runs->locked[i]);
        for (Py_ssize_t i = 0; runs->objects && i < runs->n; i++)
                Py_XDECREF(runs->objects[i]);
        free(runs->objects);
        free(runs->locked);
        free(runs->runs);
        free(runs->groups);
}

static int analyze_runs_lock(struct runs *runs)
{
        qsort(runs->locked, (size_t)runs->n, sizeof(*runs->locked), analyze_by_address);
        for (Py_ssize_t i = 1; i < runs->n; i++)
                if (runs->locked[i] == runs->locked[i - 1]) {
                        PyErr_SetString(PyExc_ValueError, "the same run is given twice");
                        return -1;
                }
        for (; runs->n_locked < runs->n; runs->n_locked++) {
                struct roast_run *run = native_run_enter(runs->locked[runs->n_locked]);

                if (!run)
                        return -1;
                for (Py_ssize_t i = 0; i < runs->n; i++)
                        if (runs->objects[i] == runs->locked[runs->n_locked])
                                runs->runs[i] = run;
        }
        return 0;
}

static int analyze_runs_make_room(struct runs *runs, Py_ssize_t n)
{
        size_t room = n > 0 ? (size_t)n : 1;

        runs->objects = calloc(room, sizeof(*runs->objects));
        runs->locked = calloc(room, sizeof(*runs->locked));
        runs->runs = calloc(room, sizeof(*runs->runs));
        runs->groups = calloc(room, sizeof(*runs->groups));
        if (!runs->objects || !runs->locked || !runs->runs || !runs->groups) {
                PyErr_NoMemory();
                return -1;
        }
        runs->n = n;
        return 0;
}

/* Runs from a list of Run objects; their groups from a list of numbers, if there is one */
static int analyze_runs_enter(struct runs *runs, PyObject *module, PyObject *list, PyObject *groups)
{
        PyObject *type;

        if (analyze_runs_make_room(runs, PyList_Size(list)) < 0)
                return -1;
        type = PyObject_GetAttrString(module, "Run");
        if (!type)
                return -1;
        for (Py_ssize_t i = 0; i < runs->n && !PyErr_Occurred(); i++) {
                PyObject *item = PyList_GetItem(list, i);
                PyObject *group = groups ? PyList_GetItem(groups, i) : NULL;

                if (!item || PyObject_IsInstance(item, type) <= 0) {
                        if (!PyErr_Occurred())
                                PyErr_SetString(PyExc_TypeError, "a list of runs is wanted");
                        break;
                }
                Py_INCREF(item);
                runs->objects[i] = runs->locked[i] = item;
                if (group)
                        runs->groups[i] = PyLong_AsSize_t(group);
        }
        Py_DECREF(type);
        return PyErr_Occurred() ? -1 : analyze_runs_lock(runs);
}

/* (JSON, [table, ...]); takes both over */
static PyObject *analyze_result_of(char *text, struct roast_tables *tables)
{
        PyObject *list = PyList_New(0), *result;

        for (size_t i = 0; list && i < tables->n; i++) {
                PyObject *table = native_table(&tables->tables[i]);

                if (!table || PyList_Append(list, table) < 0)
                        Py_CLEAR(list);
                Py_XDECREF(table);
        }
        result = list ? Py_BuildValue("(NN)", native_shown(text), list) : NULL;
        free(text);
        roast_tables_deinit(tables);
        return result;
}

static int analyze_compare_all(char **text, struct roast_tables *tables, const struct runs *runs,
                               struct roast_error *error)
{
        struct roast_comparison comparison;
        int r = roast_compare(&comparison, runs->runs, runs->groups, (size_t)runs->n, error);

        if (r < 0)
                return r;
        r = roast_comparison_to_json(text, &comparison, error);
        if (r >= 0)
                r = roast_comparison_tables(tables, &comparison, error);
        roast_comparison_deinit(&comparison);
        return r;
}

static int analyze_scale_all(char **text, struct roast_tables *tables, const struct runs *runs,
                             struct roast_error *error)
{
        struct roast_scaling scaling;
        int r = roast_scaling(&scaling, runs->runs, (size_t)runs->n, error);

        if (r < 0)
                return r;
        r = roast_scaling_to_json(text, &scaling, error);
        if (r >= 0)
                r = roast_scaling_tables(tables, &scaling, error);
        roast_scaling_deinit(&scaling);
        return r;
}

static PyObject *analyze(PyObject *module, PyObject *list, PyObject *groups,
                         int (*function)(char **, struct roast_tables *, const struct runs *,
                                         struct roast_error *))
{
        struct roast_tables tables = { 0 };
        struct roast_error error = { 0 };
        struct runs runs = { 0 };
        char *text = NULL;
        int r;

        if (analyze_runs_enter(&runs, module, list, groups) < 0) {
                analyze_runs_leave(&runs);
                return NULL;
        }
        Py_BEGIN_ALLOW_THREADS r = function(&text, &tables, &runs, &error);
        Py_END_ALLOW_THREADS analyze_runs_leave(&runs);
        if (r < 0) {
                free(text);
                return native_raise(&error);
        }
        return analyze_result_of(text, &tables);
}

static bool analyze_each_has_a_group(PyObject *list, PyObject *groups)
{
        if (PyList_Size(list) == PyList_Size(groups))
                return true;
        PyErr_SetString(PyExc_ValueError, "each run has a group");
        return false;
}

/* compare(runs, groups) -> (JSON, tables); groups[i] is the number of the group of runs[i] */
PyObject *native_compare(PyObject *module, PyObject *args)
{
        PyObject *list, *groups;

        if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &list, &PyList_Type, &groups) ||
            !analyze_each_has_a_group(list, groups))
                return NULL;
        return analyze(module, list, groups, analyze_compare_all);
}

static int analyze_write_comparison(const struct runs *runs, const char *path,
                                    struct roast_error *error)
{
        struct roast_comparison comparison;
        int r = roast_compare(&comparison, runs->runs, runs->groups, (size_t)runs->n, error);

        if (r < 0)
                return r;
        r = roast_report_write_comparison(&comparison, path, error);
        roast_comparison_deinit(&comparison);
        return r;
}

/* report_comparison(runs, groups, path): the page, as a file */
PyObject *native_report_comparison(PyObject *module, PyObject *args)
{
        struct roast_error error = { 0 };
        struct runs runs = { 0 };
        PyObject *list, *groups, *path;
        int r;

        if (!PyArg_ParseTuple(args, "O!O!O&", &PyList_Type, &list, &PyList_Type, &groups,
                              PyUnicode_FSConverter, &path))
                return NULL;
        if (!analyze_each_has_a_group(list, groups) ||
            analyze_runs_enter(&runs, module, list, groups) < 0) {
                analyze_runs_leave(&runs);
                Py_DECREF(path);
                return NULL;
        }
        Py_BEGIN_ALLOW_THREADS r = analyze_write_comparison(&runs, PyBytes_AsString(path), &error);
        Py_END_ALLOW_THREADS analyze_runs_leave(&runs);
        Py_DECREF(path);
        if (r < 0)
                return native_raise(&error);
        Py_RETURN_NONE;
}

/* scaling(runs) -> (JSON, tables) */
PyObject *native_scaling(PyObject *module, PyObject *args)
{
        PyObject *list;

        if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &list))
                return NULL;
        return analyze(module, list, NULL, analyze_scale_all);
}
