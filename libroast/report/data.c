/* The data of the page: see roast-report.h. */

#include <stdlib.h>
#include <string.h>

#include "metrics/collect.h"
#include "report/report.h"
#include "roast-report.h"
#include "run/series.h"
#include "util/cleanup.h"

static void data_report_deinit(struct report *report)
{
        report_names_deinit(&report->workers);
        report_names_deinit(&report->datasets);
        report_names_deinit(&report->files);
        intern_deinit(&report->texts);
}

static int data_note_interval(const struct roast_fact *fact, void *context)
{
        double *interval_s = context;

        if (!strcmp(fact->name, "backend.interval_s") && fact->real > 0)
                *interval_s = fact->real;
        return 0;
}

static void data_widen(struct report *report, int64_t from_utc_ns, int64_t to_utc_ns)
{
        if (from_utc_ns != INT64_MIN &&
            (report->zero_utc_ns == INT64_MIN || from_utc_ns < report->zero_utc_ns))
                report->zero_utc_ns = from_utc_ns;
        if (to_utc_ns > report->end_utc_ns)
                report->end_utc_ns = to_utc_ns;
}

static int data_widen_by_samples(struct report *report, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct series_block *blocks = NULL;
        size_t n;
        int r;

        r = series_list(report->run, 0, &blocks, &n, error);
        for (size_t i = 0; r >= 0 && i < n; i++)
                data_widen(report, blocks[i].start_utc_ns, blocks[i].stop_utc_ns);
        return r;
}

/*
 * The page's time: that of the run, and of what was seen in it. The clocks of
 * workers may differ from the client's: what they place outside is not hidden.
 */
static int data_find_time(struct report *report, const struct report_chunks *chunks,
                          struct roast_error *error)
{
        struct roast_run_about about;
        int r;

        report->zero_utc_ns = report->end_utc_ns = INT64_MIN;
        r = roast_run_about(report->run, &about, error);
        if (r >= 0)
                r = data_widen_by_samples(report, error);
        if (r < 0)
                return r;
        data_widen(report, about.start_utc_ns, about.end_utc_ns);
        for (size_t i = 0; i < chunks->n; i++) {
                int64_t start = chunks->rows[i].start_utc_ns, wall = chunks->rows[i].wall_ns, end;

                if (start != INT64_MIN && !__builtin_add_overflow(start, wall > 0 ? wall : 0, &end))
                        data_widen(report, start, end);
        }
        if (report->zero_utc_ns == INT64_MIN)
                report->zero_utc_ns = 0;
        if (report->end_utc_ns < report->zero_utc_ns)
                report->end_utc_ns = report->zero_utc_ns;
        return 0;
}

/* What is read together with the summary */
struct reading {
        struct report report;
        struct report_chunks chunks;
        struct report_sections sections;
};

static void data_reading_deinit(struct reading *reading)
{
        data_report_deinit(&reading->report);
        report_chunks_deinit(&reading->chunks);
        report_sections_deinit(&reading->sections);
}

static int data_see_attempt(const struct run_attempt *attempt, void *context,
                            struct roast_error *error)
{
        struct reading *reading = context;

        if (report_chunks_add(&reading->chunks, &reading->report, attempt) < 0)
                return roast_fail_nomem(error);
        return 0;
}

static int data_see_section(const struct run_value *values, void *context,
                            struct roast_error *error)
{
        struct reading *reading = context;

        if (report_sections_add(&reading->sections, &reading->report, &reading->chunks, values) < 0)
                return roast_fail_nomem(error);
        return 0;
}

static int data_put_all(struct reading *reading, struct roast_error *error)
{
        struct report *report = &reading->report;
        int r;

        r = roast_run_facts(report->run, data_note_interval, &report->interval_s, error);
        if (r >= 0 && report_chunks_sort(&reading->chunks, report) < 0)
                r = roast_fail_nomem(error);
        if (r >= 0)
                r = data_find_time(report, &reading->chunks, error);
        if (r >= 0)
                r = report_words_put(report, error);
        if (r >= 0)
                r = report_chunks_put(&reading->chunks, report, error);
        if (r >= 0)
                r = report_sections_put(&reading->sections, &reading->chunks, report, error);
        if (r >= 0)
                r = report_series_put(&reading->chunks, report, error);
        if (r < 0)
                return r;
        report_put_names(report, "workers", &report->workers);
        report_put_names(report, "datasets", &report->datasets);
        report_put_names(report, "files", &report->files);
        return 0;
}

int roast_report_data(void **data, size_t *len, struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(pack_deinit) struct pack pack;
        ROAST_CLEANUP(data_reading_deinit)
        struct reading reading = {
                .report = { .run = run, .summary = &summary, .pack = &pack, .interval_s = 1 },
        };
        struct collect_watch watch = { data_see_attempt, data_see_section, &reading };
        int r;

        pack_init(&pack);
        r = run_view_begin(run, error); /* what is read again is the same */
        if (r < 0)
                return r;
        r = run_read_texts(run, &reading.report.texts, error);
        if (r >= 0)
                r = collect_summary(&summary, run, &watch, error);
        if (r >= 0) {
                json_object(&pack.json);
                r = data_put_all(&reading, error);
                json_end(&pack.json);
        }
        run_view_end(run);
        return r < 0 ? r : pack_finish(&pack, data, len, error);
}
