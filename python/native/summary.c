/* _roast.Summary: the metrics of a run, and their tables */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "roast-show.h"
#include "run.h"

typedef struct {
        PyObject_HEAD struct roast_summary summary;
} SummaryObject;

static PyObject *summary_metric_object(const struct roast_value *value,
                                       const struct roast_metric_info *info)
{
        if (info->type == ROAST_TYPE_COUNT && fabs(value->real) >= 9.2e18)
                return PyLong_FromDouble(value->real);
        if (info->type == ROAST_TYPE_COUNT)
                return PyLong_FromLongLong(value->count);
        return PyFloat_FromDouble(value->real);
}

/* metrics() -> {key: value} of what is known or estimated */
static PyObject *summary_metrics(PyObject *self, PyObject *unused)
{
        const struct roast_metric_set *set = &((SummaryObject *)self)->summary.metrics;
        PyObject *dict = PyDict_New();

        (void)unused;
        for (int i = 0; dict && i < ROAST_N_METRICS; i++)
                if (set->values[i].state != ROAST_ABSENT &&
                    native_put(dict, roast_metrics[i].key,
                               summary_metric_object(&set->values[i], &roast_metrics[i])) < 0)
                        Py_CLEAR(dict);
        return dict;
}

static PyObject *summary_reasons(PyObject *self, enum roast_state state)
{
        const struct roast_metric_set *set = &((SummaryObject *)self)->summary.metrics;
        PyObject *dict = PyDict_New();

        for (int i = 0; dict && i < ROAST_N_METRICS; i++)
                if (set->values[i].state == state &&
                    native_put(dict, roast_metrics[i].key,
                               native_shown(roast_metric_reason(set, (enum roast_metric)i))) < 0)
                        Py_CLEAR(dict);
        return dict;
}

static PyObject *summary_absent(PyObject *self, PyObject *unused)
{
        (void)unused;
        return summary_reasons(self, ROAST_ABSENT);
}

static PyObject *summary_estimated(PyObject *self, PyObject *unused)
{
        (void)unused;
        return summary_reasons(self, ROAST_ESTIMATED);
}

static PyObject *summary_ledger_row(const struct roast_ledger_row *row)
{
        PyObject *dict = PyDict_New();

        for (size_t i = 0; dict && i < ROAST_LEDGER_N_PARTS; i++) {
                PyObject *seconds;

                if (!(row->known >> i & 1))
                        continue;
                seconds = PyFloat_FromDouble(row->seconds[i]);
                if (!seconds || PyDict_SetItemString(dict, roast_ledger_parts[i].key, seconds) < 0)
                        Py_CLEAR(dict);
                Py_XDECREF(seconds);
        }
        return dict;
}

/* ({worker: {part that is known: seconds}}, [parts that are estimated]) */
static PyObject *summary_ledger(PyObject *self, PyObject *unused)
{
        const struct roast_summary *summary = &((SummaryObject *)self)->summary;
        PyObject *workers = PyDict_New(), *estimated = PyList_New(0);
        unsigned int bits = 0;
        bool good = workers && estimated;

        (void)unused;
        for (size_t i = 0; good && i < summary->n_ledger; i++) {
                PyObject *row = summary_ledger_row(&summary->ledger[i]);

                good = row && native_put(workers, summary->ledger[i].worker, row) == 0;
                bits |= summary->ledger[i].estimated;
        }
        for (unsigned int i = 0; good && i < ROAST_LEDGER_N_PARTS; i++) {
                PyObject *key =
                        bits >> i & 1 ? PyUnicode_FromString(roast_ledger_parts[i].key) : NULL;

                good = !(bits >> i & 1) || (key && PyList_Append(estimated, key) == 0);
                Py_XDECREF(key);
        }
        if (good)
                return Py_BuildValue("(NN)", workers, estimated);
        Py_XDECREF(workers);
        Py_XDECREF(estimated);
        return NULL;
}

static PyObject *summary_cell_tuple(const struct roast_cell *cell)
{
        static const char *const emphases[] = { "plain", "strong", "dim", "alert" };

        return Py_BuildValue("(Ns)", native_shown(cell->text ? cell->text : ""),
                             emphases[cell->emphasis]);
}

