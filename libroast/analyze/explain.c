/*
 * Why a run took as long as it did: the table of rules, and their ranking
 *
 * See roast-explain.h, and docs/explain.md for what each rule rests on.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/rule.h"
#include "roast-units.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "util/text.h"

static const struct rule rules[] = {
        { "io-bound", "Do chunks wait for disks or the network?", 0.2,
          "from %g %% of the chunks' time on", true,
          "Put the files nearer (a local copy, an XCache), read fewer branches, or run more "
          "threads than cores so that some compute while others wait.",
          rule_io_bound },
        { "unused-branches", "Are branches read ahead and never touched?", 0.05,
          "from %g %% of the bytes read on", true,
          "Take these branches out of the fileset's 'preload', or let Runner's trace find what "
          "the processor touches.",
          rule_unused_branches },
        { "rereads", "Are baskets read many times because chunk borders cut them?", 1.3,
          "from %g times the bytes of the branches on", false,
          "Use Runner(align_clusters=True), or a chunk size that is a multiple of the baskets' "
          "entries ('roast inspect FILE' tells them).",
          rule_rereads },
        { "cpu-oversubscribed", "Do chunks wait for a core?", 0.15,
          "from %g %% of the chunks' time on", true,
          "Run no more worker threads than cores, set OMP_NUM_THREADS=1, and look for other "
          "programs on these hosts.",
          rule_cpu_oversubscribed },
        { "cpu-throttled", "Does a CPU quota hold the workers back?", 0.05,
          "from %g %% of the chunks' time on", true,
          "Ask for as many cores as a worker has threads (container limits, batch requests), or "
          "run fewer threads.",
          rule_cpu_throttled },
        { "gil", "Do threads of a worker wait for Python's lock?", 0.1,
          "from %g %% of the chunks' time on", true,
          "Run worker processes of one thread each instead of several threads in one.", rule_gil },
        { "ramp", "Are workers idle before their first chunk?", 0.1,
          "from %g %% of the workers' time on", true,
          "Keep the workers between runs, ask for them before the run, save what preprocessing "
          "found (Runner.preprocess) and give it to the next run.",
          rule_ramp },
        { "starvation", "Are workers idle between chunks?", 0.1,
          "from %g %% of the workers' time on", true,
          "See what the scheduler does then: merging, transfers, a busy event loop, workers that "
          "come and go. Larger chunks make fewer tasks.",
          rule_starvation },
        { "tail", "Do a few long chunks keep everybody waiting at the end?", 0.1,
          "from %g %% of the workers' time on", true,
          "Make chunks smaller, at least those of the files named here, or put these files first "
          "in the fileset.",
          rule_tail },
        { "after-chunks", "Is there a long time after the last chunk?", 0.1,
          "from %g %% of the run's time on", true,
          "Make the output smaller (fewer or coarser histograms), or look at what the client does "
          "after the run.",
          rule_after_chunks },
        { "chunks-small", "Do tasks cost much beside the work in them?", 0.2,
          "from %g %% of the time of chunks and gaps on", true,
          "Use larger chunks: opening the file, building the events and scheduling are paid once "
          "for each.",
          rule_chunks_small },
        { "chunks-large", "Are there too few chunks to keep all threads busy?", 0.1,
          "from %g %% of the workers' time idle at the end on", true,
          "Use smaller chunks: ten or more for each thread share the work evenly.",
          rule_chunks_large },
        { "chunks-memory", "Does one chunk take much of a worker's memory?", 0.4,
          "from %g %% of a thread's share of the memory limit on", true,
          "Use smaller chunks, or delete large arrays before the next are made.",
          rule_chunks_memory },
        { "outliers", "Do some chunks take far longer than their events explain?", 0.05,
          "from %g %% of the chunks' time on", true,
          "Look at what these chunks have in common: the factor named in the evidence explains "
          "most of it.",
          rule_outliers },
        { "retries", "Is time lost in attempts that failed?", 0.02,
          "from %g %% of the chunks' time on, or attempts lost with a worker", true,
          "Read the error; take broken files out or use skipbadfiles; workers that vanish are "
          "often out of memory.",
          rule_retries },
        { "slow-file", "Are some files slower than others of their dataset?", 0.05,
          "twice the time of an event, and %g %% of the chunks' time in excess", true,
          "Look at these files: their compression, baskets and place ('roast inspect FILE').",
          rule_slow_file },
        { "slow-site", "Are files of one site slower?", 0.05,
          "1.3 times the time of an event, and %g %% of the chunks' time in excess", true,
          "Take these files from another replica, or through a cache.", rule_slow_site },
        { "slow-host", "Are some hosts slower?", 0.05,
          "1.3 times the time of an event, and %g %% of the chunks' time in excess", true,
          "Leave these hosts out, or see what else runs there.", rule_slow_host },
        { "memory-limit", "Are workers close to their memory limit?", 0.8,
          "from %g %% of the limit on", true,
          "Give workers more memory, fewer threads, or smaller chunks: near the limit Dask pauses "
          "and then restarts them.",
          rule_memory_limit },
        { "spilling", "Do workers write results to disk because memory is short?", 0.01,
          "from %g %% of the workers' time on, or any spilled bytes", true,
          "Give workers more memory, or return less from process().", rule_spilling },
        { "memory-grows", "Does memory grow with every chunk?", 0.25,
          "from a growth over the run of %g %% of the mean on", true,
          "Look for what is kept between chunks: caches, global lists, figures. Until then let "
          "workers restart (--lifetime).",
          rule_memory_grows },
        { "section-waits", "Does a section sleep or wait?", 0.15,
          "from %g %% of the chunks' time on", true,
          "See what the section waits for: a service, a lock, a subprocess, a sleep.",
          rule_section_waits },
        { "section-dominates", "Does one section take most of the time?", 0.4,
          "from %g %% of the chunks' time on", true,
          "Make this section faster: everything else is worth less. Narrower sections inside it "
          "tell where.",
          rule_section_dominates },
        { "section-grows", "Does a section become slower with every chunk?", 0.3,
          "from a growth over the run of %g %% of the mean on", true,
          "Look for work that grows: a list that is searched, a cache that is copied, a "
          "histogram that is merged in the section.",
          rule_section_grows },
        { "serialization", "Is much time spent packing and unpacking?", 0.1,
          "from %g %% of the tasks' time on", true,
          "Return less from process(), keep large constants out of the processor's attributes, "
          "or set DaskExecutor(compression=None).",
          rule_serialization },
        { "merging", "Does merging the outputs take long?", 0.1, "from %g %% of the tasks' time on",
          true,
          "Make the output smaller: fewer categories, coarser bins, no per-event arrays. Larger "
          "chunks mean fewer outputs.",
          rule_merging },
        { "scheduler-lag", "Are Dask's event loops late?", 0.1, "from %g s on average on", false,
          "Use larger chunks (fewer tasks), smaller outputs, and functions that release the GIL.",
          rule_scheduler_lag },
};

static void explain_threshold_of(const struct rule *rule, char *text, size_t size)
{
        double limit = rule->percent ? rule->limit * 100 : rule->limit;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, size, rule->threshold, limit);
#pragma GCC diagnostic pop
}

bool roast_explain_rule(size_t i, struct roast_rule *ret)
{
        static _Thread_local char threshold[160];

        if (i >= ROAST_ARRAY_SIZE(rules))
                return false;
        explain_threshold_of(&rules[i], threshold, sizeof(threshold));
        *ret = (struct roast_rule){ rules[i].name, rules[i].asks, threshold, rules[i].advice };
        return true;
}

static void explain_finding_deinit(struct roast_finding *finding)
{
        free(finding->title);
        free(finding->threshold);
        for (size_t i = 0; i < finding->n_evidence; i++)
                free(finding->evidence[i]);
        for (size_t i = 0; i < finding->n_subjects; i++) {
                free(finding->subjects[i].name);
                free(finding->subjects[i].value);
        }
        free(finding->evidence);
        free(finding->subjects);
}

static void explain_verdict_deinit(struct verdict *verdict)
{
        explain_finding_deinit(&verdict->finding);
        free(verdict->why_not);
}

void roast_explanation_deinit(struct roast_explanation *explanation)
{
        for (size_t i = 0; i < explanation->n_findings; i++)
                explain_finding_deinit(&explanation->findings[i]);
        for (size_t i = 0; i < explanation->n_unfired; i++)
                free(explanation->unfired[i].why_not);
        free(explanation->findings);
        free(explanation->unfired);
        *explanation = (struct roast_explanation){ 0 };
}

/* More time first; what is not a matter of time comes last. The order of rules decides a tie. */
static int explain_by_savings(const void *a, const void *b)
{
        const struct roast_finding *x = a, *y = b;
        double x_s = isnan(x->saves_s) ? -1 : x->saves_s, y_s = isnan(y->saves_s) ? -1 : y->saves_s;

        if (x_s != y_s)
                return x_s > y_s ? -1 : 1;
        return strcmp(x->rule, y->rule);
}

