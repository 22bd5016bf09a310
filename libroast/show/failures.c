/* The table of attempts that came to nothing, in groups, the worst first */

#include "record/chunk.h"
#include "show/build.h"
#include "show/parts.h"

const struct roast_column failure_columns[FAILURE_N_COLUMNS] = {
        { "outcome", "Outcome", false },
        { "attempts", "Attempts", true },
        { "recovered", "Recovered", true, 1 },
        { "wall_s", "Time", true, 2 },
        { "error_type", "Error", false, 0, ROAST_CUT_END },
        { "error_message", "Message", false, 0, ROAST_CUT_END },
        { "file", "First File", false, 3, ROAST_CUT_START },
};

/* What happened, where nobody raised an error that would say it */
static const char *failures_ordinary(int outcome)
{
        switch (outcome) {
        case CHUNK_LOST:
                return "its worker went";
        case CHUNK_SKIPPED:
                return "coffea skipped the file";
        default:
                return "no error was told";
        }
}

static const char *failures_outcome_name(int outcome)
{
        return outcome >= 0 && outcome < CHUNK_N_OUTCOMES ? chunk_outcomes[outcome] : "unknown";
}

int failure_fill(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_failures; i++) {
                const struct roast_failure *failure = &summary->failures[i];
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", failures_outcome_name(failure->outcome));
                build_count(&cells[1], failure->attempts);
                build_count(&cells[2], failure->recovered);
                if (failure->recovered < failure->attempts)
                        cells[1].emphasis = ROAST_ALERT;
                if (failure->wall_s > 0)
                        build_seconds(&cells[3], failure->wall_s);
                if (failure->error_type)
                        build_text(&cells[4], "%s", failure->error_type);
                if (failure->error_message)
                        build_text(&cells[5], "%s", failure->error_message);
                else if (!failure->error_type)
                        build_absent(&cells[5], failures_ordinary(failure->outcome));
                if (failure->file)
                        build_text(&cells[6], "%s", failure->file);
        }
        return 0;
}
