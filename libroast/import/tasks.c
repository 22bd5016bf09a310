/*
 * Tasks of an executor's own log, added to a run that followed the executor
 *
 * The log is read as every import is, into a run in memory, and the rows of its
 * table `task` are copied, with the fact which of them are about chunks. The log
 * may tell of more than the run: of tasks that ended before it began nothing is
 * taken.
 */

#include <stdlib.h>
#include <string.h>

#include "roast-run.h"
#include "run/run.h"
#include "run/series.h"
#include "util/cleanup.h"
#include "util/intern.h"
#include "util/text.h"

/* The strings of one row; they are freed together. */
struct copies {
        char *texts[TASK_N_COLUMNS];
};

static void tasks_copies_deinit(struct copies *copies)
{
        for (size_t i = 0; i < TASK_N_COLUMNS; i++)
                free(copies->texts[i]);
}

static int tasks_copy_text(char **ret, const struct run_value *value, const struct intern *texts)
{
        const char *data = value->data;
        size_t len = value->len;

        if (value->type == RUN_NULL)
                return 0;
        if (value->type == RUN_INT) {
                if (value->integer < 1 || (uint64_t)value->integer > texts->n)
                        return 0;
                data = intern_get(texts, (size_t)value->integer - 1, &len);
        }
        *ret = text_copy(data, len);
        return *ret ? 0 : ROAST_E_NOMEM;
}

#define TASKS_COPY_STRING(id, name)                                                                \
        if (r >= 0)                                                                                \
                r = tasks_copy_text(&copies.texts[TASK_##id], &values[TASK_##id], texts);          \
        task.name = copies.texts[TASK_##id];
#define TASKS_COPY_TEXT(id, name) TASKS_COPY_STRING(id, name)
#define TASKS_COPY_INT(id, name)                                                                   \
        if (values[TASK_##id].type == RUN_INT)                                                     \
                task.name = values[TASK_##id].integer;

static int tasks_import_row(struct roast_run *run, const struct run_value *values,
                            const struct intern *texts, struct roast_error *error)
{
        ROAST_CLEANUP(tasks_copies_deinit) struct copies copies = { 0 };
        struct roast_task task = ROAST_TASK_INIT;
        int r = 0;

#define TASK(id, name, type, ...) TASKS_COPY_##type(id, name)
#include "run/task.def"
#undef TASK
        return r < 0 ? roast_fail_nomem(error) : roast_run_add_task(run, &task, error);
}

static int tasks_add_rows(struct roast_run *run, struct roast_run *log, int64_t from_utc_ns,
                          struct roast_error *error)
{
        ROAST_CLEANUP(intern_deinit) struct intern texts = { 0 };
        struct run_scan scan;
        int r = run_read_texts(log, &texts, error), n = 0;

        if (r < 0)
                return r;
        r = run_scan_begin(&scan, log, RUN_TASK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                const struct run_value *stop = &scan.values[TASK_STOP_UTC_NS];

                if (stop->type == RUN_INT && stop->integer < from_utc_ns)
                        continue;
                r = tasks_import_row(run, scan.values, &texts, error);
                n += r > 0;
        }
        run_scan_end(&scan);
        return r < 0 ? r : n;
}

struct copy_fact {
        struct roast_run *run;
        struct roast_error *error;
        int r;
};

static int tasks_copy_prefix(const struct roast_fact *fact, void *context)
{
        struct copy_fact *copy = context;

        if (!strcmp(fact->name, "task.chunk_prefix") && fact->type == ROAST_FACT_TEXT)
                copy->r = roast_run_fact_text(copy->run, fact->name, fact->text, copy->error);
        return copy->r;
}

int roast_run_add_tasks_of(struct roast_run *run, const char *path, int64_t from_utc_ns,
                           struct roast_error *error)
{
        struct copy_fact copy = { run, error, 0 };
        struct roast_run *log;
        int r = roast_run_open_any(&log, path, error);

        if (r < 0)
                return r;
        r = roast_run_facts(log, tasks_copy_prefix, &copy, error);
        if (r >= 0)
                r = copy.r < 0 ? copy.r : tasks_add_rows(run, log, from_utc_ns, error);
        roast_run_free(log);
        return r;
}
