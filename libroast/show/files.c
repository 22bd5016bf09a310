/* The tables of files and of branches */

#include "show/build.h"
#include "show/parts.h"

const struct roast_column file_columns[FILE_N_COLUMNS] = {
        { "file", "File", .cut = ROAST_CUT_START },
        { "dataset", "Dataset", false, 4, ROAST_CUT_END },
        { "chunks", "Chunks", true },
        { "failed", "Failed", true, 1 },
        { "events", "Events", true, 3 },
        { "wall_s", "Wall", true },
        { "needed_bytes", "Needed", true, 2 },
        { "requested_bytes", "Requested", true },
        { "read_bytes", "Read", true, 2 },
        { "storage_bytes", "Storage", true, 8 },
        { "requested_per_needed", "Req/Need", true, 5 },
        { "read_per_requested", "Read/Req", true, 6 },
        { "again_bytes", "Again", true, 4 },
        { "touched_branches", "Branches", true, 3 },
        { "touched_percent", "Touched", true, 1 },
        { "compression_ratio", "Compression", true, 7 },
        { "bar", "", false, 9 },
};

static void files_build_branches(struct roast_cell *cell, const struct roast_bytes *bytes)
{
        if (bytes->trees == 0)
                return;
        build_text(cell, "%lld/%lld", (long long)bytes->touched_branches,
                   (long long)bytes->tree_branches);
        cell->type = ROAST_CELL_COUNT;
        cell->count = bytes->touched_branches;
        cell->real = (double)bytes->touched_branches;
}

static void files_build_failed(struct roast_cell *cell, int64_t count)
{
        build_count(cell, count);
        if (count)
                cell->emphasis = ROAST_ALERT;
}

static const char *files_dataset_of(const struct roast_summary *summary,
                                    const struct roast_file *file)
{
        bool known = file->sums.chunks && file->dataset < summary->n_datasets;

        return known ? dataset_name(summary->datasets[file->dataset].name) : "";
}

static void files_fill_cells(struct roast_cell *cells, const struct roast_file *file)
{
        const struct roast_bytes *sums = &file->sums;

        build_text(&cells[0], "%s", file->name);
        build_count(&cells[2], file->finished);
        files_build_failed(&cells[3], file->failed);
        build_count(&cells[4], file->events);
        if (file->wall_chunks)
                build_seconds(&cells[5], file->wall_s);
        build_sum(&cells[6], &sums->needed);
        build_sum(&cells[7], &sums->requested);
        build_sum(&cells[8], &sums->kernel);
        build_sum(&cells[9], &sums->storage);
        build_ratio(&cells[10], &sums->requested, &sums->needed);
        build_ratio(&cells[11], &sums->kernel, &sums->requested);
        build_again(&cells[12], sums);
        files_build_branches(&cells[13], sums);
        build_touched(&cells[14], sums);
        if (file->compression_ratio > 0) {
                build_percent(&cells[15], file->compression_ratio);
                cells[15].real = file->compression_ratio;
        }
        if (cells[14].type != ROAST_CELL_EMPTY)
                build_bar(&cells[16], cells[14].real / 100);
}

int file_fill(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_files; i++) {
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[1], "%s", files_dataset_of(summary, &summary->files[i]));
                files_fill_cells(cells, &summary->files[i]);
        }
        return 0;
}

const struct roast_column branch_columns[BRANCH_N_COLUMNS] = {
        { "branch", "Branch", .cut = ROAST_CUT_END },
        { "chunks", "Chunks", true, 2 },
        { "needed_bytes", "Needed", true },
        { "percent", "Share", true },
        { "bar", "", false, 1 },
};

int branch_fill(struct roast_table *table, const struct roast_summary *summary)
{
        /* sizes come for all branches of a file that has them, or for none */
        const char *without = "no chunk tells it";
        double whole = 0;

        for (size_t i = 0; i < summary->n_branches; i++) {
                whole += (double)summary->branches[i].needed.bytes;
                if (summary->branches[i].needed.chunks)
                        without = "not in its file";
        }
        for (size_t i = 0; i < summary->n_branches; i++) {
                const struct roast_branch *branch = &summary->branches[i];
                double share = whole > 0 ? (double)branch->needed.bytes / whole : 0;
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", branch->name);
                build_count(&cells[1], branch->chunks);
                if (branch->needed.chunks == 0) {
                        build_absent(&cells[2], without);
                        continue;
                }
                build_bytes(&cells[2], (double)branch->needed.bytes);
                build_percent(&cells[3], share);
                build_bar(&cells[4], share);
        }
        return 0;
}
