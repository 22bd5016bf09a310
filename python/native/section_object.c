/*
 * track_time(), track_section(), track_memory(), track_bytes()
 *
 * Each returns a context manager. Which chunk it belongs to is decided when it is
 * entered, so that one object may be kept and used again, also within itself.
 * Where no chunk runs, a dict that was put on the processor by hand gets the value
 * at once; where there is none, nothing happens.
 *
 * A section is entered and left millions of times: the path of a time section in
 * its own chunk is two clock reads and a few stores, the object comes from a small
 * stock of dead ones. Nothing here raises.
 */

#include <stdlib.h>

#include "container.h"
#include "probe.h"
#include "probe/readings.h"

typedef struct {
        PyObject_HEAD PyObject *owner;
        PyObject *name;
        PyObject *events; /* of track_bytes() */
        enum section_kind kind;
        struct activation *open; /* the last entry that was not left yet */
        struct activation first; /* where it is stored, unless entered again within itself */
} SectionObject;

/* Dead sections, to be used again */
enum { N_SPARE = 8 };
static SectionObject *spare[N_SPARE];
static size_t n_spare, n_spare_max;

/* The counter of requested bytes, or 0 */
static int64_t section_requested_bytes(PyObject *source)
{
        PyObject *value = source ? PyObject_GetAttrString(source, "num_requested_bytes") : NULL;
        PyObject *whole = value ? PyNumber_Long(value) : NULL;
        int64_t bytes = whole ? PyLong_AsLongLong(whole) : 0;

        Py_XDECREF(whole);
        Py_XDECREF(value);
        if (PyErr_Occurred()) {
                PyErr_Clear();
                return 0;
        }
        return bytes;
}

/* roastcoffea.inputs.source_of(events): a new reference or NULL, never an exception */
static PyObject *section_source_of(struct probe_state *state, PyObject *events)
{
        PyObject *source = NULL;

        if (!state->find_source) {
                PyObject *module = PyImport_ImportModule("roastcoffea.inputs");

                if (module)
                        state->find_source = PyObject_GetAttrString(module, "source_of");
                Py_XDECREF(module);
        }
        if (state->find_source)
                source = PyObject_CallFunctionObjArgs(state->find_source, events, NULL);
        if (!source)
                fault_note("track_bytes");
        return source;
}

static struct activation *section_activation_new(SectionObject *self)
{
        struct activation *activation = &self->first;

        if (self->open) {
                activation = malloc(sizeof(*activation));
                if (!activation)
                        return NULL;
        }
        activation->set = NULL;
        activation->source = NULL;
        activation->container = NULL;
        activation->thread = &native_thread;
        activation->under = self->open;
        self->open = activation;
        return activation;
}

/* Takes the entry of this thread, the last one first, out of those of the object. */
static struct activation *section_activation_take(SectionObject *self)
{
        const void *thread = &native_thread;
        struct activation **at = &self->open, *taken;

        if (*at && (*at)->thread != thread) {
                while (*at && (*at)->thread != thread)
                        at = &(*at)->under;
                if (!*at)
                        at = &self->open;
        }
        taken = *at;
        if (taken)
                *at = taken->under;
        return taken;
}

static void section_activation_free(SectionObject *self, struct activation *activation)
{
        Py_CLEAR(activation->source);
        Py_CLEAR(activation->container);
        if (activation != &self->first)
                free(activation);
}

static void section_read_before(SectionObject *self, struct activation *activation)
{
        if (self->kind == KIND_MEMORY) {
                activation->rss_bytes = probe_rss_bytes();
        } else if (self->kind == KIND_BYTES) {
                activation->source = section_source_of(
                        PyType_GetModuleState(Py_TYPE((PyObject *)self)), self->events);
                activation->start_bytes = section_requested_bytes(activation->source);
        }
}

/* Outside of chunks: only a dict that was put there by hand is of interest. */
static void section_enter_container(SectionObject *self)
{
        struct probe_state *state = PyType_GetModuleState(Py_TYPE((PyObject *)self));
        PyObject *container = container_find(state, self->owner);
        struct activation *activation = container ? section_activation_new(self) : NULL;

        if (!activation) {
                Py_XDECREF(container);
                return;
        }
        activation->container = container;
        section_read_before(self, activation);
        activation->start_ns = probe_monotonic_ns();
}

