/* Rules about chunks: their size, those that stand out, those that failed */

#include <stdlib.h>

#include "analyze/group.h"
#include "analyze/rule.h"
#include "util/cleanup.h"

/* The overhead that a better chunk size is told for */
#define OVERHEAD_AIM 0.05

/* No chunk reaches beyond its file: the most entries that one is known to have */
static double rules_largest_file(const struct study *study)
{
        double most = 0;

        for (size_t i = 0; i < study->n_chunks; i++)
                most = fmax(most, (double)study->chunks[i].entry_start + study->chunks[i].events);
        return most;
}

int rule_chunks_small(const struct study *study, double limit, struct verdict *verdict)
{
        double share, events, saves_s, aim;

        if (isnan(study->typical_gap_s))
                return verdict_why_not(verdict, "no thread ran two chunks");
        if (!(study->events > 0))
                return verdict_why_not(verdict, "no chunk has events");
        share = study->overhead_s > 0 ? study->overhead_s / (study->overhead_s + study->wall_s) : 0;
        if (share < limit)
                return verdict_why_not(verdict,
                                       "%.1f %% of the time of chunks and gaps is between "
                                       "chunks",
                                       100 * share);
        events = study->events / (double)study->n_chunks;
        /* so many times larger chunks would bring the gaps down to the aim */
        aim = study->typical_gap_s * (1 - OVERHEAD_AIM) /
              (OVERHEAD_AIM * study->wall_s / (double)study->n_chunks);
        aim = fmax(fmin(aim, rules_largest_file(study) / events), 1);
        saves_s = study->overhead_s * (1 - 1 / aim);
        /* what is read ahead there goes with the events: no saving */
        if (study->ahead_bytes > 0)
                saves_s /= 2;
        verdict_fire(verdict, study, saves_s, "Each chunk costs %s beside the %s in process()",
                     say_s(study->typical_gap_s), say_s(study->wall_s / (double)study->n_chunks));
        verdict->finding.estimated = true;
        verdict_evidence(verdict, "between chunks: %s, %.0f %% of the time of chunks and gaps",
                         say_s(study->overhead_s), 100 * share);
        verdict_evidence(verdict,
                         "chunks have %s events; %s (files have %s at most) would bring "
                         "that down to %.0f %%, if nothing of it goes with the events",
                         say_count(events), say_count(events * aim),
                         say_count(rules_largest_file(study)),
                         100 * share / (share + (1 - share) * aim));
        return 0;
}

int rule_chunks_memory(const struct study *study, double limit, struct verdict *verdict)
{
        struct top top = { 0 };
        double most = 0;

        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                uint32_t worker = study->slots[chunk->slot].worker;
                const struct study_worker *w =
                        worker == STUDY_NONE ? NULL : &study->workers[worker];

                if (!w || !(w->limit_bytes > 0) || isnan(chunk->rss_growth_bytes))
                        continue;
                most = fmax(most, 1e-9);
                top_add(&top, i,
                        (double)chunk->rss_growth_bytes * fmax(w->threads, 1) / w->limit_bytes);
        }
        if (top.n)
                most = top.items[0].value;
        if (top.n == 0)
                return verdict_why_not(verdict, "no memory limit, or no peak of a chunk, is known");
        if (most < limit)
                return verdict_why_not(verdict,
                                       "a chunk took at most %.0f %% of a thread's share "
                                       "of the limit",
                                       100 * most);
        verdict_fire(verdict, study, (double)NAN,
                     "A chunk takes up to %.0f %% of a thread's share of the memory limit",
                     100 * most);
        for (size_t i = 0; i < top.n; i++) {
                const struct study_chunk *chunk = &study->chunks[top.items[i].index];

                verdict_chunk(verdict, study, chunk, "%s over its start, %s events",
                              say_bytes((double)chunk->rss_growth_bytes),
                              say_count((double)chunk->events));
        }
        return 0;
}

/* A chunk stands out if it takes this much more than is expected. */
#define OUTLIER_FACTOR 3

