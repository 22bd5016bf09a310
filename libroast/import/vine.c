/*
 * TaskVine's logs as a run: see vine.h.
 *
 * The path is the folder with the logs, the folder of a run, or the one of
 * several runs, of which the latest counts: runs are named by their times.
 */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "import/import.h"
#include "import/vine.h"
#include "util/cleanup.h"
#include "util/size.h"

static char *vine_join(const char *folder, const char *name)
{
        char *path;

        if (asprintf(&path, "%s/%s", folder, name) >= 0)
                return path;
        errno = ENOMEM;
        return NULL;
}

/* Whatever else has a log's name is none: opening a pipe would wait for its other end. */
static FILE *vine_open_log(const char *folder, const char *name)
{
        ROAST_CLEANUP(cleanup_free) char *path = vine_join(folder, name);
        struct stat st;

        if (path && stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
                errno = ENOENT;
                return NULL;
        }
        return path ? fopen(path, "re") : NULL;
}

/* Whether that is an answer, and not a failure that may be gone the next time */
static bool vine_is_missing(int number)
{
        return number == ENOENT || number == ENOTDIR || number == EACCES;
}

/*
 * 1 if the folder has a `transactions` that begins as TaskVine's do, else 0; negative, with errno,
 * if that cannot be said, as in the functions below.
 */
static int vine_has_logs(const char *folder)
{
        FILE *in = vine_open_log(folder, "transactions");
        char begin[64] = "";
        int r, number;

        if (!in)
                return vine_is_missing(errno) ? 0 : -1;
        r = fgets(begin, sizeof(begin), in) && strstr(begin, " manager_pid MANAGER ");
        number = ferror(in) ? errno : 0;
        (void)fclose(in);
        if (!number)
                return r;
        errno = number;
        return -1;
}

/* Takes the logs of one run if they are the latest so far. */
static int vine_take_later(char **best, const char *folder, const char *name)
{
        ROAST_CLEANUP(cleanup_free) char *inner = vine_join(folder, name);
        ROAST_CLEANUP(cleanup_free) char *logs = inner ? vine_join(inner, "vine-logs") : NULL;
        int r = logs ? vine_has_logs(logs) : -1;

        if (r <= 0 || (*best && strcmp(*best, logs) > 0))
                return r;
        free(*best);
        *best = logs;
        logs = NULL;
        return 1;
}

/* The last name among those in the folder that lead to logs */
static int vine_latest_run(char **ret, const char *folder)
{
        DIR *dir = opendir(folder);
        char *best = NULL;
        int r = 0, number;

        if (!dir)
                return vine_is_missing(errno) ? 0 : -1;
        while (r >= 0) {
                struct dirent *entry;

                errno = 0;
                entry = readdir(dir);
                if (!entry)
                        break;
                if (entry->d_name[0] != '.' && strcmp(entry->d_name, "most-recent") != 0)
                        r = vine_take_later(&best, folder, entry->d_name);
        }
        number = errno; /* 0 at the end of the folder */
        closedir(dir);
        errno = number;
        if (number) {
                free(best);
                return -1;
        }
        *ret = best;
        return best != NULL;
}

/* The folder with the logs, which the caller frees; 0: this is something else */
static int vine_find_logs(char **ret, const char *path)
{
        static const char *const inner[] = { ".", "vine-logs" };
        static const char *const outer[] = { ".", "vine-run-info" };
        int r = 0;

        for (size_t i = 0; r == 0 && i < ROAST_ARRAY_SIZE(inner); i++) {
                ROAST_CLEANUP(cleanup_free) char *logs = vine_join(path, inner[i]);

                r = logs ? vine_has_logs(logs) : -1;
                if (r > 0) {
                        *ret = logs;
                        logs = NULL;
                }
        }
        for (size_t i = 0; r == 0 && i < ROAST_ARRAY_SIZE(outer); i++) {
                ROAST_CLEANUP(cleanup_free) char *folder = vine_join(path, outer[i]);

                r = folder ? vine_latest_run(ret, folder) : -1;
        }
        return r;
}

/* What errno says */
static int vine_fail(const char *path, struct roast_error *error)
{
        return errno == ENOMEM ? roast_fail_nomem(error)
                               : roast_fail(error, ROAST_E_IO, "%s: cannot be read: %s", path,
                                            strerror(errno));
}

static int vine_recognises(const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *logs = NULL;
        int r = vine_find_logs(&logs, path);

        return r < 0 ? vine_fail(path, error) : r;
}

/* The run is named by the folder around the logs: TaskVine calls it after the time. */
static int vine_name_run(struct roast_run *run, const char *logs, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *path = realpath(logs, NULL);
        char *end = path ? strrchr(path, '/') : NULL;
        const char *name = end ? end + 1 : "taskvine";

        if (end && !strcmp(name, "vine-logs")) {
                *end = '\0';
                end = strrchr(path, '/');
                name = end ? end + 1 : "taskvine";
        }
        return roast_run_fact_text(run, "run.name", *name ? name : "taskvine", error);
}

static int vine_import(struct roast_run *run, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *logs = NULL;
        struct vine_graph graph = { 0 };
        FILE *transactions = NULL, *taskgraph = NULL;
        int r = vine_find_logs(&logs, path);

        if (r > 0)
                transactions = vine_open_log(logs, "transactions");
        if (transactions)
                taskgraph = vine_open_log(logs, "taskgraph");
        if (transactions && (taskgraph || vine_is_missing(errno)))
                r = vine_name_run(run, logs, error);
        else
                r = vine_fail(path, error);
        if (r >= 0 && taskgraph)
                r = vine_graph_read(&graph, taskgraph, error);
        if (r >= 0)
                r = vine_transactions_read(run, transactions, &graph, error);
        if (r >= 0 && (ferror(transactions) || (taskgraph && ferror(taskgraph))))
                r = roast_fail(error, ROAST_E_IO, "%s: cannot be read to its end", path);
        vine_graph_deinit(&graph);
        if (transactions)
                (void)fclose(transactions);
        if (taskgraph)
                (void)fclose(taskgraph);
        return r;
}

const struct importer import_vine = { "TaskVine's logs", vine_recognises, vine_import };
