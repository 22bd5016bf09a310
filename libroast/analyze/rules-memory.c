/* Rules about memory: near the limit, spilled to disk, growing */

#include "analyze/rule.h"

static const char no_samples[] = "the workers were not sampled";

int rule_memory_limit(const struct study *study, double limit, struct verdict *verdict)
{
        struct top top = { 0 };

        if (!study->has_samples)
                return verdict_why_not(verdict, "%s", no_samples);
        for (size_t i = 0; i < study->texts.n; i++)
                if (study->workers[i].limit_bytes > 0 && study->workers[i].peak_bytes > 0)
                        top_add(&top, i,
                                study->workers[i].peak_bytes / study->workers[i].limit_bytes);
        if (top.n == 0)
                return verdict_why_not(verdict, "no worker has a memory limit");
        if (top.items[0].value < limit)
                return verdict_why_not(verdict, "workers took at most %.0f %% of their limit",
                                       100 * top.items[0].value);
        verdict_fire(verdict, study, (double)NAN,
                     "Workers take up to %.0f %% of their memory limit", 100 * top.items[0].value);
        for (size_t i = 0; i < top.n; i++) {
                const struct study_worker *worker = &study->workers[top.items[i].index];

                if (top.items[i].value >= limit)
                        verdict_subject(verdict, study, "worker", (uint32_t)top.items[i].index,
                                        "%s of %s", say_bytes(worker->peak_bytes),
                                        say_bytes(worker->limit_bytes));
        }
        return verdict_evidence(verdict, "resident memory as sampled; Dask pauses workers at 80 %% "
                                         "and restarts them at 95 %% of the limit");
}

int rule_spilling(const struct study *study, double limit, struct verdict *verdict)
{
        double paused_s = 0, spilled = 0, cost_s;
        struct top top = { 0 };

        if (!study->has_samples && !study->spans.known)
                return verdict_why_not(verdict, "%s, and there are no fine metrics", no_samples);
        for (size_t i = 0; i < study->texts.n; i++) {
                const struct study_worker *worker = &study->workers[i];

                paused_s += worker->paused_s * fmax(worker->threads, 1);
                spilled += worker->spilled_bytes;
                if (worker->spilled_bytes > 0)
                        top_add(&top, i, worker->spilled_bytes);
        }
        cost_s = study->spans.disk_s + paused_s;
        if (!(spilled > 0) && !(cost_s > 0 && cost_s >= limit * study->capacity_s))
                return verdict_why_not(verdict,
                                       "nothing was spilled; %s of reading and writing "
                                       "spilled results, %s paused",
                                       say_s(study->spans.disk_s), say_s(paused_s));
        verdict_fire(verdict, study, cost_s > 0 ? cost_s : (double)NAN,
                     "Workers write results to disk because memory is short");
        verdict_evidence(verdict,
                         "%s spent writing and reading %s of results; %s of threads were "
                         "idle at 80 %% of the limit or more",
                         say_s(study->spans.disk_s), say_bytes(study->spans.disk_bytes),
                         say_s(paused_s));
        for (size_t i = 0; i < top.n; i++)
                verdict_subject(verdict, study, "worker", (uint32_t)top.items[i].index,
                                "%s on disk, limit %s", say_bytes(top.items[i].value),
                                say_bytes(study->workers[top.items[i].index].limit_bytes));
        return 0;
}

/* The least number of chunks of a thread, and of t = slope / error, from which growth is told */
#define GROWTH_CHUNKS 8
#define GROWTH_T      5

int rule_memory_grows(const struct study *study, double limit, struct verdict *verdict)
{
        double xx = 0, xy = 0, yy = 0, n = 0, mean = 0, longest = 0, slope, error, growth;
        double threads = 0;

        for (size_t i = 0; i < study->n_slots; i++) {
                const struct study_slot *slot = &study->slots[i];

                if (slot->rss_n < GROWTH_CHUNKS)
                        continue;
                xx += slot->rss_xx - slot->rss_x * slot->rss_x / slot->rss_n;
                xy += slot->rss_xy - slot->rss_x * slot->rss_y / slot->rss_n;
                yy += slot->rss_yy - slot->rss_y * slot->rss_y / slot->rss_n;
                n += slot->rss_n - 1;
                mean += slot->rss_y / slot->rss_n;
                longest = fmax(longest, slot->rss_n);
                threads++;
        }
        if (threads == 0 || !(xx > 0))
                return verdict_why_not(verdict, "no thread ran %d chunks that tell their memory",
                                       GROWTH_CHUNKS);
        mean /= threads;
        slope = xy / xx;
        error = sqrt(fmax(yy - slope * xy, 0) / fmax(n - 1, 1) / xx);
        growth = slope * longest / mean;
        if (growth < limit || slope < GROWTH_T * error)
                return verdict_why_not(verdict,
                                       "memory grew by %.0f %% over the %.0f chunks of a "
                                       "thread",
                                       100 * fmax(growth, 0), longest);
        verdict_fire(verdict, study, (double)NAN, "Memory grows by %s with every chunk",
                     say_bytes(slope));
        return verdict_evidence(verdict,
                                "%s more after %.0f chunks, where the mean is %s; the "
                                "slope is %.0f times its error",
                                say_bytes(slope * longest), longest, say_bytes(mean),
                                error > 0 ? slope / error : 1000);
}
