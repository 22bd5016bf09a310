/* The table of bytes: in the files, needed, requested, read, side by side */

#include <stdio.h>
#include <string.h>

#include "roast-units.h"
#include "show/build.h"
#include "show/parts.h"
#include "util/size.h"

void build_sum(struct roast_cell *cell, const struct roast_byte_sum *sum)
{
        if (sum->chunks)
                build_bytes(cell, (double)sum->bytes);
}

void build_ratio(struct roast_cell *cell, const struct roast_byte_sum *part,
                 const struct roast_byte_sum *whole)
{
        if (part->chunks && whole->bytes > 0)
                build_factor(cell, (double)part->bytes / (double)whole->bytes);
}

void build_again(struct roast_cell *cell, const struct roast_bytes *bytes)
{
        if (bytes->needed.chunks)
                build_bytes(cell, (double)bytes->again);
}

void build_touched(struct roast_cell *cell, const struct roast_bytes *bytes)
{
        if (bytes->tree_bytes > 0)
                build_percent(cell, (double)bytes->touched_bytes / (double)bytes->tree_bytes);
}

const struct roast_column byte_columns[BYTE_N_COLUMNS] = {
        { "source", "Source", false }, { "bytes", "Bytes", true },
        { "ratio", "Ratio", true },    { "of", "Of", false },
        { "bar", "", false, 1 },       { "note", "", false, 2, ROAST_CUT_END },
};

enum shape { NO_RATIO, SHARE, FACTOR };

static const struct {
        const char *label;
        enum roast_metric metric;
        enum shape shape;
        enum roast_metric of;
        const char *of_name;
} rows[] = {
        { "In the trees of the files", ROAST_TREE_BYTES, NO_RATIO, 0, "" },
        { "  in branches that were touched", ROAST_TOUCHED_BYTES, SHARE, ROAST_TREE_BYTES,
          "the trees" },
        { "Needed by the chunks' baskets", ROAST_BYTES_NEEDED, NO_RATIO, 0, "" },
        { "  again: cut by chunk borders", ROAST_BYTES_NEEDED_AGAIN, SHARE, ROAST_BYTES_NEEDED,
          "needed" },
        { "Requested by uproot", ROAST_BYTES_REQUESTED, FACTOR, ROAST_BYTES_NEEDED, "needed" },
        { "Read by the processes", ROAST_BYTES_KERNEL_READ, FACTOR, ROAST_BYTES_REQUESTED,
          "requested" },
        { "Read from storage", ROAST_BYTES_STORAGE_READ, FACTOR, ROAST_BYTES_REQUESTED,
          "requested" },
};

static void bytes_fill_row(struct roast_cell *cells, const struct roast_metric_set *set, size_t i)
{
        const struct roast_value *value = &set->values[rows[i].metric];
        double whole = rows[i].shape == NO_RATIO ? 0 : set->values[rows[i].of].real;
        double ratio = whole > 0 ? value->real / whole : 0;

        build_text(&cells[0], "%s", rows[i].label);
        if (value->state == ROAST_ABSENT) {
                cells[1] = (struct roast_cell){ .type = ROAST_CELL_ABSENT,
                                                .emphasis = ROAST_DIM,
                                                .text = strdup("N/A") };
                build_text(&cells[5], "%s", roast_metric_reason(set, rows[i].metric));
                cells[5].emphasis = ROAST_DIM;
                return;
        }
        if (value->state == ROAST_KNOWN) {
                build_bytes(&cells[1], value->real);
        } else {
                char text[ROAST_UNITS_MAX], estimated[ROAST_UNITS_MAX + 1];

                roast_format_bytes(text, sizeof(text), value->real);
                snprintf(estimated, sizeof(estimated), "~%s", text);
                build_real(&cells[1], value->real, estimated);
                build_text(&cells[5], "estimated: %s", roast_metric_reason(set, rows[i].metric));
                cells[5].emphasis = ROAST_DIM;
        }
        if (!(whole > 0))
                return;
        build_text(&cells[3], "%s", rows[i].of_name);
        if (rows[i].shape == FACTOR) {
                build_factor(&cells[2], ratio);
                return;
        }
        build_percent(&cells[2], ratio);
        cells[2].real = ratio; /* as the factors are */
        build_bar(&cells[4], ratio);
}

int byte_fill(struct roast_table *table, const struct roast_summary *summary)
{
        if (summary->bytes.chunks == 0)
                return 0;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                bytes_fill_row(cells, &summary->metrics, i);
        }
        return 0;
}