static void section_enter_chunk(SectionObject *self, ChunkObject *chunk)
{
        struct section_set *set = &chunk->sections;
        struct section_stack *stack = &set->loose;
        struct activation *activation = section_activation_new(self);
        int64_t number = sections_find(set, self->name, self->kind);

        if (self->kind == KIND_TIME)
                stack = set->stack.thread == &native_thread ? &set->stack
                                                            : sections_stack(set, &native_thread);
        if (number < 0 || !stack || !activation) {
                fault_note("section");
                return;
        }
        activation->number = (uint32_t)number;
        if (self->kind != KIND_TIME) {
                section_read_before(self, activation);
                if (chunk->ended) /* reading ran Python code */
                        return;
        }
        activation_open(activation, set, stack, probe_monotonic_ns());
}

static PyObject *section_enter(PyObject *object, PyObject *unused)
{
        SectionObject *self = (SectionObject *)object;
        ChunkObject *chunk = chunk_current(self->owner);

        (void)unused;
        if (chunk)
                section_enter_chunk(self, chunk);
        else if (Py_TYPE(self->owner) != container_without && self->owner != Py_None)
                section_enter_container(self);
        Py_RETURN_NONE;
}

static void section_note_memory(struct section_entry *entry, int64_t before, int64_t after)
{
        if (before < 0 || after < 0)
                return;
        if (entry->rss_start_bytes == CHUNK_ABSENT)
                entry->rss_start_bytes = before;
        entry->rss_end_bytes = after;
        entry->rss_delta_bytes += after - before;
}

/* Into a dict that was put there by hand */
static void section_leave_container(SectionObject *self, const struct activation *activation)
{
        struct probe_state *state = PyType_GetModuleState(Py_TYPE((PyObject *)self));
        PyObject *value = NULL;
        int64_t elapsed_ns = probe_difference(activation->start_ns, probe_monotonic_ns()), after;

        switch (self->kind) {
        case KIND_TIME:
                if (elapsed_ns < 0) /* the clock could not be read */
                        return;
                value = PyFloat_FromDouble((double)elapsed_ns / 1e9);
                break;
        case KIND_MEMORY:
                after = probe_rss_bytes();
                value = PyFloat_FromDouble(activation->rss_bytes < 0 || after < 0
                                                   ? 0.0
                                                   : (double)(after - activation->rss_bytes) /
                                                             (1 << 20));
                break;
        default:
                value = PyLong_FromLongLong(section_requested_bytes(activation->source) -
                                            activation->start_bytes);
        }
        if (!value ||
            container_add(activation->container, state->keys[self->kind], self->name, value) < 0)
                fault_note("section");
        Py_XDECREF(value);
}

static void section_leave(SectionObject *self, struct activation *activation)
{
        int64_t now_ns, bytes = 0;

        if (activation->set && self->kind == KIND_TIME) {
                activation_close(activation, probe_monotonic_ns());
        } else if (activation->set) {
                now_ns = probe_monotonic_ns();
                if (self->kind == KIND_BYTES)
                        bytes = section_requested_bytes(activation->source) -
                                activation->start_bytes;
                if (activation->set && self->kind == KIND_BYTES)
                        activation_close(activation, now_ns)->bytes += bytes;
                else if (activation->set)
                        section_note_memory(activation_close(activation, now_ns),
                                            activation->rss_bytes, probe_rss_bytes());
        } else if (activation->container) {
                section_leave_container(self, activation);
        }
}

static PyObject *section_exit(PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
        SectionObject *self = (SectionObject *)object;
        struct activation *activation = section_activation_take(self);

        (void)args;
        (void)n_args;
        if (activation) { /* else it was entered where nothing is measured */
                section_leave(self, activation);
                section_activation_free(self, activation);
        }
        Py_RETURN_NONE;
}

static int section_traverse(PyObject *object, visitproc visit, void *arg)
{
        SectionObject *self = (SectionObject *)object;

        Py_VISIT(Py_TYPE(object));
        Py_VISIT(self->owner);
        Py_VISIT(self->events);
        for (struct activation *at = self->open; at; at = at->under) {
                Py_VISIT(at->source);
                Py_VISIT(at->container);
        }
        return 0;
}

static int section_clear(PyObject *object)
{
        SectionObject *self = (SectionObject *)object;

        Py_CLEAR(self->owner);
        Py_CLEAR(self->events);
        return 0;
}

/* Entered, but never left: it ends here. */
static void section_abandon(SectionObject *self)
{
        PyObject *type, *value, *traceback;
        struct activation *activation;

        PyErr_Fetch(&type, &value, &traceback);
        while ((activation = section_activation_take(self))) {
                section_leave(self, activation);
                section_activation_free(self, activation);
        }
        PyErr_Restore(type, value, traceback);
}

