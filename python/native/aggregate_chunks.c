/* Plain chunk and section records: statistics, by dataset and by section */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "metrics/chunk-stats.h"
#include "record/chunk.h"

struct named_section {
        struct roast_section section; /* its name is the index's */
        PyObject *type;               /* as a record named it; NULL: from what was measured */
};

/* Datasets and sections are found by their names, which may be any object. */
struct chunk_reader {
        struct chunk_stats stats;
        PyObject *dataset_index;
        struct roast_dataset *datasets;
        PyObject *section_index;
        struct named_section *sections;
        Py_ssize_t n_listed; /* sections of section records: chunk records add nothing to them */
        PyObject *parts[3];  /* of a chunk record: timing, memory, bytes; NULL where it has none */
};

enum { TIMING, MEMORY, BYTES };

static void aggregate_reader_deinit(struct chunk_reader *reader)
{
        for (Py_ssize_t i = 0; reader->section_index && i < PyDict_Size(reader->section_index); i++)
                Py_XDECREF(reader->sections ? reader->sections[i].type : NULL);
        free(reader->sections);
        free(reader->datasets);
        chunk_stats_deinit(&reader->stats);
        Py_XDECREF(reader->section_index);
        Py_XDECREF(reader->dataset_index);
}

/* Element i of an array that has i elements or more; a new one is all zero. */
static void *aggregate_element(void **array, Py_ssize_t i, Py_ssize_t n_before, size_t size)
{
        char *grown = *array;

        if (i >= n_before) {
                grown = realloc(*array, ((size_t)i + 1) * size);
                if (!grown) {
                        PyErr_NoMemory();
                        return NULL;
                }
                memset(grown + (size_t)i * size, 0, size);
                *array = grown;
        }
        return grown + (size_t)i * size;
}

static struct roast_dataset *aggregate_dataset_of(struct chunk_reader *reader, PyObject *record)
{
        Py_ssize_t n = PyDict_Size(reader->dataset_index), i;
        PyObject *name;
        void *found;

        if (plain_get(record, "dataset", &name) < 0)
                return NULL;
        if (!name && !(name = PyUnicode_FromString("unknown")))
                return NULL;
        i = plain_index(reader->dataset_index, name);
        Py_DECREF(name);
        if (i < 0)
                return NULL;
        found = aggregate_element((void **)&reader->datasets, i, n, sizeof(*reader->datasets));
        if (!found && i >= n)
                PyDict_Clear(reader->dataset_index);
        return found;
}

static struct named_section *aggregate_section_of(struct chunk_reader *reader, PyObject *name)
{
        Py_ssize_t n = PyDict_Size(reader->section_index);
        Py_ssize_t i = plain_index(reader->section_index, name);
        void *found;

        if (i < 0)
                return NULL;
        found = aggregate_element((void **)&reader->sections, i, n, sizeof(*reader->sections));
        if (!found && i >= n)
                PyDict_DelItem(reader->section_index, name);
        return found;
}

static int aggregate_read_finished(struct chunk_reader *reader, struct roast_dataset *dataset,
                                   PyObject *record)
{
        struct chunk_figures figures = { .cpu_s = (double)NAN, .requested_bytes = (double)NAN };
        struct roast_fact events;
        PyObject *duration;
        int r;

        r = plain_get(record, "duration", &duration);
        if (r == 0)
                PyErr_SetString(PyExc_KeyError, "duration");
        if (r <= 0)
                return -1;
        r = plain_real(&figures.wall_s, duration);
        Py_DECREF(duration);
        if (r < 0 || plain_get_real(&figures.rss_delta_mib, record, "mem_delta_mb") < 0 ||
            plain_get_fact(&events, record, "num_events") < 0)
                return -1;
        figures.has_events = events.type == ROAST_FACT_INT ||
                             (events.type == ROAST_FACT_REAL && isfinite(events.real));
        figures.events = plain_integer(&events);
        if (chunk_stats_finished(&reader->stats, dataset, &figures) < 0) {
                PyErr_NoMemory();
                return -1;
        }
        return 0;
}

