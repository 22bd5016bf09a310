/*
 * Every attempt at a chunk, one each: see attempts.h.
 *
 * Who belongs to whom is settled first, over a node for each record and each
 * task that is about a chunk: sorted by chunk, worker and time, one sweep joins
 * them, and a second one, by chunk and time, counts the attempts. Then both
 * tables are walked, each row with its node.
 */

#include <stdlib.h>
#include <string.h>

#include "run/attempts.h"
#include "util/cleanup.h"
#include "util/size.h"

/* By how much the clocks of a record and of its task may differ */
#define SLACK_NS INT64_C(100000000)

struct node {
        uint64_t chunk; /* hash of which chunk; 0: not known */
        int64_t worker; /* number of its name; 0: not known */
        int64_t start_utc_ns;
        int64_t stop_utc_ns; /* of a task */
        int64_t id;          /* row of its table */
        int64_t outcome;
        int64_t number; /* of the attempt at its chunk, from 1 */
        int64_t task;   /* of a record: row of its task, or 0 */
        bool is_task;
        bool merged; /* it is part of another attempt */
        bool lost;   /* it had finished, but its result was lost */
};

struct nodes {
        struct node *nodes; /* of all records, in their order, then of tasks */
        size_t n;
        size_t cap;
        size_t n_records;
        size_t *order; /* of the sweeps */
};

static void nodes_deinit(struct nodes *nodes)
{
        free(nodes->nodes);
        free(nodes->order);
}

static int nodes_add(struct nodes *nodes, const struct node *node, struct roast_error *error)
{
        if (nodes->n == nodes->cap) {
                size_t cap = nodes->cap ? nodes->cap * 2 : 256, size;
                struct node *grown;

                if (!size_mul(cap, sizeof(*grown), &size))
                        return roast_fail_nomem(error);
                grown = realloc(nodes->nodes, size);
                if (!grown)
                        return roast_fail_nomem(error);
                nodes->nodes = grown;
                nodes->cap = cap;
        }
        nodes->nodes[nodes->n++] = *node;
        return 0;
}

static int64_t int_or(const struct run_value *value, int64_t other)
{
        return value->type == RUN_INT ? value->integer : other;
}

/* Strings are the same if their numbers are; without a file nothing can be said to be the same. */
static uint64_t chunk_of(const struct run_value *const identity[5])
{
        uint64_t hash = 1;

        if (identity[1]->type != RUN_INT)
                return 0;
        for (size_t i = 0; i < 5; i++) {
                int64_t part = int_or(identity[i], INT64_MIN);

                hash = run_hash(hash, &part, sizeof(part));
        }
        return hash ? hash : 1;
}

static struct node task_node(const struct run_scan *scan)
{
        const struct run_value *values = scan->values;
        const struct run_value *const identity[] = { &values[TASK_DATASET], &values[TASK_FILE],
                                                     &values[TASK_TREE], &values[TASK_ENTRY_START],
                                                     &values[TASK_ENTRY_STOP] };
        int64_t stop = int_or(&values[TASK_STOP_UTC_NS], INT64_MIN);
        int64_t start = int_or(&values[TASK_START_UTC_NS], stop);

        return (struct node){ .chunk = chunk_of(identity),
                              .worker = int_or(&values[TASK_WORKER], 0),
                              .start_utc_ns = start,
                              .stop_utc_ns = stop,
                              .id = scan->id,
                              .outcome = int_or(&values[TASK_OUTCOME], CHUNK_FINISHED),
                              .is_task = true };
}

static int add_tasks(struct nodes *nodes, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_TASK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                struct node node = task_node(&scan);

                /* without entries it is about a file, not about a chunk of it */
                if (node.chunk && scan.values[TASK_ENTRY_START].type == RUN_INT)
                        r = nodes_add(nodes, &node, error);
        }
        run_scan_end(&scan);
        return r;
}

/*
 * Only what the sweeps need, and not compared with the seals: that is done by the walk that follows
 * in the same view.
 */