static void section_dealloc(PyObject *object)
{
        PyTypeObject *type = Py_TYPE(object);
        SectionObject *self = (SectionObject *)object;

        PyObject_GC_UnTrack(object);
        if (self->open)
                section_abandon(self);
        Py_XDECREF(self->owner);
        Py_XDECREF(self->name);
        Py_XDECREF(self->events);
        if (n_spare < n_spare_max)
                spare[n_spare++] = self;
        else
                PyObject_GC_Del(object);
        Py_DECREF(type);
}

static PyObject *section_new(PyObject *module, enum section_kind kind, PyObject *owner,
                             PyObject *name, PyObject *events)
{
        struct probe_state *state = PyModule_GetState(module);
        SectionObject *self;

        if (n_spare) {
                self = spare[--n_spare];
                PyObject_Init((PyObject *)self, state->section_type);
        } else {
                self = PyObject_GC_New(SectionObject, state->section_type);
                if (!self)
                        return NULL;
        }
        self->owner = Py_NewRef(owner);
        self->events = Py_XNewRef(events);
        self->kind = kind;
        self->open = NULL;
        self->name = PyUnicode_Check(name) ? Py_NewRef(name) : PyObject_Str(name);
        PyObject_GC_Track(self);
        if (!self->name)
                Py_DECREF((PyObject *)self), self = NULL;
        return (PyObject *)self;
}

/* The value of a keyword argument; NULL if there is none of that name */
static PyObject *section_named(PyObject *names, Py_ssize_t n_names, PyObject *const *values,
                               const char *parameter)
{
        for (Py_ssize_t i = 0; i < n_names; i++)
                if (!PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), parameter))
                        return values[i];
        return NULL;
}

/* Puts positional and keyword arguments into their places; -1 with a TypeError. */
static int section_parse(const char *function, PyObject *const *args, Py_ssize_t n_args,
                         PyObject *names, const char *const *parameters, Py_ssize_t n,
                         PyObject **given)
{
        Py_ssize_t n_names = names ? PyTuple_Size(names) : 0;

        if (n_args + n_names != n) {
                PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments (%zd given)", function, n,
                             n_args + n_names);
                return -1;
        }
        for (Py_ssize_t i = 0; i < n; i++) {
                given[i] = i < n_args ? args[i]
                                      : section_named(names, n_names, args + n_args, parameters[i]);
                if (!given[i]) {
                        PyErr_Format(PyExc_TypeError, "%s() lacks the argument '%s'", function,
                                     parameters[i]);
                        return -1;
                }
        }
        return 0;
}

static PyObject *section_track(PyObject *module, enum section_kind kind, const char *function,
                               PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
        static const char *const parameters[] = { "processor_self", "section_name" };
        PyObject *given[2];

        if (n_args == 2 && !names)
                return section_new(module, kind, args[0], args[1], NULL);
        if (section_parse(function, args, n_args, names, parameters, 2, given) < 0)
                return NULL;
        return section_new(module, kind, given[0], given[1], NULL);
}

PyObject *section_track_time(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                             PyObject *names)
{
        return section_track(module, KIND_TIME, "track_time", args, n_args, names);
}

PyObject *section_track_memory(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                               PyObject *names)
{
        return section_track(module, KIND_MEMORY, "track_memory", args, n_args, names);
}

PyObject *section_track_bytes(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                              PyObject *names)
{
        static const char *const parameters[] = { "processor_self", "events", "section_name" };
        PyObject *given[3];

        if (section_parse("track_bytes", args, n_args, names, parameters, 3, given) < 0)
                return NULL;
        return section_new(module, KIND_BYTES, given[0], given[2], given[1]);
}

static PyMethodDef methods[] = {
        { "__enter__", section_enter, METH_NOARGS, NULL },
        { "__exit__", (PyCFunction)(void (*)(void))section_exit, METH_FASTCALL, NULL },
        { 0 },
};

static char doc[] = "A part of process() that is measured: the result of track_time() and others.";

static PyType_Slot slots[] = {
        { Py_tp_doc, doc },
        { Py_tp_dealloc, section_dealloc },
        { Py_tp_traverse, section_traverse },
        { Py_tp_clear, section_clear },
        { Py_tp_methods, methods },
        { 0 },
};

static PyType_Spec spec = {
        .name = "roastcoffea._probe.Section",
        .basicsize = sizeof(SectionObject),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
                 Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
};

int native_add_section(PyObject *module, struct probe_state *state)
{
        state->section_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
        if (!state->section_type)
                return -1;
        n_spare_max = N_SPARE;
        return PyModule_AddType(module, state->section_type);
}

void section_spare_free(void)
{
        n_spare_max = 0;
        while (n_spare)
                PyObject_GC_Del(spare[--n_spare]);
}
