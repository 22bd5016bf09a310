/*
 * A dict as a record
 *
 * For records that did not come from a chunk of ours: those that a user recorded
 * by hand, of an earlier version's files, or of a worker without this module. The
 * keys are those that v1_put_record() makes; what is not understood becomes a field
 * of the user's own.
 */

#include <math.h>

#include "cbor.h"
#include "record/documented.h"
#include "records.h"
#include "util/cleanup.h"

/* Keys that are dealt with on their own */
static const char *const own_keys[] = {
        "accessed_bytes",
        "accessed_uncompressed_bytes",
        "error",
        "timing",
        "memory",
        "bytes",
        "wall_split",
        "outcome",
        "accessed_branches",
        "branch_bytes",
        "peak_source",
        "bytes_read_percent",
        NULL,
};

static int64_t record_number(PyObject *value, double unit)
{
        double real = PyFloat_AsDouble(value) * unit;

        if (PyErr_Occurred()) {
                PyErr_Clear();
                return CHUNK_ABSENT;
        }
        return real > -9.2e18 && real < 9.2e18 ? (int64_t)llround(real) : CHUNK_ABSENT;
}

static bool record_is_number(PyObject *value)
{
        return PyFloat_Check(value) || PyLong_Check(value);
}

static void record_set_numbers(struct chunk_table *table, PyObject *dict,
                               const struct documented_number *numbers)
{
        for (; numbers->key; numbers++) {
                PyObject *value = PyDict_GetItemString(dict, numbers->key);

                if (value && record_is_number(value))
                        chunk_table_set(table, table->n - 1, numbers->field,
                                        record_number(value, numbers->unit));
        }
}

static int record_set_text(struct chunk_table *table, enum chunk_field field, PyObject *value)
{
        Py_ssize_t len;
        const char *data;

        if (!PyUnicode_Check(value))
                return 0;
        data = PyUnicode_AsUTF8AndSize(value, &len);
        if (!data) {
                PyErr_Clear();
                return 0;
        }
        return chunk_table_set_text(table, table->n - 1, field, data, (size_t)len);
}

static int record_set_blob(struct chunk_table *table, enum chunk_field field, PyObject *value)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;

        if (!PyDict_Check(value) || !PyDict_Size(value))
                return 0;
        if (cbor_encode(&out, value) < 0) {
                PyErr_Clear();
                return 0;
        }
        return chunk_table_set_text(table, table->n - 1, field, out.data, out.len);
}

/* Fields that have the same name and type in the dict and in the record */
static int record_set_fields(struct chunk_table *table, PyObject *dict)
{
        for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++) {
                PyObject *value = PyDict_GetItemString(dict, chunk_fields[i].name);
                int r = 0;

                if (!value || value == Py_None || i == CHUNK_OUTCOME || i == CHUNK_PEAK_SOURCE)
                        continue;
                if (chunk_fields[i].type == CHUNK_TYPE_TEXT)
                        r = record_set_text(table, i, value);
                else if (chunk_fields[i].type == CHUNK_TYPE_BLOB)
                        r = record_set_blob(table, i, value);
                else if (record_is_number(value))
                        chunk_table_set(table, table->n - 1, i, record_number(value, 1));
                if (r < 0)
                        return r;
        }
        return 0;
}

static int record_set_outcome(struct chunk_table *table, PyObject *dict)
{
        PyObject *value = PyDict_GetItemString(dict, "outcome");
        PyObject *error = PyDict_GetItemString(dict, "error");
        int64_t outcome = error ? CHUNK_FAILED : CHUNK_FINISHED;

        for (int i = 0; value && PyUnicode_Check(value) && i < CHUNK_N_OUTCOMES; i++)
                if (!PyUnicode_CompareWithASCIIString(value, chunk_outcomes[i]))
                        outcome = i;
        chunk_table_set(table, table->n - 1, CHUNK_OUTCOME, outcome);
        if (error && chunk_table_get(table, table->n - 1, CHUNK_ERROR_MESSAGE) == CHUNK_ABSENT)
                return record_set_text(table, CHUNK_ERROR_MESSAGE, error);
        return 0;
}

