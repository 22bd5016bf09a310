/* The table of where the wall time of chunks went: a row for each part, with a bar */

#include "show/build.h"
#include "show/parts.h"
#include "util/size.h"

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

/* Time asleep that nobody looked at may have been any of those that are not told. */
static const char *split_title_of(enum roast_metric part, const struct roast_value *values)
{
        if (part == ROAST_CHUNK_OTHER_WAIT_SECONDS &&
            values[ROAST_CHUNK_BLOCK_IO_SECONDS].state == ROAST_ABSENT)
                return "Waits of any kind";
        return roast_metrics[part].title;
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
                struct roast_cell *cells;

                if (values[parts[i]].state == ROAST_ABSENT)
                        continue;
                cells = build_row(table);
                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", split_title_of(parts[i], values));
                build_seconds(&cells[1], values[parts[i]].real);
                build_percent(&cells[2], share);
                build_bar(&cells[3], share);
        }
        return 0;
}
