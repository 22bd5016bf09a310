/* Datasets and sections of a plain metrics dict, for the tables */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/chunk-stats.h"
#include "metrics/custom.h"
#include "plain.h"
#include "record/chunk.h"
#include "run.h"

/* Makes room for element n of an array, zeroed. */
static void *summary_grow(void *array, size_t n, size_t size)
{
        char *grown = realloc(array, (n + 1) * size);

        if (grown)
                memset(grown + n * size, 0, size);
        else
                PyErr_NoMemory();
        return grown;
}

/* A copy of an object's text; *ret is NULL for None. */
static int summary_copy_name(char **ret, PyObject *name)
{
        PyObject *string, *bytes;

        *ret = NULL;
        if (name == Py_None)
                return 0;
        string = PyObject_Str(name);
        bytes = string ? native_text_bytes(string) : NULL;
        if (bytes && !(*ret = strdup(PyBytes_AsString(bytes))))
                PyErr_NoMemory();
        Py_XDECREF(string);
        Py_XDECREF(bytes);
        return *ret ? 0 : -1;
}

static int summary_read_dataset(PyObject *name, PyObject *figures, void *context)
{
        struct roast_summary *summary = context;
        struct roast_dataset *dataset;
        struct roast_fact chunks, events;
        double total_s, mean_s;

        if (!PyDict_Check(figures))
                return 0;
        if (plain_get_fact(&chunks, figures, "num_chunks") < 0 ||
            plain_get_fact(&events, figures, "total_events") < 0 ||
            plain_get_real(&total_s, figures, "total_duration") < 0 ||
            plain_get_real(&mean_s, figures, "mean_duration") < 0)
                return -1;
        dataset = summary_grow(summary->datasets, summary->n_datasets, sizeof(*dataset));
        if (!dataset)
                return -1;
        summary->datasets = dataset;
        dataset += summary->n_datasets++;
        dataset->finished = plain_integer(&chunks);
        dataset->events = plain_integer(&events);
        dataset->wall_s = isfinite(total_s)  ? total_s
                          : isfinite(mean_s) ? mean_s * (double)dataset->finished
                                             : 0;
        dataset->wall_chunks = isfinite(total_s) || isfinite(mean_s) ? dataset->finished : 0;
        dataset->wall_events = dataset->wall_chunks ? dataset->events : 0;
        return summary_copy_name(&dataset->name, name);
}

static int summary_is_memory(PyObject *figures)
{
        PyObject *type;
        int r = plain_get(figures, "type", &type);

        if (r > 0)
                r = PyUnicode_Check(type) && PyUnicode_CompareWithASCIIString(type, "memory") == 0;
        Py_XDECREF(type);
        return r;
}

static int summary_read_section(PyObject *name, PyObject *figures, void *context)
{
        struct roast_summary *summary = context;
        struct roast_section *section;
        struct roast_fact count;
        double total_s, delta_mib;
        int memory;

        if (!PyDict_Check(figures))
                return 0;
        memory = summary_is_memory(figures);
        if (memory < 0 || plain_get_fact(&count, figures, "count") < 0 ||
            plain_get_real(&total_s, figures, "total_duration") < 0 ||
            plain_get_real(&delta_mib, figures, "mean_mem_delta_mb") < 0)
                return -1;
        section = summary_grow(summary->sections, summary->n_sections, sizeof(*section));
        if (!section)
                return -1;
        summary->sections = section;
        section += summary->n_sections++;
        section->kind = isfinite(total_s) ? SECTION_TIME : 0;
        section->chunks = section->count = plain_integer(&count);
        section->total_s = section->self_s = isfinite(total_s) ? total_s : 0;
        if (memory && isfinite(delta_mib)) {
                section->kind |= SECTION_MEMORY;
                section->memory_chunks = 1;
                section->rss_delta_bytes = delta_mib * CHUNK_MIB;
        }
        return name == Py_None ? ((section->name = strdup("")) ? 0 : -1)
                               : summary_copy_name(&section->name, name);
}

