/* Rules about idle threads: before, between and after the chunks */

#include <stdlib.h>

#include "analyze/rule.h"
#include "util/cleanup.h"

static int rules_no_chunks(struct verdict *verdict)
{
        return verdict_why_not(verdict, "no chunk tells when it ran");
}

/* What threads did since the last chunk, and whether others were still running, is not known. */
static int rules_no_end(struct verdict *verdict)
{
        return verdict_why_not(verdict, "the run has not finished: its end is not known");
}

/* The worker of a thread; NULL: nothing is known of its comings and goings */
static const struct study_worker *rules_worker_of(const struct study *study,
                                                  const struct study_slot *slot)
{
        if (slot->worker == STUDY_NONE || !study->workers[slot->worker].known)
                return NULL;
        return &study->workers[slot->worker];
}

int rule_ramp(const struct study *study, double limit, struct verdict *verdict)
{
        ROAST_CLEANUP(cleanup_free) float *waits = NULL;
        double idle_s = 0, share;
        struct top top = { 0 };

        if (study->n_slots == 0 || !(study->capacity_s > 0))
                return rules_no_chunks(verdict);
        waits = malloc(study->n_slots * sizeof(*waits));
        if (!waits)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < study->n_slots; i++) {
                const struct study_slot *slot = &study->slots[i];
                const struct study_worker *worker = rules_worker_of(study, slot);
                double wait_s = fmax(slot->first_s - (worker ? worker->came_s : 0), 0);

                idle_s += wait_s;
                waits[i] = (float)wait_s;
                top_add(&top, i, wait_s);
        }
        share = idle_s / study->capacity_s;
        if (share < limit)
                return verdict_why_not(verdict,
                                       "%.1f %% of the workers' time was before their first chunk",
                                       100 * share);
        verdict_fire(verdict, study, idle_s,
                     "Threads wait %s for their first chunk, %.0f %% of all their time",
                     say_s(idle_s / (double)study->n_slots), 100 * share);
        verdict_evidence(verdict,
                         "the first chunk began %s after the run; the middle thread "
                         "waited %s, the last %s",
                         say_s(study->first_s), say_s(study_median(waits, study->n_slots)),
                         say_s(top.items[0].value));
        for (size_t i = 0; i < top.n; i++)
                verdict_subject(verdict, study, "worker", study->slots[top.items[i].index].worker,
                                "%s", say_s(top.items[i].value));
        return 0;
}

int rule_starvation(const struct study *study, double limit, struct verdict *verdict)
{
        double share;
        struct top top = { 0 };

        if (study->n_slots == 0 || !(study->capacity_s > 0) || isnan(study->typical_gap_s))
                return verdict_why_not(verdict, "no thread ran two chunks");
        share = study->starved_s / study->capacity_s;
        if (share < limit)
                return verdict_why_not(verdict,
                                       "threads were idle between chunks for %.1f %% of "
                                       "the time, and had other tasks for %.1f %%",
                                       100 * share, 100 * study->tasked_s / study->capacity_s);
        verdict_fire(verdict, study, study->starved_s,
                     "Threads are idle between chunks for %.0f %% of the time", 100 * share);
        verdict_evidence(verdict, "%s in all beyond the typical %s between two chunks",
                         say_s(study->starved_s), say_s(study->typical_gap_s));
        if (study->tasked_s > 0)
                verdict_evidence(verdict, "without %s in which threads had other tasks",
                                 say_s(study->tasked_s));
        for (size_t i = 0; i < study->n_chunks; i++)
                if (study->chunks[i].starved_s > 0)
                        top_add(&top, i, (double)study->chunks[i].starved_s);
        for (size_t i = 0; i < top.n; i++) {
                const struct study_chunk *chunk = &study->chunks[top.items[i].index];

                verdict_chunk(verdict, study, chunk, "began %s after the chunk before, at %s",
                              say_s((double)chunk->gap_s), say_s(chunk->start_s));
        }
        return 0;
}

/* Threads that have ended their last chunk wait for those that have not, while they are there. */
static double rules_tail_s(const struct study *study)
{
        double idle_s = 0;

        for (size_t i = 0; i < study->n_slots; i++) {
                const struct study_slot *slot = &study->slots[i];
                const struct study_worker *worker = rules_worker_of(study, slot);
                double until_s = worker ? fmin(study->last_s, worker->left_s) : study->last_s;

                idle_s += fmax(until_s - slot->last_s, 0);
        }
        return idle_s;
}

/* How long a worker was there while there were chunks */
static double rules_among_chunks_s(const struct study *study, const struct study_worker *worker)
{
        double from_s = fmax(worker->came_s, study->first_s);
        double until_s = fmin(worker->left_s, study->last_s);

        return fmin(fmax(until_s - from_s, 0), worker->here_s);
}

/*
 * Time of threads that never had a chunk, from the first chunk to the last. A chunk without a
 * worker ran on one of them all the same.
 */
static double rules_unused_s(const struct study *study)
{
        double idle_s = 0;

        for (size_t i = 0; i < study->texts.n; i++) {
                const struct study_worker *worker = &study->workers[i];

                if (worker->known && worker->threads > worker->slots)
                        idle_s += (worker->threads - worker->slots) *
                                  rules_among_chunks_s(study, worker);
        }
        return fmax(idle_s - study->strays * (study->last_s - study->first_s), 0);
}

/* The chunks that ended last */
static struct top rules_last_chunks(const struct study *study)
{
        struct top top = { 0 };

