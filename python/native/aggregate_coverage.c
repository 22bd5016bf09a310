/* Which branches, and how much of each file, plain chunk records say was read */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "metrics/coverage.h"
#include "metrics/stat.h"
#include "util/array.h"

struct read_file {
        struct coverage_file coverage;
        PyObject *metadata; /* the longest that a record carries; borrowed from `metadata` below */
        bool told;          /* a record says what was read */
};

struct coverage_reader {
        PyObject *file_index;
        struct read_file *files;
        PyObject *branch_index;
        PyObject *metadata; /* {file name: file_metadata} */
        uint32_t *branches; /* of the record at hand */
        size_t n_branches;
        size_t cap;
        struct stat_sum branches_percent; /* of chunks */
        struct stat_sum bytes_percent;
        double compressed; /* of all chunks' branches, as far as both are known */
        double uncompressed;
};

static void aggregate_coverage_reader_deinit(struct coverage_reader *reader)
{
        for (Py_ssize_t i = 0; reader->files && i < PyDict_Size(reader->file_index); i++)
                coverage_file_deinit(&reader->files[i].coverage);
        free(reader->files);
        free(reader->branches);
        Py_XDECREF(reader->file_index);
        Py_XDECREF(reader->branch_index);
        Py_XDECREF(reader->metadata);
}

static int aggregate_no_memory(void)
{
        PyErr_NoMemory();
        return -1;
}

static struct read_file *aggregate_file_of(struct coverage_reader *reader, PyObject *name)
{
        Py_ssize_t n = PyDict_Size(reader->file_index);
        Py_ssize_t i = plain_index(reader->file_index, name);
        struct read_file *grown;

        if (i < 0)
                return NULL;
        if (i >= n) {
                grown = realloc(reader->files, (size_t)(n + 1) * sizeof(*grown));
                if (!grown) {
                        PyDict_DelItem(reader->file_index, name);
                        PyErr_NoMemory();
                        return NULL;
                }
                memset(&grown[n], 0, sizeof(*grown));
                reader->files = grown;
        }
        return &reader->files[i];
}

static int aggregate_note_branch(PyObject *name, void *context)
{
        struct coverage_reader *reader = context;
        Py_ssize_t number = plain_index(reader->branch_index, name);

        if (number < 0)
                return -1;
        if (ARRAY_ROOM(reader->branches, reader->n_branches, reader->cap) < 0)
                return aggregate_no_memory();
        reader->branches[reader->n_branches++] = (uint32_t)number;
        return 0;
}

/* The record's branches, each once */
static int aggregate_read_branches(struct coverage_reader *reader, PyObject *record)
{
        PyObject *list, *set = NULL;
        int r;

        reader->n_branches = 0;
        r = plain_get(record, "accessed_branches", &list);
        if (r > 0 && list != Py_None) {
                set = PySet_New(list);
                r = set ? plain_each(set, aggregate_note_branch, reader) : -1;
                Py_XDECREF(set);
        }
        Py_XDECREF(list);
        return r < 0 ? -1 : 0;
}

static int aggregate_read_metadata(struct coverage_reader *reader, PyObject *record, PyObject *file)
{
        PyObject *metadata, *name = NULL;
        struct read_file *found;
        int r = plain_get(record, "file_metadata", &metadata);

        if (r > 0 && PyDict_Check(metadata) && PyDict_Size(metadata)) {
                r = plain_get(metadata, "filename", &name);
                if (r == 0 || name == Py_None) {
                        Py_XDECREF(name);
                        name = Py_XNewRef(file);
                }
                if (r >= 0 && name && name != Py_None) {
                        found = aggregate_file_of(reader, name);
                        r = found ? 0 : -1;
                        /* one chunk of a file tells more than the others */
                        if (found && (!found->metadata ||
                                      PyDict_Size(metadata) > PyDict_Size(found->metadata))) {
                                found->metadata = metadata;
                                r = PyDict_SetItem(reader->metadata, name, metadata);
                        }
                }
        }
        Py_XDECREF(name);
        Py_XDECREF(metadata);
        return r < 0 ? -1 : 0;
}

struct branch_reader {
        struct coverage_reader *reader;
        struct coverage_file *file;
};

static int aggregate_note_bytes(PyObject *name, PyObject *bytes, void *context)
{
        struct branch_reader *branches = context;
        Py_ssize_t number;
        double real;

        number = plain_known(branches->reader->branch_index, name);
        if (number < 0)
                return PyErr_Occurred() ? -1 : 0; /* no chunk has touched it */
        if (plain_real(&real, bytes) < 0)
                return -1;
        if (coverage_file_branch(branches->file, (uint32_t)number, real) < 0)
                return aggregate_no_memory();
        return 0;
}

