#pragma once
/*
 * What the files of roastcoffea._probe share
 *
 * Everything here runs under the GIL, which is the only lock it needs.
 */

#include <stdbool.h>
#include <stdint.h>

#include "native.h"
#include "probe/chunk.h"
#include "record/chunk.h"
#include "sections.h"
#include "thread.h"

struct probe_state {
        PyTypeObject *chunk_type;
        PyTypeObject *section_type;
        PyTypeObject *records_type;
        PyObject *attribute;              /* "_roastcoffea_current_chunk" */
        PyObject *keys[3];                /* "timing", "memory", "bytes" */
        PyObject *fields[CHUNK_N_FIELDS]; /* their names */
        PyObject *branches;               /* "branches" */
        PyObject *find_source;            /* roastcoffea.inputs.source_of, once it was needed */
        struct chunk_table scratch;       /* kept between chunks for their memory */
        struct buf out;
};

/* The measurement of one chunk: the document dict while it runs, then the record */
typedef struct ChunkObject {
        PyObject_HEAD PyObject *owner; /* the processor; NULL once ended */
        PyObject *guests;              /* a list of processors that are called within, or NULL */
        PyObject *custom;              /* what the user wrote */
        PyObject *views[3]; /* the dicts of timing, memory and bytes that were looked at */
        struct section_set sections;
        struct probe_chunk probe;
        struct probe_result result;
        int64_t made_cpu_ns;    /* the thread's CPU clock when measuring began, */
        int64_t encoded_cpu_ns; /* and up to where the record tells what it took */
        bool begun;
        bool ended;
        struct ChunkObject *outer;       /* the chunk that this thread was in before */
        struct ChunkObject *prev, *next; /* among the active ones */
} ChunkObject;

int native_add_chunk(PyObject *module, struct probe_state *state);
int native_add_section(PyObject *module, struct probe_state *state);
int native_add_records(PyObject *module, struct probe_state *state);

/* sampler.c */
int native_add_sampler(PyObject *module);
/* Adds the names of columns, up to the first that is NULL, as roast_run_add_series() wants them. */
int native_add_columns(PyObject *module, const char *name,
                       const struct probe_column *(*column_at)(size_t index));
PyObject *native_watcher_cpu_ns(PyObject *module, PyObject *nothing);
PyObject *native_encode_block(PyObject *module, PyObject *args);
PyObject *native_set_utc_offset(PyObject *module, PyObject *number);

/* process.c */
int native_add_process(PyObject *module);
PyObject *native_read_process(PyObject *module, PyObject *number);
PyObject *native_descendants(PyObject *module, PyObject *number);

/* section_object.c */
PyObject *section_track_time(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                             PyObject *names);
PyObject *section_track_memory(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                               PyObject *names);
PyObject *section_track_bytes(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                              PyObject *names);
void section_spare_free(void);

/* chunk_current.c */
extern ChunkObject *chunk_active; /* the list of those that run */
ChunkObject *chunk_search(PyObject *owner);
void chunk_push(ChunkObject *chunk);
void chunk_drop(ChunkObject *chunk);

/* The chunk that a section of this processor belongs to, borrowed, or NULL */
static inline ChunkObject *chunk_current(PyObject *owner)
{
        ChunkObject *chunk = native_thread.innermost;

        if (chunk && chunk->owner == owner)
                return chunk;
        return chunk_active ? chunk_search(owner) : NULL;
}

/* chunk_mapping.c: the documented dict */
PyObject *chunk_get(PyObject *self, PyObject *args);
PyObject *chunk_setdefault(PyObject *self, PyObject *args);
PyObject *chunk_update(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *chunk_pop(PyObject *self, PyObject *args);
PyObject *chunk_keys(PyObject *self, PyObject *unused);
PyObject *chunk_values(PyObject *self, PyObject *unused);
PyObject *chunk_items(PyObject *self, PyObject *unused);
PyObject *chunk_repr(PyObject *self);
PyObject *chunk_richcompare(PyObject *self, PyObject *other, int operation);
PyObject *chunk_subscript(PyObject *self, PyObject *key);
int chunk_assign(PyObject *self, PyObject *key, PyObject *value);
int chunk_contains(PyObject *self, PyObject *key);
Py_ssize_t chunk_length(PyObject *self);
PyObject *chunk_iter(PyObject *self);

/* chunk_encode.c */
PyObject *chunk_encode(PyObject *self, PyObject *fields);
PyObject *chunk_sent(PyObject *self, PyObject *unused);

/* faults.c: what went wrong inside a section, where nothing may be raised */
void fault_note(const char *where); /* takes the exception that is set */
PyObject *fault_take(PyObject *module, PyObject *unused);
