/*
 * A chunk as a record
 *
 * What can run foreign code (str(), item(), the user's own fields) is done first
 * and ends in plain strings, numbers and bytes; then the table, which all chunks
 * of the process share for its memory, is filled and encoded in one go.
 */

#include <string.h>

#include "cbor.h"
#include "probe.h"
#include "util/cleanup.h"
#include "util/size.h"

#define BLOB_MAX (1 << 20) /* of a user's fields in one record; more is left out */

/* The values that Python gave, in a form that needs no more code to be run */
struct given {
        PyObject *values[CHUNK_N_FIELDS]; /* str, int, bytes or NULL */
        PyObject *branches;               /* a list of (str, int or None), or NULL */
};

static void chunk_given_deinit(struct given *given)
{
        for (int i = 0; i < CHUNK_N_FIELDS; i++)
                Py_CLEAR(given->values[i]);
        Py_CLEAR(given->branches);
}

static PyObject *chunk_bytes_of(struct buf *buf)
{
        PyObject *bytes = PyBytes_FromStringAndSize((const char *)buf->data, (Py_ssize_t)buf->len);

        return bytes;
}

/* A dict as a CBOR map, without the items that cannot be encoded */
static PyObject *chunk_encode_map(PyObject *dict)
{
        ROAST_CLEANUP(buf_deinit) struct buf items = BUF_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf map = BUF_INIT;
        PyObject *keys = PyDict_Keys(dict);
        uint32_t n = 0;

        for (Py_ssize_t i = 0; keys && i < PyList_Size(keys); i++) {
                PyObject *key = PyList_GetItem(keys, i), *value;
                size_t before = items.len;

                value = PyDict_GetItemWithError(dict, key);
                Py_XINCREF(value);
                if (value && cbor_encode(&items, key) == 0 && cbor_encode(&items, value) == 0) {
                        n++;
                } else {
                        items.len = before;
                        fault_note("custom field");
                }
                Py_XDECREF(value);
        }
        if (!keys)
                return NULL;
        Py_DECREF(keys);
        if (items.len > BLOB_MAX) {
                PyErr_Format(PyExc_ValueError, "%zu bytes of fields in one record", items.len);
                return NULL;
        }
        if (buf_put_u8(&map, 5 << 5 | 26) < 0 || buf_put_u8(&map, (uint8_t)(n >> 24)) < 0 ||
            buf_put_u8(&map, (uint8_t)(n >> 16)) < 0 || buf_put_u8(&map, (uint8_t)(n >> 8)) < 0 ||
            buf_put_u8(&map, (uint8_t)n) < 0 || buf_append(&map, items.data, items.len) < 0)
                return PyErr_NoMemory();
        return chunk_bytes_of(&map);
}

/* The value of a field in the form that its type wants; NULL without an exception: leave it out */
static PyObject *chunk_prepare(enum chunk_type type, PyObject *value)
{
        PyObject *text, *clean;

        if (type == CHUNK_TYPE_INT)
                return PyNumber_Index(value);
        if (type == CHUNK_TYPE_BLOB)
                return PyBytes_Check(value)                        ? Py_NewRef(value)
                       : PyDict_Check(value) && PyDict_Size(value) ? chunk_encode_map(value)
                                                                   : NULL;
        text = PyObject_Str(value);
        if (!text || PyUnicode_AsUTF8AndSize(text, NULL))
                return text;
        PyErr_Clear(); /* lone surrogates: a file name that is not UTF-8 */
        clean = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
        Py_DECREF(text);
        text = clean ? PyUnicode_FromEncodedObject(clean, "utf-8", "strict") : NULL;
        Py_XDECREF(clean);
        return text;
}

static void chunk_given_init(struct given *given, const struct probe_state *state, PyObject *fields)
{
        for (int i = 0; i < CHUNK_N_FIELDS; i++) {
                PyObject *value = PyDict_GetItemWithError(fields, state->fields[i]);

                if (!value || value == Py_None)
                        continue;
                given->values[i] = chunk_prepare(chunk_fields[i].type, value);
                if (PyErr_Occurred())
                        fault_note(chunk_fields[i].name);
        }
        given->branches = PyDict_GetItemWithError(fields, state->branches);
        if (given->branches && PyList_Check(given->branches))
                Py_INCREF(given->branches);
        else
                given->branches = NULL;
}

