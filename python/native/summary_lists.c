/* Datasets, sections, files and custom metrics of a summary, as dicts; None: not known */

#include <math.h>

#include "cbor.h"
#include "metrics/chunk-stats.h"
#include "record/chunk.h"
#include "run.h"

/* A list of dicts, one for each of n things */
static PyObject *summary_list_of(const struct roast_summary *summary, size_t n,
                                 PyObject *(*make)(const struct roast_summary *summary, size_t i))
{
        PyObject *list = PyList_New(0);

        for (size_t i = 0; list && i < n; i++) {
                PyObject *item = make(summary, i);

                if (!item || PyList_Append(list, item) < 0)
                        Py_CLEAR(list);
                Py_XDECREF(item);
        }
        return list;
}

static PyObject *summary_real_or_none(bool known, double value)
{
        return known ? PyFloat_FromDouble(value) : Py_NewRef(Py_None);
}

/* Sums of whole numbers, which may be beyond every int64 */
static PyObject *summary_whole_or_none(bool known, double value)
{
        return known ? PyLong_FromDouble(value) : Py_NewRef(Py_None);
}

static PyObject *summary_dataset_dict(const struct roast_summary *summary, size_t i)
{
        const struct roast_dataset *dataset = &summary->datasets[i];

        return Py_BuildValue(
                "{s:N,s:L,s:L,s:L,s:N,s:N,s:N,s:N,s:N}", "name", native_text(dataset->name),
                "finished", (long long)dataset->finished, "failed", (long long)dataset->failed,
                "events", (long long)dataset->events, "wall_s",
                summary_real_or_none(dataset->wall_chunks > 0, dataset->wall_s), "cpu_s",
                summary_real_or_none(dataset->cpu_chunks > 0, dataset->cpu_s), "rss_delta_bytes",
                summary_real_or_none(dataset->rss_chunks > 0, dataset->rss_delta_bytes),
                "requested_bytes",
                summary_whole_or_none(dataset->bytes_chunks > 0, dataset->requested_bytes), "bytes",
                native_bytes_dict(&dataset->sums));
}

static PyObject *summary_section_dict(const struct roast_summary *summary, size_t i)
{
        const struct roast_section *section = &summary->sections[i];
        bool timed = section_has_time(section), followed = section->memory_chunks > 0;

        return Py_BuildValue(
                "{s:N,s:O,s:O,s:O,s:L,s:L,s:N,s:N,s:N,s:N,s:L,s:N,s:N,s:N,s:N}", "name",
                native_text(section->name), "time",
                section->kind & SECTION_TIME ? Py_True : Py_False, "memory",
                section->kind & SECTION_MEMORY ? Py_True : Py_False, "reads",
                section->kind & SECTION_BYTES_READ ? Py_True : Py_False, "chunks",
                (long long)section->chunks, "count", (long long)section->count, "total_s",
                summary_real_or_none(timed, section->total_s), "self_s",
                summary_real_or_none(section->kind & SECTION_TIME, section->self_s), "min_s",
                summary_real_or_none(timed, section->min_s), "max_s",
                summary_real_or_none(timed, section->max_s), "memory_chunks",
                (long long)section->memory_chunks, "rss_delta_bytes",
                summary_real_or_none(followed, section->rss_delta_bytes), "rss_delta_min_bytes",
                summary_real_or_none(followed, section->rss_delta_min_bytes), "rss_delta_max_bytes",
                summary_real_or_none(followed, section->rss_delta_max_bytes), "bytes",
                section->bytes_chunks ? PyLong_FromLongLong(section->bytes) : Py_NewRef(Py_None));
}