static PyObject *summary_row_tuple(const struct roast_table *table, size_t row)
{
        PyObject *tuple = PyTuple_New((Py_ssize_t)table->n_columns);

        for (size_t i = 0; tuple && i < table->n_columns; i++) {
                PyObject *cell = summary_cell_tuple(&table->cells[row * table->n_columns + i]);

                if (!cell || PyTuple_SetItem(tuple, (Py_ssize_t)i, cell) < 0)
                        Py_CLEAR(tuple);
        }
        return tuple;
}

PyObject *native_table(const struct roast_table *table)
{
        PyObject *columns = PyList_New(0), *rows = PyList_New(0);

        for (size_t i = 0; columns && i < table->n_columns; i++) {
                PyObject *column = Py_BuildValue("(sO)", table->columns[i].title,
                                                 table->columns[i].right ? Py_True : Py_False);

                if (!column || PyList_Append(columns, column) < 0)
                        Py_CLEAR(columns);
                Py_XDECREF(column);
        }
        for (size_t i = 0; rows && i < table->n_rows; i++) {
                PyObject *row = summary_row_tuple(table, i);

                if (!row || PyList_Append(rows, row) < 0)
                        Py_CLEAR(rows);
                Py_XDECREF(row);
        }
        if (!columns || !rows) {
                Py_XDECREF(columns);
                Py_XDECREF(rows);
                return NULL;
        }
        return Py_BuildValue("(sNN)", table->title, columns, rows);
}

/* table(name, width=0, gap=0) -> (title, [(column, right aligned)], [((text, emphasis), ...)]) */
static PyObject *summary_table(PyObject *self, PyObject *args)
{
        struct roast_table table, fitted;
        struct roast_error error = { 0 };
        Py_ssize_t width = 0, gap = 0;
        PyObject *object = NULL;
        const char *name;

        if (!PyArg_ParseTuple(args, "s|nn:table", &name, &width, &gap))
                return NULL;
        if (roast_table_make(&table, name, &((SummaryObject *)self)->summary, &error) < 0) {
                PyErr_SetString(PyExc_KeyError, error.message);
                return NULL;
        }
        if (roast_table_fit(&fitted, &table,
                            &(struct roast_room){ .width = width > 0 ? (size_t)width : 0,
                                                  .gap = gap > 0 ? (size_t)gap : 0 },
                            &error) < 0) {
                PyErr_NoMemory();
        } else {
                object = native_table(&fitted);
                roast_table_deinit(&fitted);
        }
        roast_table_deinit(&table);
        return object;
}

static PyObject *summary_repr_html(PyObject *self, PyObject *unused)
{
        struct roast_error error = { 0 };
        struct roast_tables tables;
        PyObject *object = NULL;
        char *html = NULL;

        (void)unused;
        if (roast_tables_make(&tables, &((SummaryObject *)self)->summary, &error) < 0)
                return native_raise(&error);
        if (roast_tables_to_html(&html, &tables, &error) < 0)
                native_raise(&error);
        else
                object = native_shown(html);
        free(html);
        roast_tables_deinit(&tables);
        return object;
}

