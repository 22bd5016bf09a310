/* Rules about cores: too few of them, a quota, Python's lock */

#include <stdlib.h>

#include "analyze/rule.h"
#include "util/cleanup.h"

static int rules_no_queue(struct verdict *verdict)
{
        return verdict_why_not(verdict, "no chunk tells how long it waited for a core");
}

/* The hosts whose chunks waited most for a core */
static int rules_name_hosts(struct verdict *verdict, const struct study *study)
{
        ROAST_CLEANUP(cleanup_free) double *queues = NULL;
        ROAST_CLEANUP(cleanup_free) double *walls = NULL;
        struct top top = { 0 };

        queues = calloc(study->texts.n + 1, sizeof(*queues));
        walls = calloc(study->texts.n + 1, sizeof(*walls));
        if (!queues || !walls)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];

                if (chunk->host == STUDY_NONE || isnan(chunk->queue_s))
                        continue;
                queues[chunk->host] += (double)chunk->queue_s;
                walls[chunk->host] += (double)chunk->wall_s;
        }
        for (size_t i = 0; i < study->texts.n; i++)
                if (queues[i] > 0)
                        top_add(&top, i, queues[i]);
        for (size_t i = 0; i < top.n; i++) {
                size_t host = top.items[i].index;

                verdict_subject(verdict, study, "host", (uint32_t)host, "%.0f %% of %s",
                                100 * queues[host] / walls[host], say_s(walls[host]));
        }
        return 0;
}

int rule_cpu_oversubscribed(const struct study *study, double limit, struct verdict *verdict)
{
        const struct split_sum *split = &study->split;
        double share = split->wall_ns > 0 ? split->runqueue_ns / split->wall_ns : 0;

        if (split->queued == 0)
                return rules_no_queue(verdict);
        if (share < limit)
                return verdict_why_not(verdict, "chunks waited %.1f %% of their time for a core",
                                       100 * share);
        verdict_fire(verdict, study, split->runqueue_ns / 1e9,
                     "Chunks wait %.0f %% of their time for a core", 100 * share);
        verdict_evidence(verdict, "%s of %s in process() were spent runnable, but without a core",
                         say_s(split->runqueue_ns / 1e9), say_s(split->wall_ns / 1e9));
        if (study->cpus > 0)
                verdict_evidence(verdict,
                                 "%.1f worker threads on average; the client's host has "
                                 "%.0f cores",
                                 study->threads, study->cpus);
        return rules_name_hosts(verdict, study);
}

int rule_cpu_throttled(const struct study *study, double limit, struct verdict *verdict)
{
        const struct split_sum *split = &study->split;
        double share = split->wall_ns > 0 ? split->throttled_ns / split->wall_ns : 0;

        if (split->queued == 0)
                return rules_no_queue(verdict);
        if (share < limit)
                return verdict_why_not(
                        verdict, "a quota held chunks back for %.1f %% of their time", 100 * share);
        verdict_fire(verdict, study, split->throttled_ns / 1e9,
                     "A CPU quota holds chunks back for %.0f %% of their time", 100 * share);
        return verdict_evidence(verdict,
                                "%s of %s in process() were throttled by the group's quota",
                                say_s(split->throttled_ns / 1e9), say_s(split->wall_ns / 1e9));
}

int rule_gil(const struct study *study, double limit, struct verdict *verdict)
{
        const struct split_sum *split = &study->split;
        double gil_ns, share;

        if (split->chunks == 0)
                return verdict_why_not(verdict, "no chunk tells where its time went");
        if (split->samples < RULE_LOOKS_LEAST)
                return verdict_why_not(verdict, "only %.0f looks met a chunk asleep",
                                       split->samples);
        gil_ns = split->asleep_ns * split->gil_samples / split->samples;
        share = gil_ns / split->wall_ns;
        if (share < limit)
                return verdict_why_not(verdict, "chunks waited %.1f %% of their time for the GIL",
                                       100 * share);
        verdict_fire(verdict, study, gil_ns / 1e9,
                     "Chunks wait %.0f %% of their time for Python's lock", 100 * share);
        verdict->finding.estimated = true;
        return verdict_evidence(verdict,
                                "about %s of %s in process(), from %.0f looks at sleeping "
                                "threads",
                                say_s(gil_ns / 1e9), say_s(split->wall_ns / 1e9), split->samples);
}
