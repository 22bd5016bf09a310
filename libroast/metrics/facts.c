/* Base facts from the run's own facts: elapsed time, coffea's report */

#include <math.h>
#include <string.h>

#include "metrics/collect.h"

/* A figure of coffea's report is usable if it is a number and not negative. */
static int report_figure(struct roast_metric_set *set, enum roast_metric metric, const char *field,
                         const struct roast_fact *fact)
{
        if (fact->type == ROAST_FACT_ABSENT)
                return roast_metric_set_absent(set, metric, "%s",
                                               fact->text ? fact->text : "not in the report");
        if (fact->type == ROAST_FACT_TEXT)
                return roast_metric_set_absent(set, metric, "the report's %s is not a number",
                                               field);
        if (!isfinite(fact->real))
                return roast_metric_set_absent(set, metric, "the report's %s is not finite", field);
        if (fact->real < 0)
                return roast_metric_set_absent(set, metric, "the report's %s is negative", field);
        if (fact->type == ROAST_FACT_INT)
                roast_metric_set_count(set, metric, fact->integer);
        else
                roast_metric_set_real(set, metric, fact->real);
        return 0;
}

static const struct {
        const char *field;
        enum roast_metric metric;
} report_fields[] = {
        { "bytesread", ROAST_TOTAL_BYTES_READ },
        { "entries", ROAST_TOTAL_EVENTS },
        { "processtime", ROAST_TOTAL_CPU_TIME },
        { "chunks", ROAST_NUM_CHUNKS },
};

static void note_processor(struct collect *collect, const char *name)
{
        size_t len = strnlen(name, sizeof(collect->processor) - 1);

        memcpy(collect->processor, name, len);
        collect->processor[len] = '\0';
}

/* Figures that the user gave by dataset: custom.FIELD.DATASET */
static void note_custom(struct collect *collect, const struct roast_fact *fact)
{
        const char *field = fact->name + 7;

        if (fact->type != ROAST_FACT_INT && fact->type != ROAST_FACT_REAL)
                return;
        if (!strncmp(field, "entries.", 8))
                collect->custom_entries += fact->real;
        else if (!strncmp(field, "bytes.", 6))
                collect->custom_bytes += fact->real;
        else if (!strncmp(field, "duration.", 9))
                collect->custom_duration_s += fact->real;
        else
                return;
        collect->has_custom = true;
}

static int note(const struct roast_fact *fact, void *context)
{
        struct collect *collect = context;
        struct roast_metric_set *set = &collect->summary->metrics;

        if (!strcmp(fact->name, "run.start_utc_ns") && fact->type == ROAST_FACT_INT)
                collect->start_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "run.end_utc_ns") && fact->type == ROAST_FACT_INT)
                collect->end_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "run.elapsed_ns") && fact->type == ROAST_FACT_INT)
                roast_metric_set_real(set, ROAST_ELAPSED_TIME_SECONDS, fact->real / 1e9);
        else if (!strcmp(fact->name, "backend.interval_s") && fact->real > 0)
                collect->interval_s = fact->real;
        else if (!strcmp(fact->name, "processor.name") && fact->type == ROAST_FACT_TEXT)
                note_processor(collect, fact->text);
        else if (!strncmp(fact->name, "custom.", 7))
                note_custom(collect, fact);
        else if (!strncmp(fact->name, "report.", 7))
                for (size_t i = 0; i < sizeof(report_fields) / sizeof(report_fields[0]); i++)
                        if (!strcmp(fact->name + 7, report_fields[i].field))
                                return report_figure(set, report_fields[i].metric,
                                                     report_fields[i].field, fact);
        return 0;
}

/* What the report's own number of chunks gives, before chunk records replace that number */
static int process_time_per_chunk(struct roast_metric_set *set)
{
        const struct roast_value *time = &set->values[ROAST_TOTAL_CPU_TIME];
        const struct roast_value *chunks = &set->values[ROAST_NUM_CHUNKS];

        if (time->state == ROAST_ABSENT)
                return roast_metric_set_absent(set, ROAST_AVG_CPU_TIME_PER_CHUNK, "%s",
                                               roast_metric_reason(set, ROAST_TOTAL_CPU_TIME));
        if (chunks->state == ROAST_ABSENT)
                return roast_metric_set_absent(set, ROAST_AVG_CPU_TIME_PER_CHUNK, "%s",
                                               roast_metric_reason(set, ROAST_NUM_CHUNKS));
        if (chunks->real <= 0)
                return roast_metric_set_absent(set, ROAST_AVG_CPU_TIME_PER_CHUNK,
                                               "the report counts no chunks");
        roast_metric_set_real(set, ROAST_AVG_CPU_TIME_PER_CHUNK, time->real / chunks->real);
        return 0;
}

int collect_facts(struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        int r = 0;

        collect->start_utc_ns = collect->end_utc_ns = INT64_MIN;
        for (size_t i = 0; i < sizeof(report_fields) / sizeof(report_fields[0]) && r >= 0; i++)
                r = roast_metric_set_absent(set, report_fields[i].metric, "no report was given");
        if (r >= 0)
                r = roast_metric_set_absent(set, ROAST_ELAPSED_TIME_SECONDS,
                                            "the run has not finished");
        if (r < 0)
                return roast_fail_nomem(error);
        r = roast_run_facts(collect->run, note, collect, error);
        if (r < 0)
                return r;
        if (collect->has_custom) {
                roast_metric_set_real(set, ROAST_TOTAL_EVENTS, collect->custom_entries);
                roast_metric_set_real(set, ROAST_TOTAL_BYTES_READ, collect->custom_bytes);
                roast_metric_set_real(set, ROAST_TOTAL_CPU_TIME, collect->custom_duration_s);
        }
        return process_time_per_chunk(set) < 0 ? roast_fail_nomem(error) : 0;
}