static PyObject *summary_new(PyTypeObject *type)
{
        PyObject *(*alloc)(PyTypeObject *, Py_ssize_t) =
                (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(type, Py_tp_alloc);

        return alloc(type, 0);
}

static void summary_dealloc(PyObject *self)
{
        PyTypeObject *type = Py_TYPE(self);
        freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

        roast_summary_deinit(&((SummaryObject *)self)->summary);
        release(self);
        Py_DECREF(type);
}

static PyObject *summary_datasets(PyObject *self, PyObject *unused)
{
        (void)unused;
        return native_summary_datasets(&((SummaryObject *)self)->summary);
}

static PyObject *summary_sections(PyObject *self, PyObject *unused)
{
        (void)unused;
        return native_summary_sections(&((SummaryObject *)self)->summary);
}

static PyObject *summary_files(PyObject *self, PyObject *unused)
{
        (void)unused;
        return native_summary_files(&((SummaryObject *)self)->summary);
}

static PyObject *summary_branches(PyObject *self, PyObject *unused)
{
        (void)unused;
        return native_summary_branches(&((SummaryObject *)self)->summary);
}

static PyObject *summary_failures(PyObject *self, PyObject *unused)
{
        (void)unused;
        return native_summary_failures(&((SummaryObject *)self)->summary);
}

static PyObject *summary_file_metadata(PyObject *self, PyObject *unused)
{
        (void)unused;
        return native_summary_file_metadata(&((SummaryObject *)self)->summary);
}

static PyObject *summary_documented(PyObject *self, PyObject *unused)
{
        (void)unused;
        return native_summary_documented(&((SummaryObject *)self)->summary);
}

static PyObject *summary_custom(PyObject *self, PyObject *unused)
{
        (void)unused;
        return native_summary_custom(&((SummaryObject *)self)->summary);
}

static PyMethodDef methods[] = {
        { "metrics", summary_metrics, METH_NOARGS,
          "metrics()\n--\n\nWhat is known or estimated, by key." },
        { "absent", summary_absent, METH_NOARGS,
          "absent()\n--\n\nWhy each of the other metrics is absent, by key." },
        { "estimated", summary_estimated, METH_NOARGS,
          "estimated()\n--\n\nHow each estimated metric was estimated, by key." },
        { "datasets", summary_datasets, METH_NOARGS, "datasets()\n--\n\nA dict for each dataset." },
        { "sections", summary_sections, METH_NOARGS, "sections()\n--\n\nA dict for each section." },
        { "ledger", summary_ledger, METH_NOARGS,
          "ledger()\n--\n\n({worker: {part: seconds}}, [parts that are estimated])" },
        { "files", summary_files, METH_NOARGS, "files()\n--\n\nA dict for each file." },
        { "file_metadata", summary_file_metadata, METH_NOARGS,
          "file_metadata()\n--\n\nWhat is known of the tree of each file, by its name." },
        { "documented", summary_documented, METH_NOARGS,
          "documented()\n--\n\nThe documented dicts of datasets and of sections, by name." },
        { "custom", summary_custom, METH_NOARGS,
          "custom()\n--\n\nThe user's own metrics: value, title, unit, better, by key." },
        { "branches", summary_branches, METH_NOARGS,
          "branches()\n--\n\nA dict for each branch, those with the most bytes first." },
        { "failures", summary_failures, METH_NOARGS,
          "failures()\n--\n\nA dict for each kind of attempts without a result, most first." },
        { "table", summary_table, METH_VARARGS,
          "table(name, width=0, gap=0, /)\n--\n\n"
          "A table as (title, columns, rows); no rows: nothing to say. With a width, as much of it "
          "as there is room for." },
        { "_repr_html_", summary_repr_html, METH_NOARGS,
          "_repr_html_()\n--\n\nThe tables as HTML, for notebooks." },
        { 0 },
};

static PyType_Slot slots[] = {
        { Py_tp_doc,
          (void *)"What is computed from a run: metrics with their state, datasets, sections." },
        { Py_tp_dealloc, summary_dealloc },
        { Py_tp_methods, methods },
        { 0 },
};

static PyType_Spec spec = {
        .name = "roastcoffea._roast.Summary",
        .basicsize = sizeof(SummaryObject),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
};

PyObject *native_summary_new(PyObject *module, struct roast_summary *summary)
{
        PyObject *type = PyObject_GetAttrString(module, "Summary");
        PyObject *self = type ? summary_new((PyTypeObject *)type) : NULL;

        Py_XDECREF(type);
        if (!self)
                return NULL;
        ((SummaryObject *)self)->summary = *summary;
        *summary = (struct roast_summary){ 0 };
        return self;
}

int native_add_summary(PyObject *module)
{
        PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
        int r = type ? PyModule_AddObjectRef(module, "Summary", type) : -1;

        Py_XDECREF(type);
        return r;
}
