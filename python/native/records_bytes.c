/*
 * Records together: pickled, sent, summed up
 *
 * Rows of many segments are decoded into one table and encoded again, in blocks of
 * at most BLOCK_ROWS, so that a reader never needs memory for more than that.
 */

#include <stdlib.h>

#include "records.h"
#include "source.h"
#include "util/cleanup.h"
#include "v1/record.h"

#define BLOCK_ROWS 4096

/* A table that grows segment by segment and is written out as bytes when it is full */
struct packer {
        struct chunk_table table;
        struct chunk_table whole; /* of a segment of which only a part is wanted */
        PyObject *blocks;         /* a list of bytes and dicts */
};

static void records_packer_deinit(struct packer *packer)
{
        chunk_table_deinit(&packer->table);
        chunk_table_deinit(&packer->whole);
        Py_CLEAR(packer->blocks);
}

static int records_packer_flush(struct packer *packer)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct roast_error error = { 0 };
        PyObject *bytes;
        int r;

        if (!packer->table.n)
                return 0;
        Py_BEGIN_ALLOW_THREADS r = chunk_table_encode(&packer->table, &out, &error);
        Py_END_ALLOW_THREADS if (r < 0) return native_raise_int(&error);
        chunk_table_clear(&packer->table);
        bytes = PyBytes_FromStringAndSize((const char *)out.data, (Py_ssize_t)out.len);
        r = bytes ? PyList_Append(packer->blocks, bytes) : -1;
        Py_XDECREF(bytes);
        return r;
}

static int records_decode(struct chunk_table *table, PyObject *bytes)
{
        struct roast_error error = { 0 };
        char *data;
        Py_ssize_t len;
        int r;

        if (PyBytes_AsStringAndSize(bytes, &data, &len) < 0)
                return -1;
        Py_BEGIN_ALLOW_THREADS r = chunk_table_decode(table, data, (size_t)len, &error);
        Py_END_ALLOW_THREADS return r < 0 ? native_raise_int(&error) : 0;
}

/* Records that a user made by hand, or a worker without this module */
static int records_put_dict(struct chunk_table *table, PyObject *dict)
{
        ROAST_CLEANUP(source_python_deinit) struct source_python py;
        ROAST_CLEANUP(v1_record_deinit) struct v1_record record = { 0 };
        struct source *in = source_python_init(&py);

        source_python_set(&py, dict);
        if (!v1_record_read(&record, in))
                return -1;
        if (v1_record_put(&record, table) == 0)
                return 0;
        PyErr_NoMemory();
        return -1;
}

/* Of the rows of a segment only some belong to it. */
static int records_pack_part(struct packer *packer, const struct segment *segment)
{
        int r = 0;

        chunk_table_clear(&packer->whole);
        if (records_decode(&packer->whole, segment->data) < 0)
                return -1;
        for (size_t i = 0; r == 0 && i < segment->n; i++)
                r = chunk_table_copy_row(&packer->table, &packer->whole, segment->from + i);
        if (r < 0)
                PyErr_NoMemory();
        return r;
}

static int records_pack_segment(struct packer *packer, const struct segment *segment,
                                bool dicts_too)
{
        struct roast_error error = { 0 };
        char *data;
        Py_ssize_t len;
        int64_t rows;

        if (!PyBytes_Check(segment->data)) {
                if (dicts_too)
                        return records_put_dict(&packer->table, segment->data);
                return records_packer_flush(packer) < 0
                               ? -1
                               : PyList_Append(packer->blocks, segment->data);
        }
        if (PyBytes_AsStringAndSize(segment->data, &data, &len) < 0)
                return -1;
        rows = chunk_table_peek(data, (size_t)len, &error);
        if (segment->from || (int64_t)segment->n != rows)
                return records_pack_part(packer, segment);
        if (segment->n >= BLOCK_ROWS / 2) { /* good as it is */
                return records_packer_flush(packer) < 0
                               ? -1
                               : PyList_Append(packer->blocks, segment->data);
        }
        return records_decode(&packer->table, segment->data);
}

/* A copy that nobody else can change while the GIL is released; NULL with an exception */
static RecordsObject *records_snapshot(PyObject *object)
{
        PyObject *copy = records_new_empty(Py_TYPE(object));

        if (copy && records_add((RecordsObject *)copy, object) < 0)
                Py_CLEAR(copy);
        return (RecordsObject *)copy;
}

static void records_release(RecordsObject **records)
{
        Py_XDECREF((PyObject *)*records);
}

/* [bytes or dict, ...]: all records in few blocks. NULL with an exception */
static PyObject *records_pack(PyObject *object, bool dicts_too)
{
        ROAST_CLEANUP(records_release) RecordsObject *self = records_snapshot(object);
        ROAST_CLEANUP(records_packer_deinit) struct packer packer = { 0 };
        PyObject *blocks;

        if (!self)
                return NULL;

        chunk_table_init(&packer.table);
        chunk_table_init(&packer.whole);
        packer.blocks = PyList_New(0);
        if (!packer.blocks)
                return NULL;
        for (size_t i = 0; i < self->n_segments; i++) {
                if (records_pack_segment(&packer, &self->segments[i], dicts_too) < 0)
                        return NULL;
                if (packer.table.n >= BLOCK_ROWS && records_packer_flush(&packer) < 0)
                        return NULL;
        }
        if (records_packer_flush(&packer) < 0)
                return NULL;
        blocks = packer.blocks;
        packer.blocks = NULL;
        return blocks;
}

/* One whole segment alone needs no work. */
static bool records_is_packed(const RecordsObject *self)
{
        struct roast_error error;
        char *data;
        Py_ssize_t len;

        return self->n_segments == 1 && PyBytes_Check(self->segments[0].data) &&
               PyBytes_AsStringAndSize(self->segments[0].data, &data, &len) == 0 &&
               chunk_table_peek(data, (size_t)len, &error) == (int64_t)self->n;
}

