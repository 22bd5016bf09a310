/*
 * Where what is made of a run may be written
 *
 * A run file is all that is left of hours of computing, and a word too many on
 * the command line (`roast report -o *.roast`) makes it the name of the output.
 * It is opened as any run is, not read here: closing a descriptor of our own
 * would drop every lock that this process has on it.
 */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "roast-export.h"
#include "run/log.h"
#include "util/cleanup.h"
#include "util/size.h"

#define LINKS_MAX 40 /* one after the other, as the kernel has it */

/* Whether the target is the source, or that in a measurement directory which makes it one */
static int target_is_source(const struct stat *target, const char *source)
{
        static const char *const ends[] = { "", "/metrics.json" };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(ends); i++) {
                ROAST_CLEANUP(cleanup_free) char *name = NULL;
                struct stat st;

                if (asprintf(&name, "%s%s", source, ends[i]) < 0) {
                        name = NULL;
                        return ROAST_E_NOMEM;
                }
                if (stat(name, &st) == 0 && st.st_dev == target->st_dev &&
                    st.st_ino == target->st_ino)
                        return 1;
        }
        return 0;
}

/* One that is damaged, or of a newer version, is a run too. */
static int target_is_run(const char *path, struct roast_error *error)
{
        struct roast_error why = { 0 };
        struct roast_run *run;
        int r = roast_run_open(&run, path, &why);

        if (r >= 0)
                roast_run_free(run);
        switch (r) {
        case ROAST_E_FORMAT:
        case ROAST_E_NOENT:
                return 0;
        case ROAST_E_NOMEM:
        case ROAST_E_IO:
                return roast_fail(error, r, "%s", why.message);
        default:
                return 1;
        }
}

/* What a link says, seen from here; NULL: it is none, or errno is ENOMEM. */
static char *target_link(const char *path)
{
        const char *slash = strrchr(path, '/');
        char text[PATH_MAX], *name;
        ssize_t n = readlink(path, text, sizeof(text));
        int from_here;

        if (n < 0)
                return NULL;
        /* a relative one begins where the link is */
        from_here = n > 0 && text[0] != '/' && slash ? (int)(slash - path + 1) : 0;
        if (asprintf(&name, "%.*s%.*s", from_here, path, (int)n, text) >= 0)
                return name;
        errno = ENOMEM;
        return NULL;
}

/* realpath() for a name that leads to no file yet */
static char *target_end_of_links(const char *path)
{
        char *name = strdup(path), *next;

        for (int i = 0; name && (next = target_link(name)); i++) {
                free(name);
                name = next;
                if (i == LINKS_MAX) {
                        errno = ELOOP;
                        break;
                }
        }
        if (name && (errno == ENOMEM || errno == ELOOP)) {
                free(name);
                name = NULL;
        }
        return name;
}

int roast_export_resolve(char **ret, const char *path, struct roast_error *error)
{
        struct stat st;

        if (stat(path, &st) < 0)
                *ret = target_end_of_links(path);
        else if (S_ISREG(st.st_mode) && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
                *ret = realpath(path, NULL);
        else
                *ret = strdup(path);
        if (*ret)
                return 0;
        return errno == ENOMEM
                       ? roast_fail_nomem(error)
                       : roast_fail(error, ROAST_E_IO, "%s: it cannot be told where this leads: %s",
                                    path, strerror(errno));
}

int roast_export_check_target(const char *path, const char *source, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *end = NULL;
        struct stat st;
        int r;

        /* what leads nowhere is told when it is to be written */
        r = roast_export_resolve(&end, path, NULL);
        if (r == ROAST_E_NOMEM)
                return roast_fail_nomem(error);
        /* a run that is being written, or was not finished, may be in its log alone */
        r = run_has_log(end ? end : path);
        if (r < 0)
                return roast_fail_nomem(error);
        if (r == 0 && (stat(path, &st) < 0 || !S_ISREG(st.st_mode)))
                return 0;
        if (r == 0 && source && *source) {
                r = target_is_source(&st, source);
                if (r < 0)
                        return roast_fail_nomem(error);
                if (r > 0)
                        return roast_fail(error, ROAST_E_STATE,
                                          "%s: is what is read, and is not overwritten", path);
        }
        if (r == 0 && st.st_size > 0)
                r = target_is_run(path, error);
        return r > 0 ? roast_fail(error, ROAST_E_STATE, "%s: is a run, and is not overwritten",
                                  path)
                     : r;
}
