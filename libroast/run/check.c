/* Is a run whole? Every table is walked; the walk itself compares rows and seals. */

#include "run/run.h"

static int check_table(struct roast_run *run, enum run_table table, int64_t *rows,
                       struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, table, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                ;
        *rows = scan.id;
        run_scan_end(&scan);
        return r;
}

int roast_run_check(struct roast_run *run, void (*visit)(const char *table, int64_t rows, void *),
                    void *context, struct roast_error *error)
{
        int64_t rows;
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        for (unsigned int i = 1; i < RUN_N_TABLES && r >= 0; i++) {
                r = check_table(run, i, &rows, error);
                if (r >= 0 && visit)
                        visit(run_tables[i].name, rows, context);
        }
        run_view_end(run);
        return r;
}
