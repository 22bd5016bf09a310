/* The documented metrics dict: see documented.h. This file is the table of its keys. */

#include <stddef.h>
#include <stdlib.h>

#include "run/run.h"
#include "v1/documented.h"

/* ---- what it is made from ---- */

static const struct roast_value *documented_value(const struct v1_source *source,
                                                  enum roast_metric metric)
{
        return &source->summary->metrics.values[metric];
}

static bool documented_knows(const struct v1_source *source, enum roast_metric metric)
{
        return documented_value(source, metric)->state != ROAST_ABSENT;
}

static int documented_note_fact(const struct roast_fact *fact, void *context)
{
        struct v1_source *source = context;

        if (!strncmp(fact->name, "custom.", 7))
                source->has_given_sums = true;
        if (strcmp(fact->name, "report.columns") != 0 || fact->type != ROAST_FACT_TEXT)
                return 0;
        free(source->columns);
        source->columns = strdup(fact->text);
        return source->columns == NULL;
}

static int documented_compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "nJet-offsets\nJet_pt-data": the columns of the report become the names of its branches. */
static int documented_find_branches(struct v1_source *source)
{
        size_t n = 0, n_lines = 1;
        char *at, *next = source->columns;

        for (const char *c = source->columns; *c; c++)
                n_lines += *c == '\n';
        source->branches = calloc(n_lines, sizeof(*source->branches));
        if (!source->branches)
                return ROAST_E_NOMEM;
        while ((at = strsep(&next, "\n"))) {
                size_t len = strlen(at);

                if (len < 5 || strcmp(at + len - 5, "-data") != 0)
                        continue;
                at[len - 5] = '\0';
                source->branches[n++] = at;
        }
        qsort(source->branches, n, sizeof(*source->branches), documented_compare_names);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || strcmp(source->branches[i], source->branches[i - 1]) != 0)
                        source->branches[source->n_branches++] = source->branches[i];
        return 0;
}

/* A span as Python has it; what is not complete is left out. */
static bool documented_is_span(const struct roast_span *span)
{
        return span->kind && span->activity && isfinite(span->value);
}

static int documented_note_span(const struct roast_span *span, void *context)
{
        return *(bool *)context = documented_is_span(span);
}

static int documented_has_rows(struct roast_run *run, enum run_table table,
                               struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, table, error);
        if (r >= 0)
                r = run_scan_next(&scan, error);
        run_scan_end(&scan);
        return r;
}

int v1_source_init(struct v1_source *source, struct roast_run *run,
                   const struct roast_summary *summary, struct roast_error *error)
{
        int r;

        *source = (struct v1_source){ .run = run, .summary = summary, .always = true };
        source->has_chunks = documented_knows(source, ROAST_NUM_SUCCESSFUL_CHUNKS);
        source->has_sections = source->has_chunks && summary->n_sections > 0;
        for (size_t i = 0; source->has_chunks && i < summary->n_datasets; i++)
                source->has_datasets |= summary->datasets[i].finished > 0;
        r = v1_grid_of_run(&source->grid, run, error);
        source->with_workers = source->grid.n > 0;
        if (r >= 0)
                r = documented_has_rows(run, RUN_CHUNK, error);
        if (r == 0)
                r = documented_has_rows(run, RUN_TASK, error);
        source->has_records = source->has_chunks && r > 0;
        if (r >= 0)
                r = roast_run_spans(run, documented_note_span, &source->has_spans, error);
        if (r >= 0)
                r = roast_run_facts(run, documented_note_fact, source, error);
        if (r >= 0 && source->columns &&
            documented_value(source, ROAST_TOTAL_BRANCHES_READ)->real <= 0 &&
            documented_find_branches(source) < 0)
                r = roast_fail_nomem(error);
        source->has_branches = source->n_branches > 0;
        if (r < 0)
                v1_source_deinit(source);
        return r < 0 ? r : 0;
}

void v1_source_deinit(struct v1_source *source)
{
        free(source->branches);
        free(source->columns);
}

/* ---- single figures ---- */

