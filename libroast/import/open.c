/* Opening whatever holds a run: the kind is recognised by content */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "import/import.h"
#include "run/run.h"
#include "util/cleanup.h"
#include "util/size.h"

static const struct importer *const importers[] = { &import_v1, &import_vine, &import_parsl };

static int open_import(struct roast_run **ret, const struct importer *importer, const char *path,
                       struct roast_error *error)
{
        struct roast_run *run = NULL;
        int r;

        r = roast_run_create(&run, NULL, error);
        if (r < 0)
                return r;
        run->source = strdup(path);
        r = run->source ? roast_run_fact_text(run, "import.from", importer->name, error)
                        : roast_fail_nomem(error);
        if (r >= 0)
                r = importer->import(run, path, error);
        if (r >= 0)
                r = roast_run_commit(run, error);
        if (r < 0) {
                roast_run_free(run);
                return r;
        }
        run->writable = false;
        *ret = run;
        return 0;
}

/* The run in a measurement directory; NULL: it has none, or that cannot be told (*r says so) */
static char *open_run_inside(const char *path, int *r, struct roast_error *error)
{
        struct stat st;
        char *name;

        *r = 0;
        if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
                return NULL;
        if (asprintf(&name, "%s/run.roast", path) < 0) {
                *r = roast_fail_nomem(error);
                return NULL;
        }
        if (stat(name, &st) == 0)
                return name;
        if (errno == EACCES)
                *r = roast_fail(error, ROAST_E_IO, "%s: cannot be opened: %s", path,
                                strerror(errno));
        free(name);
        return NULL;
}

int roast_run_open_any(struct roast_run **ret, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *inside = NULL;
        struct stat st;
        int r;

        inside = open_run_inside(path, &r, error);
        if (r < 0)
                return r;
        if (inside)
                return roast_run_open(ret, inside, error);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(importers); i++) {
                r = importers[i]->recognises(path, error);
                if (r)
                        return r < 0 ? r : open_import(ret, importers[i], path, error);
        }
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
                return roast_fail(error, ROAST_E_FORMAT,
                                  "%s: is a directory without a run: there is neither run.roast nor"
                                  " metrics.json nor a log of TaskVine in it",
                                  path);
        return roast_run_open(ret, path, error);
}
