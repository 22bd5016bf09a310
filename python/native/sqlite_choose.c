/*
 * Which SQLite this module uses: if it can be, that of Python's own sqlite3
 *
 * Two copies of SQLite in one process break each other's file locks: POSIX
 * drops all locks that a process has on a file when it closes any descriptor of
 * it. So libroast's calls go through a table, which is filled when the module is
 * imported: from the library that Python's module _sqlite3 is linked with, or,
 * where that is too old or cannot be reached (it may lie inside the
 * interpreter), from the one that this module is linked with. In a wheel that
 * one is a copy of its own; built from source, it is usually the same file.
 */

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "run.h"

/* STRICT tables */
#define SQLITE_OLDEST 3037000

struct sqlite {
#define FORWARD(type, name, parameters, arguments) type(*name) parameters;
#include "sqlite.def"
#undef FORWARD
};

static struct sqlite chosen;

#define FORWARD(type, name, parameters, arguments)                                                 \
        type name parameters                                                                       \
        {                                                                                          \
                return chosen.name arguments;                                                      \
        }
#include "sqlite.def"
#undef FORWARD

char *sqlite3_mprintf(const char *format, ...)
{
        va_list ap;
        char *text;

        va_start(ap, format);
        text = chosen.sqlite3_vmprintf(format, ap);
        va_end(ap);
        return text;
}

static bool sqlite_look_up(struct sqlite *sqlite, void *library)
{
#define FORWARD(type, name, parameters, arguments)                                                 \
        sqlite->name = (__typeof__(sqlite->name))dlsym(library, #name);                            \
        if (!sqlite->name)                                                                         \
                return false;
#include "sqlite.def"
#undef FORWARD
        return sqlite->sqlite3_libversion_number() >= SQLITE_OLDEST && sqlite->sqlite3_threadsafe();
}

/* NULL if the attribute is missing or no string; the caller lets go of *owner. */
static const char *sqlite_text_of(PyObject *object, const char *name, PyObject **owner)
{
        const char *text;

        *owner = PyObject_GetAttrString(object, name);
        text = *owner && PyUnicode_Check(*owner) ? PyUnicode_AsUTF8AndSize(*owner, NULL) : NULL;
        PyErr_Clear();
        return text;
}

/* Python's own. A module that has no file is inside the interpreter. */
static bool sqlite_choose_pythons(void)
{
        PyObject *module = PyImport_ImportModule("_sqlite3"), *file = NULL, *version = NULL;
        const char *path = module ? sqlite_text_of(module, "__file__", &file) : NULL;
        const char *told = module ? sqlite_text_of(module, "sqlite_version", &version) : NULL;
        void *library = told ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        struct sqlite found;
        bool ok = library && sqlite_look_up(&found, library) &&
                  !strcmp(found.sqlite3_libversion(), told);

        if (ok)
                chosen = found;
        PyErr_Clear();
        Py_XDECREF(version);
        Py_XDECREF(file);
        Py_XDECREF(module);
        return ok;
}

/* The one that this module is linked with: whatever file has a function that is not forwarded. */
static bool sqlite_choose_linked(void)
{
        Dl_info info;
        void *library = dladdr((void *)sqlite3_sourceid, &info)
                                ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                                : NULL;

        return library && sqlite_look_up(&chosen, library);
}

/* SQLITE = (version, whether Python's sqlite3 has the same) */
int native_choose_sqlite(PyObject *module)
{
        static int shared = -1;
        PyObject *told;
        int r;

        if (shared < 0)
                shared = sqlite_choose_pythons() ? 1 : sqlite_choose_linked() ? 0 : -1;
        if (shared < 0) {
                PyErr_SetString(PyExc_ImportError, "roastcoffea needs SQLite 3.37 or later");
                return -1;
        }
        told = Py_BuildValue("(sN)", chosen.sqlite3_libversion(), PyBool_FromLong(shared));
        r = told ? PyModule_AddObjectRef(module, "SQLITE", told) : -1;
        Py_XDECREF(told);
        return r;
}
