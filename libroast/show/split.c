/* The table of where the wall time of chunks went: a row for each part, with a bar */

#include <stdio.h>
#include <string.h>

#include "show/build.h"
#include "show/split.h"
#include "util/size.h"

#define BAR_MAX 20 /* characters of a bar that stands for everything */

const struct roast_column split_columns[SPLIT_N_COLUMNS] = {
        { "part", "Part", false },
        { "seconds", "Time", true },
        { "percent", "Share", true },
        { "bar", "", false },
};

static const enum roast_metric parts[] = {
        ROAST_CHUNK_CPU_SECONDS,      ROAST_CHUNK_RUNQUEUE_SECONDS, ROAST_CHUNK_THROTTLED_SECONDS,
        ROAST_CHUNK_BLOCK_IO_SECONDS, ROAST_CHUNK_GIL_SECONDS,      ROAST_CHUNK_OTHER_WAIT_SECONDS,
};

static void build_bar(struct roast_cell *cell, double share)
{
        char bar[3 * BAR_MAX + 1] = "";
        int n = (int)(share * BAR_MAX + 0.5);

        for (int i = 0; i < n && i < BAR_MAX; i++)
                strcat(bar, "\xe2\x96\x88");
        build_text(cell, "%s", bar);
}

int split_fill(struct roast_table *table, const struct roast_summary *summary)
{
        const struct roast_value *values = summary->metrics.values;
        double wall_s = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(parts); i++)
                wall_s += values[parts[i]].real;
        if (values[ROAST_CHUNK_CPU_SECONDS].state == ROAST_ABSENT || !(wall_s > 0))
                return 0;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(parts); i++) {
                double share = values[parts[i]].real / wall_s;
                struct roast_cell *cells = build_row(table);
                char percent[16];

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", roast_metrics[parts[i]].title);
                build_seconds(&cells[1], values[parts[i]].real);
                snprintf(percent, sizeof(percent), "%.1f %%", share * 100);
                build_real(&cells[2], share * 100, percent);
                build_bar(&cells[3], share);
        }
        return 0;
}
