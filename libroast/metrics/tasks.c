/*
 * Attempts at tasks of every kind, by their prefix
 *
 * A task that was lost with its worker has a row of the scheduler's, without a
 * start; where the worker told of the attempt before it went, that is the same
 * attempt and counts once.
 */

#include <stdlib.h>

#include "metrics/collect.h"
#include "record/chunk.h"
#include "run/schema.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "util/text.h"

struct found {
        struct collect *collect;
        size_t *slots;         /* by prefix: group + 1 */
        struct run_seen keys;  /* tasks */
        struct run_seen begun; /* tasks and workers that had them */
        int64_t failed;
        int64_t lost;
        int64_t attempts;
        int64_t measured; /* attempts with a CPU time */
        int64_t timed;    /* attempts with a time */
        double busy_s;
        double cpu_s;
};

static struct roast_task_group *tasks_group_of(struct found *found, const struct run_value *prefix)
{
        struct roast_summary *summary = found->collect->summary;
        struct roast_task_group *groups;
        size_t len, *slot;
        const char *name = collect_text(found->collect, prefix, &len);

        slot = &found->slots[name ? prefix->integer : 0];
        if (*slot)
                return &summary->tasks[*slot - 1];
        groups = reallocarray(summary->tasks, summary->n_tasks + 1, sizeof(*groups));
        if (!groups)
                return NULL;
        summary->tasks = groups;
        groups += summary->n_tasks;
        *groups = (struct roast_task_group){ .prefix = name ? text_copy(name, len) : NULL };
        if (name && !groups->prefix)
                return NULL;
        *slot = ++summary->n_tasks;
        return groups;
}

static uint64_t tasks_hash_value(uint64_t hash, const struct run_value *value)
{
        if (value->type == RUN_STRING)
                return run_hash(hash, value->data, value->len);
        return value->type == RUN_INT ? run_hash(hash, &value->integer, sizeof(value->integer))
                                      : hash;
}

static int tasks_note_attempt(struct found *found, const struct run_value *values)
{
        struct roast_task_group *group = tasks_group_of(found, &values[TASK_PREFIX]);
        uint64_t key = tasks_hash_value(RUN_TASK, &values[TASK_KEY]);
        bool lost =
                values[TASK_OUTCOME].type == RUN_INT && values[TASK_OUTCOME].integer == CHUNK_LOST;
        bool failed = values[TASK_OUTCOME].type == RUN_INT &&
                      values[TASK_OUTCOME].integer == CHUNK_FAILED;
        double busy_s = 0;
        int r;

        r = group ? run_seen_add(&found->keys, key) : ROAST_E_NOMEM;
        if (r < 0)
                return r;
        group->tasks += r;
        group->lost += lost;
        found->lost += lost;
        key = tasks_hash_value(key, &values[TASK_WORKER]);
        if (lost && values[TASK_START_UTC_NS].type != RUN_INT && run_seen_has(&found->begun, key))
                return 0;
        r = run_seen_add(&found->begun, key);
        if (r < 0)
                return r;
        group->attempts++;
        found->attempts++;
        group->failed += failed;
        found->failed += failed;
        found->timed += values[TASK_COMPUTE_NS].type == RUN_INT;
        if (values[TASK_COMPUTE_NS].type == RUN_INT)
                busy_s = (double)values[TASK_COMPUTE_NS].integer / 1e9;
        group->busy_s += busy_s;
        found->busy_s += busy_s;
        if (values[TASK_CPU_NS].type == RUN_INT) {
                group->cpu_s += (double)values[TASK_CPU_NS].integer / 1e9;
                group->measured++;
                found->cpu_s += (double)values[TASK_CPU_NS].integer / 1e9;
                found->measured++;
        }
        return 0;
}

static int tasks_by_time(const void *a, const void *b)
{
        const struct roast_task_group *x = a, *y = b;

        return (x->busy_s < y->busy_s) - (x->busy_s > y->busy_s);
}

static const enum roast_metric task_metrics[] = {
        ROAST_NUM_TASKS,      ROAST_NUM_TASK_ATTEMPTS, ROAST_NUM_FAILED_TASKS,
        ROAST_NUM_LOST_TASKS, ROAST_TASK_SECONDS,      ROAST_TASK_CPU_SECONDS,
};

static int tasks_set_metrics(struct found *found, struct roast_error *error)
{
        struct roast_metric_set *set = &found->collect->summary->metrics;
        int r = 0;

        for (size_t i = 0; found->attempts == 0 && i < ROAST_ARRAY_SIZE(task_metrics) && r >= 0;
             i++)
                r = roast_metric_set_absent(set, task_metrics[i], "no tasks were followed");
        if (found->attempts == 0)
                return r < 0 ? roast_fail_nomem(error) : 0;
        roast_metric_set_count(set, ROAST_NUM_TASKS, (int64_t)found->keys.n);
        roast_metric_set_count(set, ROAST_NUM_TASK_ATTEMPTS, found->attempts);
        roast_metric_set_count(set, ROAST_NUM_FAILED_TASKS, found->failed);
        roast_metric_set_count(set, ROAST_NUM_LOST_TASKS, found->lost);
        if (found->timed)
                roast_metric_set_real(set, ROAST_TASK_SECONDS, found->busy_s);
        else
                r = roast_metric_set_absent(set, ROAST_TASK_SECONDS,
                                            "no attempt tells how long it ran");
        if (r < 0)
                return roast_fail_nomem(error);
        if (found->measured)
                roast_metric_set_real(set, ROAST_TASK_CPU_SECONDS, found->cpu_s);
        else
                r = roast_metric_set_absent(set, ROAST_TASK_CPU_SECONDS,
                                            "the CPU time of tasks was not measured");
        return r < 0 ? roast_fail_nomem(error) : 0;
}

int collect_tasks(struct collect *collect, struct roast_error *error)
{
        struct roast_summary *summary = collect->summary;
        ROAST_CLEANUP(cleanup_free) size_t *slots = calloc(collect->texts.n + 1, sizeof(*slots));
        struct found found = { .collect = collect, .slots = slots };
        struct run_scan scan;
        int r;

        if (!slots)
                return roast_fail_nomem(error);
        r = run_scan_begin(&scan, collect->run, RUN_TASK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                r = tasks_note_attempt(&found, scan.values);
                if (r < 0)
                        r = roast_fail_nomem(error);
        }
        run_scan_end(&scan);
        if (r >= 0)
                r = tasks_set_metrics(&found, error);
        run_seen_deinit(&found.keys);
        run_seen_deinit(&found.begun);
        if (summary->n_tasks)
                qsort(summary->tasks, summary->n_tasks, sizeof(*summary->tasks), tasks_by_time);
        return r;
}