static int add_records(struct nodes *nodes, struct roast_run *run, struct roast_error *error)
{
        struct run_value values[8];
        const struct run_value *const identity[] = { &values[0], &values[1], &values[2], &values[3],
                                                     &values[4] };
        sqlite3_stmt *stmt;
        int rc, r = 0;

        rc = sqlite3_prepare_v2(
                run->db,
                "SELECT id,dataset_text,file_text,tree_text,entry_start,entry_stop,worker_text,"
                "start_utc_ns,outcome FROM chunk WHERE id<=(SELECT max(last_id) FROM seal WHERE"
                " tbl=6) ORDER BY id", /* RUN_CHUNK */
                -1, &stmt, NULL);
        while (rc == SQLITE_OK && r >= 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
                struct node node;

                run_read_values(stmt, values, ROAST_ARRAY_SIZE(values));
                node = (struct node){ .chunk = chunk_of(identity),
                                      .worker = int_or(&values[5], 0),
                                      .start_utc_ns = int_or(&values[6], INT64_MIN),
                                      .id = sqlite3_column_int64(stmt, 0),
                                      .outcome = int_or(&values[7], CHUNK_FINISHED) };
                r = nodes_add(nodes, &node, error);
                rc = SQLITE_OK;
        }
        sqlite3_finalize(stmt);
        nodes->n_records = nodes->n;
        if (r >= 0 && rc != SQLITE_DONE)
                r = run_fail_sqlite(run, rc, "cannot be read", error);
        return r;
}

/* Nearly always there are none, which SQLite tells faster than a walk over all rows. */
static int needs_nodes(struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        sqlite3_stmt *stmt;
        int r, rc;

        r = run_scan_begin(&scan, run, RUN_TASK, error);
        if (r >= 0)
                r = run_scan_next(&scan, error);
        run_scan_end(&scan);
        if (r != 0)
                return r;
        rc = sqlite3_prepare_v2(run->db, "SELECT 1 FROM chunk WHERE outcome=2 LIMIT 1", -1, &stmt,
                                NULL); /* CHUNK_LOST */
        if (rc == SQLITE_OK)
                rc = sqlite3_step(stmt);
        sqlite3_finalize(stmt);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
                return run_fail_sqlite(run, rc, "cannot be read", error);
        return rc == SQLITE_ROW;
}

static int compare(int64_t a, int64_t b)
{
        return (a > b) - (a < b);
}

/* For the sweeps' order, a task begins a little before its record. */
static int64_t begin_of(const struct node *node)
{
        int64_t begin;

        if (!node->is_task || __builtin_sub_overflow(node->start_utc_ns, SLACK_NS, &begin))
                return node->start_utc_ns;
        return begin;
}

static int by_worker(const void *a, const void *b, void *context)
{
        const struct node *nodes = context;
        const struct node *x = &nodes[*(const size_t *)a], *y = &nodes[*(const size_t *)b];
        int r;

        if (x->chunk != y->chunk)
                return x->chunk < y->chunk ? -1 : 1;
        if ((r = compare(x->worker, y->worker)) || (r = compare(begin_of(x), begin_of(y))) ||
            (r = compare(y->is_task, x->is_task)))
                return r;
        return compare(x->id, y->id);
}

static int by_time(const void *a, const void *b, void *context)
{
        const struct node *nodes = context;
        const struct node *x = &nodes[*(const size_t *)a], *y = &nodes[*(const size_t *)b];
        int r;

        if (x->chunk != y->chunk)
                return x->chunk < y->chunk ? -1 : 1;
        if ((r = compare(x->start_utc_ns, y->start_utc_ns)) ||
            (r = compare(x->is_task, y->is_task)))
                return r;
        return compare(x->id, y->id);
}

static bool is_within(const struct node *record, const struct node *task)
{
        int64_t end;

        return __builtin_add_overflow(task->stop_utc_ns, SLACK_NS, &end) ||
               record->start_utc_ns <= end;
}

/* The last record of a task shares its end. */
static void settle(struct node *record, const struct node *task)
{
        if (!record)
                return;
        if (task->outcome == CHUNK_SKIPPED && record->outcome == CHUNK_FAILED)
                record->outcome = CHUNK_SKIPPED;
        else if ((task->outcome == CHUNK_FAILED || task->outcome == CHUNK_CANCELLED) &&
                 record->outcome == CHUNK_FINISHED)
                record->outcome = task->outcome;
}

