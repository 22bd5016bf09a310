/*
 * The tables: which there are, and what is in them
 *
 * Tables of metrics are lists of rows; the value's text comes from the metric's
 * unit. Tables of things (datasets, files) have a function that adds a row for
 * each: see parts.h.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/chunk-stats.h"
#include "record/chunk.h"
#include "roast-units.h"
#include "show/build.h"
#include "show/parts.h"
#include "util/size.h"

enum when {
        ALWAYS,     /* an absent metric shows its reason */
        IF_KNOWN,   /* no row where it is absent */
        IF_NONZERO, /* nor where it is zero */
};

struct metric_row {
        const char *label;
        enum roast_metric metric;
        enum when when;
        enum build_level level;
        const char *note;         /* in parentheses behind the value */
        enum roast_metric second; /* shown in parentheses; 0: none */
        bool alert;
};

static const struct metric_row throughput_rows[] = {
        { "Data Rate", ROAST_DATA_RATE_GBPS, .second = ROAST_DATA_RATE_MB_PER_S },
        { "Total Bytes Read (Coffea)", ROAST_TOTAL_BYTES_READ, IF_NONZERO },
        { "Memory Read (Dask Spans)", ROAST_TOTAL_BYTES_MEMORY_READ, IF_NONZERO,
          .note = "between tasks, not from files" },
};

static const struct metric_row event_rows[] = {
        { "Total Events", ROAST_TOTAL_EVENTS },
        { "Event Rate (Elapsed Time)", ROAST_EVENT_RATE_ELAPSED_KHZ },
        { "Event Rate (Total CPU)", ROAST_EVENT_RATE_CPU_TOTAL_KHZ },
        { "Event Rate (Core-Averaged)", ROAST_EVENT_RATE_CORE_KHZ },
};

/* Where there are the two rates that it compares; it still needs the cores */
static const struct metric_row ratio_row = { "Efficiency Ratio", ROAST_EFFICIENCY_RATIO };

static const struct metric_row resource_rows[] = {
        { "Workers (Time-Averaged)", ROAST_AVG_WORKERS },
        { "Peak Workers", ROAST_PEAK_WORKERS },
        { "Cores per Worker", ROAST_CORES_PER_WORKER },
        { "Total Cores", ROAST_TOTAL_CORES },
        { "Core Efficiency", ROAST_CORE_EFFICIENCY },
        { "Speedup Factor", ROAST_SPEEDUP_FACTOR },
        { "Peak Memory (per worker)", ROAST_PEAK_MEMORY_BYTES },
        { "Avg Memory (per worker)", ROAST_AVG_MEMORY_PER_WORKER_BYTES },
        { "Memory Utilization", ROAST_AVG_MEMORY_UTILIZATION_PERCENT, IF_KNOWN },
        { "Peak", ROAST_PEAK_MEMORY_UTILIZATION_PERCENT, IF_KNOWN, BUILD_BULLET },
        { "CPU Utilization", ROAST_AVG_CPU_UTILIZATION_PERCENT, IF_KNOWN },
};

static const struct metric_row timing_rows[] = {
        { "Elapsed Time", ROAST_ELAPSED_TIME_SECONDS },
        { "Total CPU Time", ROAST_TOTAL_CPU_TIME, .note = "wall time of process(), summed" },
        { "Number of Chunks", ROAST_NUM_CHUNKS, IF_NONZERO },
        { "Avg CPU Time/Chunk", ROAST_AVG_CPU_TIME_PER_CHUNK, IF_NONZERO },
        { "Monitoring Faults", ROAST_MONITORING_FAULTS, IF_NONZERO, .alert = true,
          .note = "something was not measured: see the log" },
};

static const struct metric_row cost_rows[] = {
        { "Monitoring Cost", ROAST_MONITORING_PERCENT, .note = "of the workers' CPU time" },
        { "Chunks", ROAST_MONITORING_SECONDS, IF_KNOWN, BUILD_BULLET },
        { "Samples", ROAST_MONITORING_SAMPLER_SECONDS, IF_KNOWN, BUILD_BULLET },
        { "Scheduler", ROAST_MONITORING_SCHEDULER_SECONDS, IF_KNOWN, BUILD_BULLET },
        { "Client", ROAST_MONITORING_CLIENT_SECONDS, IF_KNOWN, BUILD_BULLET },
        { "Sent", ROAST_MONITORING_BYTES, IF_KNOWN, BUILD_BULLET },
};

