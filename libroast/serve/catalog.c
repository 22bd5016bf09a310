/* The runs that are served: see catalog.h. */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "roast-run.h"
#include "run/list.h"
#include "serve/catalog.h"
#include "util/cleanup.h"
#include "util/text.h"

static void catalog_served_free(struct served *served)
{
        for (size_t i = 0; i < SERVED_N_PARTS; i++)
                served_bytes_unref(served->parts[i].bytes);
        pthread_mutex_destroy(&served->lock);
        free(served->id);
        free(served->path);
        free(served);
}

void catalog_deinit(struct catalog *catalog)
{
        while (catalog->first) {
                struct served *served = catalog->first;

                catalog->first = served->next;
                catalog_served_free(served);
        }
        pthread_mutex_destroy(&catalog->lock);
}

/* The last name of a path, without the ending of run files */
static char *catalog_id_of(const char *path)
{
        size_t len = strlen(path);
        const char *name;

        while (len > 1 && path[len - 1] == '/')
                len--;
        name = memrchr(path, '/', len);
        name = name && name + 1 < path + len ? name + 1 : path;
        len -= (size_t)(name - path);
        if (run_has_ending(name, len))
                len -= strlen(RUN_ENDING);
        return text_copy(name, len);
}

/* Takes the path. */
static int catalog_add(struct catalog *catalog, char *path)
{
        struct served *served = calloc(1, sizeof(*served)), **last = &catalog->first;

        if (!served || !(served->id = catalog_id_of(path))) {
                free(served);
                free(path);
                return ROAST_E_NOMEM;
        }
        served->path = path;
        pthread_mutex_init(&served->lock, NULL);
        while (*last)
                last = &(*last)->next;
        *last = served;
        return 0;
}

static struct served *catalog_find_id(const struct catalog *catalog, const char *id)
{
        struct served *served = catalog->first;

        while (served && strcmp(served->id, id))
                served = served->next;
        return served;
}

/* Opening anything but a file or a folder, such as a pipe, might never end. */
static bool catalog_is_there(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static int catalog_has(const char *folder, const char *name)
{
        ROAST_CLEANUP(cleanup_free) char *path = NULL;

        if (asprintf(&path, "%s/%s", folder, name) < 0) {
                path = NULL;
                return ROAST_E_NOMEM;
        }
        return catalog_is_there(path);
}

/* A measurement has its metrics beside its run; without them, one of several runs is called so. */
static int catalog_is_folder_of_runs(const char *path)
{
        int r = catalog_has(path, "run" RUN_ENDING);

        if (r <= 0)
                return r;
        r = catalog_has(path, "metrics.json");
        return r < 0 ? r : !r;
}

int catalog_init(struct catalog *catalog, const char *path, struct roast_error *error)
{
        struct roast_error why = { 0 };
        struct roast_run *run;
        struct stat st;
        int r;

        *catalog = (struct catalog){ .path = path };
        pthread_mutex_init(&catalog->lock, NULL);
        r = catalog_is_folder_of_runs(path);
        if (r < 0)
                return roast_fail_nomem(error);
        if (r == 0 && roast_run_open_any(&run, path, &why) >= 0) {
                char *copy = realpath(path, NULL); /* "." is no name for an address */

                roast_run_free(run);
                catalog->single = true;
                return !copy || catalog_add(catalog, copy) < 0 ? roast_fail_nomem(error) : 0;
        }
        if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
                return roast_fail(error, why.code, "%s", why.message);
        return catalog_refresh(catalog, error);
}

/* With the lock held */
static int catalog_add_entry(struct catalog *catalog, const char *name)
{
        ROAST_CLEANUP(cleanup_free) char *id = catalog_id_of(name);
        char *path;

        if (!id)
                return ROAST_E_NOMEM;
        if (catalog_find_id(catalog, id))
                return 0;
        if (asprintf(&path, "%s/%s", catalog->path, name) < 0)
                return ROAST_E_NOMEM;
        if (catalog_is_there(path))
                return catalog_add(catalog, path);
        free(path);
        return 0;
}

int catalog_refresh(struct catalog *catalog, struct roast_error *error)
{
        struct dirent **entries;
        int n, r = 0;

        if (catalog->single)
                return 0;
        n = run_list(&entries, catalog->path, error);
        if (n < 0)
                return n;
        pthread_mutex_lock(&catalog->lock);
        for (int i = 0; i < n; i++) {
                if (r >= 0)
                        r = catalog_add_entry(catalog, entries[i]->d_name);
                free(entries[i]);
        }
        pthread_mutex_unlock(&catalog->lock);
        free(entries);
        return r < 0 ? roast_fail_nomem(error) : 0;
}

static struct served *catalog_find_known(struct catalog *catalog, const char *id)
{
        struct served *served;

        pthread_mutex_lock(&catalog->lock);
        served = catalog_find_id(catalog, id);
        pthread_mutex_unlock(&catalog->lock);
        return served;
}

struct served *catalog_find(struct catalog *catalog, const char *id)
{
        struct served *served = catalog_find_known(catalog, id);

        if (!served && catalog_refresh(catalog, NULL) >= 0) /* it may have begun just now */
                served = catalog_find_known(catalog, id);
        return served && catalog_is_there(served->path) ? served : NULL;
}

struct served *catalog_next(struct catalog *catalog, const struct served *served)
{
        struct served *next;

        pthread_mutex_lock(&catalog->lock);
        next = served ? served->next : catalog->first;
        while (next && !catalog_is_there(next->path))
                next = next->next;
        pthread_mutex_unlock(&catalog->lock);
        return next;
}

static int64_t catalog_modified_ns(const char *path)
{
        struct stat st;

        return stat(path, &st) < 0 ? INT64_MIN
                                   : (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* When a run, or its log, was written to last */
static int64_t catalog_written_ns(const char *path)
{
        ROAST_CLEANUP(cleanup_free) char *log = NULL;
        int64_t ns = catalog_modified_ns(path), log_ns = INT64_MIN;

        if (asprintf(&log, "%s-wal", path) < 0)
                log = NULL;
        else
                log_ns = catalog_modified_ns(log);
        return log_ns > ns ? log_ns : ns;
}

/* The last that was written to before that time, which becomes that of the run; NULL: none was */
static struct served *catalog_latest_before(struct catalog *catalog, int64_t *before_ns)
{
        struct served *latest = NULL;
        int64_t latest_ns = INT64_MIN;

        for (struct served *served = NULL; (served = catalog_next(catalog, served));) {
                int64_t ns = catalog_written_ns(served->path);

                if (ns < *before_ns && (!latest || ns > latest_ns)) {
                        latest = served;
                        latest_ns = ns;
                }
        }
        *before_ns = latest_ns;
        return latest;
}

static bool catalog_opens(const struct served *served)
{
        struct roast_run *run;

        if (roast_run_open_any(&run, served->path, NULL) < 0)
                return false;
        roast_run_free(run);
        return true;
}

struct served *catalog_latest(struct catalog *catalog)
{
        int64_t ns = INT64_MAX;
        struct served *latest = catalog_latest_before(catalog, &ns), *served = latest;

        while (served && !catalog_opens(served))
                served = catalog_latest_before(catalog, &ns);
        return served ? served : latest;
}
