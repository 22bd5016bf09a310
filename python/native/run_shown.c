/* Methods of _roast.Run that show it: as a page, and in a notebook */

#include <stdlib.h>
#include <string.h>

#include "roast-report.h"
#include "roast-show.h"
#include "run.h"

static int run_write_report(struct roast_run *run, const char *path, struct roast_error *error)
{
        int r = roast_run_commit(run, error);

        return r < 0 ? r : roast_report_write(run, path, error);
}

/* report(path): the page, as a file */
PyObject *native_run_report(PyObject *self, PyObject *path)
{
        return native_run_write_to(self, path, run_write_report);
}

static int run_make_html(char **html, struct roast_run *run, struct roast_error *error)
{
        struct roast_summary summary = { 0 };
        struct roast_tables tables = { 0 };
        int r = roast_run_commit(run, error);

        if (r >= 0)
                r = roast_summary_of_run(&summary, run, error);
        if (r >= 0)
                r = roast_tables_make(&tables, &summary, error);
        if (r >= 0)
                r = roast_show_to_html(html, run, &tables, error);
        roast_tables_deinit(&tables);
        roast_summary_deinit(&summary);
        return r;
}

PyObject *native_run_repr_html(PyObject *self, PyObject *unused)
{
        struct roast_error error = { 0 };
        struct roast_run *run = native_run_enter(self);
        PyObject *object = NULL;
        char *html = NULL;
        int r;

        (void)unused;
        if (!run)
                return NULL;
        Py_BEGIN_ALLOW_THREADS r = run_make_html(&html, run, &error);
        Py_END_ALLOW_THREADS Py_XDECREF(native_run_leave(self, r, &error));
        if (r >= 0)
                object = native_shown(html);
        free(html);
        return object;
}
