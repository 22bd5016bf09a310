/* TaskVine's `transactions`: workers and attempts at tasks, in the order of their times */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/vine-state.h"
#include "record/chunk.h"
#include "util/size.h"
#include "util/text.h"

/* What RETRIEVED says was measured; NaN: nothing */
struct vine_measured {
        double time_worker_start, time_worker_end;
        double time_input_mgr, time_output_mgr;
        double size_input_mgr, size_output_mgr;
        double cpu_time, memory;
};

/*
 * A recovery makes a result again that was counted before: it is a task, but no further attempt at
 * its chunk.
 */
static int vine_add_attempt(struct vine *vine, struct vine_task *task, struct roast_task row)
{
        static const struct vine_task no_chunk = { .dataset = VINE_NONE,
                                                   .file = VINE_NONE,
                                                   .tree = VINE_NONE,
                                                   .uuid = VINE_NONE,
                                                   .entry_start = VINE_NONE,
                                                   .entry_stop = VINE_NONE };
        struct vine_task *root = &vine->tasks[task->root];
        const struct vine_task *chunk = task->recovery ? &no_chunk : root;
        char key[24], *prefix, *worker, *dataset, *file, *tree, *uuid;
        int r;

        (void)snprintf(key, sizeof(key), "%" PRId64, task->id);
        row.key = key;
        row.prefix = prefix =
                task->recovery ? strdup("recovery") : vine_text(&vine->names, task->category);
        row.worker = worker = vine_text(&vine->worker_ids, task->worker);
        row.dataset = dataset = vine_text(&vine->names, chunk->dataset);
        row.file = file = vine_text(&vine->names, chunk->file);
        row.tree = tree = vine_text(&vine->names, chunk->tree);
        row.uuid = uuid = vine_text(&vine->names, chunk->uuid);
        row.attempt = ++root->attempts;
        row.entry_start = chunk->entry_start;
        row.entry_stop = chunk->entry_stop;
        if ((!prefix && (task->recovery || task->category >= 0)) ||
            (!worker && task->worker >= 0) || (!dataset && chunk->dataset >= 0) ||
            (!file && chunk->file >= 0) || (!tree && chunk->tree >= 0) ||
            (!uuid && chunk->uuid >= 0))
                r = roast_fail_nomem(vine->error);
        else
                r = roast_run_add_task(vine->run, &row, vine->error);
        free(prefix);
        free(worker);
        free(dataset);
        free(file);
        free(tree);
        free(uuid);
        task->running_us = task->ended_us = VINE_NONE;
        return r;
}

/* An attempt that the manager did not get a result of: its worker went, or the log ends. */
static int vine_end_without_result(struct vine *vine, struct vine_task *task, int64_t us,
                                   int outcome)
{
        struct roast_task row = ROAST_TASK_INIT;

        row.outcome = outcome;
        row.start_utc_ns = task->running_us * 1000;
        row.stop_utc_ns = us * 1000;
        return vine_add_attempt(vine, task, row);
}

static void vine_note_measured(const struct json_text *name, double value, void *context)
{
        struct vine_measured *measured = context;
        const struct {
                const char *name;
                double *value;
        } known[] = {
                { "time_worker_start", &measured->time_worker_start },
                { "time_worker_end", &measured->time_worker_end },
                { "time_input_mgr", &measured->time_input_mgr },
                { "time_output_mgr", &measured->time_output_mgr },
                { "size_input_mgr", &measured->size_input_mgr },
                { "size_output_mgr", &measured->size_output_mgr },
                { "cpu_time", &measured->cpu_time },
                { "memory", &measured->memory },
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(known); i++)
                if (json_text_is(name, known[i].name))
                        *known[i].value = value;
}

/* -1 for what is not there or cannot be: TaskVine's own subtractions can wrap around. */
static int64_t vine_seconds_ns(double seconds)
{
        return seconds >= 0 && seconds < 4e9 ? llround(seconds * 1e6) * 1000 : -1;
}

static int64_t vine_megabytes(double size)
{
        return size >= 0 && size < 1e12 ? llround(size * 1048576) : -1;
}