/* Attempts at one chunk, of one worker, by time: records find their tasks. */
static size_t join_records(struct node *nodes, const size_t *order, size_t n, bool *joined)
{
        struct node *task = NULL, *last = NULL;
        size_t n_lost = 0;

        for (size_t i = 0; i < n; i++) {
                struct node *node = &nodes[order[i]];

                if (node->outcome == CHUNK_LOST) {
                        n_lost++;
                } else if (node->is_task) {
                        settle(last, task);
                        task = node;
                        last = NULL;
                } else if (task && is_within(node, task)) {
                        task->merged = *joined = true;
                        node->task = task->id;
                        last = node;
                }
        }
        settle(last, task);
        return n_lost;
}

/* Finished attempts whose result was lost, the latest first; the word of it is part of them. */
static void join_lost(struct node *nodes, const size_t *order, size_t n, size_t n_lost)
{
        size_t n_joined = 0;

        for (size_t i = n; i-- > 0 && n_joined < n_lost;) {
                struct node *node = &nodes[order[i]];

                if (node->outcome == CHUNK_FINISHED && !node->merged) {
                        node->lost = true;
                        n_joined++;
                }
        }
        for (size_t i = 0; i < n; i++) {
                struct node *node = &nodes[order[i]];

                if (node->lost) {
                        node->outcome = CHUNK_LOST;
                } else if (node->outcome == CHUNK_LOST && n_joined > 0) {
                        node->merged = true;
                        n_joined--;
                }
        }
}

/* Returns whether any record has found its task. */
static bool join(struct nodes *nodes, bool by_chunk_alone)
{
        const struct node *all = nodes->nodes;
        bool joined = false;
        size_t n;

        qsort_r(nodes->order, nodes->n, sizeof(*nodes->order), by_worker, nodes->nodes);
        for (size_t i = 0; i < nodes->n; i += n) {
                const struct node *first = &all[nodes->order[i]];

                for (n = 1; i + n < nodes->n; n++) {
                        const struct node *node = &all[nodes->order[i + n]];

                        if (node->chunk != first->chunk || node->worker != first->worker)
                                break;
                }
                if (first->chunk && first->worker) {
                        size_t n_lost = join_records(nodes->nodes, nodes->order + i, n, &joined);

                        if (!by_chunk_alone)
                                join_lost(nodes->nodes, nodes->order + i, n, n_lost);
                }
        }
        return joined;
}

/*
 * Where each task has a process of its own (TaskVine), records do not know the worker by the name
 * that the tasks have for it: chunk and time alone join them.
 */
static void join_all(struct nodes *nodes)
{
        if (join(nodes, false) || !nodes->n_records || nodes->n_records == nodes->n)
                return;
        for (size_t i = 0; i < nodes->n; i++)
                nodes->nodes[i].worker = 1;
        (void)join(nodes, true);
}

static void count(struct nodes *nodes)
{
        uint64_t chunk = 0;
        int64_t number = 0;

        for (size_t i = 0; i < nodes->n; i++) {
                struct node *node = &nodes->nodes[nodes->order[i]];

                if (!node->chunk || node->merged)
                        continue;
                number = node->chunk == chunk ? number + 1 : 1;
                chunk = node->chunk;
                node->number = number;
        }
}

static int nodes_make(struct nodes *nodes, struct roast_run *run, struct roast_error *error)
{
        int r = needs_nodes(run, error);

        if (r <= 0)
                return r;
        r = add_records(nodes, run, error);
        if (r >= 0)
                r = add_tasks(nodes, run, error);
        if (r < 0 || nodes->n == 0)
                return r;
        nodes->order = calloc(nodes->n, sizeof(*nodes->order));
        if (!nodes->order)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < nodes->n; i++)
                nodes->order[i] = i;
        join_all(nodes);
        qsort_r(nodes->order, nodes->n, sizeof(*nodes->order), by_time, nodes->nodes);
        count(nodes);
        return 0;
}

struct walk {
        struct roast_run *run;
        struct nodes nodes;
        bool tasks; /* the visitor wants them */
        sqlite3_stmt *task;
        struct run_value task_values[RUN_COLUMNS_MAX];
        run_attempt_visitor visit;
        void *context;
};

