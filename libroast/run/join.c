/*
 * Which records, tasks and words of a loss are one attempt: see join.h.
 *
 * Rows about one task come together by a hash of its key, spread over buckets.
 * Among these few, a record belongs to the task with the same execution, and the
 * word that a worker took a result with it is about the last execution there.
 *
 * Records of other executors, of older files, and those that a user brings know
 * no execution. They and the tasks that have no other record come together by the
 * hash of the chunk, and those of one worker are joined by their times.
 */

#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "run/join.h"
#include "util/array.h"
#include "util/cleanup.h"

/* Above this many, a general sort is faster than shifting */
#define FEW 32
/* Nodes of one chunk lie far apart: so many places before their turn they are fetched */
#define AHEAD 16

/* Columns of a record that are needed, as bits */
#define BIT(column) (UINT64_C(1) << CHUNK_##column)
#define RECORD_COLUMNS                                                                             \
        (BIT(DATASET) | BIT(FILE) | BIT(TREE) | BIT(ENTRY_START) | BIT(ENTRY_STOP) | BIT(WORKER) | \
         BIT(START_UTC_NS) | BIT(OUTCOME) | BIT(EXECUTION))

void join_deinit(struct join *join)
{
        free(join->nodes);
}

static int join_add(struct join *join, const struct join_node *node, struct roast_error *error)
{
        if (ARRAY_ROOM(join->nodes, join->n, join->cap) < 0)
                return roast_fail_nomem(error);
        join->nodes[join->n++] = *node;
        return 0;
}

static int32_t join_outcome_of(const struct run_value *value)
{
        int64_t outcome = run_int_or(value, CHUNK_FINISHED);

        return outcome < INT32_MIN || outcome > INT32_MAX ? INT32_MAX : (int32_t)outcome;
}

static uint32_t join_worker_of(const struct run_value *value)
{
        int64_t worker = run_int_or(value, 0);

        return worker < 0 || worker > UINT32_MAX ? 0 : (uint32_t)worker;
}

/* Behind the bits of the key: which of its executions */
#define EXECUTION_BITS 16

/* What rows of one task, or of one chunk, have in common; its first bits are spread evenly. */
static uint64_t join_group_of(const struct join_node *node)
{
        return node->by_key
                       ? (uint64_t)node->execution >> EXECUTION_BITS << (EXECUTION_BITS + 1) | 1
                       : node->chunk;
}

/* Strings are the same if their numbers are; without a file nothing can be said to be the same. */
static uint64_t join_chunk_of(const struct run_value *dataset, const struct run_value *file,
                              const struct run_value *tree, const struct run_value *start,
                              const struct run_value *stop)
{
        const int64_t identity[] = { run_int_or(dataset, INT64_MIN), run_int_or(file, INT64_MIN),
                                     run_int_or(tree, INT64_MIN), run_int_or(start, INT64_MIN),
                                     run_int_or(stop, INT64_MIN) };
        uint64_t hash;

        if (file->type != RUN_INT)
                return 0;
        hash = run_hash(1, identity, sizeof(identity));
        return hash ? hash : 1;
}

static struct join_node join_record_node(const struct run_scan *scan)
{
        const struct run_value *values = scan->values;
        int64_t execution = run_int_or(&values[CHUNK_EXECUTION], 0);

        return (struct join_node){
                .chunk = join_chunk_of(&values[CHUNK_DATASET], &values[CHUNK_FILE],
                                       &values[CHUNK_TREE], &values[CHUNK_ENTRY_START],
                                       &values[CHUNK_ENTRY_STOP]),
                .execution = execution,
                .by_key = execution > 0,
                .worker = join_worker_of(&values[CHUNK_WORKER]),
                .start_utc_ns = run_int_or(&values[CHUNK_START_UTC_NS], INT64_MIN),
                .id = scan->id,
                .outcome = join_outcome_of(&values[CHUNK_OUTCOME]),
                .output_bytes = -1,
        };
}

static struct join_node join_task_node(const struct run_scan *scan)
{
        const struct run_value *values = scan->values;
        int64_t stop = run_int_or(&values[TASK_STOP_UTC_NS], INT64_MIN);
        int64_t execution = run_int_or(&values[TASK_EXECUTION], 0);