static const struct metric_row fine_rows[] = {
        { "Processor CPU Time", ROAST_PROCESSOR_CPU_TIME_SECONDS, IF_KNOWN },
        { "Processor I/O & Waiting Time", ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS, IF_KNOWN },
        { "CPU %", ROAST_PROCESSOR_CPU_PERCENT, IF_KNOWN, BUILD_INDENT },
        { "I/O & Wait %", ROAST_PROCESSOR_IO_WAIT_PERCENT, IF_KNOWN, BUILD_INDENT },
        { "Dask Overhead CPU Time", ROAST_OVERHEAD_CPU_TIME_SECONDS, IF_NONZERO },
        { "Dask Overhead I/O & Waiting Time", ROAST_OVERHEAD_IO_WAIT_TIME_SECONDS, IF_NONZERO },
        { "Disk Read", ROAST_DISK_READ_BYTES, IF_NONZERO },
        { "Disk Write", ROAST_DISK_WRITE_BYTES, IF_NONZERO },
        { "Compression Overhead", ROAST_TOTAL_COMPRESSION_OVERHEAD_SECONDS, IF_NONZERO },
        { "Compress", ROAST_COMPRESSION_TIME_SECONDS, IF_NONZERO, BUILD_BULLET },
        { "Decompress", ROAST_DECOMPRESSION_TIME_SECONDS, IF_NONZERO, BUILD_BULLET },
        { "Serialization Overhead", ROAST_TOTAL_SERIALIZATION_OVERHEAD_SECONDS, IF_NONZERO },
        { "Serialize", ROAST_SERIALIZATION_TIME_SECONDS, IF_NONZERO, BUILD_BULLET },
        { "Deserialize", ROAST_DESERIALIZATION_TIME_SECONDS, IF_NONZERO, BUILD_BULLET },
};

static const struct metric_row chunk_rows[] = {
        { "Mean Chunk Time", ROAST_CHUNK_DURATION_MEAN, IF_KNOWN },
        { "Min", ROAST_CHUNK_DURATION_MIN, IF_KNOWN, BUILD_BULLET },
        { "Max", ROAST_CHUNK_DURATION_MAX, IF_KNOWN, BUILD_BULLET },
        { "Std Dev", ROAST_CHUNK_DURATION_STD, IF_NONZERO, BUILD_BULLET },
        { "Median", ROAST_CHUNK_DURATION_P50, IF_KNOWN, BUILD_BULLET },
        { "95th Percentile", ROAST_CHUNK_DURATION_P95, IF_KNOWN, BUILD_BULLET },
        { "Mean Memory Delta", ROAST_CHUNK_MEM_DELTA_MEAN_MB, IF_KNOWN },
        { "Min", ROAST_CHUNK_MEM_DELTA_MIN_MB, IF_KNOWN, BUILD_BULLET },
        { "Max", ROAST_CHUNK_MEM_DELTA_MAX_MB, IF_KNOWN, BUILD_BULLET },
        { "Mean Events/Chunk", ROAST_CHUNK_EVENTS_MEAN, IF_KNOWN },
        { "Min", ROAST_CHUNK_EVENTS_MIN, IF_KNOWN, BUILD_BULLET },
        { "Max", ROAST_CHUNK_EVENTS_MAX, IF_KNOWN, BUILD_BULLET },
};

static const struct metric_row failure_rows[] = {
        { "Successful", ROAST_NUM_SUCCESSFUL_CHUNKS, IF_KNOWN, BUILD_BULLET },
        { "Failed", ROAST_NUM_FAILED_CHUNKS, IF_KNOWN, BUILD_BULLET, .alert = true },
        { "Skipped", ROAST_NUM_SKIPPED_CHUNKS, IF_NONZERO, BUILD_BULLET, "of the failed",
          .alert = true },
        { "Lost with a worker", ROAST_NUM_LOST_CHUNKS, IF_NONZERO, BUILD_BULLET, .alert = true },
        { "Tried again", ROAST_NUM_RETRIED_CHUNKS, IF_NONZERO, BUILD_BULLET },
};

static const struct metric_row coverage_rows[] = {
        { "Files", ROAST_NUM_FILES, IF_KNOWN },
        { "Branches Read", ROAST_TOTAL_BRANCHES_READ, IF_KNOWN,
          .second = ROAST_AVG_BRANCHES_READ_PERCENT },
        { "Bytes Read", ROAST_AVG_BYTES_READ_PERCENT, IF_KNOWN, .note = "of a file" },
        { "Compression Ratio", ROAST_COMPRESSION_RATIO, IF_KNOWN },
        { "Total Bytes Uncompressed", ROAST_TOTAL_BYTES_UNCOMPRESSED, IF_KNOWN },
};

