/* roastcoffea._roast: the run, its metrics and tables, for the client */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "roast-show.h"
#include "run.h"

/* metrics() -> [(key, group, type, unit, better, fallback, title, formula, (alias, ...)), ...] */
static PyObject *module_metrics(PyObject *module, PyObject *unused)
{
        static const char *const types[] = { "count", "real" };
        static const char *const betters[] = { "neutral", "more", "less" };
        static const char *const fallbacks[] = { "omit", "zero", "none" };
        PyObject *list = PyList_New(0);

        (void)module;
        (void)unused;
        for (int i = 0; list && i < ROAST_N_METRICS; i++) {
                const struct roast_metric_info *info = &roast_metrics[i];
                PyObject *aliases = PyList_New(0), *row;

                for (size_t j = 0; aliases && j < roast_n_aliases; j++) {
                        PyObject *alias;

                        if ((int)roast_aliases[j].metric != i)
                                continue;
                        alias = PyUnicode_FromString(roast_aliases[j].key);
                        if (!alias || PyList_Append(aliases, alias) < 0)
                                Py_CLEAR(aliases);
                        Py_XDECREF(alias);
                }
                row = aliases ? Py_BuildValue("(ssssssssN)", info->key,
                                              roast_group_names[info->group], types[info->type],
                                              roast_unit_names[info->unit], betters[info->better],
                                              fallbacks[info->fallback], info->title, info->formula,
                                              aliases)
                              : NULL;
                if (!row || PyList_Append(list, row) < 0)
                        Py_CLEAR(list);
                Py_XDECREF(row);
        }
        return list;
}

/* One of the tables, with its columns */
static PyObject *module_table(const struct roast_table_info *table)
{
        static const char *const types[] = {
                [ROAST_COLUMN_INT] = "int",   [ROAST_COLUMN_REAL] = "real",
                [ROAST_COLUMN_TEXT] = "text", [ROAST_COLUMN_STRING] = "string",
                [ROAST_COLUMN_BLOB] = "blob", [ROAST_COLUMN_ANY] = "any",
        };
        PyObject *columns = PyList_New(0);

        for (size_t i = 0; columns && i < table->n_columns; i++) {
                const struct roast_column_info *info = &table->columns[i];
                PyObject *row =
                        Py_BuildValue("(ssssiss)", info->name, info->stored, types[info->type],
                                      info->unit, info->since, info->title, info->meaning);

                if (!row || PyList_Append(columns, row) < 0)
                        Py_CLEAR(columns);
                Py_XDECREF(row);
        }
        return columns ? Py_BuildValue("(ssiN)", table->name, table->row, table->since, columns)
                       : NULL;
}

/* tables() -> [(name, what a row is, since, [column])] */
static PyObject *module_tables(PyObject *module, PyObject *unused)
{
        PyObject *list = PyList_New(0);
        struct roast_table_info table;

        (void)module;
        (void)unused;
        for (int i = 1; list && roast_run_table(i, &table); i++) {
                PyObject *row = module_table(&table);

                if (!row || PyList_Append(list, row) < 0)
                        Py_CLEAR(list);
                Py_XDECREF(row);
        }
        return list;
}

/* outcomes() -> [(number, name, meaning)] */
static PyObject *module_outcomes(PyObject *module, PyObject *unused)
{
        (void)module;
        (void)unused;
        return Py_BuildValue("["
#define OUTCOME(...) "(iss)"
#include "record/outcomes.def"
#undef OUTCOME
                             "]"
#define OUTCOME(id, number, name, meaning) , number, name, meaning
#include "record/outcomes.def"
#undef OUTCOME
        );
}

/* exchange(a, b): two paths change places at once */
static PyObject *module_exchange(PyObject *module, PyObject *args)
{
        PyObject *a, *b;
        int r, code;

        (void)module;
        if (!PyArg_ParseTuple(args, "O&O&", PyUnicode_FSConverter, &a, PyUnicode_FSConverter, &b))
                return NULL;
        r = renameat2(AT_FDCWD, PyBytes_AsString(a), AT_FDCWD, PyBytes_AsString(b),
                      RENAME_EXCHANGE);
        code = errno;
        if (r < 0) {
                errno = code;
                PyErr_SetFromErrnoWithFilename(PyExc_OSError, PyBytes_AsString(b));
        }
        Py_DECREF(a);
        Py_DECREF(b);
        if (r < 0)
                return NULL;
        Py_RETURN_NONE;
}

/* TABLES: the names that Summary.table() knows */
static int module_add_tables(PyObject *module)
{
        PyObject *list = PyList_New(0), *tuple;
        int r = list ? 0 : -1;

        for (size_t i = 0; roast_table_names[i] && r >= 0; i++) {
                PyObject *name = PyUnicode_FromString(roast_table_names[i]);

                r = name ? PyList_Append(list, name) : -1;
                Py_XDECREF(name);
        }
        tuple = r < 0 ? NULL : PyList_AsTuple(list);
        r = tuple ? PyModule_AddObjectRef(module, "TABLES", tuple) : -1;
        Py_XDECREF(tuple);
        Py_XDECREF(list);
        return r;
}

static int module_roast_exec(PyObject *module)
{
        static int (*const parts[])(PyObject *) = {
                native_choose_sqlite, native_add_run,    native_add_summary,
                native_add_units,     module_add_tables,
        };

        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
                if (parts[i](module) < 0)
                        return -1;
        return PyModule_AddStringConstant(module, "__version__", ROAST_VERSION);
}

static PyMethodDef functions[] = {
        { "metrics", module_metrics, METH_NOARGS,
          "metrics()\n--\n\nThe registry: a tuple for each metric." },
        { "rules", native_rules, METH_NOARGS,
          "rules()\n--\n\nThe rules of explain: name, question, threshold, advice." },
        { "inspect_json", native_inspect_json, METH_VARARGS,
          "inspect_json(path, tree, branches)\n--\n\nWhat is in a ROOT file, as JSON." },
        { "compare", native_compare, METH_VARARGS,
          "compare(runs, groups)\n--\n\nWhat differs between runs, as JSON and as tables." },
        { "report_comparison", native_report_comparison, METH_VARARGS,
          "report_comparison(runs, groups, path)\n--\n\nWhat differs between runs, as a page." },
        { "scaling", native_scaling, METH_VARARGS,
          "scaling(runs)\n--\n\nHow throughput grows with cores, as JSON and as tables." },
        { "outcomes", module_outcomes, METH_NOARGS,
          "outcomes()\n--\n\nHow an attempt can end: number, name, meaning." },
        { "tables", module_tables, METH_NOARGS,
          "tables()\n--\n\nThe tables of a run: name, what a row is, minor version of the format\n"
          "since which it is there, and the columns without id: name, name in the table, type,\n"
          "unit, minor version, title, meaning." },
        { "exchange", module_exchange, METH_VARARGS,
          "exchange(a, b)\n--\n\nTwo paths change places, at once." },
        { 0 },
};

static PyModuleDef_Slot slots[] = {
        { Py_mod_exec, module_roast_exec },
        { 0 },
};

static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT,
        .m_name = "roastcoffea._roast",
        .m_doc = "Runs, metrics and tables: what the client needs of libroast.",
        .m_methods = functions,
        .m_slots = slots,
};

PyMODINIT_FUNC PyInit__roast(void);

PyMODINIT_FUNC PyInit__roast(void)
{
        return PyModuleDef_Init(&definition);
}
