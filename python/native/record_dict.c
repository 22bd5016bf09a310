/*
 * A record as the documented dict
 *
 * The keys of the earlier package come first and in its order, with its fallbacks
 * (0 where nothing is known); then those of the metrics reference, and what else is
 * measured, where None says that it is not known. Last the user's own fields; one
 * that has the name of a measured key is found under `custom_metrics`.
 */

#include "cbor.h"
#include "records.h"

#define MIB 1048576.0

struct row {
        const struct chunk_table *table;
        size_t row;
        PyObject *dict;
};

static int record_dict_put(PyObject *dict, const char *key, PyObject *value)
{
        int r = value ? PyDict_SetItemString(dict, key, value) : -1;

        Py_XDECREF(value);
        return r;
}

static int64_t record_value_of(const struct row *row, enum chunk_field field)
{
        return chunk_table_get(row->table, row->row, field);
}

static int64_t record_or_0(int64_t value)
{
        return value == CHUNK_ABSENT ? 0 : value;
}

/* value / unit, or None */
static PyObject *record_scaled(int64_t value, double unit)
{
        return value == CHUNK_ABSENT ? Py_NewRef(Py_None)
                                     : PyFloat_FromDouble((double)value / unit);
}

static PyObject *record_integer(int64_t value)
{
        return value == CHUNK_ABSENT ? Py_NewRef(Py_None) : PyLong_FromLongLong(value);
}

static PyObject *record_text(const struct row *row, enum chunk_field field)
{
        size_t len;
        const char *data = chunk_table_text(row->table, row->row, field, &len);

        return data ? native_text_n(data, len) : Py_NewRef(Py_None);
}

/* A dict stored as CBOR; an empty one if there is none */
static PyObject *record_blob(const struct row *row, enum chunk_field field)
{
        size_t len;
        const char *data = chunk_table_text(row->table, row->row, field, &len);
        PyObject *value = data ? cbor_decode(data, len) : PyDict_New();

        if (value && !PyDict_Check(value)) {
                Py_DECREF(value);
                value = PyDict_New();
        }
        return value;
}

static double record_percent(double part, double whole)
{
        return whole > 0 ? 100 * part / whole : 0;
}

static int record_dict_put_times(const struct row *row)
{
        double start = (double)record_or_0(record_value_of(row, CHUNK_START_UTC_NS)) / 1e9;
        double wall = (double)record_or_0(record_value_of(row, CHUNK_WALL_NS)) / 1e9;
        double before = (double)record_or_0(record_value_of(row, CHUNK_RSS_START_BYTES));
        double after = (double)record_or_0(record_value_of(row, CHUNK_RSS_END_BYTES));
        /* sums and differences with a part that is not known are not known either */
        double end = start > 0 ? start + wall : 0;
        double grown = before > 0 && after > 0 ? after - before : 0;
        int64_t events = record_value_of(row, CHUNK_NUM_EVENTS);
        PyObject *dict = row->dict;

        if (record_dict_put(dict, "t_start", PyFloat_FromDouble(start)) < 0 ||
            record_dict_put(dict, "t_end", PyFloat_FromDouble(end)) < 0 ||
            record_dict_put(dict, "duration", PyFloat_FromDouble(wall)) < 0 ||
            record_dict_put(dict, "mem_before_mb", PyFloat_FromDouble(before / MIB)) < 0 ||
            record_dict_put(dict, "mem_after_mb", PyFloat_FromDouble(after / MIB)) < 0 ||
            record_dict_put(dict, "mem_delta_mb", PyFloat_FromDouble(grown / MIB)) < 0 ||
            record_dict_put(
                    dict, "bytes_read",
                    record_integer(record_or_0(record_value_of(row, CHUNK_REQUESTED_BYTES)))) < 0 ||
            record_dict_put(dict, "timestamp", PyFloat_FromDouble(end)) < 0)
                return -1;
        return events == CHUNK_ABSENT ? 0
                                      : record_dict_put(dict, "num_events", record_integer(events));
}

static int record_put_identity(const struct row *row)
{
        PyObject *dict = row->dict;

        if (record_dict_put(dict, "dataset", record_text(row, CHUNK_DATASET)) < 0 ||
            record_dict_put(dict, "file", record_text(row, CHUNK_FILE)) < 0 ||
            record_dict_put(dict, "uuid", record_text(row, CHUNK_UUID)) < 0 ||
            record_dict_put(dict, "entry_start",
                            record_integer(record_value_of(row, CHUNK_ENTRY_START))) < 0)
                return -1;
        return record_dict_put(dict, "entry_stop",
                               record_integer(record_value_of(row, CHUNK_ENTRY_STOP)));
}