static const struct roast_column metric_columns[] = {
        { "metric", "Metric", .cut = ROAST_CUT_END },
        { "value", "Value", false },
};

static void tables_metric_cell(struct roast_cell *cell, const struct roast_metric_set *set,
                               const struct metric_row *row)
{
        const struct roast_value *value = &set->values[row->metric];
        char text[ROAST_UNITS_MAX], second[ROAST_UNITS_MAX] = "";
        const char *open = "", *shown = "", *close = "", *estimated = "";

        if (value->state == ROAST_ABSENT) {
                build_absent(cell, roast_metric_reason(set, row->metric));
                return;
        }
        if (row->second && set->values[row->second].state != ROAST_ABSENT)
                shown = roast_format_value(second, sizeof(second), row->second,
                                           &set->values[row->second]);
        else if (row->note)
                shown = row->note;
        if (*shown) {
                open = " (";
                close = ")";
        }
        if (value->state == ROAST_ESTIMATED)
                estimated = " (estimated)";
        roast_format_value(text, sizeof(text), row->metric, value);
        build_text(cell, "%s%s%s%s%s", text, open, shown, close, estimated);
        cell->type = roast_metrics[row->metric].type == ROAST_TYPE_COUNT ? ROAST_CELL_COUNT
                                                                         : ROAST_CELL_REAL;
        cell->count = value->count;
        cell->real = value->real;
        cell->emphasis = row->alert ? ROAST_ALERT : ROAST_PLAIN;
}

static int tables_metric_rows(struct roast_table *table, const struct roast_metric_set *set,
                              const struct metric_row *rows, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct roast_value *value = &set->values[rows[i].metric];
                struct roast_cell *cells;

                if (rows[i].when != ALWAYS && value->state == ROAST_ABSENT)
                        continue;
                if (rows[i].when == IF_NONZERO && value->real == 0)
                        continue;
                cells = build_row(table);
                if (!cells)
                        return ROAST_E_NOMEM;
                build_name(&cells[0], rows[i].level, rows[i].label);
                tables_metric_cell(&cells[1], set, &rows[i]);
        }
        return 0;
}

static bool tables_known(const struct roast_summary *summary, enum roast_metric metric)
{
        return summary->metrics.values[metric].state != ROAST_ABSENT;
}

static int tables_fill_throughput(struct roast_table *table, const struct roast_summary *summary)
{
        return tables_metric_rows(table, &summary->metrics, throughput_rows,
                                  ROAST_ARRAY_SIZE(throughput_rows));
}

static int tables_fill_events(struct roast_table *table, const struct roast_summary *summary)
{
        const struct roast_metric_set *set = &summary->metrics;
        int r = tables_metric_rows(table, set, event_rows, ROAST_ARRAY_SIZE(event_rows));

        if (r < 0 || !tables_known(summary, ROAST_EVENT_RATE_ELAPSED_KHZ) ||
            !tables_known(summary, ROAST_EVENT_RATE_CPU_TOTAL_KHZ) ||
            set->values[ROAST_EVENT_RATE_ELAPSED_KHZ].real == 0 ||
            set->values[ROAST_EVENT_RATE_CPU_TOTAL_KHZ].real == 0)
                return r;
        return tables_metric_rows(table, set, &ratio_row, 1);
}

static int tables_fill_resources(struct roast_table *table, const struct roast_summary *summary)
{
        return tables_metric_rows(table, &summary->metrics, resource_rows,
                                  ROAST_ARRAY_SIZE(resource_rows));
}

static bool tables_any_known(const struct roast_summary *summary, const struct metric_row *rows,
                             size_t n)
{
        bool any = false;

        for (size_t i = 0; i < n; i++)
                any = any || tables_known(summary, rows[i].metric);
        return any;
}

/* A plain dict of metrics tells nothing of what monitoring cost, and has no row for it. */
static int tables_fill_timing(struct roast_table *table, const struct roast_summary *summary)
{
        const struct roast_metric_set *set = &summary->metrics;
        int r = tables_metric_rows(table, set, timing_rows, ROAST_ARRAY_SIZE(timing_rows));

        if (r < 0 || !tables_any_known(summary, cost_rows, ROAST_ARRAY_SIZE(cost_rows)))
                return r;
        return tables_metric_rows(table, set, cost_rows, ROAST_ARRAY_SIZE(cost_rows));
}

