/*
 * The table of where the time of worker threads went
 *
 * A row for each part: over all workers, and its share of the least, the middle
 * and the most affected worker, which tells as much of three workers as of three
 * thousand. Few workers have rows of their own behind.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/build.h"
#include "show/parts.h"
#include "util/cleanup.h"

#define WORKERS_SHOWN 12

const struct roast_column ledger_columns[LEDGER_N_COLUMNS] = {
        { "part", "Part", false },
        { "seconds", "Time", true },
        { "percent", "Share", true },
        { "bar", "", false, 4 },
        { "least_percent", "Least", true, 2 },
        { "median_percent", "Median", true, 3 },
        { "most_percent", "Most", true, 1 },
};

static double ledger_whole(const struct roast_ledger_row *row)
{
        double sum = 0;

        for (size_t i = 0; i < ROAST_LEDGER_N_PARTS; i++)
                sum += row->seconds[i];
        return sum;
}

static int ledger_by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static void ledger_percent_cell(struct roast_cell *cell, double percent)
{
        char text[16];

        snprintf(text, sizeof(text), "%.1f %%", percent);
        build_real(cell, percent, text);
}

static int ledger_part_row(struct roast_table *table, const struct roast_summary *summary,
                           unsigned int part, double all, double *shares)
{
        struct roast_cell *cells = build_row(table);
        double sum = 0, share;
        bool estimated = false;
        size_t n = summary->n_ledger;

        if (!cells)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n; i++) {
                const struct roast_ledger_row *row = &summary->ledger[i];
                double time = ledger_whole(row);

                sum += row->seconds[part];
                shares[i] = time > 0 ? row->seconds[part] / time * 100 : 0;
                estimated |= row->estimated >> part & 1;
        }
        qsort(shares, n, sizeof(*shares), ledger_by_value);
        share = all > 0 ? sum / all : 0;
        build_text(&cells[0], "%s%s", roast_ledger_parts[part].title,
                   estimated ? " (estimated)" : "");
        build_seconds(&cells[1], sum);
        ledger_percent_cell(&cells[2], share * 100);
        build_bar(&cells[3], share);
        if (n < 2)
                return 0;
        ledger_percent_cell(&cells[4], shares[0]);
        ledger_percent_cell(&cells[5], (shares[(n - 1) / 2] + shares[n / 2]) / 2);
        ledger_percent_cell(&cells[6], shares[n - 1]);
        return 0;
}

/* What no worker did is left out, but not that none computed, or that none was idle. */
static bool ledger_is_shown(const struct roast_summary *summary, unsigned int part)
{
        bool even_0 = part == ROAST_LEDGER_PROCESSOR_CPU || part == ROAST_LEDGER_IDLE, any = false;

        for (size_t i = 0; i < summary->n_ledger; i++) {
                const struct roast_ledger_row *row = &summary->ledger[i];

                any |= row->seconds[part] > 0 || (even_0 && row->known >> part & 1);
        }
        return any;
}

/* What a worker did with its time: the share that threads were taken */
static int ledger_worker_row(struct roast_table *table, const struct roast_ledger_row *row)
{
        struct roast_cell *cells = build_row(table);
        double all = ledger_whole(row), busy = all;

        if (!cells)
                return ROAST_E_NOMEM;
        busy -= row->seconds[ROAST_LEDGER_IDLE] + row->seconds[ROAST_LEDGER_GONE];
        build_text(&cells[0], "  %s, busy", row->worker);
        cells[0].level = 1;
        build_seconds(&cells[1], busy);
        ledger_percent_cell(&cells[2], all > 0 ? busy / all * 100 : 0);
        build_bar(&cells[3], all > 0 ? busy / all : 0);
        return 0;
}

int ledger_fill(struct roast_table *table, const struct roast_summary *summary)
{
        ROAST_CLEANUP(cleanup_free) double *shares = NULL;
        double all = 0;
        int r = 0;

        if (summary->n_ledger == 0)
                return 0;
        shares = calloc(summary->n_ledger, sizeof(*shares));
        if (!shares)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < summary->n_ledger; i++)
                all += ledger_whole(&summary->ledger[i]);
        for (unsigned int i = 0; i < ROAST_LEDGER_N_PARTS && r >= 0; i++)
                if (ledger_is_shown(summary, i))
                        r = ledger_part_row(table, summary, i, all, shares);
        if (summary->n_ledger < 2 || summary->n_ledger > WORKERS_SHOWN)
                return r;
        for (size_t i = 0; i < summary->n_ledger && r >= 0; i++)
                r = ledger_worker_row(table, &summary->ledger[i]);
        return r;
}
