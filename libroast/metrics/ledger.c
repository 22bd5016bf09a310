/*
 * The time ledger: where the time of all worker threads went
 *
 * Of each worker, threads x wall time of the run, in parts that sum to it by
 * construction:
 *
 *   there    from the workers' comings and goings; the rest is `gone`
 *   taken    while attempts at tasks last. Of that, time on a thread is the
 *            processor's for chunks, and `overhead` for all else. Dask's fine
 *            metrics of the worker split the processor's into CPU and waits, and
 *            the rest of the attempts into what it is; other executors measure
 *            the CPU time of tasks. Of those that nobody measured the share of
 *            the chunk records is taken, an estimate; without any they are not
 *            split. Where no task tells whether it is about a chunk, all of them
 *            are in the same parts.
 *   free     the rest. Meanwhile the worker may be busy outside of its threads:
 *            fetching inputs, sending results, spilling. Of that work the share
 *            that fell into free time is taken for the reason why threads were
 *            free: an estimate. What is left is `idle`.
 */

#include <stdlib.h>
#include <string.h>

#include "metrics/collect.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "util/text.h"

const struct roast_ledger_info roast_ledger_parts[ROAST_LEDGER_N_PARTS] = {
        [ROAST_LEDGER_PROCESSOR_CPU] = { "processor_cpu", "Processor, on a core" },
        [ROAST_LEDGER_PROCESSOR_WAIT] = { "processor_wait", "Processor, waiting" },
        [ROAST_LEDGER_PROCESSOR] = { "processor", "Processor, on a core or waiting" },
        [ROAST_LEDGER_TASKS_CPU] = { "tasks_cpu", "Tasks of any kind, on a core" },
        [ROAST_LEDGER_TASKS_WAIT] = { "tasks_wait", "Tasks of any kind, waiting" },
        [ROAST_LEDGER_TASKS] = { "tasks", "Tasks of any kind, on a core or waiting" },
        [ROAST_LEDGER_OVERHEAD] = { "overhead", "Other tasks" },
        [ROAST_LEDGER_SERIALIZE] = { "serialize", "Serialization" },
        [ROAST_LEDGER_COMPRESS] = { "compress", "Compression" },
        [ROAST_LEDGER_TRANSFER] = { "transfer", "Transfer" },
        [ROAST_LEDGER_SPILL] = { "spill", "Spilling" },
        [ROAST_LEDGER_IDLE] = { "idle", "Idle" },
        [ROAST_LEDGER_GONE] = { "gone", "Worker not there" },
};

#define BIT(part) (1u << ROAST_LEDGER_##part)

/* Time that tasks take, and the parts for it */
#define CHUNK_PARTS (BIT(PROCESSOR_CPU) | BIT(PROCESSOR_WAIT) | BIT(PROCESSOR))
#define ANY_PARTS   (BIT(TASKS_CPU) | BIT(TASKS_WAIT) | BIT(TASKS))
#define TASK_PARTS  (CHUNK_PARTS | BIT(OVERHEAD) | ANY_PARTS)
/* What only Dask's fine metrics tell of */
#define FINE_PARTS (BIT(SERIALIZE) | BIT(COMPRESS) | BIT(TRANSFER) | BIT(SPILL))

/* What is known of a worker, by the number of its name */
struct state {
        bool known;
        bool here;
        int64_t since_utc_ns;
        double threads; /* now; and the most it had */
        double most_threads;
        double there_ns; /* integral of its threads */
        /* Dask's fine metrics, in ns */
        double cpu_ns;
        double noncpu_ns;
        double within_ns[ROAST_LEDGER_N_PARTS];  /* of attempts, beside the thread's time */
        double outside_ns[ROAST_LEDGER_N_PARTS]; /* of attempts */
};

static double ledger_duration(int64_t from, int64_t to)
{
        return to > from ? (double)((uint64_t)to - (uint64_t)from) : 0;
}

/* Whether tasks about chunks can be told from others */
static bool ledger_has_kinds(const struct collect *collect)
{
        return collect->names_chunks || collect->times.has_chunks || *collect->chunk_prefix;
}

static int64_t ledger_clip(const struct collect *collect, int64_t utc_ns)
{
        if (utc_ns < collect->start_utc_ns)
                return collect->start_utc_ns;
        return utc_ns > collect->end_utc_ns ? collect->end_utc_ns : utc_ns;
}

static void ledger_pass(struct state *state, int64_t utc_ns)
{
        if (state->here && utc_ns > state->since_utc_ns) {
                state->there_ns += state->threads * ledger_duration(state->since_utc_ns, utc_ns);
                state->since_utc_ns = utc_ns;
        }
}