/* What the verdict holds moves into the explanation. */
static int explain_keep(struct roast_explanation *explanation, const struct rule *rule,
                        struct verdict *verdict)
{
        char threshold[160];

        if (!verdict->fires) {
                explanation->unfired[explanation->n_unfired++] =
                        (struct roast_unfired){ rule->name, verdict->why_not };
                if (!verdict->why_not)
                        return ROAST_E_NOMEM;
                verdict->why_not = NULL;
                return 0;
        }
        explain_threshold_of(rule, threshold, sizeof(threshold));
        verdict->finding.rule = rule->name;
        verdict->finding.advice = rule->advice;
        verdict->finding.threshold = strdup(threshold);
        explanation->findings[explanation->n_findings++] = verdict->finding;
        if (!verdict->finding.threshold)
                verdict->nomem = true;
        verdict->finding = (struct roast_finding){ 0 };
        return verdict->nomem ? ROAST_E_NOMEM : 0;
}

static int explain_apply(struct roast_explanation *explanation, const struct study *study)
{
        int r = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rules) && r >= 0; i++) {
                ROAST_CLEANUP(explain_verdict_deinit) struct verdict verdict = { 0 };

                r = rules[i].check(study, rules[i].limit, &verdict);
                if (r >= 0 && verdict.nomem)
                        r = ROAST_E_NOMEM;
                if (r >= 0)
                        r = explain_keep(explanation, &rules[i], &verdict);
        }
        if (r >= 0 && explanation->n_findings)
                qsort(explanation->findings, explanation->n_findings,
                      sizeof(*explanation->findings), explain_by_savings);
        return r;
}

int roast_explain(struct roast_explanation *explanation, struct roast_run *run,
                  struct roast_error *error)
{
        ROAST_CLEANUP(study_deinit) struct study study = { 0 };
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation made = { 0 };
        int r;

        *explanation = (struct roast_explanation){ 0 };
        r = study_run(&study, run, true, error);
        if (r < 0)
                return r;
        made.elapsed_s = study.elapsed_s;
        made.threads = study.threads;
        made.findings = calloc(ROAST_ARRAY_SIZE(rules), sizeof(*made.findings));
        made.unfired = calloc(ROAST_ARRAY_SIZE(rules), sizeof(*made.unfired));
        if (!made.findings || !made.unfired || explain_apply(&made, &study) < 0)
                return roast_fail_nomem(error);
        *explanation = made;
        made = (struct roast_explanation){ 0 };
        return 0;
}
