#pragma once
/*
 * The sections of one chunk
 *
 * Per name and kind: how often, how long in total, shortest and longest, and the
 * time that it was the innermost open time section of its thread ("self"). A
 * section that is open is an activation in the list of its thread; it may leave
 * that list in any order (generators). When the chunk ends, what is still open is
 * counted up to then and cut off.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "record/chunk.h"

enum section_kind { KIND_TIME, KIND_MEMORY, KIND_BYTES, N_KINDS };

struct section_entry {
        PyObject *name;
        enum section_kind kind;
        int64_t count;
        int64_t total_ns;
        int64_t self_ns;
        int64_t min_ns;
        int64_t max_ns;
        int64_t rss_start_bytes;
        int64_t rss_end_bytes;
        int64_t rss_delta_bytes;
        int64_t bytes;
};

/* What is open in one thread, the innermost first */
struct section_stack {
        const void *thread;
        struct activation *top;
        int64_t last_ns; /* when `top` became the innermost one */
        struct section_stack *next;
};

struct section_set {
        struct section_entry *entries;
        size_t n;
        size_t cap;
        PyObject *index[N_KINDS]; /* {name: number} */
        struct {
                PyObject *name; /* a borrowed hint: compared by address only */
                uint32_t number;
        } recent[16];               /* of time sections */
        struct section_stack stack; /* of the thread that runs the chunk; heads the others' */
        struct section_stack loose; /* open sections of memory and bytes, of any thread */
};

/* One entry into a section */
struct activation {
        struct section_set *set; /* NULL: not open, or cut off */
        struct section_stack *stack;
        struct activation *older, *newer;
        uint32_t number;
        int64_t start_ns;
        int64_t rss_bytes;   /* at the entry */
        int64_t start_bytes; /* the source's counter at the entry */
        PyObject *source;    /* that counts requested bytes */
        PyObject *container; /* a dict that was put on the processor by hand */
        const void *thread;
        struct activation *under; /* the entry before, of a section object entered twice */
};

void sections_init(struct section_set *set, const void *thread);
void sections_deinit(struct section_set *set);
/* Cuts off everything that is open. */
void sections_close(struct section_set *set, int64_t now_ns);
/* The entry of that name and kind, made if needed. -1 with an exception. */
int64_t sections_find(struct section_set *set, PyObject *name, enum section_kind kind);
/* The list of a thread, made if needed; NULL: no memory, no exception. */
struct section_stack *sections_stack(struct section_set *set, const void *thread);

/* Opens a section: `number` and the readings are already in it. */
void activation_open(struct activation *activation, struct section_set *set,
                     struct section_stack *stack, int64_t now_ns);
/* Takes it out and adds it to its entry, which is returned. */
struct section_entry *activation_close(struct activation *activation, int64_t now_ns);