static void ledger_note_event(const struct collect *collect, struct state *states,
                              const struct run_value *values)
{
        struct state *state;
        int64_t utc_ns;
        size_t len;

        if (!collect_text(collect, &values[WORKER_EVENT_WORKER], &len) ||
            values[WORKER_EVENT_KIND].type != RUN_INT)
                return;
        state = &states[values[WORKER_EVENT_WORKER].integer - 1];
        /* one that was there at the start was there before it was seen */
        utc_ns = values[WORKER_EVENT_KIND].integer == ROAST_WORKER_PRESENT
                         ? collect->start_utc_ns
                         : ledger_clip(collect, values[WORKER_EVENT_UTC_NS].integer);
        ledger_pass(state, utc_ns);
        if (values[WORKER_EVENT_KIND].integer == ROAST_WORKER_WENT) {
                state->here = false;
                return;
        }
        if (!state->here)
                state->since_utc_ns = utc_ns;
        state->known = state->here = true;
        state->threads = values[WORKER_EVENT_THREADS].type == RUN_INT &&
                                         values[WORKER_EVENT_THREADS].integer > 0
                                 ? (double)values[WORKER_EVENT_THREADS].integer
                                 : 0;
        if (state->threads > state->most_threads)
                state->most_threads = state->threads;
}

static int ledger_scan_events(const struct collect *collect, struct state *states,
                              struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_WORKER_EVENT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                ledger_note_event(collect, states, scan.values);
        run_scan_end(&scan);
        for (size_t i = 0; i < collect->texts.n; i++)
                ledger_pass(&states[i], collect->end_utc_ns);
        return r;
}

/* What an activity of Dask's is to us; -1: time on a thread */
static int ledger_part_of(const char *name, size_t len)
{
        static const struct {
                const char *name;
                int part;
        } activities[] = {
                { "serialize", ROAST_LEDGER_SERIALIZE }, { "deserialize", ROAST_LEDGER_SERIALIZE },
                { "compress", ROAST_LEDGER_COMPRESS },   { "decompress", ROAST_LEDGER_COMPRESS },
                { "network", ROAST_LEDGER_TRANSFER },    { "disk-read", ROAST_LEDGER_SPILL },
                { "disk-write", ROAST_LEDGER_SPILL },    { "memory-read", ROAST_LEDGER_OVERHEAD },
                { "executor", ROAST_LEDGER_OVERHEAD },   { "other", ROAST_LEDGER_OVERHEAD },
                { "failed", ROAST_LEDGER_OVERHEAD },     { "cancelled", ROAST_LEDGER_OVERHEAD },
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(activities); i++)
                if (strlen(activities[i].name) == len && !memcmp(activities[i].name, name, len))
                        return activities[i].part;
        return -1;
}

static bool ledger_is_text(const struct collect *collect, const struct run_value *value,
                           const char *string)
{
        size_t len;
        const char *text = collect_text(collect, value, &len);

        return text && len == strlen(string) && !memcmp(text, string, len);
}

/* values: worker_text, kind_text, prefix_text, activity_text, unit_text, value */
static void ledger_note_activity(const struct collect *collect, struct state *states,
                                 const struct run_value *values)
{
        struct state *state;
        const char *activity;
        double ns, share;
        size_t len;
        int part;

        if (!collect_text(collect, &values[ACTIVITY_WORKER], &len) ||
            values[ACTIVITY_VALUE].type != RUN_REAL || !(values[ACTIVITY_VALUE].real > 0) ||
            !(values[ACTIVITY_VALUE].real < 1e12) ||
            !ledger_is_text(collect, &values[ACTIVITY_UNIT], "seconds"))
                return;
        state = &states[values[ACTIVITY_WORKER].integer - 1];
        activity = collect_text(collect, &values[ACTIVITY_ACTIVITY], &len);
        if (!activity)
                return;
        ns = values[ACTIVITY_VALUE].real * 1e9;
        part = ledger_part_of(activity, len);
        if (!ledger_is_text(collect, &values[ACTIVITY_KIND], "execute")) {
                if (part >= 0 && part != ROAST_LEDGER_OVERHEAD)
                        state->outside_ns[part] += ns;
                return;
        }
        if (part >= 0) {
                state->within_ns[part] += ns;
                return;
        }
        share = values[ACTIVITY_PREFIX].type == RUN_INT
                        ? task_share(&collect->times, values[ACTIVITY_PREFIX].integer)
                        : 0;
        if (share > 0)
                *(ledger_is_text(collect, &values[ACTIVITY_ACTIVITY], "thread-cpu")
                          ? &state->cpu_ns
                          : &state->noncpu_ns) += share * ns;
}

