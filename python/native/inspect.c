/* _roast.inspect_json: what is in a ROOT file */

#include <stdlib.h>
#include <string.h>

#include "roast-rootfile.h"
#include "run.h"

/* inspect_json(path, tree, branches) -> str */
PyObject *native_inspect_json(PyObject *module, PyObject *args)
{
        struct roast_rootfile_view view = { 0 };
        struct roast_rootfile *file = NULL;
        struct roast_error error = { 0 };
        PyObject *path, *result;
        char *text = NULL;
        int branches, r;

        (void)module;
        if (!PyArg_ParseTuple(args, "O&zp", PyUnicode_FSConverter, &path, &view.tree, &branches))
                return NULL;
        view.branches = branches;
        Py_BEGIN_ALLOW_THREADS r = roast_rootfile_open(&file, PyBytes_AsString(path), NULL, &error);
        if (r >= 0)
                r = roast_rootfile_json(file, &view, &text, &error);
        roast_rootfile_free(file);
        Py_END_ALLOW_THREADS Py_DECREF(path);
        if (r < 0)
                return native_raise(&error);
        result = native_shown(text);
        free(text);
        return result;
}
