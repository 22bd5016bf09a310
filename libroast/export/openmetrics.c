/* The metrics of a run for Prometheus: show/openmetrics.c, with all that it takes */

#include <stdlib.h>

#include "export/export.h"
#include "roast-show.h"
#include "util/cleanup.h"

static void openmetrics_workers_freep(struct roast_workers **workers)
{
        roast_workers_free(*workers);
}

int export_openmetrics(struct roast_run *run, const struct roast_export_options *options,
                       struct out *out, struct roast_error *error)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(openmetrics_workers_freep)
        struct roast_workers *workers = roast_workers_new();
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        struct roast_run_about about;
        size_t len;
        int r;

        if (!workers)
                return roast_fail_nomem(error);
        r = roast_summary_of_run(&summary, run, error);
        if (r >= 0)
                r = roast_run_about(run, &about, error);
        if (r >= 0)
                r = roast_workers_update(workers, run, error);
        if (r >= 0)
                r = roast_openmetrics(
                        &text, &len,
                        &(struct roast_openmetrics){ .about = &about,
                                                     .summary = &summary,
                                                     .workers = workers,
                                                     .per_worker = options->per_worker },
                        error);
        if (r >= 0)
                out_puts(out, text);
        return r;
}