static PyObject *record_dict_part_name(const struct chunk_table *table,
                                       const struct chunk_parts *parts, size_t part)
{
        size_t len;
        const char *data = intern_get(&table->strings, (size_t)parts->columns[0][part], &len);

        return native_text_n(data, len);
}

static int record_dict_put_branches(const struct row *row)
{
        const struct chunk_parts *parts = &row->table->branches;
        PyObject *names = PyList_New(0), *sizes = PyDict_New(), *dict = row->dict;
        double selected = (double)record_or_0(record_value_of(row, CHUNK_SELECTED_BYTES));
        double whole = (double)record_or_0(record_value_of(row, CHUNK_SELECTED_UNCOMPRESSED_BYTES));
        Py_ssize_t n = (Py_ssize_t)(parts->first[row->row + 1] - parts->first[row->row]);
        int64_t bytes = 0;
        int r = names && sizes ? 0 : -1;

        for (size_t i = parts->first[row->row]; r == 0 && i < parts->first[row->row + 1]; i++) {
                PyObject *name = record_dict_part_name(row->table, parts, i);
                PyObject *size = record_integer(parts->columns[1][i]);

                r = name && size ? PyList_Append(names, name) : -1;
                if (r == 0)
                        r = PyDict_SetItem(sizes, name, size);
                bytes += record_or_0(parts->columns[1][i]);
                Py_XDECREF(name);
                Py_XDECREF(size);
        }
        if (r == 0)
                r = record_dict_put(dict, "accessed_branches", Py_NewRef(names));
        if (r == 0)
                r = record_dict_put(dict, "num_branches_accessed", PyLong_FromSsize_t(n));
        if (r == 0)
                r = record_dict_put(dict, "accessed_bytes", PyLong_FromLongLong(bytes));
        if (r == 0)
                r = record_dict_put(
                        dict, "accessed_uncompressed_bytes",
                        PyLong_FromDouble(selected > 0 ? (double)bytes * (whole / selected) : 0));
        if (r == 0)
                r = record_dict_put(dict, "branches_read_percent",
                                    PyFloat_FromDouble(record_percent(
                                            (double)n, (double)record_or_0(record_value_of(
                                                               row, CHUNK_TREE_BRANCHES)))));
        if (r == 0)
                r = record_dict_put(dict, "bytes_read_percent",
                                    PyFloat_FromDouble(record_percent(
                                            selected, (double)record_or_0(record_value_of(
                                                              row, CHUNK_TREE_BYTES)))));
        if (r == 0)
                r = record_dict_put(dict, "branch_bytes", Py_NewRef(sizes));
        Py_XDECREF(names);
        Py_XDECREF(sizes);
        return r;
}

struct section_views {
        PyObject *timing, *memory, *bytes, *sections, *memory_sections;
};

static int record_append(PyObject *list, PyObject *item)
{
        int r = item ? PyList_Append(list, item) : -1;

        Py_XDECREF(item);
        return r;
}

static int record_set_item(PyObject *dict, PyObject *key, PyObject *value)
{
        int r = value ? PyDict_SetItem(dict, key, value) : -1;

        Py_XDECREF(value);
        return r;
}

static int record_view_section(const struct section_views *views, PyObject *name,
                               const int64_t *values)
{
        int64_t kind = record_or_0(values[SECTION_KIND]);

        if (kind & SECTION_TIME) {
                if (record_set_item(views->timing, name,
                                    record_scaled(values[SECTION_TOTAL_NS], 1e9)) < 0 ||
                    record_append(
                            views->sections,
                            Py_BuildValue("{sOsNsNsNsNsN}", "section_name", name, "time_delta",
                                          record_scaled(values[SECTION_TOTAL_NS], 1e9), "count",
                                          record_integer(values[SECTION_COUNT]), "self_time",
                                          record_scaled(values[SECTION_SELF_NS], 1e9), "min_time",
                                          record_scaled(values[SECTION_MIN_NS], 1e9), "max_time",
                                          record_scaled(values[SECTION_MAX_NS], 1e9))) < 0)
                        return -1;
        }
        if (kind & SECTION_MEMORY) {
                int64_t delta = record_or_0(values[SECTION_RSS_DELTA_BYTES]);

                if (record_set_item(views->memory, name, record_scaled(delta, MIB)) < 0 ||
                    record_append(
                            views->memory_sections,
                            Py_BuildValue("{sOsNsNsNsN}", "section_name", name, "memory_start_gb",
                                          record_scaled(values[SECTION_RSS_START_BYTES], 1e9),
                                          "memory_end_gb",
                                          record_scaled(values[SECTION_RSS_END_BYTES], 1e9),
                                          "memory_delta_gb", record_scaled(delta, 1e9), "count",
                                          record_integer(values[SECTION_COUNT]))) < 0)
                        return -1;
        }
        if (kind & SECTION_BYTES_READ)
                return record_set_item(views->bytes, name,
                                       record_integer(record_or_0(values[SECTION_BYTES])));
        return 0;
}