/* What the record's parts say of a section that is in this part and in none before it */
static int aggregate_read_part(struct chunk_reader *reader, PyObject *name, int part)
{
        struct section_figures figures = { .count = 1 };
        struct named_section *section;
        double values[3] = { (double)NAN, (double)NAN, (double)NAN };

        for (int i = 0; i < 3; i++) {
                PyObject *value = NULL;
                int r = reader->parts[i] ? plain_get_object(reader->parts[i], name, &value) : 0;

                if (r > 0 && i < part) { /* an earlier part has told it all */
                        Py_DECREF(value);
                        return 0;
                }
                if (r > 0)
                        r = plain_real(&values[i], value);
                Py_XDECREF(value);
                if (r < 0)
                        return -1;
                if (isfinite(values[i]))
                        figures.kind |= 1 << i; /* SECTION_TIME, _MEMORY, _BYTES_READ */
        }
        if (!figures.kind)
                return 0;
        section = aggregate_section_of(reader, name);
        if (!section)
                return -1;
        if (section < reader->sections + reader->n_listed)
                return 0;
        if (isfinite(values[TIMING]))
                figures.total_s = figures.self_s = figures.min_s = figures.max_s = values[TIMING];
        figures.rss_delta_bytes = values[MEMORY] * CHUNK_MIB;
        figures.has_bytes = isfinite(values[BYTES]);
        figures.bytes = plain_integer(
                &(struct roast_fact){ .type = ROAST_FACT_REAL, .real = values[BYTES] });
        section_add(&section->section, &figures);
        return 0;
}

static int aggregate_read_timing(PyObject *name, PyObject *value, void *context)
{
        (void)value;
        return aggregate_read_part(context, name, TIMING);
}

static int aggregate_read_memory(PyObject *name, PyObject *value, void *context)
{
        (void)value;
        return aggregate_read_part(context, name, MEMORY);
}

static int aggregate_read_bytes(PyObject *name, PyObject *value, void *context)
{
        (void)value;
        return aggregate_read_part(context, name, BYTES);
}

static int aggregate_read_parts(struct chunk_reader *reader, PyObject *record)
{
        static const char *const names[3] = { "timing", "memory", "bytes" };
        static int (*const readers[3])(PyObject *, PyObject *, void *) = { aggregate_read_timing,
                                                                           aggregate_read_memory,
                                                                           aggregate_read_bytes };
        int r = 0;

        for (int i = 0; i < 3 && r >= 0; i++) {
                r = plain_get(record, names[i], &reader->parts[i]);
                if (r > 0 && !PyDict_Check(reader->parts[i]))
                        Py_CLEAR(reader->parts[i]);
        }
        for (int i = 0; i < 3 && r >= 0; i++)
                if (reader->parts[i])
                        r = plain_each_pair(reader->parts[i], readers[i], reader);
        for (int i = 0; i < 3; i++)
                Py_CLEAR(reader->parts[i]);
        return r;
}

/* What our own records say became of the attempt; others have no such key. -1: an exception */
static int aggregate_outcome_of(PyObject *record)
{
        PyObject *outcome;
        int found = CHUNK_FINISHED, r = plain_get(record, "outcome", &outcome);

        for (int i = 0; r > 0 && PyUnicode_Check(outcome) && i < CHUNK_N_OUTCOMES; i++)
                if (PyUnicode_CompareWithASCIIString(outcome, chunk_outcomes[i]) == 0)
                        found = i;
        Py_XDECREF(outcome);
        return r < 0 ? -1 : found;
}

static int aggregate_read_chunk(PyObject *record, void *context)
{
        struct chunk_reader *reader = context;
        struct roast_dataset *dataset;
        PyObject *failure;
        int outcome = aggregate_outcome_of(record), r;

        if (outcome < 0)
                return -1;
        if (outcome == CHUNK_LOST || outcome == CHUNK_GRAPH)
                return 0;
        dataset = aggregate_dataset_of(reader, record);
        if (!dataset)
                return -1;
        r = plain_get(record, "error", &failure);
        Py_XDECREF(failure);
        if (r > 0 || (r == 0 && outcome != CHUNK_FINISHED))
                chunk_stats_failed(&reader->stats, dataset);
        else if (r == 0)
                r = aggregate_read_finished(reader, dataset, record);
        return r < 0 ? -1 : aggregate_read_parts(reader, record);
}

