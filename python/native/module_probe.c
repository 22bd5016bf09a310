/* roastcoffea._probe: chunks, sections and their records, for workers */

#include "container.h"
#include "probe.h"

/* chunk_of(processor): the chunk that runs for it; chunk_of(None): that of this thread */
static PyObject *module_chunk_of(PyObject *module, PyObject *owner)
{
        ChunkObject *chunk = owner == Py_None ? native_thread.innermost : chunk_current(owner);

        (void)module;
        return Py_NewRef(chunk ? (PyObject *)chunk : Py_None);
}

static int module_probe_exec(PyObject *module)
{
        static const char *const keys[] = { "timing", "memory", "bytes" };
        struct probe_state *state = PyModule_GetState(module);

        chunk_table_init(&state->scratch);
        state->attribute = PyUnicode_InternFromString("_roastcoffea_current_chunk");
        if (!state->attribute)
                return -1;
        for (int i = 0; i < N_KINDS; i++)
                if (!(state->keys[i] = PyUnicode_InternFromString(keys[i])))
                        return -1;
        for (int i = 0; i < CHUNK_N_FIELDS; i++)
                if (!(state->fields[i] = PyUnicode_InternFromString(chunk_fields[i].name)))
                        return -1;
        state->branches = PyUnicode_InternFromString("branches");
        if (!state->branches)
                return -1;
        probe_lock_add_symbol("_PyRuntime");
        if (native_add_chunk(module, state) < 0 || native_add_section(module, state) < 0 ||
            native_add_records(module, state) < 0 || native_add_sampler(module) < 0 ||
            native_add_process(module) < 0)
                return -1;
        return PyModule_AddStringConstant(module, "__version__", ROAST_VERSION);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
        struct probe_state *state = PyModule_GetState(module);

        Py_VISIT(state->chunk_type);
        Py_VISIT(state->section_type);
        Py_VISIT(state->records_type);
        Py_VISIT(state->find_source);
        return 0;
}

static int module_clear(PyObject *module)
{
        struct probe_state *state = PyModule_GetState(module);

        section_spare_free(); /* while there is their type: freeing one looks at it */
        Py_CLEAR(state->chunk_type);
        Py_CLEAR(state->section_type);
        Py_CLEAR(state->records_type);
        Py_CLEAR(state->attribute);
        for (int i = 0; i < N_KINDS; i++)
                Py_CLEAR(state->keys[i]);
        for (int i = 0; i < CHUNK_N_FIELDS; i++)
                Py_CLEAR(state->fields[i]);
        Py_CLEAR(state->branches);
        Py_CLEAR(state->find_source);
        return 0;
}

static void module_free(void *module)
{
        struct probe_state *state = PyModule_GetState(module);

        module_clear(module);
        chunk_table_deinit(&state->scratch);
        buf_deinit(&state->out);
}

#define TRACKER(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS

static PyMethodDef functions[] = {
        { "track_time", TRACKER(section_track_time),
          "track_time(processor_self, section_name)\n--\n\n"
          "Measure the wall time of a part of process().\n\n"
          "    with track_time(self, \"jet_selection\"):\n"
          "        jets = events.Jet[events.Jet.pt > 30]" },
        { "track_memory", TRACKER(section_track_memory),
          "track_memory(processor_self, section_name)\n--\n\n"
          "Measure by how much a part of process() changes the resident memory." },
        { "track_bytes", TRACKER(section_track_bytes),
          "track_bytes(processor_self, events, section_name)\n--\n\n"
          "Count the bytes that are requested from the file of the events." },
        { "chunk_of", module_chunk_of, METH_O,
          "chunk_of(processor, /)\n--\n\nThe chunk that runs for this processor, or None." },
        { "watcher_cpu_ns", native_watcher_cpu_ns, METH_NOARGS,
          "watcher_cpu_ns()\n--\n\nCPU time of the thread that looks at running chunks." },
        { "encode_block", native_encode_block, METH_VARARGS,
          "encode_block(times_ms, columns, /)\n--\n\nA block of samples: columns of ints." },
        { "read_process", native_read_process, METH_O,
          "read_process(pid, /)\n--\n\n"
          "(start, *values as PROCESS_COLUMNS names them) of another process, or None." },
        { "descendants", native_descendants, METH_O,
          "descendants(pid, /)\n--\n\nNumbers of a process's children, and of theirs." },
        { "expect_containers", container_put, METH_NOARGS,
          "expect_containers()\n--\n\nDicts were put on processors by hand: look for them." },
        { "set_utc_offset", native_set_utc_offset, METH_O,
          "set_utc_offset(ns, /)\n--\n\nHow far UTC is ahead of the monotonic clock, from now "
          "on." },
        { "take_faults", fault_take, METH_NOARGS,
          "take_faults()\n--\n\n(number, first one) of the faults since the last call, or None." },
        { 0 },
};

static PyModuleDef_Slot slots[] = {
        { Py_mod_exec, module_probe_exec },
        { 0 },
};

static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT,
        .m_name = "roastcoffea._probe",
        .m_doc = "Chunks and sections, measured; the records of chunks.",
        .m_size = sizeof(struct probe_state),
        .m_methods = functions,
        .m_slots = slots,
        .m_traverse = module_traverse,
        .m_clear = module_clear,
        .m_free = module_free,
};

PyMODINIT_FUNC PyInit__probe(void);

PyMODINIT_FUNC PyInit__probe(void)
{
        return PyModuleDef_Init(&definition);
}
