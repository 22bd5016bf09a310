/*
 * Every attempt at a chunk, one each: see attempts.h.
 *
 * Who belongs to whom is settled first (join.h); then both tables are walked,
 * each row with its node.
 */

#include <string.h>

#include "run/attempts.h"
#include "run/join.h"
#include "util/cleanup.h"
#include "util/size.h"

struct walk {
        struct roast_run *run;
        struct join join;
        struct run_scan tasks; /* of those that have an error */
        run_attempt_visitor visit;
        void *context;
};

static void attempts_walk_deinit(struct walk *walk)
{
        join_deinit(&walk->join);
        run_scan_end(&walk->tasks);
}

/* The table was walked before, in the same view: its rows are as they were written. */
static int attempts_read_task(struct walk *walk, int64_t id, struct roast_error *error)
{
        int r = 0;

        if (!walk->tasks.run)
                r = run_scan_skim(&walk->tasks, walk->run, RUN_TASK, TASK_N_COLUMNS, error);
        if (r < 0)
                return r;
        run_scan_seek(&walk->tasks, id);
        return run_scan_next(&walk->tasks, error);
}

static int attempts_visit_record(struct walk *walk, struct run_scan *scan,
                                 struct roast_error *error)
{
        struct run_attempt attempt = { .chunk = scan->values,
                                       .chunk_id = scan->id,
                                       .outcome = run_int_or(&scan->values[CHUNK_OUTCOME],
                                                             CHUNK_FINISHED) };
        const struct join_node *node;
        int r;

        if ((uint64_t)scan->id > walk->join.n_records)
                return walk->visit(&attempt, walk->context, error);
        node = &walk->join.nodes[scan->id - 1];
        if (node->merged)
                return 0;
        if (node->number)
                scan->values[CHUNK_ATTEMPT] = run_int(node->number);
        if (node->task && node->outcome == CHUNK_FAILED && attempt.outcome != CHUNK_FAILED) {
                r = attempts_read_task(walk, node->task, error);
                if (r < 0)
                        return r;
                scan->values[CHUNK_ERROR_TYPE] = walk->tasks.values[TASK_ERROR_TYPE];
                scan->values[CHUNK_ERROR_MESSAGE] = walk->tasks.values[TASK_ERROR_MESSAGE];
        }
        attempt.task_id = node->task;
        attempt.outcome = node->outcome;
        scan->values[CHUNK_OUTCOME] = run_int(node->outcome);
        return walk->visit(&attempt, walk->context, error);
}

/* What a task tells of its chunk, in the place of a record */
static void attempts_make_record(struct run_value chunk[CHUNK_N_FIELDS],
                                 const struct run_value *task, const struct join_node *node)
{
        static const struct {
                enum chunk_field field;
                enum task_column column;
        } same[] = {
                { CHUNK_DATASET, TASK_DATASET },
                { CHUNK_FILE, TASK_FILE },
                { CHUNK_TREE, TASK_TREE },
                { CHUNK_UUID, TASK_UUID },
                { CHUNK_ENTRY_START, TASK_ENTRY_START },
                { CHUNK_ENTRY_STOP, TASK_ENTRY_STOP },
                { CHUNK_ERROR_TYPE, TASK_ERROR_TYPE },
                { CHUNK_ERROR_MESSAGE, TASK_ERROR_MESSAGE },
                { CHUNK_WORKER, TASK_WORKER },
                { CHUNK_START_UTC_NS, TASK_COMPUTE_START_UTC_NS },
                { CHUNK_WALL_NS, TASK_COMPUTE_NS },
        };
        int64_t events;

        memset(chunk, 0, CHUNK_N_FIELDS * sizeof(*chunk));
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(same); i++)
                chunk[same[i].field] = task[same[i].column];
        if (chunk[CHUNK_START_UTC_NS].type != RUN_INT)
                chunk[CHUNK_START_UTC_NS] = task[TASK_START_UTC_NS];
        chunk[CHUNK_OUTCOME] = run_int(node->outcome);
        chunk[CHUNK_ATTEMPT] = run_int(node->number);
        if (node->outcome == CHUNK_FINISHED && task[TASK_ENTRY_START].type == RUN_INT &&
            task[TASK_ENTRY_STOP].type == RUN_INT &&
            !__builtin_sub_overflow(task[TASK_ENTRY_STOP].integer, task[TASK_ENTRY_START].integer,
                                    &events))
                chunk[CHUNK_NUM_EVENTS] = run_int(events);
}

static int attempts_walk_records(struct walk *walk, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, walk->run, RUN_CHUNK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                r = attempts_visit_record(walk, &scan, error);
        run_scan_end(&scan);
        return r;
}

static int attempts_walk_tasks(struct walk *walk, struct roast_error *error)
{
        const struct join_node *node = walk->join.nodes + walk->join.n_records;
        const struct join_node *end = walk->join.nodes + walk->join.n;
        struct run_value chunk[CHUNK_N_FIELDS];
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, walk->run, RUN_TASK, error);
        while (r >= 0 && node < end && (r = run_scan_next(&scan, error)) > 0) {
                struct run_attempt attempt = { .chunk = chunk,
                                               .task_id = scan.id,
                                               .outcome = node->outcome };

                if (scan.id != node->id)
                        continue;
                attempts_make_record(chunk, scan.values, node);
                if (!node++->merged)
                        r = walk->visit(&attempt, walk->context, error);
        }
        run_scan_end(&scan);
        return r < 0 ? r : 0;
}

int roast_run_attempts(struct roast_run *run, run_attempt_visitor visit, void *context,
                       struct roast_error *error)
{
        ROAST_CLEANUP(attempts_walk_deinit)
        struct walk walk = { .run = run, .visit = visit, .context = context };
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = join_run(&walk.join, run, error);
        if (r >= 0)
                r = attempts_walk_records(&walk, error);
        if (r >= 0 && walk.join.n_alone > 0)
                r = attempts_walk_tasks(&walk, error);
        run_view_end(run);
        return r;
}