/* Why the figures are not the span's own, where they are not */
static int tables_fine_reason(struct roast_table *table, const struct roast_metric_set *set)
{
        struct roast_cell *cells;

        if (set->values[ROAST_PROCESSOR_CPU_TIME_SECONDS].state != ROAST_ESTIMATED)
                return 0;
        cells = build_row(table);
        if (!cells)
                return ROAST_E_NOMEM;
        build_name(&cells[0], BUILD_TOP, "Estimated");
        build_text(&cells[1], "%s", roast_metric_reason(set, ROAST_PROCESSOR_CPU_TIME_SECONDS));
        return 0;
}

static int tables_fill_fine(struct roast_table *table, const struct roast_summary *summary)
{
        int r;

        if (!tables_known(summary, ROAST_PROCESSOR_CPU_TIME_SECONDS) &&
            !tables_known(summary, ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS))
                return 0;
        r = tables_metric_rows(table, &summary->metrics, fine_rows, ROAST_ARRAY_SIZE(fine_rows));
        return r < 0 ? r : tables_fine_reason(table, &summary->metrics);
}

/* An empty row, then a heading: how one table holds a second list */
static int tables_heading(struct roast_table *table, const char *title)
{
        struct roast_cell *cells;

        if (!build_row(table) || !(cells = build_row(table)))
                return ROAST_E_NOMEM;
        build_text(&cells[0], "%s", title);
        cells[0].emphasis = ROAST_STRONG;
        return 0;
}

static int tables_chunk_datasets(struct roast_table *table, const struct roast_summary *summary)
{
        if (summary->n_datasets < 2)
                return 0;
        if (tables_heading(table, "Per-Dataset Breakdown") < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < summary->n_datasets; i++) {
                const struct roast_dataset *dataset = &summary->datasets[i];
                struct roast_cell *cells = build_row(table);
                char time[ROAST_UNITS_MAX];

                if (!cells)
                        return ROAST_E_NOMEM;
                build_name(&cells[0], BUILD_INDENT, dataset_name(dataset->name));
                if (dataset->wall_chunks)
                        build_text(&cells[1], "%lld chunks, %s avg", (long long)dataset->finished,
                                   roast_format_seconds(time, sizeof(time),
                                                        dataset->wall_s /
                                                                (double)dataset->wall_chunks));
                else
                        build_text(&cells[1], "%lld chunks, no time", (long long)dataset->finished);
        }
        return 0;
}

#define SECTIONS_SHOWN 5

static void tables_section_cell(struct roast_cell *cell, const struct roast_section *section)
{
        char time[ROAST_UNITS_MAX], memory[ROAST_UNITS_MAX];
        const char *open = "", *shown = "", *close = "", *comma = "", *grown = "", *mean = "";

        if (section_has_time(section)) {
                shown = roast_format_seconds(time, sizeof(time), section->total_s);
                open = " (";
                close = ")";
        }
        if (section->kind & SECTION_MEMORY && section->memory_chunks) {
                grown = roast_format_bytes(memory, sizeof(memory),
                                           section->rss_delta_bytes /
                                                   (double)section->memory_chunks);
                comma = ", ";
                mean = " avg";
        }
        build_text(cell, "%s%s%lldx%s%s%s%s", shown, open, (long long)section->count, close, comma,
                   grown, mean);
}

static int tables_chunk_sections(struct roast_table *table, const struct roast_summary *summary)
{
        if (summary->n_sections == 0)
                return 0;
        if (tables_heading(table, "Section Timing") < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < summary->n_sections && i < SECTIONS_SHOWN; i++) {
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_name(&cells[0], BUILD_INDENT, summary->sections[i].name);
                tables_section_cell(&cells[1], &summary->sections[i]);
        }
        return 0;
}

static int tables_fill_chunks(struct roast_table *table, const struct roast_summary *summary)
{
        static const struct metric_row total = { "Total Chunks", ROAST_NUM_CHUNKS, IF_NONZERO };
        const struct roast_metric_set *set = &summary->metrics;
        int r;

        if (set->values[ROAST_NUM_CHUNKS].count == 0 &&
            set->values[ROAST_NUM_LOST_CHUNKS].count == 0)
                return 0;
        r = tables_metric_rows(table, set, &total, 1);
        if (r >= 0 && (set->values[ROAST_NUM_FAILED_CHUNKS].count > 0 ||
                       set->values[ROAST_NUM_LOST_CHUNKS].count > 0 ||
                       set->values[ROAST_NUM_RETRIED_CHUNKS].count > 0))
                r = tables_metric_rows(table, set, failure_rows, ROAST_ARRAY_SIZE(failure_rows));
        if (r >= 0)
                r = tables_metric_rows(table, set, chunk_rows, ROAST_ARRAY_SIZE(chunk_rows));
        if (r >= 0)
                r = tables_chunk_datasets(table, summary);
        return r < 0 ? r : tables_chunk_sections(table, summary);
}

