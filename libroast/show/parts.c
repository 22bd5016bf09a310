/* The tables of datasets, of sections, of tasks and of the metrics that users registered */

#include "show/parts.h"
#include "metrics/chunk-stats.h"
#include "record/chunk.h"
#include "roast-units.h"
#include "show/build.h"

const struct roast_column dataset_columns[DATASET_N_COLUMNS] = {
        { "dataset", "Dataset", .cut = ROAST_CUT_END },
        { "chunks", "Chunks", true },
        { "failed", "Failed", true },
        { "events", "Events", true },
        { "wall_s", "Wall", true },
        { "cpu_s", "CPU", true, 1 },
        { "bytes", "Requested", true },
        { "us_per_event", "Wall/Event", true, 1 },
        { "needed_bytes", "Needed", true, 3 },
        { "read_bytes", "Read", true, 3 },
        { "requested_per_needed", "Req/Need", true, 4 },
        { "again_bytes", "Again", true, 3 },
        { "touched_percent", "Touched", true, 2 },
};

int dataset_fill(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_datasets; i++) {
                const struct roast_dataset *dataset = &summary->datasets[i];
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", dataset_name(dataset->name));
                build_count(&cells[1], dataset->finished);
                build_count(&cells[2], dataset->failed);
                if (dataset->failed)
                        cells[2].emphasis = ROAST_ALERT;
                build_count(&cells[3], dataset->events);
                if (dataset->wall_chunks)
                        build_seconds(&cells[4], dataset->wall_s);
                if (dataset->cpu_chunks)
                        build_seconds(&cells[5], dataset->cpu_s);
                if (dataset->bytes_chunks)
                        build_bytes(&cells[6], dataset->requested_bytes);
                if (dataset->wall_events > 0) {
                        build_seconds(&cells[7], dataset->wall_s / (double)dataset->wall_events);
                        cells[7].real *= 1e6;
                }
                build_sum(&cells[8], &dataset->sums.needed);
                build_sum(&cells[9], &dataset->sums.kernel);
                build_ratio(&cells[10], &dataset->sums.requested, &dataset->sums.needed);
                build_again(&cells[11], &dataset->sums);
                build_touched(&cells[12], &dataset->sums);
        }
        return 0;
}

const struct roast_column section_columns[SECTION_N_COLUMNS] = {
        { "section", "Section", .cut = ROAST_CUT_END },
        { "chunks", "Chunks", true, 2 },
        { "count", "Count", true, 1 },
        { "total_s", "Total", true },
        { "self_s", "Self", true },
        { "min_s", "Min", true, 2 },
        { "max_s", "Max", true, 1 },
        { "memory_bytes", "Memory", true, 1 },
        { "bytes", "Bytes", true, 1 },
};

static void parts_section_times(struct roast_cell *cells, const struct roast_section *section)
{
        if (!section_has_time(section))
                return;
        build_seconds(&cells[3], section->total_s);
        if (section->kind & SECTION_TIME)
                build_seconds(&cells[4], section->self_s);
        build_seconds(&cells[5], section->min_s);
        build_seconds(&cells[6], section->max_s);
}

int section_fill(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_sections; i++) {
                const struct roast_section *section = &summary->sections[i];
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", section->name);
                build_count(&cells[1], section->chunks);
                build_count(&cells[2], section->count);
                parts_section_times(cells, section);
                if (section->memory_chunks)
                        build_bytes(&cells[7], section->rss_delta_bytes);
                if (section->bytes_chunks)
                        build_bytes(&cells[8], (double)section->bytes);
        }
        return 0;
}

const struct roast_column task_columns[TASK_TABLE_N_COLUMNS] = {
        { "prefix", "Tasks", false },
        { "tasks", "Number", true },
        { "attempts", "Attempts", true, 1 },
        { "failed", "Failed", true },
        { "lost", "Lost", true },
        { "busy_s", "Time", true },
        { "cpu_s", "CPU", true, 2 },
};

int task_fill(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_tasks; i++) {
                const struct roast_task_group *group = &summary->tasks[i];
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", group->prefix ? group->prefix : "(no prefix)");
                build_count(&cells[1], group->tasks);
                build_count(&cells[2], group->attempts);
                build_count(&cells[3], group->failed);
                build_count(&cells[4], group->lost);
                for (int j = 3; j <= 4; j++)
                        if (cells[j].count)
                                cells[j].emphasis = ROAST_ALERT;
                build_seconds(&cells[5], group->busy_s);
                if (group->measured)
                        build_seconds(&cells[6], group->cpu_s);
        }
        return 0;
}

int custom_fill(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_customs; i++) {
                const struct roast_custom *custom = &summary->customs[i];
                struct roast_cell *cells = build_row(table);
                char text[ROAST_UNITS_MAX];

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", custom->title ? custom->title : custom->key);
                if (custom->value.state == ROAST_ABSENT)
                        build_absent(&cells[1], custom->value.reason);
                else
                        build_real(&cells[1], custom->value.real,
                                   roast_format_custom(text, sizeof(text), custom));
        }
        return 0;
}