static int record_add_section(struct chunk_table *table, PyObject *name, int64_t kind,
                              int64_t value)
{
        int64_t values[SECTION_N_FIELDS];
        const char *data;
        Py_ssize_t len;

        for (int i = 0; i < SECTION_N_FIELDS; i++)
                values[i] = CHUNK_ABSENT;
        values[SECTION_KIND] = kind;
        values[SECTION_COUNT] = 1;
        if (kind == SECTION_TIME)
                values[SECTION_TOTAL_NS] = values[SECTION_SELF_NS] = values[SECTION_MIN_NS] =
                        values[SECTION_MAX_NS] = value;
        else
                values[kind == SECTION_MEMORY ? SECTION_RSS_DELTA_BYTES : SECTION_BYTES] = value;
        data = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &len) : NULL;
        if (!data) {
                PyErr_Clear();
                return 0;
        }
        return chunk_table_add_section(table, data, (size_t)len, values);
}

static int record_add_sections(struct chunk_table *table, PyObject *dict, const char *key,
                               int64_t kind, double unit)
{
        PyObject *sections = PyDict_GetItemString(dict, key), *name, *value;
        Py_ssize_t at = 0;
        int r = 0;

        if (!sections || !PyDict_Check(sections))
                return 0;
        while (r == 0 && PyDict_Next(sections, &at, &name, &value))
                if (record_is_number(value))
                        r = record_add_section(table, name, kind, record_number(value, unit));
        return r;
}

static int record_add_branches(struct chunk_table *table, PyObject *dict)
{
        PyObject *branches = PyDict_GetItemString(dict, "accessed_branches");
        PyObject *sizes = PyDict_GetItemString(dict, "branch_bytes");
        int r = 0;

        if (!branches || !PyList_Check(branches))
                return 0;
        for (Py_ssize_t i = 0; r == 0 && i < PyList_Size(branches); i++) {
                PyObject *name = PyList_GetItem(branches, i), *size = NULL;
                const char *data;
                Py_ssize_t len;

                data = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &len) : NULL;
                if (data && sizes && PyDict_Check(sizes))
                        size = PyDict_GetItemWithError(sizes, name);
                PyErr_Clear();
                if (data)
                        r = chunk_table_add_branch(table, data, (size_t)len,
                                                   size && record_is_number(size)
                                                           ? record_number(size, 1)
                                                           : CHUNK_ABSENT);
        }
        return r;
}

static bool record_is_among(PyObject *key, const char *const *keys)
{
        while (*keys && PyUnicode_CompareWithASCIIString(key, *keys))
                keys++;
        return *keys;
}

static bool record_is_known(PyObject *key)
{
        if (!PyUnicode_Check(key))
                return false;
        if (record_is_among(key, documented_derived) || record_is_among(key, own_keys))
                return true;
        for (size_t i = 0; documented_numbers[i].key; i++)
                if (!PyUnicode_CompareWithASCIIString(key, documented_numbers[i].key))
                        return true;
        for (size_t i = 0; i < CHUNK_N_FIELDS; i++)
                if (!PyUnicode_CompareWithASCIIString(key, chunk_fields[i].name))
                        return true;
        return false;
}

static int record_set_custom(struct chunk_table *table, PyObject *dict)
{
        PyObject *custom = PyDict_New(), *key, *value;
        Py_ssize_t at = 0;
        int r = custom ? 0 : ROAST_E_NOMEM;

        while (r == 0 && PyDict_Next(dict, &at, &key, &value))
                if (!record_is_known(key) && !(PyDict_Check(value) && !PyDict_Size(value)))
                        r = PyDict_SetItem(custom, key, value);
        if (r == 0)
                r = record_set_blob(table, CHUNK_CUSTOM, custom);
        Py_XDECREF(custom);
        return r;
}

int record_row(struct chunk_table *table, PyObject *dict)
{
        PyObject *split = PyDict_GetItemString(dict, "wall_split");
        int r = chunk_table_add(table);

        if (r < 0)
                return r;
        record_set_numbers(table, dict, documented_numbers);
        if (split && PyDict_Check(split))
                record_set_numbers(table, split, documented_split);
        if ((r = record_set_fields(table, dict)) < 0 || (r = record_set_outcome(table, dict)) < 0)
                return r;
        if ((r = record_add_sections(table, dict, "timing", SECTION_TIME, 1e9)) < 0 ||
            (r = record_add_sections(table, dict, "memory", SECTION_MEMORY, 1 << 20)) < 0 ||
            (r = record_add_sections(table, dict, "bytes", SECTION_BYTES_READ, 1)) < 0)
                return r;
        if ((r = record_add_branches(table, dict)) < 0)
                return r;
        return record_set_custom(table, dict);
}