        for (size_t i = 0; i < study->n_chunks; i++)
                top_add(&top, i, study->chunks[i].start_s + (double)study->chunks[i].wall_s);
        return top;
}

/* How much longer than the middle one the last chunk took */
static double rules_last_factor(const struct study *study, const struct top *last)
{
        return (double)study->chunks[last->items[0].index].wall_s / study->median_wall_s;
}

/* The last chunk is not longer than others: there are too few of them. */
#define LONG_FACTOR 2

int rule_tail(const struct study *study, double limit, struct verdict *verdict)
{
        struct top last;
        double idle_s, share, factor;

        if (study->n_slots < 2 || !(study->capacity_s > 0))
                return verdict_why_not(verdict, "chunks ran on one thread only");
        if (study->unfinished)
                return rules_no_end(verdict);
        idle_s = rules_tail_s(study);
        share = idle_s / study->capacity_s;
        last = rules_last_chunks(study);
        factor = rules_last_factor(study, &last);
        if (share < limit)
                return verdict_why_not(verdict,
                                       "threads waited %.1f %% of the time for the last "
                                       "chunks",
                                       100 * share);
        if (factor < LONG_FACTOR)
                return verdict_why_not(verdict, "the last chunk took %.1f times the median only",
                                       factor);
        verdict_fire(verdict, study, idle_s,
                     "Long chunks at the end keep threads waiting, %.0f %% of all their time",
                     100 * share);
        verdict_evidence(verdict, "the last chunk took %s, %.1f times the median %s",
                         say_s((double)study->chunks[last.items[0].index].wall_s), factor,
                         say_s(study->median_wall_s));
        for (size_t i = 0; i < last.n; i++) {
                const struct study_chunk *chunk = &study->chunks[last.items[i].index];

                if ((double)chunk->wall_s >= LONG_FACTOR * study->median_wall_s)
                        verdict_chunk(verdict, study, chunk, "%s, %s events, until %s",
                                      say_s((double)chunk->wall_s),
                                      say_count((double)chunk->events), say_s(last.items[i].value));
        }
        return 0;
}

/* What is advised: with so many chunks for each thread there are not too few of them. */
#define ENOUGH_CHUNKS 10

int rule_chunks_large(const struct study *study, double limit, struct verdict *verdict)
{
        double without_s, unused, idle_s, share, per_thread;
        struct top last;

        if (study->n_slots == 0 || !(study->capacity_s > 0))
                return rules_no_chunks(verdict);
        if (study->unfinished)
                return rules_no_end(verdict);
        without_s = rules_unused_s(study);
        /* as many as there were at a time, if workers came and went */
        unused = without_s > 0 ? without_s / (study->last_s - study->first_s) : 0;
        idle_s = rules_tail_s(study) + without_s;
        share = idle_s / study->capacity_s;
        per_thread = (double)study->n_chunks / ((double)study->n_slots + unused);
        last = rules_last_chunks(study);
        if (share < limit || per_thread >= ENOUGH_CHUNKS)
                return verdict_why_not(verdict,
                                       "%.1f chunks for each thread; threads were idle at "
                                       "the end for %.1f %% of the time",
                                       per_thread, 100 * share);
        if (rules_last_factor(study, &last) >= LONG_FACTOR && unused == 0)
                return verdict_why_not(verdict, "the last chunks are longer than others: see tail");
        verdict_fire(verdict, study, idle_s,
                     "%s chunks are too few for %s threads: %.0f %% of their time is idle",
                     say_count((double)study->n_chunks), say_count((double)study->n_slots + unused),
                     100 * share);
        verdict_evidence(verdict, "%.1f chunks for each thread, of %s each", per_thread,
                         say_s(study->median_wall_s));
        if (unused > 0)
                verdict_evidence(verdict, "%.*f threads had none", unused < 1 ? 1 : 0, unused);
        return 0;
}

/* Thread time of workers that were short of memory: the subject of another rule */
static double rules_short_of_memory_s(const struct study *study)
{
        double short_s = study->spans.disk_s;

        for (size_t i = 0; i < study->texts.n; i++)
                short_s += study->workers[i].paused_s * fmax(study->workers[i].threads, 1);
        return short_s;
}

int rule_after_chunks(const struct study *study, double limit, struct verdict *verdict)
{
        double after_s = study->elapsed_s - study->last_s, spilling_s, share;

        if (isnan(after_s))
                return rules_no_chunks(verdict);
        if (study->unfinished)
                return rules_no_end(verdict);
        spilling_s = study->threads > 0 ? rules_short_of_memory_s(study) / study->threads : 0;
        share = study->elapsed_s > 0 ? (after_s - spilling_s) / study->elapsed_s : 0;
        if (share < limit)
                return verdict_why_not(verdict,
                                       "the run ended %s after its last chunk, of which %s are not "
                                       "those of workers short of memory",
                                       say_s(fmax(after_s, 0)),
                                       say_s(fmax(after_s - spilling_s, 0)));
        verdict_fire(verdict, study, (after_s - spilling_s) * study->threads,
                     "The run goes on for %s after its last chunk", say_s(after_s));
        verdict_evidence(verdict, "the last chunk ended at %s of %s", say_s(study->last_s),
                         say_s(study->elapsed_s));
        if (spilling_s > 0)
                verdict_evidence(verdict, "without %s of workers short of memory: see spilling",
                                 say_s(spilling_s));
        if (study->spans.known)
                verdict_evidence(verdict, "merging took %s of the threads' time in the whole run",
                                 say_s(study->spans.reduce_s));
        return 0;
}