static int64_t vine_sum_known(int64_t a, int64_t b)
{
        return a < 0 ? b : b < 0 ? a : a + b;
}

/* RETRIEVED result exit-code {limits} {measured}. A Python exception is SUCCESS with exit code 1.
 */
static int vine_read_retrieved(struct vine *vine, struct vine_task *task, int64_t us, char *at)
{
        struct vine_measured measured = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
        struct roast_task row = ROAST_TASK_INIT;
        const char *result = vine_word(&at), *code = vine_word(&at);
        const char *second = strstr(at, "} {");
        bool success = !strcmp(result, "SUCCESS");
        char message[64];
        int r = 0;

        if (task->running_us < 0)
                return vine_skip(vine);
        if (second)
                r = vine_resources(second + 2, vine_note_measured, &measured);
        if (r < 0)
                return roast_fail_nomem(vine->error);
        if (r == 0)
                vine->skipped++;
        row.outcome = success && !strcmp(code, "0") ? CHUNK_FINISHED : CHUNK_FAILED;
        row.start_utc_ns = vine_seconds_ns(measured.time_worker_start);
        row.stop_utc_ns = vine_seconds_ns(measured.time_worker_end);
        if (row.start_utc_ns < 0 || row.stop_utc_ns < row.start_utc_ns) {
                row.start_utc_ns = task->running_us * 1000;
                row.stop_utc_ns = (task->ended_us < 0 ? us : task->ended_us) * 1000;
        }
        row.compute_start_utc_ns = row.start_utc_ns;
        row.compute_ns = row.stop_utc_ns - row.start_utc_ns;
        row.transfer_ns = vine_sum_known(vine_seconds_ns(measured.time_input_mgr),
                                         vine_seconds_ns(measured.time_output_mgr));
        row.transfer_bytes = vine_megabytes(measured.size_input_mgr);
        row.result_bytes = vine_megabytes(measured.size_output_mgr);
        row.cpu_ns = vine_seconds_ns(measured.cpu_time);
        if (row.cpu_ns >= 0) /* else memory is what the task was allotted */
                row.peak_memory_bytes = vine_megabytes(measured.memory);
        if (row.outcome == CHUNK_FAILED) {
                (void)snprintf(message, sizeof(message), "exit code %.16s", code);
                row.error_type = success ? "ExitCode" : result;
                row.error_message = success ? message : NULL;
        }
        return vine_add_attempt(vine, task, row);
}

static int vine_transactions_read_task(struct vine *vine, int64_t us, char *at)
{
        int64_t id = vine_number(vine_word(&at)), index, number;
        const char *what = vine_word(&at), *name;
        struct vine_task *task;

        if (id < 0)
                return vine_skip(vine);
        index = vine_task_index(vine, id);
        if (index < 0)
                return (int)index;
        task = &vine->tasks[index];
        if (!strcmp(what, "READY") || !strcmp(what, "WAITING")) {
                name = vine_word(&at);
                number = vine_put(vine, &vine->names, name, strlen(name));
                if (number < 0)
                        return (int)number;
                task->category = number;
                return task->running_us < 0 ? 0
                                            : vine_end_without_result(vine, task, us, CHUNK_LOST);
        }
        if (!strcmp(what, "RUNNING")) {
                number = vine_worker_index(vine, vine_word(&at));
                if (number < 0)
                        return (int)number;
                task->worker = number;
                task->running_us = us;
                task->ended_us = VINE_NONE;
        } else if (!strcmp(what, "WAITING_RETRIEVAL")) {
                task->ended_us = us;
        } else if (!strcmp(what, "RETRIEVED")) {
                return vine_read_retrieved(vine, task, us, at);
        }
        return 0;
}

