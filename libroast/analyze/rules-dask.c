/* Rules about Dask: packing, merging, its event loops */

#include "analyze/rule.h"

static const char no_spans[] = "there are no fine metrics (Dask's spans)";

static double rules_tasks_s(const struct study_spans *spans)
{
        return spans->processor_s + spans->reduce_s + spans->other_s;
}

int rule_serialization(const struct study *study, double limit, struct verdict *verdict)
{
        const struct study_spans *spans = &study->spans;
        double packing_s =
                spans->serialize_s + spans->deserialize_s + spans->compress_s + spans->decompress_s;
        double all_s = rules_tasks_s(spans) + packing_s, share = all_s > 0 ? packing_s / all_s : 0;

        if (!spans->known)
                return verdict_why_not(verdict, "%s", no_spans);
        if (share < limit)
                return verdict_why_not(verdict,
                                       "packing and unpacking took %.1f %% of the tasks' "
                                       "time",
                                       100 * share);
        verdict_fire(verdict, study, packing_s,
                     "Packing and unpacking take %.0f %% of the tasks' time", 100 * share);
        return verdict_evidence(verdict, "serialize %s, deserialize %s, compress %s, decompress %s",
                                say_s(spans->serialize_s), say_s(spans->deserialize_s),
                                say_s(spans->compress_s), say_s(spans->decompress_s));
}

int rule_merging(const struct study *study, double limit, struct verdict *verdict)
{
        const struct study_spans *spans = &study->spans;
        double all_s = rules_tasks_s(spans), share = all_s > 0 ? spans->reduce_s / all_s : 0;

        if (!spans->known)
                return verdict_why_not(verdict, "%s", no_spans);
        if (share < limit)
                return verdict_why_not(verdict, "merging took %.1f %% of the tasks' time",
                                       100 * share);
        verdict_fire(verdict, study, spans->reduce_s,
                     "Merging outputs takes %.0f %% of the tasks' time", 100 * share);
        verdict_evidence(verdict, "%s in tasks named 'reduce', %s in those of the processor",
                         say_s(spans->reduce_s), say_s(spans->processor_s));
        return verdict_evidence(verdict, "%s for each of %s chunks",
                                say_s(spans->reduce_s / fmax((double)study->n_chunks, 1)),
                                say_count((double)study->n_chunks));
}

int rule_scheduler_lag(const struct study *study, double limit, struct verdict *verdict)
{
        double lag_s = 0, n = 0, mean_s, tasks;
        struct top top = { 0 };

        for (size_t i = 0; i < study->texts.n; i++) {
                const struct study_worker *worker = &study->workers[i];

                if (!worker->lag_n)
                        continue;
                lag_s += worker->lag_s;
                n += (double)worker->lag_n;
                top_add(&top, i, worker->lag_s / (double)worker->lag_n);
        }
        if (n == 0)
                return verdict_why_not(verdict, "the workers' event loops were not sampled");
        mean_s = lag_s / n;
        if (mean_s < limit)
                return verdict_why_not(verdict, "event loops were %s late on average",
                                       say_s(mean_s));
        /* each task is told to start and reported by the loop */
        tasks = (double)study->n_chunks;
        verdict_fire(verdict, study, fmin(2 * mean_s * tasks, study->overhead_s + study->starved_s),
                     "Dask's event loops are %s late on average", say_s(mean_s));
        verdict->finding.estimated = true;
        verdict_evidence(verdict,
                         "from %s samples; two turns of the loop for each of %s "
                         "tasks, but not more than the time between chunks",
                         say_count(n), say_count(tasks));
        for (size_t i = 0; i < top.n; i++)
                verdict_subject(verdict, study, "worker", (uint32_t)top.items[i].index,
                                "%s on average, %s at worst", say_s(top.items[i].value),
                                say_s(study->workers[top.items[i].index].lag_worst_s));
        return 0;
}