/* {branch: compressed bytes in the file}, where the file's metadata have it */
static int aggregate_coverage_read_bytes(struct coverage_reader *reader, struct coverage_file *file,
                                         PyObject *metadata)
{
        struct branch_reader branches = { reader, file };
        PyObject *bytes;
        int r = plain_get(metadata, "branch_bytes", &bytes);

        if (r > 0 && PyDict_Check(bytes))
                r = plain_each_pair(bytes, aggregate_note_bytes, &branches);
        Py_XDECREF(bytes);
        return r < 0 ? -1 : 0;
}

/*
 * `accessed_bytes` of older records is of the branches' bytes in the whole file. Ours is of the
 * chunk; they name the bytes of the tree, of which the percentage is a share.
 */
static int aggregate_read_coverage(struct coverage_reader *reader, PyObject *record, PyObject *file)
{
        double bytes, whole, branches_percent, bytes_percent, tree_bytes;
        struct read_file *found;

        if (plain_get_real(&bytes, record, "accessed_bytes") < 0 ||
            plain_get_real(&whole, record, "accessed_uncompressed_bytes") < 0 ||
            plain_get_real(&branches_percent, record, "branches_read_percent") < 0 ||
            plain_get_real(&bytes_percent, record, "bytes_read_percent") < 0 ||
            plain_get_real(&tree_bytes, record, "tree_bytes") < 0)
                return -1;
        if (isfinite(branches_percent))
                stat_add(&reader->branches_percent, branches_percent);
        if (isfinite(bytes_percent))
                stat_add(&reader->bytes_percent, bytes_percent);
        if (isfinite(bytes) && isfinite(whole) && bytes > 0 && whole > 0) {
                reader->compressed += bytes;
                reader->uncompressed += whole;
        }
        if (isfinite(tree_bytes) && isfinite(bytes_percent))
                bytes = round(bytes_percent * tree_bytes / 100);
        if (!file || file == Py_None)
                return 0;
        found = aggregate_file_of(reader, file);
        if (!found)
                return -1;
        if (isfinite(bytes) || isfinite(branches_percent) || isfinite(bytes_percent))
                found->told = true;
        if (coverage_file_add(&found->coverage, reader->branches, reader->n_branches, bytes,
                              branches_percent, bytes_percent) < 0)
                return aggregate_no_memory();
        return 0;
}

static int aggregate_read_record(PyObject *record, void *context)
{
        struct coverage_reader *reader = context;
        PyObject *file;
        int r = plain_get(record, "file", &file);

        if (r >= 0)
                r = aggregate_read_metadata(reader, record, file);
        if (r >= 0)
                r = aggregate_read_branches(reader, record);
        if (r >= 0)
                r = aggregate_read_coverage(reader, record, file);
        Py_XDECREF(file);
        return r;
}

/* What the files come to */
struct coverage_results {
        struct coverage_reader *reader;
        PyObject *names;  /* of the branches, by number */
        PyObject *files;  /* {name: figures} */
        PyObject *ratios; /* of compression, above 0 */
        PyObject *percents;
        PyObject *estimated; /* names of files */
        struct stat_sum branches_percent;
        struct stat_sum bytes_percent;
};

static int aggregate_append(PyObject *list, double value)
{
        PyObject *number = PyFloat_FromDouble(value);
        int r = number ? PyList_Append(list, number) : -1;

        Py_XDECREF(number);
        return r;
}

/* The names of the branches that any chunk of a file touched, in alphabetical order */
static PyObject *aggregate_accessed(const struct coverage_results *results,
                                    const struct coverage_file *file)
{
        Py_ssize_t n = PyList_Size(results->names);
        bool *touched = calloc((size_t)n + 1, sizeof(*touched));
        PyObject *list;

        if (!touched)
                return PyErr_NoMemory();
        list = PyList_New(0);
        for (size_t i = 0; list && i < file->n; i++)
                for (size_t j = 0; j < file->sets[i].n; j++)
                        touched[file->sets[i].branches[j]] = true;
        for (Py_ssize_t i = 0; list && i < n; i++)
                if (touched[i] && PyList_Append(list, PyList_GetItem(results->names, i)) < 0)
                        Py_CLEAR(list);
        free(touched);
        if (list && PyList_Sort(list) < 0)
                PyErr_Clear(); /* somebody's own names, which are no strings */
        return list;
}