/* What was read is None for a file of which no chunk told that. */
static int summary_put_coverage(PyObject *dict, const struct roast_file *file)
{
        bool branches = file->has_coverage && file->branches > 0;
        bool bytes = file->has_coverage && file->bytes > 0;
        bool branches_share = branches || file->branches_read_percent > 0;
        bool bytes_share = bytes || file->bytes_read_percent > 0;

        if (native_put(dict, "total_branches",
                       summary_whole_or_none(branches, (double)file->branches)) < 0 ||
            native_put(dict, "branches_read_percent",
                       summary_real_or_none(branches_share, file->branches_read_percent)) < 0 ||
            native_put(dict, "total_tree_bytes", summary_whole_or_none(bytes, file->bytes)) < 0 ||
            native_put(dict, "bytes_read",
                       summary_whole_or_none(file->has_coverage, round(file->bytes_read))) < 0 ||
            native_put(dict, "bytes_read_percent",
                       summary_real_or_none(bytes_share, file->bytes_read_percent)) < 0 ||
            native_put(dict, "branches_read",
                       summary_whole_or_none(file->has_coverage, (double)file->branches_read)) < 0)
                return -1;
        return native_put(dict, "estimated", PyBool_FromLong(file->estimated));
}

static PyObject *summary_file_dict(const struct roast_summary *summary, size_t i)
{
        const struct roast_file *file = &summary->files[i];
        PyObject *dict = Py_BuildValue(
                "{s:N,s:L,s:L,s:L,s:N,s:N,s:N}", "name", native_text(file->name), "finished",
                (long long)file->finished, "failed", (long long)file->failed, "events",
                (long long)file->events, "wall_s",
                summary_real_or_none(file->wall_chunks > 0, file->wall_s), "requested_bytes",
                summary_whole_or_none(file->bytes_chunks > 0, file->requested_bytes),
                "compression_ratio",
                summary_real_or_none(isfinite(file->compression_ratio), file->compression_ratio));

        if (dict && (summary_put_coverage(dict, file) < 0 ||
                     native_put(dict, "bytes", native_bytes_dict(&file->sums)) < 0))
                Py_CLEAR(dict);
        return dict;
}

/* The documented dict of a dataset, of which a chunk has finished */
static PyObject *summary_documented_dataset(const struct roast_dataset *dataset)
{
        double n = (double)dataset->finished, events = (double)dataset->events;
        /* the documented key is always there: 0 where no chunk tells its time */
        double mean_s = dataset->wall_chunks ? dataset->wall_s / (double)dataset->wall_chunks : 0;
        PyObject *dict =
                Py_BuildValue("{s:L,s:d,s:L,s:d}", "num_chunks", (long long)dataset->finished,
                              "total_duration", dataset->wall_s, "total_events",
                              (long long)dataset->events, "mean_duration", mean_s);

        if (dict && dataset->events > 0 &&
            (native_put(dict, "mean_events_per_chunk", PyFloat_FromDouble(events / n)) < 0 ||
             native_put(dict, "time_per_event",
                        summary_real_or_none(dataset->wall_events > 0,
                                             dataset->wall_s / (double)dataset->wall_events)) < 0 ||
             native_put(dict, "memory_per_event",
                        summary_real_or_none(dataset->rss_events > 0,
                                             dataset->rss_delta_bytes /
                                                     (double)dataset->rss_events)) < 0))
                Py_CLEAR(dict);
        return dict;
}

static PyObject *summary_documented_section(const struct roast_section *section)
{
        const char *kind = section->type                    ? section->type
                           : section->kind & SECTION_MEMORY ? "memory"
                           : section->kind & SECTION_TIME   ? "time"
                                                            : "bytes";
        double n = (double)section->memory_chunks;
        PyObject *dict =
                Py_BuildValue("{s:L,s:d,s:N,s:d}", "count", (long long)section->count,
                              "total_duration", section->total_s, "type", native_text(kind),
                              "mean_duration", section->total_s / (double)section->count);

        if (dict && section->memory_chunks &&
            (native_put(dict, "mean_mem_delta_mb",
                        PyFloat_FromDouble(section->rss_delta_bytes / CHUNK_MIB / n)) < 0 ||
             native_put(dict, "max_mem_delta_mb",
                        PyFloat_FromDouble(section->rss_delta_max_bytes / CHUNK_MIB)) < 0 ||
             native_put(dict, "min_mem_delta_mb",
                        PyFloat_FromDouble(section->rss_delta_min_bytes / CHUNK_MIB)) < 0))
                Py_CLEAR(dict);
        if (dict && section->bytes_chunks &&
            native_put(dict, "total_bytes", PyLong_FromLongLong(section->bytes)) < 0)
                Py_CLEAR(dict);
        return dict;
}

