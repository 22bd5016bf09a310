/* What the executor's tasks took, by worker and by kind: see task-times.h. */

#include <stdlib.h>
#include <string.h>

#include "metrics/collect.h"
#include "record/chunk.h"
#include "util/size.h"

void task_times_deinit(struct task_times *sums)
{
        free(sums->workers);
        free(sums->prefixes);
        *sums = (struct task_times){ 0 };
}

static struct task_prefix *task_find_prefix(const struct task_times *sums, int64_t text)
{
        for (size_t i = 0; i < sums->n_prefixes; i++)
                if (sums->prefixes[i].text == text)
                        return &sums->prefixes[i];
        return NULL;
}

/* There are few: the functions that a workflow is made of */
static struct task_prefix *task_prefix_of(struct task_times *sums, int64_t text)
{
        struct task_prefix *grown = task_find_prefix(sums, text);

        if (grown)
                return grown;
        if (sums->n_prefixes == TASK_PREFIXES_MAX) /* the last one stands for all others */
                return &sums->prefixes[TASK_PREFIXES_MAX - 1];
        grown = realloc(sums->prefixes, (sums->n_prefixes + 1) * sizeof(*grown));
        if (!grown)
                return NULL;
        sums->prefixes = grown;
        grown += sums->n_prefixes++;
        *grown = (struct task_prefix){ .text = text };
        return grown;
}

double task_share(const struct task_times *sums, int64_t prefix_text)
{
        const struct task_prefix *prefix = task_find_prefix(sums, prefix_text);
        double all;

        if (!prefix)
                return -1;
        all = prefix->chunk_ns + prefix->other_ns;
        return all > 0 ? prefix->chunk_ns / all : -1;
}

/* From one instant to another, as far as it is within the run */
static double task_within(const struct collect *collect, int64_t from, int64_t to)
{
        if (from < collect->start_utc_ns)
                from = collect->start_utc_ns;
        if (to > collect->end_utc_ns)
                to = collect->end_utc_ns;
        return to > from ? (double)((uint64_t)to - (uint64_t)from) : 0;
}

static bool task_is_int(const struct run_value *value)
{
        return value->type == RUN_INT;
}

/* When an attempt ended: one that has not, with what is known of the run. INT64_MIN: not known */
static int64_t task_stop_of(const struct collect *collect, const struct run_value *values)
{
        if (task_is_int(&values[TASK_STOP_UTC_NS]))
                return values[TASK_STOP_UTC_NS].integer;
        return values[TASK_OUTCOME].integer == CHUNK_RUNNING ? collect->end_utc_ns : INT64_MIN;
}

static double task_lasting(const struct collect *collect, const struct run_value *values)
{
        if (!task_is_int(&values[TASK_START_UTC_NS]))
                return 0;
        return task_within(collect, values[TASK_START_UTC_NS].integer,
                           task_stop_of(collect, values));
}

/* A time on a thread: computing, or, of an attempt without a result, as far as is known */
static double task_computing(const struct collect *collect, const struct run_value *values)
{
        const struct run_value *start = &values[TASK_COMPUTE_START_UTC_NS];
        const struct run_value *length = &values[TASK_COMPUTE_NS];
        int64_t outcome = values[TASK_OUTCOME].integer, stop;

        if (task_is_int(start) && task_is_int(length) &&
            !__builtin_add_overflow(start->integer, length->integer, &stop))
                return task_within(collect, start->integer, stop);
        return outcome == CHUNK_LOST || outcome == CHUNK_RUNNING ? task_lasting(collect, values)
                                                                 : 0;
}

static bool task_is_about_chunk(const struct collect *collect, const struct run_value *values)
{
        const char *prefix;
        size_t len;

        if (task_is_int(&values[TASK_FILE]) && task_is_int(&values[TASK_ENTRY_START]))
                return true;
        prefix = collect_text(collect, &values[TASK_PREFIX], &len);
        return prefix && len && len == strlen(collect->chunk_prefix) &&
               !memcmp(prefix, collect->chunk_prefix, len);
}

/* The CPU time may be that of several processes: a thread is on a core for its own time at most. */
static void task_add_kind(struct task_kind *kind, const struct run_value *values, double compute)
{
        const struct run_value *length = &values[TASK_COMPUTE_NS], *cpu = &values[TASK_CPU_NS];
        double share;

        kind->ns += compute;
        if (!task_is_int(length) || !task_is_int(cpu) || length->integer <= 0 || cpu->integer < 0)
                return;
        share = (double)cpu->integer / (double)length->integer;
        kind->measured_ns += compute;
        kind->cpu_ns += compute * (share < 1 ? share : 1);
}

static int task_note(struct collect *collect, const struct run_value *values)
{
        struct task_times *sums = &collect->times;
        double compute = task_computing(collect, values), whole = task_lasting(collect, values);
        bool is_chunk = task_is_about_chunk(collect, values);
        struct task_prefix *prefix;
        struct task_time *worker;
        size_t len;

        if (!collect_text(collect, &values[TASK_WORKER], &len))
                return 0;
        worker = &sums->workers[values[TASK_WORKER].integer - 1];
        task_add_kind(is_chunk ? &worker->chunk : &worker->other, values, compute);
        worker->wait_ns += whole > compute ? whole - compute : 0;
        sums->any = true;
        sums->has_chunks |= is_chunk;
        if (!task_is_int(&values[TASK_PREFIX]))
                return 0;
        prefix = task_prefix_of(sums, values[TASK_PREFIX].integer);
        if (!prefix)
                return ROAST_E_NOMEM;
        *(is_chunk ? &prefix->chunk_ns : &prefix->other_ns) += compute;
        return 0;
}

/* The run's own length is by the monotonic clock; the wall clock may have been set meanwhile. */
static void task_set_end(struct collect *collect)
{
        const struct roast_value *elapsed =
                &collect->summary->metrics.values[ROAST_ELAPSED_TIME_SECONDS];
        int64_t end;

        if (elapsed->state == ROAST_KNOWN && collect->start_utc_ns != INT64_MIN &&
            elapsed->real >= 0 && elapsed->real < 9e9 &&
            !__builtin_add_overflow(collect->start_utc_ns, (int64_t)(elapsed->real * 1e9), &end))
                collect->end_utc_ns = end;
}

int collect_task_times(struct collect *collect, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        task_set_end(collect);
        collect->times.workers = calloc(collect->texts.n + 1, sizeof(*collect->times.workers));
        if (!collect->times.workers)
                return roast_fail_nomem(error);
        r = run_scan_begin(&scan, collect->run, RUN_TASK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (task_note(collect, scan.values) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        return r;
}