static int summary_read_part(struct roast_summary *summary, PyObject *mapping, const char *key,
                             int (*read)(PyObject *, PyObject *, void *))
{
        PyObject *part;
        int r = plain_get(mapping, key, &part);

        if (r > 0 && PyDict_Check(part))
                r = plain_each_pair(part, read, summary);
        Py_XDECREF(part);
        return r < 0 ? -1 : 0;
}

/* A text of {"title": ..., "unit": ..., "better": ...}, which may lack it */
static int summary_note_text(struct roast_summary *summary, PyObject *about, const char *key,
                             const char *name)
{
        struct roast_fact fact = { .type = ROAST_FACT_TEXT };
        PyObject *value, *text = NULL;
        int r = plain_get(about, name, &value);

        if (r > 0 && PyUnicode_Check(value)) {
                text = PyUnicode_FromFormat("%s.%s", key, name);
                fact.text = text ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
                r = fact.text ? custom_note(summary, PyUnicode_AsUTF8AndSize(text, NULL), &fact)
                              : -1;
        }
        Py_XDECREF(text);
        Py_XDECREF(value);
        return r < 0 ? -1 : 0;
}

struct custom_reader {
        struct roast_summary *summary;
        PyObject *mapping; /* key: value */
        PyObject *absent;  /* key: reason; NULL: there are none */
};

static int summary_read_custom(PyObject *name, PyObject *about, void *context)
{
        struct custom_reader *reader = context;
        PyObject *value = NULL, *reason = NULL;
        struct roast_fact fact = { 0 };
        const char *key = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
        int r;

        if (!key)
                return PyErr_Occurred() ? -1 : 0;
        r = plain_get(reader->mapping, key, &value);
        if (r > 0)
                r = plain_fact(&fact, value);
        if (r >= 0 && reader->absent && plain_get(reader->absent, key, &reason) > 0 &&
            PyUnicode_Check(reason))
                fact = (struct roast_fact){ .text = PyUnicode_AsUTF8AndSize(reason, NULL) };
        if (r >= 0)
                r = custom_note(reader->summary, key, &fact);
        if (r >= 0 && PyDict_Check(about) &&
            (summary_note_text(reader->summary, about, key, "title") < 0 ||
             summary_note_text(reader->summary, about, key, "unit") < 0 ||
             summary_note_text(reader->summary, about, key, "better") < 0))
                r = -1;
        Py_XDECREF(value);
        Py_XDECREF(reason);
        if (r < 0 && !PyErr_Occurred())
                PyErr_NoMemory();
        return r < 0 || PyErr_Occurred() ? -1 : 0;
}

/* The mapping's attribute `custom` says which of its keys are metrics of the user's own. */
static int summary_read_customs(struct roast_summary *summary, PyObject *mapping)
{
        PyObject *customs = PyObject_GetAttrString(mapping, "custom"), *absent;
        struct custom_reader reader = { .summary = summary, .mapping = mapping };
        int r = 0;

        PyErr_Clear();
        absent = PyObject_GetAttrString(mapping, "absent");
        PyErr_Clear();
        reader.absent = absent && PyDict_Check(absent) ? absent : NULL;
        if (customs && PyDict_Check(customs))
                r = plain_each_pair(customs, summary_read_custom, &reader);
        Py_XDECREF(customs);
        Py_XDECREF(absent);
        custom_end(summary);
        return r;
}

int native_summary_read_parts(struct roast_summary *summary, PyObject *mapping)
{
        if (summary_read_part(summary, mapping, "per_dataset", summary_read_dataset) < 0 ||
            summary_read_part(summary, mapping, "sections", summary_read_section) < 0 ||
            summary_read_customs(summary, mapping) < 0)
                return -1;
        section_sort(summary->sections, summary->n_sections);
        return 0;
}