        return (struct join_node){
                .chunk =
                        join_chunk_of(&values[TASK_DATASET], &values[TASK_FILE], &values[TASK_TREE],
                                      &values[TASK_ENTRY_START], &values[TASK_ENTRY_STOP]),
                .execution = execution,
                .by_key = execution > 0,
                .worker = join_worker_of(&values[TASK_WORKER]),
                .start_utc_ns = run_int_or(&values[TASK_START_UTC_NS], stop),
                .stop_utc_ns = stop,
                .id = scan->id,
                .outcome = join_outcome_of(&values[TASK_OUTCOME]),
                .output_bytes = run_int_or(&values[TASK_OUTPUT_BYTES], -1),
                .is_task = true,
        };
}

static int join_add_tasks(struct join *join, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_TASK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                struct join_node node = join_task_node(&scan);

                /* without entries it is about a file, not about a chunk of it */
                if (!node.chunk || scan.values[TASK_ENTRY_START].type != RUN_INT)
                        continue;
                join->any_keyed |= node.by_key;
                r = join_add(join, &node, error);
        }
        run_scan_end(&scan);
        return r;
}

static int join_add_records(struct join *join, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_skim(&scan, run, RUN_CHUNK,
                          (join->any_keyed ? CHUNK_EXECUTION : CHUNK_START_UTC_NS) + 1, error);
        scan.wanted = RECORD_COLUMNS;
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                struct join_node node = join_record_node(&scan);

                join->any_plain |= node.chunk && !node.by_key;
                r = join_add(join, &node, error);
        }
        run_scan_end(&scan);
        join->n_records = join->n;
        return r;
}

/* Nearly always there are none. */
static int join_has_lost_records(struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        bool found = false;
        int r;

        r = run_scan_skim(&scan, run, RUN_CHUNK, CHUNK_OUTCOME + 1, error);
        while (r >= 0 && !found && (r = run_scan_next(&scan, error)) > 0)
                found = run_int_or(&scan.values[CHUNK_OUTCOME], CHUNK_FINISHED) == CHUNK_LOST;
        run_scan_end(&scan);
        return r < 0 ? r : found;
}

/* Tasks know their executions, or do not, all alike: that of an older file need not be asked for.
 */
static int join_has_tasks(struct join *join, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_TASK, error);
        if (r >= 0)
                r = run_scan_next(&scan, error);
        join->any_keyed = r > 0 && scan.values[TASK_EXECUTION].type == RUN_INT;
        run_scan_end(&scan);
        return r;
}

static int join_compare(int64_t a, int64_t b)
{
        return (a > b) - (a < b);
}

static int join_by_worker(const void *a, const void *b)
{
        const struct join_node *x = *(struct join_node *const *)a;
        const struct join_node *y = *(struct join_node *const *)b;
        int r;

        if ((r = join_compare(x->worker, y->worker)) ||
            (r = join_compare(join_time_of(x), join_time_of(y))) ||
            (r = join_compare(y->is_task, x->is_task)))
                return r;
        return join_compare(x->id, y->id);
}

static int join_by_execution(const void *a, const void *b)
{
        const struct join_node *x = *(struct join_node *const *)a;
        const struct join_node *y = *(struct join_node *const *)b;
        int r;

        if ((r = join_compare(x->worker, y->worker)) ||
            (r = join_compare(x->execution, y->execution)) ||
            (r = join_compare(y->is_task, x->is_task)) ||
            (r = join_compare(x->start_utc_ns, y->start_utc_ns)))
                return r;
        return join_compare(x->id, y->id);
}

static int join_by_time(const void *a, const void *b)
{
        const struct join_node *x = *(struct join_node *const *)a;
        const struct join_node *y = *(struct join_node *const *)b;
        int r;

        if ((r = join_compare(x->start_utc_ns, y->start_utc_ns)) ||
            (r = join_compare(x->is_task, y->is_task)))
                return r;
        return join_compare(x->id, y->id);
}

void join_pair(struct join_node **nodes, size_t at, struct join_node *task)
{
        task->merged = true;
        task->task = (int64_t)at + 1;
        nodes[at]->task = task->id;
}

void join_settle(struct join_node **nodes, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct join_node *task = nodes[i], *record;

                if (!task->is_task || !task->task)
                        continue;
                record = nodes[task->task - 1];
                task->task = 0;
                record->output_bytes = task->output_bytes;
                if (task->outcome == CHUNK_SKIPPED && record->outcome == CHUNK_FAILED)
                        record->outcome = CHUNK_SKIPPED;
                else if ((task->outcome == CHUNK_FAILED || task->outcome == CHUNK_CANCELLED) &&
                         record->outcome == CHUNK_FINISHED)
                        record->outcome = task->outcome;
        }
}

