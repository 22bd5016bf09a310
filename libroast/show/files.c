/* The tables of files and of branches */

#include "show/build.h"
#include "show/parts.h"

const struct roast_column file_columns[FILE_N_COLUMNS] = {
        { "file", "File", .cut = ROAST_CUT_START },
        { "dataset", "Dataset", false, 4, ROAST_CUT_END },
        { "chunks", "Chunks", true },
        { "failed", "Failed", true, 1 },
        { "lost", "Lost", true, 7 },
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
        { "bar", "", false, 9 },
};

static void build_branches(struct roast_cell *cell, const struct roast_bytes *bytes)
{
        if (bytes->trees == 0)
                return;
        build_text(cell, "%lld/%lld", (long long)bytes->touched_branches,
                   (long long)bytes->tree_branches);
        cell->type = ROAST_CELL_COUNT;
        cell->count = bytes->touched_branches;
        cell->real = (double)bytes->touched_branches;
}

static void build_failed(struct roast_cell *cell, int64_t count)
{
        build_count(cell, count);
        if (count)
                cell->emphasis = ROAST_ALERT;
}

int file_fill(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_files; i++) {
                const struct roast_file *file = &summary->files[i];
                const struct roast_bytes *bytes = &file->bytes;
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", file->name ? file->name : "(no file)");
                build_text(&cells[1], "%s", dataset_name(file->dataset));
                build_count(&cells[2], file->finished);
                build_failed(&cells[3], file->failed);
                build_failed(&cells[4], file->lost);
                build_count(&cells[5], file->events);
                build_seconds(&cells[6], file->wall_s);
                build_sum(&cells[7], &bytes->needed);
                build_sum(&cells[8], &bytes->requested);
                build_sum(&cells[9], &bytes->kernel);
                build_sum(&cells[10], &bytes->storage);
                build_ratio(&cells[11], &bytes->requested, &bytes->needed);
                build_ratio(&cells[12], &bytes->kernel, &bytes->requested);
                build_again(&cells[13], bytes);
                build_branches(&cells[14], bytes);
                build_touched(&cells[15], bytes);
                if (cells[15].type != ROAST_CELL_EMPTY)
                        build_bar(&cells[16], cells[15].real / 100);
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
        double whole = 0;

        for (size_t i = 0; i < summary->n_branches; i++)
                whole += (double)summary->branches[i].needed.bytes;
        for (size_t i = 0; i < summary->n_branches; i++) {
                const struct roast_branch *branch = &summary->branches[i];
                double share = whole > 0 ? (double)branch->needed.bytes / whole : 0;
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", branch->name);
                build_count(&cells[1], branch->chunks);
                if (branch->needed.chunks == 0) {
                        build_absent(&cells[2], "not in its file");
                        continue;
                }
                build_bytes(&cells[2], (double)branch->needed.bytes);
                build_percent(&cells[3], share);
                build_bar(&cells[4], share);
        }
        return 0;
}