static int chunk_fill_given(struct chunk_table *table, const struct given *given)
{
        for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++) {
                PyObject *value = given->values[i];
                const char *text;
                Py_ssize_t len;
                char *data;
                int overflow, r = 0;

                if (!value)
                        continue;
                if (PyLong_Check(value)) {
                        long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);

                        if (!overflow)
                                chunk_table_set(table, table->n - 1, i, integer);
                } else if (PyUnicode_Check(value)) {
                        text = PyUnicode_AsUTF8AndSize(value, &len);
                        if (text)
                                r = chunk_table_set_text(table, table->n - 1, i, text, (size_t)len);
                } else if (PyBytes_AsStringAndSize(value, &data, &len) == 0) {
                        r = chunk_table_set_text(table, table->n - 1, i, data, (size_t)len);
                }
                if (PyErr_Occurred())
                        PyErr_Clear();
                if (r < 0)
                        return r;
        }
        return 0;
}

static int chunk_fill_branches(struct chunk_table *table, PyObject *branches)
{
        Py_ssize_t n = branches ? PyList_Size(branches) : 0, len;

        for (Py_ssize_t i = 0; i < n; i++) {
                PyObject *pair = PyList_GetItem(branches, i), *bytes;
                const char *name = NULL;
                int64_t value = CHUNK_ABSENT;
                int r;

                if (PyTuple_Check(pair) && PyTuple_Size(pair) == 2 &&
                    PyUnicode_Check(PyTuple_GetItem(pair, 0)))
                        name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(pair, 0), &len);
                if (!name) {
                        PyErr_Clear();
                        continue;
                }
                bytes = PyTuple_GetItem(pair, 1);
                if (PyLong_Check(bytes))
                        value = PyLong_AsLongLong(bytes);
                PyErr_Clear();
                r = chunk_table_add_branch(table, name, (size_t)len, value);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int chunk_fill_sections(struct chunk_table *table, const struct section_set *set)
{
        static const int64_t bits[] = { SECTION_TIME, SECTION_MEMORY, SECTION_BYTES_READ };

        for (size_t i = 0; i < set->n; i++) {
                const struct section_entry *entry = &set->entries[i];
                bool timed = entry->kind == KIND_TIME, memory = entry->kind == KIND_MEMORY;
                int64_t values[SECTION_N_FIELDS] = {
                        [SECTION_KIND] = bits[entry->kind],
                        [SECTION_COUNT] = entry->count,
                        [SECTION_TOTAL_NS] = entry->total_ns,
                        [SECTION_SELF_NS] = timed ? entry->self_ns : CHUNK_ABSENT,
                        [SECTION_MIN_NS] = entry->min_ns,
                        [SECTION_MAX_NS] = entry->max_ns,
                        [SECTION_RSS_START_BYTES] = memory ? entry->rss_start_bytes : CHUNK_ABSENT,
                        [SECTION_RSS_END_BYTES] = memory ? entry->rss_end_bytes : CHUNK_ABSENT,
                        [SECTION_RSS_DELTA_BYTES] = memory ? entry->rss_delta_bytes : CHUNK_ABSENT,
                        [SECTION_BYTES] = entry->kind == KIND_BYTES ? entry->bytes : CHUNK_ABSENT,
                };
                Py_ssize_t len;
                const char *name = PyUnicode_AsUTF8AndSize(entry->name, &len);
                int r;

                if (!name || !entry->count) {
                        PyErr_Clear();
                        continue;
                }
                r = chunk_table_add_section(table, name, (size_t)len, values);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void chunk_fill_result(struct chunk_table *table, const struct probe_result *result)
{
        const struct probe_snapshot *difference = &result->difference;
        const struct {
                enum chunk_field field;
                int64_t value;
        } values[] = {
                { CHUNK_START_UTC_NS, result->opening.utc_ns },
                { CHUNK_WALL_NS, result->split.wall_ns },
                { CHUNK_CPU_NS, result->split.cpu_ns },
                { CHUNK_RUNQUEUE_NS, result->split.runqueue_ns },
                { CHUNK_THROTTLED_NS, result->split.throttled_ns },
                { CHUNK_BLOCK_IO_NS, result->split.block_io_ns },
                { CHUNK_GIL_NS, result->split.lock_ns },
                { CHUNK_OTHER_NS, result->split.other_ns },
                { CHUNK_SPLIT_SAMPLES, result->split.samples },
                { CHUNK_RSS_START_BYTES, result->opening.rss_bytes },
                { CHUNK_RSS_END_BYTES, result->closing.rss_bytes },
                { CHUNK_RSS_PEAK_BYTES, result->peak_rss_bytes },
                { CHUNK_MAJOR_FAULTS, difference->major_faults },
                { CHUNK_READ_BYTES, difference->io.read_bytes },
                { CHUNK_WRITE_BYTES, difference->io.write_bytes },
                { CHUNK_RCHAR_BYTES, difference->io.rchar },
                { CHUNK_WCHAR_BYTES, difference->io.wchar },
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(values); i++)
                if (values[i].value != PROBE_ABSENT)
                        chunk_table_set(table, table->n - 1, values[i].field, values[i].value);
        if (result->peak != PROBE_PEAK_NONE)
                chunk_table_set(table, table->n - 1, CHUNK_PEAK_SOURCE,
                                result->peak == PROBE_PEAK_EXACT ? CHUNK_PEAK_EXACT
                                                                 : CHUNK_PEAK_SAMPLED);
}

/* What the user wrote into chunk["timing"] and its like becomes a section that occurred once. */
static void chunk_adopt(ChunkObject *self, enum section_kind kind)
{
        PyObject *key, *value;
        Py_ssize_t at = 0;

        if (!self->views[kind] || !PyDict_Check(self->views[kind]))
                return;
        while (PyDict_Next(self->views[kind], &at, &key, &value)) {
                struct section_entry *entry;
                double number;
                int64_t index;

                if (!PyUnicode_Check(key) || !(PyFloat_Check(value) || PyLong_Check(value)))
                        continue;
                number = PyFloat_AsDouble(value);
                index = PyErr_Occurred() ? -1 : sections_find(&self->sections, key, kind);
                if (index < 0 || self->sections.entries[index].count) {
                        PyErr_Clear();
                        continue;
                }
                entry = &self->sections.entries[index];
                entry->count = 1;
                if (kind == KIND_TIME)
                        entry->total_ns = entry->self_ns = entry->min_ns = entry->max_ns =
                                (int64_t)(number * 1e9);
                else if (kind == KIND_MEMORY)
                        entry->rss_delta_bytes = (int64_t)(number * (1 << 20));
                else
                        entry->bytes = (int64_t)number;
        }
}

/* What records took after they were encoded: the next one tells it. */
static int64_t untold_ns;

/* What measuring took until now, from which on it is told by another record */
static int64_t chunk_probe_time(ChunkObject *self)
{
        const struct probe_result *result = &self->result;
        int64_t own_ns;

        self->encoded_cpu_ns = probe_thread_cpu_ns();
        own_ns = probe_difference(result->end_cpu_ns, self->encoded_cpu_ns);
        if (result->probe_ns < 0 || own_ns < 0)
                return PROBE_ABSENT;
        own_ns += result->probe_ns + untold_ns;
        untold_ns = 0;
        return own_ns;
}

PyObject *chunk_sent(PyObject *object, PyObject *unused)
{
        ChunkObject *self = (ChunkObject *)object;
        int64_t ns = probe_difference(self->encoded_cpu_ns, probe_thread_cpu_ns());

        (void)unused;
        if (ns > 0)
                untold_ns += ns;
        self->encoded_cpu_ns = PROBE_ABSENT;
        Py_RETURN_NONE;
}

static int chunk_fill(struct chunk_table *table, ChunkObject *self, const struct given *given)
{
        int64_t probe_ns = chunk_probe_time(self);
        int r = chunk_table_add(table);

        if (r < 0)
                return r;
        chunk_fill_result(table, &self->result);
        if (probe_ns != PROBE_ABSENT)
                chunk_table_set(table, table->n - 1, CHUNK_PROBE_NS, probe_ns);
        if ((r = chunk_fill_given(table, given)) < 0)
                return r;
        if ((r = chunk_fill_sections(table, &self->sections)) < 0)
                return r;
        return chunk_fill_branches(table, given->branches);
}

PyObject *chunk_encode(PyObject *object, PyObject *fields)
{
        struct probe_state *state = PyType_GetModuleState(Py_TYPE(object));
        ROAST_CLEANUP(chunk_given_deinit) struct given given = { 0 };
        ChunkObject *self = (ChunkObject *)object;
        struct roast_error error = { 0 };

        if (!self->ended || !PyDict_Check(fields)) {
                PyErr_SetString(PyExc_TypeError, "encode(dict) of a chunk that has ended");
                return NULL;
        }
        chunk_given_init(&given, state, fields);
        if (!given.values[CHUNK_CUSTOM] && PyDict_Size(self->custom))
                given.values[CHUNK_CUSTOM] = chunk_encode_map(self->custom);
        for (int i = 0; i < N_KINDS; i++)
                chunk_adopt(self, (enum section_kind)i);
        if (PyErr_Occurred())
                fault_note("record");

        chunk_table_clear(&state->scratch);
        buf_clear(&state->out);
        if (chunk_fill(&state->scratch, self, &given) < 0)
                return PyErr_NoMemory();
        if (chunk_table_encode(&state->scratch, &state->out, &error) < 0)
                return native_raise(&error);
        return chunk_bytes_of(&state->out);
}