static size_t join_count_lost(struct join_node **nodes, size_t n)
{
        size_t n_lost = 0;

        for (size_t i = 0; i < n; i++)
                n_lost += nodes[i]->outcome == CHUNK_LOST;
        return n_lost;
}

/* Of one task and one worker, by execution: each task is followed by its records. */
static void join_executions(struct join_node **nodes, size_t n)
{
        struct join_node *task = NULL;

        for (size_t i = 0; i < n; i++) {
                struct join_node *node = nodes[i];

                if (node->outcome == CHUNK_LOST)
                        continue;
                if (node->is_task)
                        task = node;
                else if (task && task->execution == node->execution)
                        join_pair(nodes, i, task);
        }
        join_settle(nodes, n);
}

static void join_sort_nodes(struct join_node **nodes, size_t n,
                            int (*order)(const void *, const void *))
{
        if (n > FEW) {
                qsort(nodes, n, sizeof(struct join_node *), order);
                return;
        }
        for (size_t i = 1; i < n; i++) {
                struct join_node *node = nodes[i];
                size_t j = i;

                for (; j > 0 && order(&nodes[j - 1], &node) > 0; j--)
                        nodes[j] = nodes[j - 1];
                nodes[j] = node;
        }
}

/* Finished attempts whose result was lost, the latest first; the word of it is part of them. */
static void join_lost(struct join_node **nodes, size_t n)
{
        size_t n_lost = join_count_lost(nodes, n), n_joined = 0;

        if (n_lost == 0)
                return;
        join_sort_nodes(nodes, n, join_by_worker);

        for (size_t i = n; i-- > 0 && n_joined < n_lost;) {
                struct join_node *node = nodes[i];

                if (node->outcome == CHUNK_FINISHED && !node->merged) {
                        node->lost = true;
                        n_joined++;
                }
        }
        for (size_t i = 0; i < n; i++) {
                struct join_node *node = nodes[i];

                if (node->lost) {
                        node->outcome = CHUNK_LOST;
                } else if (node->outcome == CHUNK_LOST && n_joined > 0) {
                        node->merged = true;
                        n_joined--;
                }
        }
}

static void join_count(struct join *join, struct join_node **nodes, size_t n)
{
        uint32_t number = 0;

        join_sort_nodes(nodes, n, join_by_time);
        for (size_t i = 0; i < n; i++) {
                if (nodes[i]->merged)
                        continue;
                nodes[i]->number = ++number;
                join->n_alone += nodes[i]->is_task;
        }
}

/* The end of those with the same worker, from one on */
static size_t join_same_worker(struct join_node *const *nodes, size_t n, size_t from)
{
        size_t end = from + 1;

        while (end < n && nodes[end]->worker == nodes[from]->worker)
                end++;
        return end;
}

static bool join_has_record(struct join_node *const *nodes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!nodes[i]->is_task)
                        return true;
        return false;
}

/* Everything about one task */
static void join_task(struct join *join, struct join_node **nodes, size_t n)
{
        if (join->any_plain && !join_has_record(nodes, n)) { /* its records may know no key */
                for (size_t i = 0; i < n; i++)
                        nodes[i]->by_key = false;
                return;
        }
        join_sort_nodes(nodes, n, join_by_execution);
        for (size_t i = 0, end; i < n; i = end) {
                end = join_same_worker(nodes, n, i);
                join_executions(nodes + i, end - i);
                join_lost(nodes + i, end - i);
        }
        join_count(join, nodes, n);
}

/* Everything about one chunk, but for what is known by tasks */
static void join_chunk(struct join *join, struct join_node **nodes, size_t n)
{
        if (nodes[0]->by_key)
                return;
        join_sort_nodes(nodes, n, join_by_worker);
        for (size_t i = 0, end; i < n; i = end) {
                end = join_same_worker(nodes, n, i);
                if (!nodes[i]->worker)
                        continue;
                join->by_time |= join_times(nodes + i, end - i);
                join_lost(nodes + i, end - i);
        }
        join_count(join, nodes, n);
}

