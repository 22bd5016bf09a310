/* Rules about sections: those that wait, dominate or become slower */

#include "analyze/rule.h"

static const char no_sections[] = "no section was tracked";

/* At least this part of what it may have waited is told for sure, or it has nearly all waits. */
#define SURE_SHARE 0.3

int rule_section_waits(const struct study *study, double limit, struct verdict *verdict)
{
        const struct study_section *worst = study->sections;
        double asleep_s = 0, share, sure;

        if (study->n_sections == 0)
                return verdict_why_not(verdict, "%s", no_sections);
        for (size_t i = 0; i < study->n_chunks; i++)
                if (!isnan(study->chunks[i].asleep_s))
                        asleep_s += (double)study->chunks[i].asleep_s;
        for (size_t i = 1; i < study->n_sections; i++)
                if (study->sections[i].wait_most_s > worst->wait_most_s)
                        worst = &study->sections[i];
        share = study->wall_s > 0 ? worst->wait_most_s / study->wall_s : 0;
        sure = worst->wait_most_s > 0 ? worst->wait_least_s / worst->wait_most_s : 0;
        if (share < limit)
                return verdict_why_not(verdict,
                                       "a section waited at most %.1f %% of the chunks' "
                                       "time",
                                       100 * share);
        if (sure < SURE_SHARE)
                return verdict_why_not(verdict,
                                       "which section waited cannot be told: %s to %s in "
                                       "the one with most",
                                       say_s(worst->wait_least_s), say_s(worst->wait_most_s));
        verdict_fire(verdict, study, worst->wait_most_s,
                     "A section waits: up to %.0f %% of the chunks' time", 100 * share);
        verdict->finding.estimated = true;
        verdict_subject(verdict, study, "section", worst->name, "%s to %s asleep of its %s",
                        say_s(worst->wait_least_s), say_s(worst->wait_most_s),
                        say_s(worst->self_s));
        return verdict_evidence(verdict,
                                "chunks were asleep for %s; this section took %s, more "
                                "than cores can account for",
                                say_s(asleep_s), say_s(worst->self_s));
}

int rule_section_dominates(const struct study *study, double limit, struct verdict *verdict)
{
        const struct study_section *worst = study->sections;
        double share, working, cpu;

        if (study->n_sections == 0)
                return verdict_why_not(verdict, "%s", no_sections);
        for (size_t i = 1; i < study->n_sections; i++)
                if (study->sections[i].self_s > worst->self_s)
                        worst = &study->sections[i];
        share = study->wall_s > 0 ? worst->self_s / study->wall_s : 0;
        if (share < limit)
                return verdict_why_not(verdict,
                                       "the longest section takes %.0f %% of the chunks' "
                                       "time",
                                       100 * share);
        /* waiting for cores, disks and sleeps is the subject of other rules */
        working = fmax(worst->self_s - worst->wait_most_s, 0);
        cpu = study->split.wall_ns > 0
                      ? study->split.cpu_ns / fmax(study->split.cpu_ns + study->split.runqueue_ns +
                                                           study->split.throttled_ns,
                                                   1)
                      : 1;
        verdict_fire(verdict, study, working * cpu / 2,
                     "One section takes %.0f %% of the chunks' time", 100 * share);
        verdict->finding.estimated = true;
        verdict_subject(verdict, study, "section", worst->name, "%s in %s chunks",
                        say_s(worst->self_s), say_count((double)worst->chunks));
        return verdict_evidence(verdict,
                                "%s on cores; the saving is told for a section that is "
                                "twice as fast",
                                say_s(working * cpu));
}

#define GROWTH_CHUNKS 16
#define GROWTH_T      5

/* Slope of the own time per event with the order of the chunk, in errors of it */
static double rules_slope_of(const struct study_section *section, double *t)
{
        double xx = section->xx - section->x * section->x / section->n;
        double xy = section->xy - section->x * section->y / section->n;
        double yy = section->yy - section->y * section->y / section->n;
        double slope = xy / xx;
        double error = sqrt(fmax(yy - slope * xy, 0) / (section->n - 2) / xx);

        *t = error > 0 ? slope / error : slope > 0 ? 1000 : 0;
        return xx > 0 ? slope : 0;
}

int rule_section_grows(const struct study *study, double limit, struct verdict *verdict)
{
        const struct study_section *worst = NULL;
        double most_s = 0, worst_growth = 0, worst_t = 0, longest = 0;

        if (study->n_sections == 0)
                return verdict_why_not(verdict, "%s", no_sections);
        for (size_t i = 0; i < study->n_slots; i++)
                longest = fmax(longest, study->slots[i].chunks);
        for (size_t i = 0; i < study->n_sections; i++) {
                const struct study_section *section = &study->sections[i];
                double t, slope, growth, excess_s;

                if (section->n < GROWTH_CHUNKS)
                        continue;
                slope = rules_slope_of(section, &t);
                growth = slope * longest * section->n / section->y;
                excess_s = slope * section->order_events;
                if (growth < limit || t < GROWTH_T || excess_s <= most_s)
                        continue;
                worst = section;
                most_s = excess_s;
                worst_growth = growth;
                worst_t = t;
        }
        if (!worst)
                return verdict_why_not(verdict,
                                       "no section of at least %d chunks grows with their "
                                       "number",
                                       GROWTH_CHUNKS);
        verdict_fire(verdict, study, most_s,
                     "A section becomes slower with every chunk, by %.0f %% over the run",
                     100 * worst_growth);
        verdict_subject(verdict, study, "section", worst->name, "%s more than at the first chunk",
                        say_s(most_s));
        return verdict_evidence(verdict,
                                "time per event against the number of chunks before on "
                                "the thread: the slope is %.0f times its error",
                                worst_t);
}