/* 1, 0 if there are none, or an error */
static int ledger_scan_activities(const struct collect *collect, struct state *states,
                                  struct roast_error *error)
{
        struct run_scan scan;
        int r, any = 0;

        r = run_scan_begin(&scan, collect->run, RUN_ACTIVITY, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                ledger_note_activity(collect, states, scan.values);
                any = 1;
        }
        run_scan_end(&scan);
        return r < 0 ? r : any;
}

/* The processor's CPU share of its time, over all workers; negative: nothing tells it */
static double ledger_common_share(const struct roast_metric_set *set)
{
        const struct roast_value *cpu = &set->values[ROAST_PROCESSOR_CPU_TIME_SECONDS];
        const struct roast_value *wait = &set->values[ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS];
        double all = cpu->real + wait->real;

        if (cpu->state != ROAST_ABSENT && all > 0)
                return cpu->real / all;
        all = set->values[ROAST_CHUNK_CPU_SECONDS].real +
              set->values[ROAST_CHUNK_RUNQUEUE_SECONDS].real +
              set->values[ROAST_CHUNK_THROTTLED_SECONDS].real +
              set->values[ROAST_CHUNK_BLOCK_IO_SECONDS].real +
              set->values[ROAST_CHUNK_GIL_SECONDS].real +
              set->values[ROAST_CHUNK_OTHER_WAIT_SECONDS].real;
        return all > 0 ? set->values[ROAST_CHUNK_CPU_SECONDS].real / all : -1;
}

static void ledger_add(struct roast_ledger_row *row, enum roast_ledger_part part, double ns)
{
        row->seconds[part] += ns / 1e9;
        if (ns > 0)
                row->known |= 1u << part;
}

/* Where time on threads goes; `common` is the share on a core of what was not measured */
struct split {
        enum roast_ledger_part cpu;
        enum roast_ledger_part wait;
        enum roast_ledger_part unsplit;
        double common; /* negative: not known */
};

/* Time on threads: by Dask's counts, else as tasks were measured, else by what is common */
static void ledger_fill_threads(struct roast_ledger_row *row, const struct state *state,
                                const struct task_kind *kind, double scale,
                                const struct split *split)
{
        double counted = state->cpu_ns + state->noncpu_ns, cpu_ns = kind->cpu_ns;
        double split_ns = kind->measured_ns, rest_ns = kind->ns - split_ns;

        if (counted > 0) {
                split_ns = kind->ns;
                cpu_ns = split_ns * (state->cpu_ns / counted);
        } else if (rest_ns > 0 && split->common >= 0) {
                split_ns = kind->ns;
                cpu_ns += rest_ns * split->common;
                row->estimated |= 1u << split->cpu | 1u << split->wait;
        }
        rest_ns = kind->ns > split_ns ? kind->ns - split_ns : 0;
        ledger_add(row, split->cpu, scale * cpu_ns);
        ledger_add(row, split->wait, scale * (split_ns > cpu_ns ? split_ns - cpu_ns : 0));
        ledger_add(row, split->unsplit, scale * rest_ns);
        if (split_ns > 0 || !(rest_ns > 0)) /* none of it is a figure, too */
                row->known |= 1u << split->cpu | 1u << split->wait;
}

/* What is the same for all workers */
struct common {
        double wall_ns;
        double share; /* of the processor's time on a core; negative: not known */
        bool kinds;   /* tasks about chunks can be told from others */
        bool has_activities;
};

/* Time that threads were taken, `scale` of what the tasks say */
static void ledger_fill_taken(struct roast_ledger_row *row, const struct state *state,
                              const struct task_time *time, double scale,
                              const struct common *common)
{
        const struct split chunks = { ROAST_LEDGER_PROCESSOR_CPU, ROAST_LEDGER_PROCESSOR_WAIT,
                                      ROAST_LEDGER_PROCESSOR, common->share };
        const struct split any = { ROAST_LEDGER_TASKS_CPU, ROAST_LEDGER_TASKS_WAIT,
                                   ROAST_LEDGER_TASKS, -1 };
        enum roast_ledger_part other = common->kinds ? ROAST_LEDGER_OVERHEAD : ROAST_LEDGER_TASKS;
        double within = 0;

        if (common->kinds) {
                ledger_fill_threads(row, state, &time->chunk, scale, &chunks);
                ledger_add(row, ROAST_LEDGER_OVERHEAD, scale * time->other.ns);
                row->known |= BIT(OVERHEAD);
        } else {
                ledger_fill_threads(row, state, &time->other, scale, &any);
        }
        for (size_t i = 0; i < ROAST_LEDGER_N_PARTS; i++)
                within += state->within_ns[i];
        if (!(within > 0))
                ledger_add(row, other, scale * time->wait_ns);
        for (unsigned int i = 0; i < ROAST_LEDGER_N_PARTS && within > 0; i++)
                ledger_add(row, i == ROAST_LEDGER_OVERHEAD ? other : i,
                           scale * time->wait_ns * state->within_ns[i] / within);
}

