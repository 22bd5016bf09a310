/* Plain reports and fine metrics as summaries; units for the documented helpers */

#include "aggregate.h"
#include "metrics/fine.h"
#include "metrics/report.h"
#include "probe/platform.h"
#include "roast-units.h"

static int aggregate_note_report(struct roast_metric_set *set, PyObject *report)
{
        for (size_t i = 0; i < REPORT_N_FIELDS; i++) {
                const char *field = report_fields[i].name;
                char reason[64];
                struct roast_fact fact;

                if (plain_get_fact(&fact, report, field) < 0)
                        return -1;
                PyOS_snprintf(reason, sizeof(reason), "the report has no '%s'", field);
                fact.text = reason;
                if (report_note(set, field, &fact) < 0) {
                        PyErr_NoMemory();
                        return -1;
                }
        }
        return 0;
}

/* {"entries": ..., "duration": ..., "performance_counters": {"num_requested_bytes": ...}} */
static int aggregate_note_dataset(PyObject *name, PyObject *figures, void *context)
{
        struct report_custom *custom = context;
        struct roast_fact entries, duration, bytes = { 0 };
        PyObject *counters;
        int r = 0;

        (void)name;
        if (!PyDict_Check(figures))
                return 0;
        if (plain_get_fact(&entries, figures, "entries") < 0 ||
            plain_get_fact(&duration, figures, "duration") < 0 ||
            plain_get(figures, "performance_counters", &counters) < 0)
                return -1;
        if (counters && PyDict_Check(counters))
                r = plain_get_fact(&bytes, counters, "num_requested_bytes");
        Py_XDECREF(counters);
        report_custom_note(&custom->entries, &entries);
        report_custom_note(&custom->duration_s, &duration);
        report_custom_note(&custom->bytes, &bytes);
        return r;
}

static int aggregate_fill_report(struct roast_metric_set *set, PyObject *report, double elapsed_s,
                                 PyObject *figures)
{
        struct report_custom custom = { 0 };
        struct roast_error error = { 0 };
        int r = report_begin(set);

        if (isfinite(elapsed_s))
                roast_metric_set_real(set, ROAST_ELAPSED_TIME_SECONDS, elapsed_s);
        else if (r >= 0)
                r = roast_metric_set_absent(set, ROAST_ELAPSED_TIME_SECONDS,
                                            "the times are not finite");
        if (r >= 0 && report != Py_None && aggregate_note_report(set, report) < 0)
                return -1;
        custom.given = figures != Py_None && PyObject_IsTrue(figures) > 0;
        if (custom.given && plain_each_pair(figures, aggregate_note_dataset, &custom) < 0)
                return -1;
        if (r >= 0 && !custom.given)
                r = report_assume_process_time(set);
        if (r >= 0)
                r = report_end(set, &custom);
        if (r < 0) {
                PyErr_NoMemory();
                return -1;
        }
        return roast_metric_set_derive(set, &error) < 0 ? native_raise_int(&error) : 0;
}

/* The summary, or an exception if filling it failed */
static PyObject *aggregate_result(PyObject *module, struct roast_summary *summary, int r)
{
        PyObject *object = r < 0 ? NULL : native_summary_new(module, summary);

        roast_summary_deinit(summary);
        return object;
}

static PyObject *aggregate_report(PyObject *module, PyObject *args)
{
        struct roast_summary summary = { 0 };
        PyObject *report, *custom = Py_None;
        double start_s, end_s;
        int r;

        if (!PyArg_ParseTuple(args, "Odd|O", &report, &start_s, &end_s, &custom))
                return NULL;
        r = aggregate_fill_report(&summary.metrics, report, end_s - start_s, custom);
        return aggregate_result(module, &summary, r);
}

