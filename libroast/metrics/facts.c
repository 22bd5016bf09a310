/* Base facts from the run's own facts: elapsed time, coffea's report */

#include <math.h>
#include <string.h>

#include "metrics/collect.h"
#include "metrics/custom.h"
#include "metrics/given.h"

static void facts_note_text(char *room, size_t size, const char *text)
{
        size_t len = strnlen(text ? text : "", size - 1);

        memcpy(room, text ? text : "", len);
        room[len] = '\0';
}

/* Figures that the user gave by dataset: custom.FIELD.DATASET; and that there are: custom.given */
static void facts_note_custom(struct report_custom *custom, const struct roast_fact *fact)
{
        const char *field = fact->name + 7;

        if (fact->type == ROAST_FACT_ABSENT)
                return;
        if (!strncmp(field, "entries.", 8))
                report_custom_note(&custom->entries, fact);
        else if (!strncmp(field, "bytes.", 6))
                report_custom_note(&custom->bytes, fact);
        else if (!strncmp(field, "duration.", 9))
                report_custom_note(&custom->duration_s, fact);
        else if (strcmp(field, "given"))
                return;
        custom->given = true;
}

/* What following the workers cost: monitor.NAME */
static void facts_note_cost(struct roast_metric_set *set, const char *name, int64_t value)
{
        if (!strcmp(name, "scheduler_ns"))
                roast_metric_set_real(set, ROAST_MONITORING_SCHEDULER_SECONDS, (double)value / 1e9);
        else if (!strcmp(name, "client_ns"))
                roast_metric_set_real(set, ROAST_MONITORING_CLIENT_SECONDS, (double)value / 1e9);
        else if (!strcmp(name, "bytes"))
                roast_metric_set_count(set, ROAST_MONITORING_BYTES, value);
}

/* Branches that the report names, one a line; chunk records will tell better, if there are any. */
static void facts_note_columns(struct roast_metric_set *set, const char *lines)
{
        static const char suffix[] = "-data";
        const size_t suffix_len = sizeof(suffix) - 1;
        int64_t n = 0;

        while (*lines) {
                size_t len = strcspn(lines, "\n");

                n += len > suffix_len && !memcmp(lines + len - suffix_len, suffix, suffix_len);
                lines += len + (lines[len] == '\n');
        }
        if (n)
                roast_metric_set_count(set, ROAST_TOTAL_BRANCHES_READ, n);
}

static int facts_note_elapsed(struct roast_metric_set *set, const struct roast_fact *fact)
{
        if (fact->type == ROAST_FACT_ABSENT || !isfinite(fact->real))
                return fact->text ? roast_metric_set_absent(set, ROAST_ELAPSED_TIME_SECONDS, "%s",
                                                            fact->text)
                                  : 0;
        roast_metric_set_real(set, ROAST_ELAPSED_TIME_SECONDS, fact->real / 1e9);
        return 0;
}

static int facts_note_given(struct collect *collect, const struct roast_fact *fact)
{
        collect->given |= !strcmp(fact->name, "given.whole");
        return given_note(collect->summary, fact->name + 6, fact);
}

/* Why what no fact is about is not known; of figures that were given, their group says it. */
static int facts_set_reasons(struct collect *collect)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        struct roast_value *elapsed = &set->values[ROAST_ELAPSED_TIME_SECONDS];

        if (collect->given)
                return 0;
        if (elapsed->state == ROAST_ABSENT && !elapsed->reason &&
            roast_metric_set_absent(set, ROAST_ELAPSED_TIME_SECONDS, "the run has not finished") <
                    0)
                return ROAST_E_NOMEM;
        return report_begin(set);
}