/* Time that threads were free, `share` of what there was */
static void ledger_fill_free(struct roast_ledger_row *row, const struct state *state,
                             double free_ns, double share)
{
        double outside = 0, part;

        for (size_t i = 0; i < ROAST_LEDGER_N_PARTS; i++)
                outside += state->outside_ns[i] * share;
        for (unsigned int i = 0; i < ROAST_LEDGER_N_PARTS && outside > 0; i++) {
                if (!(state->outside_ns[i] > 0))
                        continue;
                part = state->outside_ns[i] * share;
                ledger_add(row, i, outside > free_ns ? part * free_ns / outside : part);
                row->estimated |= 1u << i | 1u << ROAST_LEDGER_IDLE;
        }
        ledger_add(row, ROAST_LEDGER_IDLE, outside < free_ns ? free_ns - outside : 0);
}

static void ledger_fill_row(struct roast_ledger_row *row, const struct state *state,
                            const struct task_time *time, const struct common *common)
{
        double taken = time->chunk.ns + time->other.ns + time->wait_ns;
        double scale = taken > state->there_ns ? state->there_ns / taken : 1;
        double free_ns = taken < state->there_ns ? state->there_ns - taken : 0;

        row->known = BIT(IDLE) | BIT(GONE) | (common->has_activities ? FINE_PARTS : 0);
        ledger_fill_taken(row, state, time, scale, common);
        if (scale < 1) /* tasks that seceded, or clocks that differ */
                row->estimated |= row->known & TASK_PARTS;
        ledger_fill_free(row, state, free_ns, state->there_ns > 0 ? free_ns / state->there_ns : 0);
        row->threads = state->most_threads;
        ledger_add(row, ROAST_LEDGER_GONE, state->most_threads * common->wall_ns - state->there_ns);
        if (row->seconds[ROAST_LEDGER_GONE] < 0)
                row->seconds[ROAST_LEDGER_GONE] = 0;
}

static int ledger_make_rows(struct collect *collect, const struct state *states,
                            bool has_activities, struct roast_error *error)
{
        struct roast_summary *summary = collect->summary;
        const struct common common = {
                .wall_ns = ledger_duration(collect->start_utc_ns, collect->end_utc_ns),
                .share = ledger_common_share(&summary->metrics),
                .kinds = ledger_has_kinds(collect),
                .has_activities = has_activities,
        };
        size_t n = 0;

        for (size_t i = 0; i < collect->texts.n; i++)
                n += states[i].known && states[i].most_threads > 0;
        if (n == 0)
                return 0;
        summary->ledger = calloc(n, sizeof(*summary->ledger));
        if (!summary->ledger)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < collect->texts.n; i++) {
                struct roast_ledger_row *row = &summary->ledger[summary->n_ledger];
                const char *name;
                size_t len;

                if (!states[i].known || !(states[i].most_threads > 0))
                        continue;
                name = intern_get(&collect->texts, i, &len);
                row->worker = text_copy(name, len);
                summary->n_ledger++;
                if (!row->worker)
                        return roast_fail_nomem(error);
                ledger_fill_row(row, &states[i], &collect->times.workers[i], &common);
        }
        return 0;
}

int collect_ledger(struct collect *collect, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct state *states = NULL;
        int r;

        if (!collect->times.any || collect->start_utc_ns == INT64_MIN ||
            collect->end_utc_ns <= collect->start_utc_ns)
                return 0;
        states = calloc(collect->texts.n + 1, sizeof(*states));
        if (!states)
                return roast_fail_nomem(error);
        r = ledger_scan_events(collect, states, error);
        if (r >= 0)
                r = ledger_scan_activities(collect, states, error);
        return r < 0 ? r : ledger_make_rows(collect, states, r > 0, error);
}