static void walk_deinit(struct walk *walk)
{
        nodes_deinit(&walk->nodes);
        sqlite3_finalize(walk->task);
}

/* The table was walked before, in the same view: its rows are as they were written. */
static int read_task(struct walk *walk, int64_t id, struct roast_error *error)
{
        int rc = SQLITE_OK, n;

        if (!walk->task)
                rc = sqlite3_prepare_v2(walk->run->db, "SELECT * FROM task WHERE id=?", -1,
                                        &walk->task, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_reset(walk->task);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(walk->task, 1, id);
        if (rc == SQLITE_OK)
                rc = sqlite3_step(walk->task);
        if (rc != SQLITE_ROW)
                return run_fail_sqlite(walk->run, rc, "cannot be read", error);
        n = sqlite3_column_count(walk->task) - 1;
        run_read_values(walk->task, walk->task_values,
                        n < TASK_N_COLUMNS ? (size_t)n : TASK_N_COLUMNS);
        return 0;
}

static int visit_record(struct walk *walk, struct run_scan *scan, struct roast_error *error)
{
        struct run_attempt attempt = { .chunk = scan->values,
                                       .chunk_id = scan->id,
                                       .outcome = int_or(&scan->values[CHUNK_OUTCOME],
                                                         CHUNK_FINISHED) };
        const struct node *node;
        int r;

        if ((uint64_t)scan->id > walk->nodes.n_records)
                return walk->visit(&attempt, walk->context, error);
        node = &walk->nodes.nodes[scan->id - 1];
        if (node->merged)
                return 0;
        if (node->number)
                scan->values[CHUNK_ATTEMPT] = run_int(node->number);
        if (node->task && (walk->tasks || node->outcome != attempt.outcome)) {
                r = read_task(walk, node->task, error);
                if (r < 0)
                        return r;
                attempt.task = walk->task_values;
        }
        if (node->outcome == CHUNK_FAILED && attempt.outcome != CHUNK_FAILED && attempt.task) {
                scan->values[CHUNK_ERROR_TYPE] = attempt.task[TASK_ERROR_TYPE];
                scan->values[CHUNK_ERROR_MESSAGE] = attempt.task[TASK_ERROR_MESSAGE];
        }
        attempt.outcome = node->outcome;
        scan->values[CHUNK_OUTCOME] = run_int(node->outcome);
        return walk->visit(&attempt, walk->context, error);
}

/* What a task tells of its chunk, in the place of a record */
static void make_record(struct run_value chunk[CHUNK_N_FIELDS], const struct run_value *task,
                        const struct node *node)
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

static int walk_records(struct walk *walk, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, walk->run, RUN_CHUNK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                r = visit_record(walk, &scan, error);
        run_scan_end(&scan);
        return r;
}

static int walk_tasks(struct walk *walk, struct roast_error *error)
{
        const struct node *node = walk->nodes.nodes + walk->nodes.n_records;
        const struct node *end = walk->nodes.nodes + walk->nodes.n;
        struct run_value chunk[CHUNK_N_FIELDS];
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, walk->run, RUN_TASK, error);
        while (r >= 0 && node < end && (r = run_scan_next(&scan, error)) > 0) {
                struct run_attempt attempt = { .chunk = chunk,
                                               .task = scan.values,
                                               .outcome = node->outcome };

                if (scan.id != node->id)
                        continue;
                make_record(chunk, scan.values, node);
                if (!node++->merged)
                        r = walk->visit(&attempt, walk->context, error);
        }
        run_scan_end(&scan);
        return r < 0 ? r : 0;
}

int roast_run_attempts(struct roast_run *run, bool tasks, run_attempt_visitor visit, void *context,
                       struct roast_error *error)
{
        ROAST_CLEANUP(walk_deinit)
        struct walk walk = { .run = run, .tasks = tasks, .visit = visit, .context = context };
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = nodes_make(&walk.nodes, run, error);
        if (r >= 0)
                r = walk_records(&walk, error);
        if (r >= 0 && walk.nodes.n > walk.nodes.n_records)
                r = walk_tasks(&walk, error);
        run_view_end(run);
        return r;
}