static int record_fill_sections(const struct row *row, const struct section_views *views)
{
        const struct chunk_parts *parts = &row->table->sections;

        for (size_t i = parts->first[row->row]; i < parts->first[row->row + 1]; i++) {
                PyObject *name = record_dict_part_name(row->table, parts, i);
                int64_t values[SECTION_N_FIELDS];
                int r;

                for (size_t j = 0; j < SECTION_N_FIELDS; j++)
                        values[j] = parts->columns[1 + j][i];
                r = name ? record_view_section(views, name, values) : -1;
                Py_XDECREF(name);
                if (r < 0)
                        return -1;
        }
        return 0;
}

static int record_dict_put_sections(const struct row *row)
{
        struct section_views views = { PyDict_New(), PyDict_New(), PyDict_New(), PyList_New(0),
                                       PyList_New(0) };
        int r = views.timing && views.memory && views.bytes && views.sections &&
                                views.memory_sections
                        ? record_fill_sections(row, &views)
                        : -1;

        /* record_dict_put() takes the reference also if it fails; a missing one is an error already
         */
        r |= record_dict_put(row->dict, "timing", views.timing);
        r |= record_dict_put(row->dict, "memory", views.memory);
        r |= record_dict_put(row->dict, "bytes", views.bytes);
        r |= record_dict_put(row->dict, "sections", views.sections);
        r |= record_dict_put(row->dict, "memory_sections", views.memory_sections);
        return r < 0 ? -1 : 0;
}

static PyObject *record_dict_outcome(const struct row *row)
{
        int64_t value = record_or_0(record_value_of(row, CHUNK_OUTCOME));

        return PyUnicode_FromString(value >= 0 && value < CHUNK_N_OUTCOMES ? chunk_outcomes[value]
                                                                           : "unknown");
}

static PyObject *record_peak_source(const struct row *row)
{
        int64_t value = record_value_of(row, CHUNK_PEAK_SOURCE);

        if (value == CHUNK_ABSENT)
                return Py_NewRef(Py_None);
        return PyUnicode_FromString(value == CHUNK_PEAK_EXACT ? "exact" : "sampled");
}

static int record_put_resources(const struct row *row)
{
        int64_t start = record_value_of(row, CHUNK_RSS_START_BYTES);
        int64_t end = record_value_of(row, CHUNK_RSS_END_BYTES);
        int64_t delta = start == CHUNK_ABSENT || end == CHUNK_ABSENT ? CHUNK_ABSENT : end - start;
        PyObject *dict = row->dict;

        if (record_dict_put(dict, "memory_start_gb", record_scaled(start, 1e9)) < 0 ||
            record_dict_put(dict, "memory_end_gb", record_scaled(end, 1e9)) < 0 ||
            record_dict_put(dict, "memory_delta_gb", record_scaled(delta, 1e9)) < 0 ||
            record_dict_put(dict, "mem_peak_mb",
                            record_scaled(record_value_of(row, CHUNK_RSS_PEAK_BYTES), MIB)) < 0 ||
            record_dict_put(dict, "peak_source", record_peak_source(row)) < 0 ||
            record_dict_put(dict, "cpu_time",
                            record_scaled(record_value_of(row, CHUNK_CPU_NS), 1e9)) < 0)
                return -1;
        return record_dict_put(
                dict, "wall_split",
                Py_BuildValue(
                        "{sNsNsNsNsNsNsN}", "cpu",
                        record_scaled(record_value_of(row, CHUNK_CPU_NS), 1e9), "runqueue",
                        record_scaled(record_value_of(row, CHUNK_RUNQUEUE_NS), 1e9), "throttled",
                        record_scaled(record_value_of(row, CHUNK_THROTTLED_NS), 1e9), "block_io",
                        record_scaled(record_value_of(row, CHUNK_BLOCK_IO_NS), 1e9), "gil",
                        record_scaled(record_value_of(row, CHUNK_GIL_NS), 1e9), "other",
                        record_scaled(record_value_of(row, CHUNK_OTHER_NS), 1e9), "samples",
                        record_integer(record_or_0(record_value_of(row, CHUNK_SPLIT_SAMPLES)))));
}