static void join_either(struct join *join, struct join_node **nodes, size_t n)
{
        if (nodes[0]->by_key)
                join_task(join, nodes, n);
        else if (!join->any_plain || !join->any_keyed) /* else these wait for tasks to join them */
                join_chunk(join, nodes, n);
}

/*
 * Where each task has a process of its own (TaskVine), records do not know the worker by the name
 * that the tasks have for it: chunk and time alone join them.
 */
static void join_strangers(struct join *join, struct join_node **nodes, size_t n)
{
        if (nodes[0]->by_key)
                return;
        for (size_t i = 0; i < n; i++) {
                join->n_alone -= nodes[i]->is_task && !nodes[i]->merged;
                nodes[i]->worker = 1;
        }
        join_sort_nodes(nodes, n, join_by_worker);
        join_times(nodes, n);
        join_count(join, nodes, n);
}

static int join_by_group(const void *a, const void *b)
{
        uint64_t x = join_group_of(*(struct join_node *const *)a);
        uint64_t y = join_group_of(*(struct join_node *const *)b);

        return (x > y) - (x < y);
}

static void join_fetch_ahead(struct join_node **nodes, size_t n, size_t at)
{
        for (size_t i = at + AHEAD; i < n && i < at + AHEAD + 2; i++)
                __builtin_prefetch(nodes[i], 1);
}

static void join_each(struct join *join, struct join_node **nodes, size_t n,
                      void (*visit)(struct join *, struct join_node **, size_t))
{
        size_t same;

        for (size_t i = 0; i < n; i += same) {
                uint64_t group = join_group_of(nodes[i]);

                join_fetch_ahead(nodes, n, i);
                for (same = 1; i + same < n && join_group_of(nodes[i + same]) == group; same++)
                        ;
                visit(join, nodes + i, same);
        }
}

/*
 * Nodes of known groups, by group. Hashes are spread evenly: their first bits tell the bucket, in
 * which there are nearly always one or two groups.
 */
static int join_order(const struct join *join, struct join_node **nodes, size_t *n)
{
        ROAST_CLEANUP(cleanup_free) size_t *ends = NULL;
        unsigned int shift = 63;
        size_t n_buckets;

        while (shift > 1 && (join->n >> (63 - shift)) > 1)
                shift--;
        n_buckets = (size_t)1 << (64 - shift);
        ends = calloc(n_buckets + 1, sizeof(*ends));
        if (!ends)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < join->n; i++)
                if (join_group_of(&join->nodes[i]))
                        ends[(join_group_of(&join->nodes[i]) >> shift) + 1]++;
        for (size_t i = 0; i < n_buckets; i++)
                ends[i + 1] += ends[i];
        for (size_t i = 0; i < join->n; i++) /* each bucket's begin moves to its end */
                if (join_group_of(&join->nodes[i]))
                        nodes[ends[join_group_of(&join->nodes[i]) >> shift]++] = &join->nodes[i];
        *n = ends[n_buckets - 1];
        for (size_t i = 0, begin = 0; i < n_buckets; begin = ends[i++]) {
                join_fetch_ahead(nodes, *n, begin);
                join_sort_nodes(nodes + begin, ends[i] - begin, join_by_group);
        }
        return 0;
}

static int join_all(struct join *join)
{
        ROAST_CLEANUP(cleanup_free)
        struct join_node **nodes = calloc(join->n, sizeof(struct join_node *));
        size_t n;

        if (!nodes || join_order(join, nodes, &n) < 0)
                return ROAST_E_NOMEM;
        join_each(join, nodes, n, join_either);
        if (join->any_plain && join->any_keyed) {
                if (join_order(join, nodes, &n) < 0)
                        return ROAST_E_NOMEM;
                join_each(join, nodes, n, join_chunk);
        }
        if (join->any_plain && !join->by_time && join->n > join->n_records)
                join_each(join, nodes, n, join_strangers);
        return 0;
}

int join_run(struct join *join, struct roast_run *run, struct roast_error *error)
{
        int r;

        *join = (struct join){ 0 };
        r = join_has_tasks(join, run, error);
        if (r == 0)
                r = join_has_lost_records(run, error);
        if (r <= 0)
                return r;
        r = join_add_records(join, run, error);
        if (r >= 0)
                r = join_add_tasks(join, run, error);
        if (r < 0 || join->n == 0)
                return r;
        return join_all(join) < 0 ? roast_fail_nomem(error) : 0;
}
