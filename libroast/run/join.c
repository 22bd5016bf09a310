/*
 * Which records, tasks and words of a loss are one attempt: see join.h.
 *
 * Records and tasks of one chunk come together by the hash of the chunk, spread
 * over buckets. Among these few, those of one worker are joined by their times,
 * and the attempts that remain are counted.
 */

#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "run/join.h"
#include "util/array.h"
#include "util/cleanup.h"

/* By how much the clocks of a record and of its task may differ */
#define SLACK_NS INT64_C(100000000)
/* Above this many, a general sort is faster than shifting */
#define FEW 32
/* Nodes of one chunk lie far apart: so many places before their turn they are fetched */
#define AHEAD 16

/* Columns of a record up to the last that is needed */
#define RECORD_COLUMNS (CHUNK_START_UTC_NS + 1)

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

        return (struct join_node){
                .chunk = join_chunk_of(&values[CHUNK_DATASET], &values[CHUNK_FILE],
                                       &values[CHUNK_TREE], &values[CHUNK_ENTRY_START],
                                       &values[CHUNK_ENTRY_STOP]),
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

        return (struct join_node){
                .chunk =
                        join_chunk_of(&values[TASK_DATASET], &values[TASK_FILE], &values[TASK_TREE],
                                      &values[TASK_ENTRY_START], &values[TASK_ENTRY_STOP]),
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
                if (node.chunk && scan.values[TASK_ENTRY_START].type == RUN_INT)
                        r = join_add(join, &node, error);
        }
        run_scan_end(&scan);
        return r;
}