static int record_put_rest(const struct row *row)
{
        static const enum chunk_field integers[] = {
                CHUNK_MAJOR_FAULTS, CHUNK_READ_BYTES, CHUNK_WRITE_BYTES,     CHUNK_RCHAR_BYTES,
                CHUNK_WCHAR_BYTES,  CHUNK_PID,        CHUNK_THREAD,          CHUNK_ATTEMPT,
                CHUNK_TREE_BYTES,   CHUNK_PROBE_NS,   CHUNK_REQUESTED_BYTES, CHUNK_CUT_BYTES,
        };
        static const enum chunk_field texts[] = { CHUNK_TREE, CHUNK_WORKER, CHUNK_HOST };

        for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++)
                if (record_dict_put(row->dict, chunk_fields[integers[i]].name,
                                    record_integer(record_value_of(row, integers[i]))) < 0)
                        return -1;
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                if (record_dict_put(row->dict, chunk_fields[texts[i]].name,
                                    record_text(row, texts[i])) < 0)
                        return -1;
        if (record_dict_put(row->dict, "outcome", record_dict_outcome(row)) < 0 ||
            record_dict_put(row->dict, "metadata", record_blob(row, CHUNK_METADATA)) < 0)
                return -1;
        return 0;
}

static int record_dict_put_error(const struct row *row)
{
        if (record_value_of(row, CHUNK_ERROR_TYPE) == CHUNK_ABSENT &&
            record_value_of(row, CHUNK_ERROR_MESSAGE) == CHUNK_ABSENT)
                return 0;
        if (record_dict_put(row->dict, "error_type", record_text(row, CHUNK_ERROR_TYPE)) < 0 ||
            record_dict_put(row->dict, "error_message", record_text(row, CHUNK_ERROR_MESSAGE)) < 0)
                return -1;
        return record_dict_put(row->dict, "error", record_text(row, CHUNK_ERROR_MESSAGE));
}

/* The user's fields; `custom_metrics` is what record_metric() collected. */
static int record_dict_put_custom(const struct row *row)
{
        PyObject *custom = record_blob(row, CHUNK_CUSTOM), *metrics, *key, *value;
        Py_ssize_t at = 0;
        int r = 0;

        if (!custom)
                return -1;
        metrics = PyDict_GetItemString(custom, "custom_metrics");
        metrics = metrics && PyDict_Check(metrics) ? Py_NewRef(metrics) : PyDict_New();
        if (!metrics || PyDict_SetItemString(row->dict, "custom_metrics", metrics) < 0)
                r = -1;
        while (r == 0 && PyDict_Next(custom, &at, &key, &value)) {
                int taken = PyDict_Contains(row->dict, key);

                if (taken < 0)
                        r = -1;
                else if (!taken)
                        r = PyDict_SetItem(row->dict, key, value);
                else if (value != metrics)
                        r = PyDict_SetItem(metrics, key, value);
        }
        Py_DECREF(custom);
        Py_XDECREF(metrics);
        return r;
}

PyObject *record_dict(const struct chunk_table *table, size_t row_number, size_t chunk_id)
{
        struct row row = { table, row_number, PyDict_New() };

        if (!row.dict || record_dict_put_times(&row) < 0 || record_put_identity(&row) < 0 ||
            record_dict_put_branches(&row) < 0 || record_dict_put_sections(&row) < 0 ||
            (record_value_of(&row, CHUNK_FILE_METADATA) != CHUNK_ABSENT &&
             record_dict_put(row.dict, "file_metadata", record_blob(&row, CHUNK_FILE_METADATA)) <
                     0) ||
            record_dict_put(row.dict, "chunk_id", PyLong_FromSize_t(chunk_id)) < 0 ||
            record_put_resources(&row) < 0 || record_put_rest(&row) < 0 ||
            record_dict_put_error(&row) < 0 || record_dict_put_custom(&row) < 0) {
                Py_XDECREF(row.dict);
                return NULL;
        }
        return row.dict;
}