/* The documented dicts by name; of datasets, those of which a chunk has finished */
PyObject *native_summary_documented(const struct roast_summary *summary)
{
        PyObject *datasets = PyDict_New(), *sections = PyDict_New();
        int r = datasets && sections ? 0 : -1;

        for (size_t i = 0; r >= 0 && i < summary->n_datasets; i++) {
                const struct roast_dataset *dataset = &summary->datasets[i];
                PyObject *name, *dict;

                if (dataset->finished == 0)
                        continue;
                name = native_text(dataset->name);
                dict = summary_documented_dataset(dataset);
                r = name && dict ? PyDict_SetItem(datasets, name, dict) : -1;
                Py_XDECREF(name);
                Py_XDECREF(dict);
        }
        for (size_t i = 0; r >= 0 && i < summary->n_sections; i++)
                r = native_put(sections, summary->sections[i].name,
                               summary_documented_section(&summary->sections[i]));
        if (r >= 0)
                return Py_BuildValue("(NN)", datasets, sections);
        Py_XDECREF(datasets);
        Py_XDECREF(sections);
        return NULL;
}

PyObject *native_summary_datasets(const struct roast_summary *summary)
{
        return summary_list_of(summary, summary->n_datasets, summary_dataset_dict);
}

PyObject *native_summary_sections(const struct roast_summary *summary)
{
        return summary_list_of(summary, summary->n_sections, summary_section_dict);
}

PyObject *native_summary_files(const struct roast_summary *summary)
{
        return summary_list_of(summary, summary->n_files, summary_file_dict);
}

PyObject *native_summary_branches(const struct roast_summary *summary)
{
        return summary_list_of(summary, summary->n_branches, native_branch_dict);
}

PyObject *native_summary_failures(const struct roast_summary *summary)
{
        return summary_list_of(summary, summary->n_failures, native_failure_dict);
}

/* {file: what is known of its tree}; what cannot be read is left out */
PyObject *native_summary_file_metadata(const struct roast_summary *summary)
{
        PyObject *dict = PyDict_New();

        for (size_t i = 0; dict && i < summary->n_files; i++) {
                const struct roast_file *file = &summary->files[i];
                PyObject *metadata =
                        file->metadata ? cbor_decode(file->metadata, file->metadata_len) : NULL;

                PyErr_Clear();
                if (metadata && native_put(dict, file->name, metadata) < 0)
                        Py_CLEAR(dict);
        }
        return dict;
}

static PyObject *summary_custom_value(const struct roast_value *value)
{
        if (value->state == ROAST_ABSENT)
                return Py_NewRef(Py_None);
        if (value->count && (double)value->count == value->real)
                return PyLong_FromLongLong(value->count);
        return PyFloat_FromDouble(value->real);
}

PyObject *native_summary_custom(const struct roast_summary *summary)
{
        static const char *const betters[] = { [ROAST_BETTER_NEUTRAL] = "neutral",
                                               [ROAST_BETTER_MORE] = "more",
                                               [ROAST_BETTER_LESS] = "less" };
        PyObject *dict = PyDict_New();

        for (size_t i = 0; dict && i < summary->n_customs; i++) {
                const struct roast_custom *custom = &summary->customs[i];

                if (native_put(
                            dict, custom->key,
                            Py_BuildValue("{s:N,s:N,s:N,s:N,s:s}", "value",
                                          summary_custom_value(&custom->value), "reason",
                                          native_shown(custom->value.reason), "title",
                                          native_shown(custom->title ? custom->title : custom->key),
                                          "unit", native_shown(custom->unit ? custom->unit : ""),
                                          "better", betters[custom->better])) < 0)
                        Py_CLEAR(dict);
        }
        return dict;
}
