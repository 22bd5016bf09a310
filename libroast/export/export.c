/* What is exported in which format: see roast-export.h. */

#include <string.h>

#include "export/export.h"
#include "util/cleanup.h"

const char *const roast_export_formats[] = {
        [ROAST_EXPORT_JSON] = "json",
        [ROAST_EXPORT_JSONL] = "jsonl",
        [ROAST_EXPORT_CSV] = "csv",
        [ROAST_EXPORT_MARKDOWN] = "markdown",
        [ROAST_EXPORT_OPENMETRICS] = "openmetrics",
        [ROAST_EXPORT_CHROME_TRACE] = "chrome-trace",
        [ROAST_EXPORT_V1] = "v1",
        NULL,
};

const char *const roast_export_whats[] = {
        [ROAST_EXPORT_DEFAULT] = "",      [ROAST_EXPORT_METRICS] = "metrics",
        [ROAST_EXPORT_CHUNKS] = "chunks", [ROAST_EXPORT_SECTIONS] = "sections",
        [ROAST_EXPORT_FILES] = "files",   [ROAST_EXPORT_TASKS] = "tasks",
        [ROAST_EXPORT_SERIES] = "series", NULL,
};

typedef int (*exporter)(struct roast_run *run, const struct roast_export_options *options,
                        struct out *out, struct roast_error *error);

/* Formats of rows take everything. */
static const exporter of_rows[] = {
        [ROAST_EXPORT_METRICS] = export_metrics,   [ROAST_EXPORT_CHUNKS] = export_chunks,
        [ROAST_EXPORT_SECTIONS] = export_sections, [ROAST_EXPORT_FILES] = export_files,
        [ROAST_EXPORT_TASKS] = export_tasks,       [ROAST_EXPORT_SERIES] = export_series,
};

/* The function for the options; NULL after an error */
static exporter export_find(const struct roast_export_options *options, struct roast_error *error)
{
        enum roast_export_what what = options->what, own;

        if (options->per_worker && options->format != ROAST_EXPORT_OPENMETRICS) {
                roast_fail(error, ROAST_E_INVALID, "only openmetrics has figures per worker");
                return NULL;
        }
        switch (options->format) {
        case ROAST_EXPORT_OPENMETRICS:
                own = ROAST_EXPORT_METRICS;
                break;
        case ROAST_EXPORT_CHROME_TRACE:
                own = ROAST_EXPORT_CHUNKS;
                break;
        case ROAST_EXPORT_V1:
                roast_fail(error, ROAST_E_INVALID, "v1 is a directory: it needs a name");
                return NULL;
        default:
                return of_rows[what == ROAST_EXPORT_DEFAULT ? ROAST_EXPORT_METRICS : what];
        }
        if (what != ROAST_EXPORT_DEFAULT && what != own) {
                roast_fail(error, ROAST_E_INVALID, "%s holds %s, not %s",
                           roast_export_formats[options->format], roast_export_whats[own],
                           roast_export_whats[what]);
                return NULL;
        }
        return own == ROAST_EXPORT_METRICS ? export_openmetrics : export_trace;
}

int roast_export(struct roast_run *run, const struct roast_export_options *options,
                 roast_export_writer write, void *context, struct roast_error *error)
{
        ROAST_CLEANUP(out_deinit) struct out out;
        exporter export = export_find(options, error);
        int r;

        out_init(&out, write, context);
        if (!export)
                return ROAST_E_INVALID;
        r = export(run, options, &out, error);
        return r < 0 ? r : out_end(&out, error);
}