static int aggregate_put_file(PyObject *name, PyObject *position, void *context)
{
        struct coverage_results *results = context;
        struct coverage_reader *reader = results->reader;
        struct read_file *file = &reader->files[PyLong_AsSsize_t(position)];
        double ratio = (double)NAN;
        struct roast_fact branches = { 0 }, bytes = { 0 };
        struct coverage coverage;
        PyObject *dict;
        int r;

        if (!file->metadata && !file->told)
                return 0;
        if (file->metadata && (plain_get_real(&ratio, file->metadata, "compression_ratio") < 0 ||
                               plain_get_fact(&branches, file->metadata, "total_branches") < 0 ||
                               plain_get_fact(&bytes, file->metadata, "total_tree_bytes") < 0))
                return -1;
        if (file->metadata &&
            aggregate_coverage_read_bytes(reader, &file->coverage, file->metadata) < 0)
                return -1;
        if (coverage_of_file(&coverage, &file->coverage, (size_t)PyDict_Size(reader->branch_index),
                             branches.real, bytes.real) < 0)
                return aggregate_no_memory();
        stat_add(&results->branches_percent, coverage.branches_percent);
        stat_add(&results->bytes_percent, coverage.bytes_percent);
        dict = Py_BuildValue("{s:L,s:d,s:L,s:L,s:d,s:N}", "total_branches",
                             (long long)plain_integer(&branches), "branches_read_percent",
                             coverage.branches_percent, "total_tree_bytes",
                             (long long)plain_integer(&bytes), "bytes_read",
                             (long long)plain_integer(&(struct roast_fact){
                                     .type = ROAST_FACT_REAL, .real = coverage.bytes }),
                             "bytes_read_percent", coverage.bytes_percent, "accessed_branches",
                             aggregate_accessed(results, &file->coverage));
        r = dict ? PyDict_SetItem(results->files, name, dict) : -1;
        Py_XDECREF(dict);
        if (r >= 0 && ratio > 0 && isfinite(ratio))
                r = aggregate_append(results->ratios, ratio);
        if (r >= 0 && coverage.bytes_percent > 0)
                r = aggregate_append(results->percents, coverage.bytes_percent);
        if (r >= 0 && coverage.estimated)
                r = PyList_Append(results->estimated, name);
        return r;
}

/* What is known only if records tell it */
static int aggregate_put_means(PyObject *dict, const struct coverage_reader *reader)
{
        double ratio = reader->compressed / reader->uncompressed;

        if (PyDict_Size(reader->file_index) &&
            plain_put(dict, "num_files", PyLong_FromSsize_t(PyDict_Size(reader->file_index))) < 0)
                return -1;
        if (reader->branches_percent.n &&
            plain_put(dict, "chunk_branches_read_percent_mean",
                      PyFloat_FromDouble(reader->branches_percent.mean)) < 0)
                return -1;
        if (reader->bytes_percent.n &&
            plain_put(dict, "chunk_bytes_read_percent_mean",
                      PyFloat_FromDouble(reader->bytes_percent.mean)) < 0)
                return -1;
        return isfinite(ratio) ? plain_put(dict, "compression_ratio", PyFloat_FromDouble(ratio))
                               : 0;
}

/* All of it, and the names of the files whose bytes are estimated */
static PyObject *aggregate_make_results(struct coverage_reader *reader)
{
        struct coverage_results results = { .reader = reader,
                                            .names = PyDict_Keys(reader->branch_index),
                                            .files = PyDict_New(),
                                            .ratios = PyList_New(0),
                                            .percents = PyList_New(0),
                                            .estimated = PyList_New(0) };
        PyObject *object = NULL, *dict = NULL;

        if (results.names && results.files && results.ratios && results.percents &&
            results.estimated &&
            plain_each_pair(reader->file_index, aggregate_put_file, &results) >= 0)
                dict = Py_BuildValue("{s:O,s:O,s:O,s:d,s:d,s:O,s:n}", "file_metadata",
                                     reader->metadata, "compression_ratios", results.ratios,
                                     "file_read_metrics", results.files,
                                     "avg_branches_read_percent", results.branches_percent.mean,
                                     "avg_bytes_read_percent", results.bytes_percent.mean,
                                     "bytes_read_percent_per_file", results.percents,
                                     "total_branches_read", PyDict_Size(reader->branch_index));
        if (dict && aggregate_put_means(dict, reader) >= 0)
                object = PyTuple_Pack(2, dict, results.estimated);
        Py_XDECREF(dict);
        Py_XDECREF(results.names);
        Py_XDECREF(results.files);
        Py_XDECREF(results.ratios);
        Py_XDECREF(results.percents);
        Py_XDECREF(results.estimated);
        return object;
}

static PyObject *aggregate_coverage(PyObject *module, PyObject *records)
{
        struct coverage_reader reader = { 0 };
        PyObject *object = NULL;

        (void)module;
        reader.file_index = PyDict_New();
        reader.branch_index = PyDict_New();
        reader.metadata = PyDict_New();
        if (reader.file_index && reader.branch_index && reader.metadata &&
            plain_each(records, aggregate_read_record, &reader) >= 0)
                object = aggregate_make_results(&reader);
        aggregate_coverage_reader_deinit(&reader);
        return object;
}

static PyMethodDef functions[] = {
        { "aggregate_coverage", aggregate_coverage, METH_O,
          "aggregate_coverage(chunks)\n--\n\n"
          "What was read of each file, and the files of which that is estimated." },
        { 0 },
};

int native_add_aggregate_coverage(PyObject *module)
{
        return PyModule_AddFunctions(module, functions);
}