static int tables_fill_coverage(struct roast_table *table, const struct roast_summary *summary)
{
        return tables_metric_rows(table, &summary->metrics, coverage_rows,
                                  ROAST_ARRAY_SIZE(coverage_rows));
}

#define COLUMNS(c) c, ROAST_ARRAY_SIZE(c)

static const struct definition {
        const char *name;
        const char *title;
        const struct roast_column *columns;
        size_t n_columns;
        int (*fill)(struct roast_table *table, const struct roast_summary *summary);
        bool asked_for; /* not among all tables: it may have very many rows */
} definitions[] = {
        { "throughput", "Throughput Metrics", COLUMNS(metric_columns), tables_fill_throughput },
        { "events", "Event Processing Metrics", COLUMNS(metric_columns), tables_fill_events },
        { "resources", "Resource Utilization", COLUMNS(metric_columns), tables_fill_resources },
        { "timing", "Timing Breakdown", COLUMNS(metric_columns), tables_fill_timing },
        { "fine", "Fine Metrics (from Dask Spans)", COLUMNS(metric_columns), tables_fill_fine },
        { "chunks", "Chunk Metrics", COLUMNS(metric_columns), tables_fill_chunks },
        { "failures", "Failures", failure_columns, FAILURE_N_COLUMNS, failure_fill },
        { "split", "Where the Time of Chunks Went", split_columns, SPLIT_N_COLUMNS, split_fill },
        { "ledger", "Where the Time of Worker Threads Went", ledger_columns, LEDGER_N_COLUMNS,
          ledger_fill },
        { "bytes", "Bytes: Needed, Requested, Read", byte_columns, BYTE_N_COLUMNS, byte_fill },
        { "datasets", "Datasets", dataset_columns, DATASET_N_COLUMNS, dataset_fill },
        { "sections", "Sections", section_columns, SECTION_N_COLUMNS, section_fill },
        { "branches", "Branches", branch_columns, BRANCH_N_COLUMNS, branch_fill },
        { "tasks", "Tasks", task_columns, TASK_TABLE_N_COLUMNS, task_fill },
        { "coverage", "What Was Read of the Files", COLUMNS(metric_columns), tables_fill_coverage },
        { "custom", "Custom Metrics", COLUMNS(metric_columns), custom_fill },
        { "files", "Files", file_columns, FILE_N_COLUMNS, file_fill, true },
};

const char *const roast_table_names[] = {
        "throughput", "events", "resources", "timing", "fine",     "chunks",
        "failures",   "split",  "ledger",    "bytes",  "datasets", "sections",
        "branches",   "tasks",  "coverage",  "custom", "files",    NULL,
};

static int tables_make(struct roast_table *table, const struct definition *definition,
                       const struct roast_summary *summary, struct roast_error *error)
{
        *table = (struct roast_table){ .name = definition->name,
                                       .title = definition->title,
                                       .columns = definition->columns,
                                       .n_columns = definition->n_columns };
        if (definition->fill(table, summary) < 0 || build_result(table) < 0) {
                roast_table_deinit(table);
                return roast_fail_nomem(error);
        }
        return 0;
}

int roast_table_make(struct roast_table *table, const char *name,
                     const struct roast_summary *summary, struct roast_error *error)
{
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(definitions); i++)
                if (!strcmp(definitions[i].name, name))
                        return tables_make(table, &definitions[i], summary, error);
        return roast_fail(error, ROAST_E_NOENT, "there is no table '%s'", name);
}

int roast_tables_make(struct roast_tables *tables, const struct roast_summary *summary,
                      struct roast_error *error)
{
        int r = 0;

        *tables = (struct roast_tables){ 0 };
        tables->tables = calloc(ROAST_ARRAY_SIZE(definitions), sizeof(*tables->tables));
        if (!tables->tables)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(definitions) && r >= 0; i++) {
                if (definitions[i].asked_for)
                        continue;
                r = tables_make(&tables->tables[tables->n], &definitions[i], summary, error);
                if (r >= 0 && tables->tables[tables->n].n_rows)
                        tables->n++;
        }
        if (r < 0)
                roast_tables_deinit(tables);
        return r;
}

void roast_tables_deinit(struct roast_tables *tables)
{
        for (size_t i = 0; i < tables->n; i++)
                roast_table_deinit(&tables->tables[i]);
        free(tables->tables);
        *tables = (struct roast_tables){ 0 };
}