/* {"name": ..., "type": ..., "duration": ..., "mem_delta_mb": ...} */
static int aggregate_read_section(PyObject *record, void *context)
{
        struct section_figures figures = { .kind = SECTION_TIME, .count = 1 };
        struct named_section *section = NULL;
        PyObject *name = NULL, *type = NULL;
        double duration, delta = (double)NAN;
        int r = -1;

        if (plain_get(record, "name", &name) < 0 || plain_get(record, "type", &type) < 0 ||
            plain_get_real(&duration, record, "duration") < 0 ||
            plain_get_real(&delta, record, "mem_delta_mb") < 0)
                goto out;
        if (!name && !(name = PyUnicode_FromString("unknown")))
                goto out;
        if (!type && !(type = PyUnicode_FromString("section")))
                goto out;
        section = aggregate_section_of(context, name);
        if (!section)
                goto out;
        figures.rss_delta_bytes = (double)NAN;
        if (PyUnicode_Check(type) && PyUnicode_CompareWithASCIIString(type, "memory") == 0) {
                figures.kind |= SECTION_MEMORY;
                figures.rss_delta_bytes = delta * CHUNK_MIB;
        }
        if (isfinite(duration))
                figures.total_s = figures.self_s = figures.min_s = figures.max_s = duration;
        section_add(&section->section, &figures);
        if (!section->type)
                section->type = Py_NewRef(type);
        r = 0;
out:
        Py_XDECREF(name);
        Py_XDECREF(type);
        return r;
}

struct dict_maker {
        const struct chunk_reader *reader;
        PyObject *dict;
};

static int aggregate_put_dataset(PyObject *name, PyObject *position, void *context)
{
        struct dict_maker *maker = context;
        const struct roast_dataset *dataset = &maker->reader->datasets[PyLong_AsSsize_t(position)];
        PyObject *dict;
        int r;

        if (dataset->finished == 0)
                return 0;
        dict = native_documented_dataset(dataset);
        r = dict ? PyDict_SetItem(maker->dict, name, dict) : -1;
        Py_XDECREF(dict);
        return r;
}

static int aggregate_put_section(PyObject *name, PyObject *position, void *context)
{
        struct dict_maker *maker = context;
        const struct named_section *named = &maker->reader->sections[PyLong_AsSsize_t(position)];
        PyObject *dict = native_documented_section(&named->section, named->type);
        int r = dict ? PyDict_SetItem(maker->dict, name, dict) : -1;

        Py_XDECREF(dict);
        return r;
}

static PyObject *aggregate_dict_of(const struct chunk_reader *reader, PyObject *index,
                                   int (*put)(PyObject *, PyObject *, void *))
{
        struct dict_maker maker = { reader, PyDict_New() };

        if (maker.dict && plain_each_pair(index, put, &maker) < 0)
                Py_CLEAR(maker.dict);
        return maker.dict;
}

static PyObject *aggregate_results(PyObject *module, struct chunk_reader *reader)
{
        struct roast_summary summary = { 0 };
        PyObject *datasets, *sections, *object = NULL, *tuple = NULL;

        if (reader->stats.n && chunk_stats_set(&summary.metrics, &reader->stats) < 0)
                PyErr_NoMemory();
        else
                object = native_summary_new(module, &summary);
        roast_summary_deinit(&summary);
        datasets = object ? aggregate_dict_of(reader, reader->dataset_index, aggregate_put_dataset)
                          : NULL;
        sections = datasets
                           ? aggregate_dict_of(reader, reader->section_index, aggregate_put_section)
                           : NULL;
        if (sections)
                tuple = PyTuple_Pack(3, object, datasets, sections);
        Py_XDECREF(object);
        Py_XDECREF(datasets);
        Py_XDECREF(sections);
        return tuple;
}

static PyObject *aggregate_chunks(PyObject *module, PyObject *args)
{
        struct chunk_reader reader = { 0 };
        PyObject *chunks, *sections = Py_None, *object = NULL;
        int r = 0;

        if (!PyArg_ParseTuple(args, "O|O", &chunks, &sections))
                return NULL;
        reader.dataset_index = PyDict_New();
        reader.section_index = PyDict_New();
        if (!reader.dataset_index || !reader.section_index)
                r = -1;
        if (r >= 0 && sections != Py_None)
                r = plain_each(sections, aggregate_read_section, &reader);
        if (r >= 0) {
                reader.n_listed = PyDict_Size(reader.section_index);
                r = plain_each(chunks, aggregate_read_chunk, &reader);
        }
        if (r >= 0)
                object = aggregate_results(module, &reader);
        aggregate_reader_deinit(&reader);
        return object;
}

static PyMethodDef functions[] = {
        { "aggregate_chunks", aggregate_chunks, METH_VARARGS,
          "aggregate_chunks(chunks, sections=None)\n--\n\n"
          "Chunk and section records as (summary, datasets by name, sections by name)." },
        { 0 },
};

int native_add_aggregate_chunks(PyObject *module)
{
        return PyModule_AddFunctions(module, functions);
}
