/* Tables of files and of the metrics that users registered: see things.h. */

#include <stdio.h>

#include "roast-units.h"
#include "show/build.h"
#include "show/things.h"

const struct roast_column things_file_columns[THINGS_N_FILE_COLUMNS] = {
        { "file", "File", false },
        { "chunks", "Chunks", true },
        { "failed", "Failed", true },
        { "events", "Events", true },
        { "wall_s", "Wall", true },
        { "bytes", "Bytes", true },
        { "branches_percent", "Branches Read", true },
        { "bytes_percent", "Bytes Read", true },
        { "compression_ratio", "Compression", true },
};

static void percent_cell(struct roast_cell *cell, double percent, const char *mark)
{
        char text[ROAST_UNITS_MAX];

        snprintf(text, sizeof(text), "%.1f%%%s", percent, mark);
        build_real(cell, percent, text);
}

static void file_cells(struct roast_cell *cells, const struct roast_file *file)
{
        build_text(&cells[0], "%s", file->name);
        build_count(&cells[1], file->finished);
        build_count(&cells[2], file->failed);
        if (file->failed)
                cells[2].emphasis = ROAST_ALERT;
        build_count(&cells[3], file->events);
        if (file->wall_chunks)
                build_seconds(&cells[4], file->wall_s);
        if (file->bytes_chunks)
                build_bytes(&cells[5], file->requested_bytes);
        if (file->has_coverage && file->branches)
                percent_cell(&cells[6], file->branches_read_percent, "");
        if (file->has_coverage && file->bytes > 0)
                percent_cell(&cells[7], file->bytes_read_percent, file->estimated ? " (est.)" : "");
        if (file->compression_ratio > 0) {
                percent_cell(&cells[8], file->compression_ratio * 100, "");
                cells[8].real = file->compression_ratio;
        }
}

int things_fill_files(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_files; i++) {
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                file_cells(cells, &summary->files[i]);
        }
        return 0;
}

int things_fill_custom(struct roast_table *table, const struct roast_summary *summary)
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