/* Non-zero ends the walk: an error, kept where the walk's caller finds it. */
static int facts_note(const struct roast_fact *fact, void *context)
{
        struct collect *collect = context;
        struct roast_metric_set *set = &collect->summary->metrics;

        if (!strcmp(fact->name, "run.start_utc_ns") && fact->type == ROAST_FACT_INT)
                collect->start_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "run.end_utc_ns") && fact->type == ROAST_FACT_INT)
                collect->end_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "run.shortfall") && fact->type == ROAST_FACT_TEXT)
                facts_note_text(collect->shortfall, sizeof(collect->shortfall), fact->text);
        else if (!strcmp(fact->name, "run.elapsed_ns") && fact->type != ROAST_FACT_TEXT)
                collect->r = facts_note_elapsed(set, fact);
        else if (!strcmp(fact->name, "run.faults") && fact->type == ROAST_FACT_INT)
                roast_metric_set_count(set, ROAST_MONITORING_FAULTS, fact->integer);
        else if (!strncmp(fact->name, "monitor.", 8) && fact->type == ROAST_FACT_INT)
                facts_note_cost(set, fact->name + 8, fact->integer);
        else if (!strcmp(fact->name, "backend.interval_s") && fact->real > 0)
                collect->interval_s = fact->real;
        else if (!strcmp(fact->name, "processor.name") && fact->type == ROAST_FACT_TEXT)
                facts_note_text(collect->processor, sizeof(collect->processor), fact->text);
        else if (!strcmp(fact->name, "backend.name") && fact->type == ROAST_FACT_TEXT)
                collect->names_chunks = !strcmp(fact->text, "dask");
        else if (!strcmp(fact->name, "task.chunk_prefix") && fact->type == ROAST_FACT_TEXT)
                facts_note_text(collect->chunk_prefix, sizeof(collect->chunk_prefix), fact->text);
        else if (!strcmp(fact->name, "backend.spans") && fact->type == ROAST_FACT_ABSENT)
                facts_note_text(collect->no_spans, sizeof(collect->no_spans), fact->text);
        else if (!strcmp(fact->name, "backend.spans_shortfall") && fact->type == ROAST_FACT_TEXT)
                facts_note_text(collect->few_spans, sizeof(collect->few_spans), fact->text);
        else if (!strcmp(fact->name, "backend.records_shortfall") && fact->type == ROAST_FACT_TEXT)
                facts_note_text(collect->few_records, sizeof(collect->few_records), fact->text);
        else if (!strncmp(fact->name, "custom.", 7))
                facts_note_custom(&collect->custom, fact);
        else if (!strncmp(fact->name, "metric.", 7))
                collect->r = custom_note(collect->summary, fact->name + 7, fact);
        else if (!strcmp(fact->name, "report.columns") && fact->type == ROAST_FACT_TEXT)
                facts_note_columns(set, fact->text);
        else if (!strcmp(fact->name, "report.derived") && fact->type == ROAST_FACT_TEXT)
                facts_note_text(collect->derived, sizeof(collect->derived), fact->text);
        else if (!strncmp(fact->name, "given.", 6))
                collect->r = facts_note_given(collect, fact);
        else if (!strcmp(fact->name, "report.fallback"))
                collect->assumes = true;
        else if (!strncmp(fact->name, "imported.", 9))
                imported_note(&collect->imported, fact->name + 9, fact);
        else if (!strncmp(fact->name, "report.", 7))
                collect->r = report_note(set, fact->name + 7, fact);
        return collect->r;
}

int collect_facts(struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        int r;

        collect->start_utc_ns = collect->end_utc_ns = INT64_MIN;
        r = roast_run_facts(collect->run, facts_note, collect, error);
        if (r < 0)
                return r;
        if (collect->r < 0 || facts_set_reasons(collect) < 0)
                return roast_fail_nomem(error);
        custom_end(collect->summary);
        if (collect->derived[0] && report_set_derived(set, collect->derived) < 0)
                return roast_fail_nomem(error);
        if (collect->assumes && !collect->custom.given && report_assume_process_time(set) < 0)
                return roast_fail_nomem(error);
        if (collect->given)
                return 0;
        return report_end(set, &collect->custom) < 0 ? roast_fail_nomem(error) : 0;
}
