/*
 * run/attempts: random schedules of attempts against what really happened in them
 *
 * Tasks fail fast and are tried again, on the same worker or another, in several threads; several
 * tasks are about the same chunk; process() is called again within a task; workers die and take
 * what they had with them. Rows come in any order.
 */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/attempts.h"
#include "sample.h"
#include "summed.h"
#include "util/cleanup.h"
#include "util/size.h"

#define SCHEDULES 3000
#define TASKS     6
#define TRIES     4
#define WORKERS   3
#define ROWS_MAX  (TASKS * TRIES * 6)
#define MS        (S / 1000)

/* A row that is to be added, and what is expected of it: its outcome, or that it is no attempt */
struct row {
        bool is_task;
        unsigned int worker;
        unsigned int key;
        int64_t execution;
        int64_t at;
        int64_t stop;
        enum chunk_outcome outcome;
};

struct schedule {
        struct row rows[ROWS_MAX];
        size_t n;
        int64_t counts[CHUNK_N_OUTCOMES]; /* what really happened */
        bool tasks_know;                  /* which execution they are of */
        bool records_know;
        uint64_t seed;
};

static unsigned int below(uint64_t *seed, unsigned int limit)
{
        return (unsigned int)sample_below(seed, limit);
}

static void add(struct schedule *schedule, struct row row)
{
        schedule->rows[schedule->n++] = row;
}

/* Keys 0 and 1, 2 and 3, ... are about the same chunk. */
static int64_t chunk_start(unsigned int key)
{
        return key / 2 * 100;
}

static int64_t execution_of(unsigned int key, unsigned int count)
{
        return (int64_t)((uint64_t)(key + 1) * 0x9e3779b97f4aull % (1ull << 47) << 16 | count);
}

/* One execution from `at` on, which returns whether the task has to be tried again. */
static bool execute(struct schedule *schedule, unsigned int key, unsigned int worker,
                    unsigned int count, int64_t *at, bool dies)
{
        uint64_t *seed = &schedule->seed;
        unsigned int n_records = below(seed, 4);
        bool fails = below(seed, 2), told = !dies || below(seed, 2);
        int64_t execution = execution_of(key, n_records ? count : 0);
        int64_t begin = *at, end = begin + (1 + below(seed, 40)) * MS;
        enum chunk_outcome outcome = CHUNK_FINISHED;

        for (unsigned int i = 0; i < n_records; i++) {
                bool last = i + 1 == n_records;

                outcome = last && !fails ? CHUNK_FINISHED : CHUNK_FAILED;
                add(schedule, (struct row){ .worker = worker,
                                            .key = key,
                                            .execution = execution,
                                            .at = begin + (end - begin) * (i + 1) / 5,
                                            .outcome = outcome });
                if (!last || outcome == CHUNK_FAILED)
                        schedule->counts[CHUNK_FAILED]++;
        }
        *at = end + below(seed, 3) * MS;
        if (fails || told)
                add(schedule, (struct row){ .is_task = true,
                                            .worker = worker,
                                            .key = key,
                                            .execution = execution,
                                            .at = begin,
                                            .stop = end,
                                            .outcome = fails ? CHUNK_FAILED : CHUNK_FINISHED });
        if (fails) {
                schedule->counts[CHUNK_FAILED] += n_records == 0;
                return true;
        }
        if (dies)
                add(schedule, (struct row){ .is_task = true,
                                            .worker = worker,
                                            .key = key,
                                            .execution = execution_of(key, 0),
                                            .stop = end + S,
                                            .outcome = CHUNK_LOST });
        schedule->counts[dies ? CHUNK_LOST : CHUNK_FINISHED]++;
        return dies;
}

/* Tasks start at about the same time; a worker that dies is not there any more for this task. */
static void make(struct schedule *schedule, uint64_t seed, bool keys)
{
        *schedule = (struct schedule){ .seed = seed, .tasks_know = keys, .records_know = keys };
        for (unsigned int key = 0; key < TASKS; key++) {
                int64_t at = UTC + below(&schedule->seed, 30) * MS;
                unsigned int first = 0;

                for (unsigned int i = 0; i < TRIES; i++) {
                        unsigned int worker = first + below(&schedule->seed, WORKERS);
                        bool dies = keys && below(&schedule->seed, 5) == 0;

                        if (!execute(schedule, key, worker, key * TRIES + i + 1, &at, dies))
                                break;
                        if (dies)
                                first += WORKERS;
                }
        }
}