/* The object's text; none if it is no string */
static int aggregate_name_of(struct fine_name *name, PyObject *key, Py_ssize_t i)
{
        PyObject *part = i < PyTuple_Size(key) ? PyTuple_GetItem(key, i) : NULL;
        Py_ssize_t len = 0;

        *name = (struct fine_name){ 0 };
        if (!part || !PyUnicode_Check(part))
                return 0;
        name->data = PyUnicode_AsUTF8AndSize(part, &len);
        name->len = (size_t)len;
        return name->data ? 0 : -1;
}

/* (kind, prefix, activity[, unit]): value; other keys are passed over */
static int aggregate_note_span(PyObject *key, PyObject *value, void *context)
{
        struct fine_name prefix, activity, unit;
        double real;

        if (!PyTuple_Check(key) || PyTuple_Size(key) < 3)
                return 0;
        if (aggregate_name_of(&prefix, key, 1) < 0 || aggregate_name_of(&activity, key, 2) < 0 ||
            aggregate_name_of(&unit, key, 3) < 0 || plain_real(&real, value) < 0)
                return -1;
        fine_add(context, prefix, activity, unit, real);
        return 0;
}

static PyObject *aggregate_spans(PyObject *module, PyObject *args)
{
        struct roast_summary summary = { 0 };
        struct roast_error error = { 0 };
        struct fine_sums sums = { 0 };
        PyObject *spans;
        bool any;
        int r;

        if (!PyArg_ParseTuple(args, "O|z", &spans, &sums.processor))
                return NULL;
        r = plain_each_pair(spans, aggregate_note_span, &sums);
        any = sums.seen[FINE_PROCESSOR] || sums.seen[FINE_RETRIES] || sums.seen[FINE_OTHER];
        if (r >= 0 && any &&
            (fine_set(&summary.metrics, &sums) < 0 ||
             roast_metric_set_derive(&summary.metrics, &error) < 0)) {
                PyErr_NoMemory();
                r = -1;
        }
        return aggregate_result(module, &summary, r);
}

static PyObject *aggregate_process_memory(PyObject *module, PyObject *unused)
{
        int64_t bytes = probe_rss_bytes();

        (void)module;
        (void)unused;
        return PyFloat_FromDouble(bytes < 0 ? 0 : (double)bytes / (1024 * 1024));
}

static PyObject *aggregate_format_with(PyObject *number, char *(*format)(char *, size_t, double))
{
        char text[ROAST_UNITS_MAX];
        double value = PyFloat_AsDouble(number);

        if (value == -1 && PyErr_Occurred())
                return NULL;
        return PyUnicode_FromString(format(text, sizeof(text), value));
}

static PyObject *aggregate_format_bytes(PyObject *module, PyObject *number)
{
        (void)module;
        return aggregate_format_with(number, roast_format_bytes_1024);
}

static PyObject *aggregate_format_time(PyObject *module, PyObject *number)
{
        (void)module;
        return aggregate_format_with(number, roast_format_seconds_coarse);
}

static PyMethodDef functions[] = {
        { "aggregate_report", aggregate_report, METH_VARARGS,
          "aggregate_report(report, start_s, end_s, custom=None)\n--\n\n"
          "The workflow's metrics from coffea's report, or from custom figures by dataset." },
        { "aggregate_spans", aggregate_spans, METH_VARARGS,
          "aggregate_spans(spans, processor=None)\n--\n\nDask's fine metrics, summed." },
        { "process_memory_mb", aggregate_process_memory, METH_NOARGS,
          "process_memory_mb()\n--\n\nThis process's resident set in units of 2**20 bytes." },
        { "format_bytes", aggregate_format_bytes, METH_O,
          "format_bytes(bytes)\n--\n\nBytes for people, by powers of 1024." },
        { "format_time", aggregate_format_time, METH_O,
          "format_time(seconds)\n--\n\nSeconds for people, to a tenth." },
        { 0 },
};

int native_add_aggregate(PyObject *module)
{
        return PyModule_AddFunctions(module, functions);
}