int rule_outliers(const struct study *study, double limit, struct verdict *verdict)
{
        ROAST_CLEANUP(cleanup_free) struct study_fit *fits = NULL;
        ROAST_CLEANUP(cleanup_free) float *excess = NULL;
        struct group_factor factors[GROUP_N_FACTORS];
        struct roast_error error;
        double sum_s = 0;
        size_t n = 0, best = 0;
        struct top top = { 0 };

        if (study->n_chunks < 10)
                return verdict_why_not(verdict, "%zu chunks are too few to compare",
                                       study->n_chunks);
        excess = malloc(study->n_chunks * sizeof(*excess));
        if (!excess || study_fits(study, &fits, &error) < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                const struct study_fit *fit = study_fit_of(study, fits, chunk->dataset);
                double expected_s = study_expected(fit, chunk->events);
                double own_s = study_own_s(chunk);

                excess[i] = (float)(own_s - expected_s);
                if (!(own_s > 0) || own_s < OUTLIER_FACTOR * expected_s)
                        continue;
                sum_s += (double)excess[i];
                n++;
                top_add(&top, i, (double)excess[i]);
        }
        if (sum_s < limit * study->wall_s || n == 0)
                return verdict_why_not(verdict,
                                       "%s chunks took %d times what their events let "
                                       "expect, %.1f %% of the time",
                                       say_count((double)n), OUTLIER_FACTOR,
                                       study->wall_s > 0 ? 100 * sum_s / study->wall_s : 0);
        if (group_factors(study, excess, factors) < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 1; i < GROUP_N_FACTORS; i++)
                if (factors[i].explains > factors[best].explains)
                        best = i;
        if (n == 1)
                verdict_fire(verdict, study, sum_s,
                             "One chunk takes far longer than its events explain");
        else
                verdict_fire(verdict, study, sum_s,
                             "%s chunks take far longer than their events explain",
                             say_count((double)n));
        verdict_evidence(verdict, "%s more than expected, %.0f %% of the chunks' time",
                         say_s(sum_s), 100 * sum_s / study->wall_s);
        for (size_t i = 0; i < GROUP_N_FACTORS; i++)
                verdict_evidence(verdict, "%s explains %.0f %% of the differences%s",
                                 factors[i].name, 100 * factors[i].explains,
                                 i == best ? ", the most" : "");
        for (size_t i = 0; i < top.n; i++) {
                const struct study_chunk *chunk = &study->chunks[top.items[i].index];

                verdict_chunk(verdict, study, chunk, "%s, %s more than expected, at %s",
                              say_s((double)chunk->wall_s), say_s(top.items[i].value),
                              say_s(chunk->start_s));
        }
        return 0;
}

int rule_retries(const struct study *study, double limit, struct verdict *verdict)
{
        const struct study_waste *waste = &study->waste;
        double bad = (double)(waste->failed + waste->lost);
        double total_s = study->wall_s + waste->wall_s;
        double share = total_s > 0 ? waste->wall_s / total_s : 0;
        struct top top = { 0 };

        if (!(waste->attempts > 0))
                return verdict_why_not(verdict, "no attempt at a chunk is known");
        if (bad == 0 || (share < limit && waste->lost == 0))
                return verdict_why_not(verdict, "%s of %s attempts failed, %.1f %% of the time",
                                       say_count(bad), say_count(waste->attempts), 100 * share);
        verdict_fire(verdict, study, waste->timed ? waste->wall_s : (double)NAN,
                     "%s of %s attempts at chunks failed or were lost", say_count(bad),
                     say_count(waste->attempts));
        verdict_evidence(verdict,
                         "%s failed, %s were lost with their worker; %s were spent in "
                         "them, as far as is known",
                         say_count((double)waste->failed), say_count((double)waste->lost),
                         say_s(waste->wall_s));
        for (size_t i = 0; i < study->texts.n; i++)
                if (study->errors[i] > 0)
                        top_add(&top, i, study->errors[i]);
        for (size_t i = 0; i < top.n; i++)
                verdict_subject(verdict, study, "error", (uint32_t)top.items[i].index,
                                "%s attempts", say_count(top.items[i].value));
        return 0;
}