static void add_record(struct roast_run *run, const struct row *row, const char *worker, bool keys)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;

        chunk_table_init(&table);
        assert_int_equal(chunk_table_add(&table), 0);
        chunk_table_set_text(&table, 0, CHUNK_DATASET, "data", 4);
        chunk_table_set_text(&table, 0, CHUNK_FILE, "a.root", 6);
        chunk_table_set_text(&table, 0, CHUNK_TREE, "Events", 6);
        chunk_table_set_text(&table, 0, CHUNK_WORKER, worker, strlen(worker));
        chunk_table_set(&table, 0, CHUNK_THREAD, row->key);
        chunk_table_set(&table, 0, CHUNK_ENTRY_START, chunk_start(row->key));
        chunk_table_set(&table, 0, CHUNK_ENTRY_STOP, chunk_start(row->key) + 100);
        chunk_table_set(&table, 0, CHUNK_START_UTC_NS, row->at);
        chunk_table_set(&table, 0, CHUNK_OUTCOME, row->outcome);
        if (keys)
                chunk_table_set(&table, 0, CHUNK_EXECUTION, row->execution);
        add_table(run, &table);
}

static void add_task(struct roast_run *run, const struct row *row, const char *worker, bool keys)
{
        struct roast_task task = ROAST_TASK_INIT;
        char key[16];

        snprintf(key, sizeof(key), "task-%u", row->key);
        task.key = key;
        task.worker = worker;
        task.outcome = row->outcome;
        task.start_utc_ns = row->at ? row->at : -1;
        task.stop_utc_ns = row->stop;
        task.dataset = "data";
        task.file = "a.root";
        task.tree = "Events";
        task.entry_start = chunk_start(row->key);
        task.entry_stop = task.entry_start + 100;
        if (keys)
                task.execution = row->execution;
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
}

static struct roast_run *shuffled(struct schedule *schedule)
{
        struct roast_run *run = new_run();

        for (size_t i = schedule->n; i-- > 0;) {
                size_t j = below(&schedule->seed, (unsigned int)i + 1);
                struct row row = schedule->rows[j];
                char worker[32];

                schedule->rows[j] = schedule->rows[i];
                snprintf(worker, sizeof(worker), "tcp://10.0.0.%u:1", row.worker);
                if (row.is_task)
                        add_task(run, &row, worker, schedule->tasks_know);
                else
                        add_record(run, &row, worker, schedule->records_know);
        }
        assert_int_equal(roast_run_commit(run, NULL), 0);
        return run;
}

struct counted {
        int64_t counts[CHUNK_N_OUTCOMES];
        int64_t n;
        bool ambiguous;
};

static int count(const struct run_attempt *attempt, void *context, struct roast_error *error)
{
        struct counted *counted = context;

        (void)error;
        counted->counts[attempt->outcome]++;
        counted->n++;
        counted->ambiguous |= attempt->ambiguous;
        return 0;
}

static struct counted counted_of(struct schedule *schedule)
{
        struct roast_run *run = shuffled(schedule);
        struct counted counted = { 0 };

        assert_int_equal(roast_run_attempts(run, count, &counted, NULL), 0);
        roast_run_free(run);
        return counted;
}

static void test_every_attempt_counts_once_for_what_became_of_it(void **state)
{
        struct schedule schedule;

        (void)state;
        for (uint64_t i = 1; i <= SCHEDULES; i++) {
                struct counted counted;

                make(&schedule, i, true);
                counted = counted_of(&schedule);
                assert_false(counted.ambiguous);
                for (size_t j = 0; j < CHUNK_N_OUTCOMES; j++)
                        if (counted.counts[j] != schedule.counts[j])
                                fail_msg("schedule %d: %d attempts with outcome %zu, %d expected",
                                         (int)i, (int)counted.counts[j], j,
                                         (int)schedule.counts[j]);
        }
}

static void test_without_executions_nothing_is_counted_twice_and_doubt_is_marked(void **state)
{
        size_t n_sure = 0, n_in_doubt = 0;
        struct schedule schedule;

        (void)state;
        for (uint64_t i = 1; i <= SCHEDULES; i++) {
                struct counted counted;
                int64_t n = 0;

                make(&schedule, i, false);
                schedule.tasks_know = i % 2; /* records that a user brings do not */
                counted = counted_of(&schedule);
                for (size_t j = 0; j < CHUNK_N_OUTCOMES; j++)
                        n += schedule.counts[j];
                assert_true(counted.n <= n);
                n_in_doubt += counted.ambiguous;
                if (counted.ambiguous)
                        continue;
                n_sure++;
                for (size_t j = 0; j < CHUNK_N_OUTCOMES; j++)
                        assert_int_equal(counted.counts[j], schedule.counts[j]);
        }
        assert_true(n_sure > SCHEDULES / 10);
        assert_true(n_in_doubt > SCHEDULES / 10);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_every_attempt_counts_once_for_what_became_of_it),
                cmocka_unit_test(
                        test_without_executions_nothing_is_counted_twice_and_doubt_is_marked),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