static int vine_read_line(struct vine *vine, char *at)
{
        int64_t us = vine_number(vine_word(&at));
        const char *what;

        if (us < 0 || us > INT64_MAX / 4000) /* comments begin with # */
                return 0;
        (void)vine_word(&at); /* the manager's pid */
        what = vine_word(&at);
        if (vine->start_us < 0)
                vine->start_us = us;
        vine->last_us = us;
        if (!strcmp(what, "TASK"))
                return vine_transactions_read_task(vine, us, at);
        if (!strcmp(what, "WORKER"))
                return vine_read_worker(vine, us, at);
        if (!strcmp(what, "APPLICATION"))
                return vine_read_application(vine, at);
        if (!strcmp(what, "MANAGER")) {
                (void)vine_word(&at);
                if (!strcmp(vine_word(&at), "END")) {
                        vine->end_us = us;
                        vine->elapsed_us = vine_number(vine_word(&at));
                        if (vine->elapsed_us > INT64_MAX / 4000)
                                vine->elapsed_us = VINE_NONE;
                }
        }
        return 0;
}

/* How long the run took; VINE_NONE: it has not ended, or its clock was set meanwhile */
static int64_t vine_elapsed_us(const struct vine *vine)
{
        if (vine->start_us < 0 || vine->end_us < 0)
                return VINE_NONE;
        return vine->elapsed_us < 0 ? vine->end_us - vine->start_us : vine->elapsed_us;
}

/* coffea's TaskVineExecutor has a category for each kind of task: this one is about chunks. */
#define CHUNK_CATEGORY "processing"

static bool vine_has_chunk_category(const struct vine *vine)
{
        for (size_t i = 0; i < vine->n_tasks; i++) {
                size_t len;
                const char *name;

                if (vine->tasks[i].category < 0)
                        continue;
                name = intern_get(&vine->names, (size_t)vine->tasks[i].category, &len);
                if (len == strlen(CHUNK_CATEGORY) && !memcmp(name, CHUNK_CATEGORY, len))
                        return true;
        }
        return false;
}

static int vine_add_facts(struct vine *vine)
{
        const struct {
                const char *name;
                int64_t value;
        } facts[] = {
                { "run.start_utc_ns", vine->start_us < 0 ? -1 : vine->start_us * 1000 },
                { "run.end_utc_ns", vine->end_us < 0 ? -1 : vine->end_us * 1000 },
                { "run.elapsed_ns", vine_elapsed_us(vine) < 0 ? -1 : vine_elapsed_us(vine) * 1000 },
                { "vine.tasks", (int64_t)vine->n_tasks },
                { "vine.sent_bytes", vine->bytes_sent },
                { "vine.received_bytes", vine->bytes_received },
                { "import.skipped_lines", vine->skipped },
        };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ROAST_ARRAY_SIZE(facts); i++)
                if (facts[i].value >= 0)
                        r = roast_run_fact_int(vine->run, facts[i].name, facts[i].value,
                                               vine->error);
        if (r >= 0 && vine->end_us >= 0)
                r = roast_run_fact_text(vine->run, "run.outcome", "finished", vine->error);
        if (r >= 0 && vine_has_chunk_category(vine))
                r = roast_run_fact_text(vine->run, "task.chunk_prefix", CHUNK_CATEGORY,
                                        vine->error);
        return r;
}

int vine_transactions_read(struct roast_run *run, FILE *in, const struct vine_graph *graph,
                           struct roast_error *error)
{
        struct vine vine = { .run = run,
                             .graph = graph,
                             .start_us = VINE_NONE,
                             .end_us = VINE_NONE,
                             .last_us = VINE_NONE,
                             .elapsed_us = VINE_NONE,
                             .error = error };
        char *line = malloc(VINE_LINE_MAX);
        int r = line ? 0 : roast_fail_nomem(error);

        while (r >= 0 && vine_line(in, line))
                r = vine_read_line(&vine, line);
        for (size_t i = 0; r >= 0 && i < vine.n_tasks; i++)
                if (vine.tasks[i].running_us >= 0)
                        r = vine_end_without_result(&vine, &vine.tasks[i], vine.last_us,
                                                    CHUNK_RUNNING);
        if (r >= 0)
                r = vine_add_facts(&vine);
        free(line);
        free(vine.tasks);
        free(vine.workers);
        free(vine.item_roots);
        intern_deinit(&vine.names);
        intern_deinit(&vine.ids);
        intern_deinit(&vine.worker_ids);
        intern_deinit(&vine.items);
        return r;
}