PyObject *records_reduce(PyObject *object, PyObject *unused)
{
        RecordsObject *self = (RecordsObject *)object;
        PyObject *blocks, *single;

        (void)unused;
        if (!self->n)
                return Py_BuildValue("(O())", Py_TYPE(object));
        if (records_is_packed(self)) {
                single = self->segments[0].data;
                return Py_BuildValue("(O((O)))", Py_TYPE(object), single);
        }
        blocks = records_pack(object, false);
        return blocks ? Py_BuildValue("(O(N))", Py_TYPE(object), blocks) : NULL;
}

/* [bytes, ...], each of so many records that a reader needs little memory */
PyObject *records_blocks(PyObject *object, PyObject *unused)
{
        (void)unused;
        return records_pack(object, true);
}

/* Everything as one block of bytes: for a channel or a file */
PyObject *records_to_bytes(PyObject *object, PyObject *unused)
{
        ROAST_CLEANUP(records_release) RecordsObject *self = records_snapshot(object);
        ROAST_CLEANUP(records_packer_deinit) struct packer packer = { 0 };
        PyObject *bytes;

        (void)unused;
        if (!self)
                return NULL;
        if (records_is_packed(self))
                return Py_NewRef(self->segments[0].data);
        chunk_table_init(&packer.table);
        chunk_table_init(&packer.whole);
        packer.blocks = PyList_New(0);
        if (!packer.blocks)
                return NULL;
        for (size_t i = 0; i < self->n_segments; i++) {
                const struct segment *segment = &self->segments[i];
                int r = PyBytes_Check(segment->data) && !segment->from &&
                                        segment->n >= BLOCK_ROWS / 2
                                ? records_pack_part(&packer, segment)
                                : records_pack_segment(&packer, segment, true);

                if (r < 0)
                        return NULL;
        }
        if (!packer.table.n) {
                ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
                struct roast_error error = { 0 };

                if (chunk_table_encode(&packer.table, &out, &error) < 0)
                        return native_raise(&error);
                return PyBytes_FromStringAndSize((const char *)out.data, (Py_ssize_t)out.len);
        }
        if (records_packer_flush(&packer) < 0)
                return NULL;
        bytes = PyList_GetItem(packer.blocks, 0);
        return Py_XNewRef(bytes);
}

/* Sums, block by block; what no record knows has none */
PyObject *records_totals(PyObject *object, PyObject *unused)
{
        static const enum chunk_field summed[] = {
                CHUNK_NUM_EVENTS, CHUNK_WALL_NS,     CHUNK_CPU_NS,          CHUNK_RUNQUEUE_NS,
                CHUNK_GIL_NS,     CHUNK_BLOCK_IO_NS, CHUNK_THROTTLED_NS,    CHUNK_OTHER_NS,
                CHUNK_READ_BYTES, CHUNK_RCHAR_BYTES, CHUNK_REQUESTED_BYTES,
        };
        enum { N_SUMMED = sizeof(summed) / sizeof(summed[0]) };
        ROAST_CLEANUP(records_release) RecordsObject *self = records_snapshot(object);
        ROAST_CLEANUP(records_packer_deinit) struct packer packer = { 0 };
        int64_t sums[N_SUMMED] = { 0 }, outcomes[CHUNK_N_OUTCOMES] = { 0 }, section_ns = 0;
        bool known[N_SUMMED] = { false };
        PyObject *dict;

        (void)unused;
        if (!self)
                return NULL;
        chunk_table_init(&packer.table);
        chunk_table_init(&packer.whole);
        for (size_t i = 0; i < self->n_segments; i++) {
                const struct segment *segment = &self->segments[i];
                struct chunk_table *table = &packer.table;
                size_t from = PyBytes_Check(segment->data) ? segment->from : 0;

                chunk_table_clear(table);
                if (PyBytes_Check(segment->data) ? records_decode(table, segment->data) < 0
                                                 : records_put_dict(table, segment->data) < 0)
                        return NULL;
                for (size_t j = 0; j < N_SUMMED; j++)
                        for (size_t row = from; row < from + segment->n; row++)
                                if (table->columns[summed[j]][row] != CHUNK_ABSENT) {
                                        sums[j] += table->columns[summed[j]][row];
                                        known[j] = true;
                                }
                for (size_t row = from; row < from + segment->n; row++) {
                        int64_t outcome = table->columns[CHUNK_OUTCOME][row];

                        if (outcome >= 0 && outcome < CHUNK_N_OUTCOMES)
                                outcomes[outcome]++;
                }
                for (size_t j = table->sections.first[from];
                     j < table->sections.first[from + segment->n]; j++)
                        if (table->sections.columns[1 + SECTION_SELF_NS][j] != CHUNK_ABSENT)
                                section_ns += table->sections.columns[1 + SECTION_SELF_NS][j];
        }
        dict = Py_BuildValue("{snsL}", "records", (Py_ssize_t)self->n, "section_self_ns",
                             (long long)section_ns);
        for (size_t j = 0; dict && j < N_SUMMED + CHUNK_N_OUTCOMES; j++) {
                const char *key =
                        j < N_SUMMED ? chunk_fields[summed[j]].name : chunk_outcomes[j - N_SUMMED];
                PyObject *value;

                if (j < N_SUMMED && !known[j])
                        continue;
                value = PyLong_FromLongLong(j < N_SUMMED ? sums[j] : outcomes[j - N_SUMMED]);
                if (!value || PyDict_SetItemString(dict, key, value) < 0)
                        Py_CLEAR(dict);
                Py_XDECREF(value);
        }
        return dict;
}