/* Without a process time the documented dict counts with the elapsed time. */
static double documented_cpu_time(const struct v1_source *source)
{
        if (source->has_given_sums || documented_knows(source, ROAST_TOTAL_CPU_TIME) ||
            !documented_knows(source, ROAST_ELAPSED_TIME_SECONDS) ||
            (!documented_knows(source, ROAST_TOTAL_EVENTS) &&
             !documented_knows(source, ROAST_TOTAL_BYTES_READ)))
                return 0;
        return documented_value(source, ROAST_ELAPSED_TIME_SECONDS)->real;
}

static double documented_fallback(const struct v1_source *source, unsigned int metric)
{
        double cpu_s = documented_cpu_time(source);
        double events = documented_value(source, ROAST_TOTAL_EVENTS)->real;
        double chunks = documented_value(source, ROAST_NUM_CHUNKS)->real;

        if (metric == ROAST_TOTAL_CPU_TIME)
                return cpu_s;
        if (metric == ROAST_EVENT_RATE_CPU_TOTAL_KHZ && cpu_s > 0)
                return events / cpu_s / 1000;
        if (metric == ROAST_AVG_CPU_TIME_PER_CHUNK && chunks > 0)
                return cpu_s / chunks;
        return 0;
}

static enum roast_fallback documented_fallback_kind(const struct v1_source *source,
                                                    unsigned int metric)
{
        const struct roast_metric_info *info = &roast_metrics[metric];

        if (info->fallback != ROAST_FALLBACK_OMIT)
                return info->fallback;
        if (source->with_workers && info->group == ROAST_GROUP_WORKER)
                return metric == ROAST_TOTAL_CORES || metric == ROAST_CORES_PER_WORKER
                               ? ROAST_FALLBACK_NONE
                               : ROAST_FALLBACK_ZERO;
        if (source->has_chunks &&
            (metric == ROAST_AVG_BRANCHES_READ_PERCENT || metric == ROAST_AVG_BYTES_READ_PERCENT ||
             metric == ROAST_TOTAL_BRANCHES_READ))
                return ROAST_FALLBACK_ZERO;
        return ROAST_FALLBACK_OMIT;
}

static void documented_put_figure(const struct v1_source *source, struct emit *emit,
                                  unsigned int metric, const char *key)
{
        const struct roast_value *value = documented_value(source, metric);
        bool is_count = roast_metrics[metric].type == ROAST_TYPE_COUNT;
        double fallback;

        emit_key(emit, key);
        if (metric == ROAST_TOTAL_BRANCHES_READ && source->n_branches) {
                emit_int(emit, (int64_t)source->n_branches);
        } else if (value->state != ROAST_ABSENT) {
                if (!is_count)
                        emit_real(emit, value->real);
                else if (fabs(value->real) >= 9e18)
                        emit_whole(emit, value->real);
                else
                        emit_int(emit, value->count);
        } else if (documented_fallback_kind(source, metric) == ROAST_FALLBACK_NONE) {
                emit_null(emit);
        } else {
                fallback = documented_fallback(source, metric);
                if (fallback > 0)
                        emit_real(emit, fallback);
                else
                        emit_int(emit, 0);
        }
}

void v1_put_figures(const struct v1_source *source, struct emit *emit)
{
        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                bool reported = i == ROAST_TOTAL_BRANCHES_READ && source->n_branches;

                if (!documented_knows(source, i) && !reported &&
                    documented_fallback_kind(source, i) == ROAST_FALLBACK_OMIT)
                        continue;
                documented_put_figure(source, emit, i, roast_metrics[i].key);
                for (size_t j = 0; j < roast_n_aliases; j++)
                        if (roast_aliases[j].metric == i)
                                documented_put_figure(source, emit, i, roast_aliases[j].key);
        }
        for (size_t i = 0; i < source->summary->n_customs; i++) {
                if (source->summary->customs[i].value.state == ROAST_ABSENT)
                        continue;
                emit_key(emit, source->summary->customs[i].key);
                v1_put_custom(emit, &source->summary->customs[i]);
        }
}

/* ---- parts ---- */

static int documented_put_branches(const struct v1_source *source, struct emit *emit,
                                   struct roast_error *error)
{
        (void)error;
        emit_array(emit);
        for (size_t i = 0; i < source->n_branches; i++)
                emit_text(emit, source->branches[i]);
        emit_end(emit);
        return 0;
}

