/*
 * Records that do not say which execution of a task made them find it by time
 *
 * Among the tasks about their chunk, on their worker, it is the one during which
 * they began. Where several ran at that time, each gets a record before one gets
 * two, the first to end first: so the fewest are left that count as attempts of
 * their own. Which is whose is then assumed, and marked.
 */

#include "record/chunk.h"
#include "run/join.h"

/* By how much the clocks of a record and of its task may differ */
#define SLACK_NS INT64_C(100000000)
/* No more tasks than this that ran at a time are compared for one record */
#define MANY 256

/* Among those of one worker, a task begins a little before its record. */
int64_t join_time_of(const struct join_node *node)
{
        int64_t begin;

        if (!node->is_task || __builtin_sub_overflow(node->start_utc_ns, SLACK_NS, &begin))
                return node->start_utc_ns;
        return begin;
}

static bool join_is_within(const struct join_node *record, const struct join_node *task,
                           int64_t slack_ns)
{
        int64_t end;

        if (__builtin_add_overflow(task->stop_utc_ns, slack_ns, &end))
                return true;
        return record->start_utc_ns <= end &&
               (slack_ns || record->start_utc_ns >= task->start_utc_ns);
}

/* The better of two tasks for a record: without one, and then the first to end */
static struct join_node *join_better(struct join_node *a, struct join_node *b)
{
        if (!a || a->merged != b->merged)
                return !a || a->merged ? b : a;
        return a->merged == (b->stop_utc_ns > a->stop_utc_ns) ? b : a;
}

/* The task of a record, among those before it; several fit if they ran at the same time. */
static struct join_node *join_find_task(struct join_node **nodes, size_t first, size_t at,
                                        bool *ambiguous)
{
        struct join_node *strict = NULL, *near = NULL;
        size_t n_strict = 0, n_near = 0;

        for (size_t i = first; i < at && i < first + MANY; i++) {
                struct join_node *task = nodes[i];

                if (!task->is_task || task->outcome == CHUNK_LOST ||
                    !join_is_within(nodes[at], task, SLACK_NS))
                        continue;
                near = join_better(near, task);
                n_near++;
                if (join_is_within(nodes[at], task, 0)) {
                        strict = join_better(strict, task);
                        n_strict++;
                }
        }
        *ambiguous = strict ? n_strict > 1 : n_near > 1;
        return strict ? strict : near;
}

/* Of one chunk and one worker, by time: records find their tasks. */
bool join_times(struct join_node **nodes, size_t n)
{
        bool joined = false, ambiguous;
        size_t first = 0;

        for (size_t i = 0; i < n; i++) {
                struct join_node *record = nodes[i], *task;

                if (record->is_task || record->outcome == CHUNK_LOST)
                        continue;
                while (first < i &&
                       (!nodes[first]->is_task || !join_is_within(record, nodes[first], SLACK_NS)))
                        first++;
                task = join_find_task(nodes, first, i, &ambiguous);
                record->ambiguous = ambiguous;
                if (task) {
                        join_pair(nodes, i, task);
                        joined = true;
                }
        }
        join_settle(nodes, n);
        return joined;
}
