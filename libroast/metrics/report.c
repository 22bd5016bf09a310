/* Base facts from coffea's report: see report.h. */

#include <math.h>
#include <string.h>

#include "metrics/report.h"

const struct report_field report_fields[REPORT_N_FIELDS] = {
        { "bytesread", ROAST_TOTAL_BYTES_READ },
        { "entries", ROAST_TOTAL_EVENTS },
        { "processtime", ROAST_TOTAL_CPU_TIME },
        { "chunks", ROAST_NUM_CHUNKS },
};

int report_begin(struct roast_metric_set *set)
{
        int r = 0;

        for (size_t i = 0; i < REPORT_N_FIELDS && r >= 0; i++) {
                const struct roast_value *value = &set->values[report_fields[i].metric];

                if (value->state == ROAST_ABSENT && !value->reason)
                        r = roast_metric_set_absent(set, report_fields[i].metric,
                                                    "no report was given");
        }
        return r;
}

static int report_set_figure(struct roast_metric_set *set, const struct report_field *field,
                             const struct roast_fact *fact)
{
        if (fact->type == ROAST_FACT_ABSENT)
                return roast_metric_set_absent(set, field->metric, "%s",
                                               fact->text ? fact->text : "not in the report");
        if (fact->type == ROAST_FACT_TEXT)
                return roast_metric_set_absent(set, field->metric,
                                               "the report's %s is not a number", field->name);
        if (!isfinite(fact->real))
                return roast_metric_set_absent(set, field->metric, "the report's %s is not finite",
                                               field->name);
        if (fact->real < 0)
                return roast_metric_set_absent(set, field->metric, "the report's %s is negative",
                                               field->name);
        if (fact->type == ROAST_FACT_INT)
                roast_metric_set_count(set, field->metric, fact->integer);
        else
                roast_metric_set_real(set, field->metric, fact->real);
        return 0;
}

int report_note(struct roast_metric_set *set, const char *field, const struct roast_fact *fact)
{
        for (size_t i = 0; i < REPORT_N_FIELDS; i++)
                if (!strcmp(field, report_fields[i].name))
                        return report_set_figure(set, &report_fields[i], fact);
        return 0;
}

int report_set_derived(struct roast_metric_set *set, const char *how)
{
        int r = 0;

        for (size_t i = 0; i < REPORT_N_FIELDS && r >= 0; i++) {
                enum roast_metric metric = report_fields[i].metric;

                if (set->values[metric].state != ROAST_ABSENT)
                        r = roast_metric_set_estimated(set, metric, set->values[metric].real, "%s",
                                                       how);
        }
        return r;
}

void report_custom_note(struct stat_total *total, const struct roast_fact *fact)
{
        if (fact->type == ROAST_FACT_INT && fact->integer >= 0)
                stat_total_int(total, fact->integer);
        else if (fact->type == ROAST_FACT_REAL && isfinite(fact->real) && fact->real >= 0)
                stat_total_real(total, fact->real);
}

static int report_set_total(struct roast_metric_set *set, enum roast_metric metric,
                            const struct stat_total *total)
{
        if (total->n == 0)
                return roast_metric_set_absent(set, metric,
                                               "not in the figures given in place of the report");
        if (total->inexact)
                roast_metric_set_real(set, metric, total->real);
        else
                roast_metric_set_count(set, metric, total->whole);
        return 0;
}

int report_assume_process_time(struct roast_metric_set *set)
{
        const struct roast_value *elapsed = &set->values[ROAST_ELAPSED_TIME_SECONDS];

        if (set->values[ROAST_TOTAL_CPU_TIME].state != ROAST_ABSENT ||
            elapsed->state == ROAST_ABSENT)
                return 0;
        if (set->values[ROAST_TOTAL_EVENTS].state == ROAST_ABSENT &&
            set->values[ROAST_TOTAL_BYTES_READ].state == ROAST_ABSENT)
                return 0;
        return roast_metric_set_estimated(set, ROAST_TOTAL_CPU_TIME, elapsed->real,
                                          "the elapsed time: the report tells no process time");
}

/* What the report's own number of chunks gives, before chunk records replace that number */
static int report_set_time_per_chunk(struct roast_metric_set *set)
{
        const struct roast_value *time = &set->values[ROAST_TOTAL_CPU_TIME];
        const struct roast_value *chunks = &set->values[ROAST_NUM_CHUNKS];
        double each;

        if (time->state == ROAST_ABSENT)
                return roast_metric_set_absent(set, ROAST_AVG_CPU_TIME_PER_CHUNK, "%s",
                                               roast_metric_reason(set, ROAST_TOTAL_CPU_TIME));
        if (chunks->state == ROAST_ABSENT)
                return roast_metric_set_absent(set, ROAST_AVG_CPU_TIME_PER_CHUNK, "%s",
                                               roast_metric_reason(set, ROAST_NUM_CHUNKS));
        if (chunks->real <= 0)
                return roast_metric_set_absent(set, ROAST_AVG_CPU_TIME_PER_CHUNK,
                                               "the report counts no chunks");
        each = time->real / chunks->real;
        if (time->state == ROAST_ESTIMATED)
                return roast_metric_set_estimated(set, ROAST_AVG_CPU_TIME_PER_CHUNK, each, "%s",
                                                  roast_metric_reason(set, ROAST_TOTAL_CPU_TIME));
        roast_metric_set_real(set, ROAST_AVG_CPU_TIME_PER_CHUNK, each);
        return 0;
}

int report_end(struct roast_metric_set *set, const struct report_custom *custom)
{
        if (custom->given && (report_set_total(set, ROAST_TOTAL_EVENTS, &custom->entries) < 0 ||
                              report_set_total(set, ROAST_TOTAL_BYTES_READ, &custom->bytes) < 0 ||
                              report_set_total(set, ROAST_TOTAL_CPU_TIME, &custom->duration_s) < 0))
                return ROAST_E_NOMEM;
        return report_set_time_per_chunk(set);
}