static int join_add_records(struct join *join, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_skim(&scan, run, RUN_CHUNK, RECORD_COLUMNS, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                struct join_node node = join_record_node(&scan);

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

static int join_has_tasks(struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_TASK, error);
        if (r >= 0)
                r = run_scan_next(&scan, error);
        run_scan_end(&scan);
        return r;
}

static int join_compare(int64_t a, int64_t b)
{
        return (a > b) - (a < b);
}

/* Among those of one worker, a task begins a little before its record. */
static int64_t join_begin_of(const struct join_node *node)
{
        int64_t begin;

        if (!node->is_task || __builtin_sub_overflow(node->start_utc_ns, SLACK_NS, &begin))
                return node->start_utc_ns;
        return begin;
}

static int join_by_worker(const void *a, const void *b)
{
        const struct join_node *x = *(struct join_node *const *)a;
        const struct join_node *y = *(struct join_node *const *)b;
        int r;

        if ((r = join_compare(x->worker, y->worker)) ||
            (r = join_compare(join_begin_of(x), join_begin_of(y))) ||
            (r = join_compare(y->is_task, x->is_task)))
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

static bool join_is_within(const struct join_node *record, const struct join_node *task)
{
        int64_t end;

        return __builtin_add_overflow(task->stop_utc_ns, SLACK_NS, &end) ||
               record->start_utc_ns <= end;
}

/* The last record of a task shares its end. */
static void join_settle(struct join_node *record, const struct join_node *task)
{
        if (!record)
                return;
        record->output_bytes = task->output_bytes;
        if (task->outcome == CHUNK_SKIPPED && record->outcome == CHUNK_FAILED)
                record->outcome = CHUNK_SKIPPED;
        else if ((task->outcome == CHUNK_FAILED || task->outcome == CHUNK_CANCELLED) &&
                 record->outcome == CHUNK_FINISHED)
                record->outcome = task->outcome;
}

/* Attempts at one chunk, of one worker, by time: records find their tasks. */
static size_t join_records(struct join_node **nodes, size_t n, bool *joined)
{
        struct join_node *task = NULL, *last = NULL;
        size_t n_lost = 0;

        for (size_t i = 0; i < n; i++) {
                struct join_node *node = nodes[i];

                if (node->outcome == CHUNK_LOST) {
                        n_lost++;
                } else if (node->is_task) {
                        join_settle(last, task);
                        task = node;
                        last = NULL;
                } else if (task && join_is_within(node, task)) {
                        task->merged = *joined = true;
                        node->task = task->id;
                        last = node;
                }
        }
        join_settle(last, task);
        return n_lost;
}

/* Finished attempts whose result was lost, the latest first; the word of it is part of them. */
static void join_lost(struct join_node **nodes, size_t n, size_t n_lost)
{
        size_t n_joined = 0;

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

/* Everything about one chunk; returns whether a record has found its task. */
static bool join_chunk(struct join *join, struct join_node **nodes, size_t n)
{
        bool joined = false;
        size_t same;

        join_sort_nodes(nodes, n, join_by_worker);
        for (size_t i = 0; i < n; i += same) {
                for (same = 1; i + same < n && nodes[i + same]->worker == nodes[i]->worker; same++)
                        ;
                if (nodes[i]->worker)
                        join_lost(nodes + i, same, join_records(nodes + i, same, &joined));
        }
        join_count(join, nodes, n);
        return joined;
}

/*
 * Where each task has a process of its own (TaskVine), records do not know the worker by the name
 * that the tasks have for it: chunk and time alone join them.
 */
static bool join_strangers(struct join *join, struct join_node **nodes, size_t n)
{
        bool joined = false;

        for (size_t i = 0; i < n; i++)
                nodes[i]->worker = 1;
        join_sort_nodes(nodes, n, join_by_worker);
        join_records(nodes, n, &joined);
        join_count(join, nodes, n);
        return joined;
}

static int join_by_chunk(const void *a, const void *b)
{
        const struct join_node *x = *(struct join_node *const *)a;
        const struct join_node *y = *(struct join_node *const *)b;

        return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static void join_fetch_ahead(struct join_node **nodes, size_t n, size_t at)
{
        for (size_t i = at + AHEAD; i < n && i < at + AHEAD + 2; i++)
                __builtin_prefetch(nodes[i], 1);
}

/* Returns whether any of them says so. */
static bool join_each_chunk(struct join *join, struct join_node **nodes, size_t n,
                            bool (*visit)(struct join *, struct join_node **, size_t))
{
        bool any = false;
        size_t same;

        join->n_alone = 0;
        for (size_t i = 0; i < n; i += same) {
                join_fetch_ahead(nodes, n, i);
                for (same = 1; i + same < n && nodes[i + same]->chunk == nodes[i]->chunk; same++)
                        ;
                any |= visit(join, nodes + i, same);
        }
        return any;
}

/*
 * Nodes of known chunks, by chunk. Hashes are spread evenly: their first bits tell the bucket, in
 * which there are nearly always one or two chunks.
 */
static int join_order_by_chunk(const struct join *join, struct join_node **nodes, size_t *n)
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
                if (join->nodes[i].chunk)
                        ends[(join->nodes[i].chunk >> shift) + 1]++;
        for (size_t i = 0; i < n_buckets; i++)
                ends[i + 1] += ends[i];
        for (size_t i = 0; i < join->n; i++) /* each bucket's begin moves to its end */
                if (join->nodes[i].chunk)
                        nodes[ends[join->nodes[i].chunk >> shift]++] = &join->nodes[i];
        *n = ends[n_buckets - 1];
        for (size_t i = 0, begin = 0; i < n_buckets; begin = ends[i++]) {
                join_fetch_ahead(nodes, *n, begin);
                join_sort_nodes(nodes + begin, ends[i] - begin, join_by_chunk);
        }
        return 0;
}

static int join_all(struct join *join)
{
        ROAST_CLEANUP(cleanup_free)
        struct join_node **nodes = calloc(join->n, sizeof(struct join_node *));
        size_t n;

        if (!nodes || join_order_by_chunk(join, nodes, &n) < 0)
                return ROAST_E_NOMEM;
        if (!join_each_chunk(join, nodes, n, join_chunk) && join->n_records &&
            join->n > join->n_records)
                join_each_chunk(join, nodes, n, join_strangers);
        return 0;
}

int join_run(struct join *join, struct roast_run *run, struct roast_error *error)
{
        int r;

        *join = (struct join){ 0 };
        r = join_has_tasks(run, error);
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
