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

#include "import/import.h"
#include "import/vine.h"
#include "util/cleanup.h"
#include "util/size.h"

static char *join(const char *folder, const char *name)
{
        char *path;

        return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static FILE *open_log(const char *folder, const char *name)
{
        ROAST_CLEANUP(cleanup_free) char *path = join(folder, name);

        return path ? fopen(path, "re") : NULL;
}

/* Whether the folder has a `transactions` that begins as TaskVine's do */
static bool has_logs(const char *folder)
{
        FILE *in = open_log(folder, "transactions");
        char begin[64] = "";
        bool ours;

        if (!in)
                return false;
        ours = fgets(begin, sizeof(begin), in) && strstr(begin, " manager_pid MANAGER ");
        (void)fclose(in);
        return ours;
}

/* The last name among those in the folder that lead to logs; NULL: none, or no memory */
static char *latest_run(const char *folder)
{
        DIR *dir = opendir(folder);
        char *best = NULL;

        for (struct dirent *entry; dir && (entry = readdir(dir));) {
                ROAST_CLEANUP(cleanup_free) char *inner = NULL;
                ROAST_CLEANUP(cleanup_free) char *logs = NULL;

                if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "most-recent"))
                        continue;
                inner = join(folder, entry->d_name);
                logs = inner ? join(inner, "vine-logs") : NULL;
                if (!logs || !has_logs(logs) || (best && strcmp(best, logs) > 0))
                        continue;
                free(best);
                best = logs;
                logs = NULL;
        }
        if (dir)
                closedir(dir);
        return best;
}

/* The folder with the logs, which the caller frees; NULL: this is something else */
static char *find_logs(const char *path)
{
        static const char *const inner[] = { ".", "vine-logs" };
        static const char *const outer[] = { ".", "vine-run-info" };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(inner); i++) {
                char *logs = join(path, inner[i]);

                if (logs && has_logs(logs))
                        return logs;
                free(logs);
        }
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(outer); i++) {
                ROAST_CLEANUP(cleanup_free) char *folder = join(path, outer[i]);
                char *logs = folder ? latest_run(folder) : NULL;

                if (logs)
                        return logs;
        }
        return NULL;
}

static bool recognises(const char *path)
{
        ROAST_CLEANUP(cleanup_free) char *logs = find_logs(path);

        return logs;
}

/* The run is named by the folder around the logs: TaskVine calls it after the time. */
static int name_run(struct roast_run *run, const char *logs, struct roast_error *error)
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

static int import(struct roast_run *run, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *logs = find_logs(path);
        struct vine_graph graph = { 0 };
        FILE *transactions = logs ? open_log(logs, "transactions") : NULL;
        FILE *taskgraph = logs ? open_log(logs, "taskgraph") : NULL;
        int r;

        if (transactions)
                r = name_run(run, logs, error);
        else
                r = roast_fail(error, ROAST_E_IO, "%s: cannot be read: %s", path, strerror(errno));
        if (r >= 0 && taskgraph)
                r = vine_graph_read(&graph, taskgraph, error);
        if (r >= 0)
                r = vine_transactions_read(run, transactions, &graph, error);
        if (r >= 0 && ferror(transactions))
                r = roast_fail(error, ROAST_E_IO, "%s: cannot be read to its end", path);
        vine_graph_deinit(&graph);
        if (transactions)
                (void)fclose(transactions);
        if (taskgraph)
                (void)fclose(taskgraph);
        return r;
}

const struct importer import_vine = { "TaskVine's logs", recognises, import };
