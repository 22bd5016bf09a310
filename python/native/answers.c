/* What a run is asked: why it took so long, how long another would take; as JSON */

#include <stdlib.h>
#include <string.h>

#include "roast-explain.h"
#include "roast-predict.h"
#include "roast-show.h"
#include "run.h"

#define WORKERS_MAX 1024

/* Takes the text over. */
static PyObject *answers_to_str(char *text)
{
        PyObject *result = native_shown(text);

        free(text);
        return result;
}

/* rules() -> [(name, asks, threshold, advice)] */
PyObject *native_rules(PyObject *module, PyObject *unused)
{
        PyObject *list = PyList_New(0);
        struct roast_rule rule;

        (void)module;
        (void)unused;
        for (size_t i = 0; list && roast_explain_rule(i, &rule); i++) {
                PyObject *row =
                        Py_BuildValue("ssss", rule.name, rule.asks, rule.threshold, rule.advice);

                if (!row || PyList_Append(list, row) < 0)
                        Py_CLEAR(list);
                Py_XDECREF(row);
        }
        return list;
}

/* explain() -> str */
PyObject *native_run_explain(PyObject *self, PyObject *unused)
{
        struct roast_explanation explanation = { 0 };
        struct roast_error error = { 0 };
        struct roast_run *run = native_run_enter(self);
        char *text = NULL;
        int r;

        (void)unused;
        if (!run)
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = roast_run_commit(run, &error);
        if (r >= 0)
                r = roast_explain(&explanation, run, &error);
        if (r >= 0)
                r = roast_explanation_to_json(&text, &explanation, &error);
        roast_explanation_deinit(&explanation);
        Py_END_ALLOW_THREADS Py_XDECREF(native_run_leave(self, r, &error));
        return r < 0 ? NULL : answers_to_str(text);
}

static int answers_read_workers(PyObject *list, int64_t *workers, size_t *n)
{
        Py_ssize_t size = PySequence_Size(list);

        if (size < 0)
                return -1;
        if (size > WORKERS_MAX) {
                PyErr_Format(PyExc_ValueError, "more than %d numbers of workers", WORKERS_MAX);
                return -1;
        }
        for (Py_ssize_t i = 0; i < size; i++) {
                PyObject *item = PySequence_GetItem(list, i);

                workers[i] = item ? PyLong_AsLongLong(item) : -1;
                Py_XDECREF(item);
                if (PyErr_Occurred())
                        return -1;
        }
        *n = (size_t)size;
        return 0;
}

/* (JSON, table); takes both over */
static PyObject *answers_make(char *text, struct roast_table *table)
{
        PyObject *words = answers_to_str(text), *made = native_table(table);
        PyObject *result = words && made ? PyTuple_Pack(2, words, made) : NULL;

        Py_XDECREF(words);
        Py_XDECREF(made);
        roast_table_deinit(table);
        return result;
}

static int answers_predict(char **text, struct roast_table *table, struct roast_run *run,
                           const struct roast_predict_options *options, struct roast_error *error)
{
        struct roast_forecast forecast = { 0 };
        int r = roast_run_commit(run, error);

        if (r >= 0)
                r = roast_predict(&forecast, run, options, error);
        if (r >= 0)
                r = roast_forecast_table(table, &forecast, error);
        if (r >= 0) {
                r = roast_forecast_to_json(text, &forecast, error);
                if (r < 0)
                        roast_table_deinit(table);
        }
        roast_forecast_deinit(&forecast);
        return r;
}

/* predict(workers, chunksize, fail_rate, deadline_s, cost_s): a negative rate stands for none */
PyObject *native_run_predict(PyObject *self, PyObject *args)
{
        struct roast_predict_options options = { 0 };
        struct roast_error error = { 0 };
        struct roast_table table = { 0 };
        int64_t workers[WORKERS_MAX];
        struct roast_run *run;
        long long chunksize;
        char *text = NULL;
        PyObject *list;
        int r;

        if (!PyArg_ParseTuple(args, "OLddd", &list, &chunksize, &options.fail_rate,
                              &options.deadline_s, &options.cost_s) ||
            answers_read_workers(list, workers, &options.n_workers) < 0)
                return NULL;
        options.workers = workers;
        options.chunksize = chunksize;
        options.has_fail_rate = !(options.fail_rate < 0);
        run = native_run_enter(self);
        if (!run)
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = answers_predict(&text, &table, run, &options, &error);
        Py_END_ALLOW_THREADS Py_XDECREF(native_run_leave(self, r, &error));
        return r < 0 ? NULL : answers_make(text, &table);
}