static int documented_put_tracking(const struct v1_source *source, struct emit *emit,
                                   struct roast_error *error)
{
        if (source->grid.n)
                return v1_put_tracking(source->run, &source->grid, false, emit, error);
        emit_null(emit);
        return 0;
}

/* ('execute', 'Processor', 'thread-cpu', 'seconds'): number */
static int documented_put_span(const struct roast_span *span, void *context)
{
        struct emit *emit = context;

        if (!documented_is_span(span))
                return 0;
        emit_next_is_key(emit);
        emit_tuple(emit, span->unit ? 4 : 3);
        emit_text(emit, span->kind);
        emit_text(emit, span->prefix);
        emit_text(emit, span->activity);
        if (span->unit)
                emit_text(emit, span->unit);
        emit_end(emit);
        if (span->unit && strcmp(span->unit, "seconds") != 0 && span->value == rint(span->value))
                emit_whole(emit, span->value);
        else
                emit_real(emit, span->value);
        return 0;
}

static int documented_put_spans(const struct v1_source *source, struct emit *emit,
                                struct roast_error *error)
{
        int r;

        emit_object(emit);
        r = roast_run_spans(source->run, documented_put_span, emit, error);
        emit_end(emit);
        return r;
}

#define IF(flag) offsetof(struct v1_source, flag)

const struct v1_part v1_parts[] = {
        { "time_ledger", .things = V1_THINGS(ledger, v1_put_named_ledger) },
        { "per_dataset", .is_there = IF(has_datasets),
          .things = V1_THINGS(datasets, v1_put_named_dataset) },
        { "sections", .is_there = IF(has_sections),
          .things = V1_THINGS(sections, v1_put_named_section) },
        { "accessed_branches", .is_there = IF(has_branches), .put = documented_put_branches },
        { "compression_ratios", .is_list = true, .is_there = IF(has_chunks),
          .things = V1_THINGS(files, v1_put_ratio) },
        { "bytes_read_percent_per_file", .is_list = true, .is_there = IF(has_chunks),
          .things = V1_THINGS(files, v1_put_percent) },
        { "files", .is_list = true, .things = V1_THINGS(files, v1_put_file) },
        { "branches", .is_list = true, .things = V1_THINGS(branches, v1_put_branch) },
        { "failures", .is_list = true, .things = V1_THINGS(failures, v1_put_failure) },
        { "bytes_per_dataset", .things = V1_THINGS(datasets, v1_put_named_bytes) },
        { "raw_span_metrics", .is_there = IF(has_spans), .put = documented_put_spans },
        { "chunk_info", .large = true, .is_there = IF(has_chunks), .put = v1_put_chunk_info },
        { "raw_chunk_metrics", .large = true, .is_there = IF(has_records), .put = v1_put_records },
        { "file_metadata", .large = true, .is_there = IF(has_chunks),
          .things = V1_THINGS(files, v1_put_named_metadata) },
        { "file_read_metrics", .large = true, .is_there = IF(has_chunks),
          .put = v1_put_read_metrics },
        { "tracking_data", .large = true, .is_there = IF(always), .put = documented_put_tracking },
        { 0 },
};

/* What stands at a place of a struct */
#define AT(type, object, place) (*(const type *)(const void *)((const char *)(object) + (place)))

bool v1_part_is_there(const struct v1_part *part, const struct v1_source *source)
{
        return part->is_there ? AT(bool, source, part->is_there)
                              : AT(size_t, source->summary, part->things.n) > 0;
}

int v1_put_things(const struct v1_things *things, bool is_list, const struct roast_summary *summary,
                  struct emit *emit, struct roast_error *error)
{
        const char *thing = AT(char *, summary, things->array);
        int r = 0;

        if (is_list)
                emit_array(emit);
        else
                emit_object(emit);
        for (size_t i = 0; i < AT(size_t, summary, things->n) && r >= 0; i++) {
                things->put(emit, thing + i * things->size);
                r = emit_step(emit, error);
        }
        emit_end(emit);
        return r;
}

int v1_put_part(const struct v1_part *part, const struct v1_source *source, struct emit *emit,
                struct roast_error *error)
{
        return part->put
                       ? part->put(source, emit, error)
                       : v1_put_things(&part->things, part->is_list, source->summary, emit, error);
}
