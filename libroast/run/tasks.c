/* Attempts at tasks, and what Dask says each worker's time went into, as rows */

#include <string.h>

#include "run/run.h"
#include "util/size.h"

#define TASKS_UNKNOWN_STRING NULL
#define TASKS_UNKNOWN_TEXT   NULL
#define TASKS_UNKNOWN_INT    -1

static size_t tasks_length(const char *string)
{
        return string ? strlen(string) : 0;
}

static uint64_t tasks_hash_string(uint64_t hash, const char *string)
{
        return string ? run_hash(hash, string, strlen(string)) : hash;
}

/* A worker may send a row again; the one without a start is told by its end. */
static int tasks_is_new(struct roast_run *run, const struct roast_task *task)
{
        int64_t numbers[] = { task->start_utc_ns < 0 ? task->stop_utc_ns : task->start_utc_ns,
                              task->outcome };
        uint64_t key = tasks_hash_string(tasks_hash_string(RUN_TASK, task->key), task->worker);

        return run_seen_add(&run->seen, run_hash(key, numbers, sizeof(numbers)));
}

const struct roast_task roast_task_unknown = {
#define TASK(id, name, type, ...) .name = TASKS_UNKNOWN_##type,
#include "run/task.def"
#undef TASK
};

#define TASKS_ROW_STRING(id, name)                                                                 \
        row[TASK_##id] = run_string(task->name, tasks_length(task->name));
#define TASKS_ROW_TEXT(id, name)                                                                   \
        if (r >= 0)                                                                                \
                r = run_text_value(run, task->name, tasks_length(task->name), &row[TASK_##id],     \
                                   error);
#define TASKS_ROW_INT(id, name)                                                                    \
        if (task->name >= 0)                                                                       \
                row[TASK_##id] = run_int(task->name);

static int tasks_add_row(struct roast_run *run, const struct roast_task *task,
                         struct roast_error *error)
{
        static const size_t stamps[] = { TASK_START_UTC_NS, TASK_STOP_UTC_NS,
                                         TASK_COMPUTE_START_UTC_NS };
        int64_t offset_ns = run_clock_offset(run, task->worker, tasks_length(task->worker));
        struct run_value row[TASK_N_COLUMNS] = { 0 };
        int r = 0;

#define TASK(id, name, type, ...) TASKS_ROW_##type(id, name)
#include "run/task.def"
#undef TASK
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(stamps) && offset_ns; i++)
                if (row[stamps[i]].type == RUN_INT)
                        row[stamps[i]].integer =
                                run_clock_correct(row[stamps[i]].integer, offset_ns);
        return r < 0 ? r : run_insert(run, RUN_TASK, row, TASK_N_COLUMNS, error);
}

int roast_run_add_task(struct roast_run *run, const struct roast_task *task,
                       struct roast_error *error)
{
        size_t n_seen = run->seen.n;
        int r = tasks_is_new(run, task);

        if (r < 0)
                return roast_fail_nomem(error);
        if (r == 0)
                return 0;
        r = tasks_add_row(run, task, error);
        if (r < 0)
                run_seen_truncate(&run->seen, n_seen);
        return r < 0 ? r : 1;
}

int roast_run_add_activity(struct roast_run *run, const char *worker, const char *kind,
                           const char *prefix, const char *activity, const char *unit, double value,
                           struct roast_error *error)
{
        const char *const texts[] = { worker, kind, prefix, activity, unit };
        struct run_value row[ACTIVITY_N_COLUMNS] = { 0 };
        int r;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(texts); i++) {
                r = run_text_value(run, texts[i], tasks_length(texts[i]), &row[i], error);
                if (r < 0)
                        return r;
        }
        row[ACTIVITY_VALUE] = run_real(value);
        return run_insert(run, RUN_ACTIVITY, row, 6, error);
}
