/* The data of the page: see roast-report.h. */

#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "roast-report.h"
#include "run/series.h"
#include "util/cleanup.h"

static void report_deinit(struct report *report)
{
        report_names_deinit(&report->workers);
        report_names_deinit(&report->datasets);
        report_names_deinit(&report->files);
        intern_deinit(&report->texts);
}

static int note_interval(const struct roast_fact *fact, void *context)
{
        double *interval_s = context;

        if (!strcmp(fact->name, "backend.interval_s") && fact->real > 0)
                *interval_s = fact->real;
        return 0;
}

static void widen(struct report *report, int64_t from_utc_ns, int64_t to_utc_ns)
{
        if (from_utc_ns != INT64_MIN &&
            (report->zero_utc_ns == INT64_MIN || from_utc_ns < report->zero_utc_ns))
                report->zero_utc_ns = from_utc_ns;
        if (to_utc_ns > report->end_utc_ns)
                report->end_utc_ns = to_utc_ns;
}

static int widen_by_samples(struct report *report, struct roast_error *error)
{
        sqlite3_stmt *stmt;
        int rc;

        rc = sqlite3_prepare_v2(report->run->db,
                                "SELECT min(start_utc_ns),max(stop_utc_ns) FROM series", -1, &stmt,
                                NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW && sqlite3_column_type(stmt, 0) == SQLITE_INTEGER)
                widen(report, sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1));
        sqlite3_finalize(stmt);
        return rc == SQLITE_ROW ? 0 : run_fail_sqlite(report->run, rc, "cannot be read", error);
}

/*
 * The page's time: that of the run, and of what was seen in it. The clocks of
 * workers may differ from the client's: what they place outside is not hidden.
 */
static int find_time(struct report *report, const struct report_chunks *chunks,
                     struct roast_error *error)
{
        struct roast_run_about about;
        int r;

        report->zero_utc_ns = report->end_utc_ns = INT64_MIN;
        r = roast_run_about(report->run, &about, error);
        if (r >= 0)
                r = widen_by_samples(report, error);
        if (r < 0)
                return r;
        widen(report, about.start_utc_ns, about.end_utc_ns);
        for (size_t i = 0; i < chunks->n; i++) {
                int64_t start = chunks->rows[i].start_utc_ns, wall = chunks->rows[i].wall_ns, end;

                if (start != INT64_MIN && !__builtin_add_overflow(start, wall > 0 ? wall : 0, &end))
                        widen(report, start, end);
        }
        if (report->zero_utc_ns == INT64_MIN)
                report->zero_utc_ns = 0;
        if (report->end_utc_ns < report->zero_utc_ns)
                report->end_utc_ns = report->zero_utc_ns;
        return 0;
}

static int put_all(struct report *report, struct roast_error *error)
{
        ROAST_CLEANUP(report_chunks_deinit) struct report_chunks chunks = { 0 };
        int r;

        r = run_read_texts(report->run, &report->texts, error);
        if (r >= 0)
                r = roast_run_facts(report->run, note_interval, &report->interval_s, error);
        if (r >= 0)
                r = report_chunks_read(&chunks, report, error);
        if (r >= 0)
                r = find_time(report, &chunks, error);
        if (r >= 0)
                r = report_words_put(report, error);
        if (r >= 0)
                r = report_chunks_put(&chunks, report, error);
        if (r >= 0)
                r = report_sections_put(&chunks, report, error);
        if (r >= 0)
                r = report_series_put(&chunks, report, error);
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
        ROAST_CLEANUP(report_deinit)
        struct report report = { .run = run, .summary = &summary, .pack = &pack, .interval_s = 1 };
        int r;

        pack_init(&pack);
        /* One view: what the summary has read against its seals is what is read again. */
        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = roast_summary_of_run(&summary, run, error);
        if (r >= 0) {
                json_object(&pack.json);
                r = put_all(&report, error);
                json_end(&pack.json);
        }
        run_view_end(run);
        return r < 0 ? r : pack_finish(&pack, data, len, error);
}
