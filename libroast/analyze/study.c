/* What a run says about where its time went: see study.h. This file: facts, spans, the order. */

#include <stdlib.h>
#include <string.h>

#include "analyze/study.h"
#include "run/series.h"
#include "util/cleanup.h"

struct facts {
        int64_t start_utc_ns;
        int64_t end_utc_ns;
        int64_t elapsed_ns;
        double cpus;
        char processor[256];
        char host[256];
};

static int study_note_fact(const struct roast_fact *fact, void *data)
{
        struct facts *facts = data;
        const char *name = fact->name;

        if (fact->type == ROAST_FACT_INT && !strcmp(name, "run.start_utc_ns"))
                facts->start_utc_ns = fact->integer;
        else if (fact->type == ROAST_FACT_INT && !strcmp(name, "run.end_utc_ns"))
                facts->end_utc_ns = fact->integer;
        else if (fact->type == ROAST_FACT_INT && !strcmp(name, "run.elapsed_ns"))
                facts->elapsed_ns = fact->integer;
        else if (fact->type == ROAST_FACT_INT && !strcmp(name, "env.cpus"))
                facts->cpus = (double)fact->integer;
        else if (fact->type == ROAST_FACT_TEXT && !strcmp(name, "processor.name"))
                snprintf(facts->processor, sizeof(facts->processor), "%s", fact->text);
        else if (fact->type == ROAST_FACT_TEXT && !strcmp(name, "env.host"))
                snprintf(facts->host, sizeof(facts->host), "%s", fact->text);
        return 0;
}

static int study_facts(struct study *study, struct roast_run *run, struct roast_error *error)
{
        struct facts facts = { INT64_MIN, INT64_MIN, INT64_MIN, 0, "", "" };
        int r;

        r = roast_run_facts(run, study_note_fact, &facts, error);
        if (r < 0)
                return r;
        study->start_utc_ns = facts.start_utc_ns;
        study->elapsed_s = (double)NAN;
        if (facts.elapsed_ns >= 0)
                study->elapsed_s = (double)facts.elapsed_ns / 1e9;
        else if (facts.start_utc_ns != INT64_MIN && facts.end_utc_ns > facts.start_utc_ns)
                study->elapsed_s = ((double)facts.end_utc_ns - (double)facts.start_utc_ns) / 1e9;
        study->cpus = facts.cpus;
        memcpy(study->processor, facts.processor, sizeof(study->processor));
        memcpy(study->client_host, facts.host, sizeof(study->client_host));
        return 0;
}

static bool study_is_text(const struct run_value *value, const char *text)
{
        return value->type == RUN_STRING && value->len == strlen(text) &&
               !memcmp(value->data, text, value->len);
}

/* values: kind, prefix, activity, unit, value */
static void study_note_span(struct study *study, const struct run_value *values)
{
        struct study_spans *spans = &study->spans;
        const struct run_value *prefix = &values[SPAN_PREFIX], *activity = &values[SPAN_ACTIVITY],
                               *unit = &values[SPAN_UNIT];
        double value = values[SPAN_VALUE].real;
        size_t len = strnlen(study->processor, 50); /* Dask cuts prefixes there */

        if (values[SPAN_VALUE].type != RUN_REAL || !isfinite(value) ||
            !study_is_text(&values[SPAN_KIND], "execute"))
                return;
        if (study_is_text(unit, "bytes")) {
                if (study_is_text(activity, "disk-read") || study_is_text(activity, "disk-write"))
                        spans->disk_bytes += value;
                return;
        }
        if (!study_is_text(unit, "seconds"))
                return;
        spans->known = true;
        if (study_is_text(activity, "serialize"))
                spans->serialize_s += value;
        else if (study_is_text(activity, "deserialize"))
                spans->deserialize_s += value;
        else if (study_is_text(activity, "compress"))
                spans->compress_s += value;
        else if (study_is_text(activity, "decompress"))
                spans->decompress_s += value;
        else if (study_is_text(activity, "disk-read") || study_is_text(activity, "disk-write"))
                spans->disk_s += value;
        if (!study_is_text(activity, "thread-cpu") && !study_is_text(activity, "thread-noncpu"))
                return;
        if (study_is_text(prefix, "reduce"))
                spans->reduce_s += value;
        else if (len && prefix->type == RUN_STRING && prefix->len == len &&
                 !memcmp(prefix->data, study->processor, len))
                spans->processor_s += value;
        else
                spans->other_s += value;
}

/*
 * Spilling happens in whatever Dask does, most of it outside of tasks.
 * values: worker_text, kind_text, prefix_text, activity_text, unit_text, value
 */
static void study_note_activity(struct study *study, const struct run_value *values)
{
        size_t kind_len, len, unit_len;
        const char *kind =
                study_text(study, study_number(study, &values[ACTIVITY_KIND]), &kind_len);
        const char *activity =
                study_text(study, study_number(study, &values[ACTIVITY_ACTIVITY]), &len);
        const char *unit =
                study_text(study, study_number(study, &values[ACTIVITY_UNIT]), &unit_len);

        if (!kind || !activity || !unit || values[ACTIVITY_VALUE].type != RUN_REAL ||
            !(values[ACTIVITY_VALUE].real > 0) || (kind_len == 7 && !memcmp(kind, "execute", 7)) ||
            len < 5 || memcmp(activity, "disk-", 5))
                return;
        if (unit_len == 7 && !memcmp(unit, "seconds", 7))
                study->spans.disk_s += values[ACTIVITY_VALUE].real;
        else if (unit_len == 5 && !memcmp(unit, "bytes", 5))
                study->spans.disk_bytes += values[ACTIVITY_VALUE].real;
}

static int study_activities(struct study *study, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_ACTIVITY, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                study_note_activity(study, scan.values);
        run_scan_end(&scan);
        return r;
}

static int study_spans(struct study *study, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_SPAN, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                study_note_span(study, scan.values);
        run_scan_end(&scan);
        return r;
}

static int study_read_all(struct study *study, struct roast_run *run, bool sections,
                          struct roast_error *error)
{
        static int (*const parts[])(struct study *, struct roast_run *, struct roast_error *) = {
                study_facts,    study_chunks,  study_gaps,  study_tasks,
                study_sections, study_workers, study_spans, study_activities,
        };
        int r = run_read_texts(run, &study->texts, error);

        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && r >= 0; i++)
                if (sections || parts[i] != study_sections)
                        r = parts[i](study, run, error);
        return r;
}

int study_run(struct study *study, struct roast_run *run, bool sections, struct roast_error *error)
{
        int r;

        *study = (struct study){ 0 };
        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = study_read_all(study, run, sections, error);
        run_view_end(run);
        free(study->index);
        study->index = NULL;
        if (r < 0)
                study_deinit(study);
        return r < 0 ? r : 0;
}

void study_deinit(struct study *study)
{
        free(study->chunks);
        free(study->slots);
        free(study->workers);
        free(study->sections);
        free(study->errors);
        free(study->index);
        intern_deinit(&study->texts);
        *study = (struct study){ 0 };
}

const char *study_text(const struct study *study, uint32_t number, size_t *len)
{
        *len = 0;
        return number < study->texts.n ? intern_get(&study->texts, number, len) : NULL;
}
