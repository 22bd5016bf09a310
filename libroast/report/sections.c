/*
 * Own time of each section, by dataset
 *
 * Own times do not overlap, so that they and what is left of the chunks' wall
 * time are parts of one whole: the page draws them side by side. The table is
 * read without its seals here: the summary has read it against them before, in
 * the same view of the run.
 */

#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "report/report.h"
#include "util/cleanup.h"
#include "util/size.h"

struct own_times {
        struct report_names names;
        double *wall_s; /* by dataset */
        double *own_s;  /* by dataset, then by section: room for cap sections each */
        size_t n_datasets;
        size_t cap;
};

static void own_times_deinit(struct own_times *times)
{
        report_names_deinit(&times->names);
        free(times->wall_s);
        free(times->own_s);
}

/* Room for twice as many sections */
static int widen(struct own_times *times)
{
        size_t cap = times->cap ? times->cap * 2 : 16, n;
        double *wider;

        if (!size_mul(times->n_datasets, cap, &n))
                return ROAST_E_NOMEM;
        wider = calloc(n + 1, sizeof(*wider));
        if (!wider)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < times->n_datasets && times->cap; i++)
                memcpy(wider + i * cap, times->own_s + i * times->cap, times->cap * sizeof(*wider));
        free(times->own_s);
        times->own_s = wider;
        times->cap = cap;
        return 0;
}

static int add_section(struct own_times *times, struct report *report, uint32_t dataset,
                       int64_t text_id, int64_t self_ns)
{
        int64_t section = report_name(report, &times->names, text_id);

        if (section < 0)
                return ROAST_E_NOMEM;
        while ((size_t)section >= times->cap)
                if (widen(times) < 0)
                        return ROAST_E_NOMEM;
        times->own_s[dataset * times->cap + (size_t)section] += (double)self_ns / 1e9;
        return 0;
}

static int read_sections(struct own_times *times, const struct report_chunks *chunks,
                         struct report *report, struct roast_error *error)
{
        sqlite3_stmt *stmt;
        int rc, r = 0;

        rc = sqlite3_prepare_v2(report->run->db, "SELECT chunk_id,name_text,self_ns FROM section",
                                -1, &stmt, NULL);
        while (rc == SQLITE_OK || rc == SQLITE_ROW) {
                int64_t id, self_ns;

                rc = sqlite3_step(stmt);
                if (rc != SQLITE_ROW)
                        break;
                id = sqlite3_column_int64(stmt, 0);
                self_ns = sqlite3_column_int64(stmt, 2);
                if (self_ns <= 0 || id < 0 || (size_t)id >= chunks->n_ids ||
                    !chunks->dataset_of[id])
                        continue;
                r = add_section(times, report, chunks->dataset_of[id] - 1,
                                sqlite3_column_int64(stmt, 1), self_ns);
                if (r < 0)
                        break;
        }
        sqlite3_finalize(stmt);
        if (r < 0)
                return roast_fail_nomem(error);
        return rc == SQLITE_DONE ? 0 : run_fail_sqlite(report->run, rc, "cannot be read", error);
}

/* {"names": [...], "datasets": [{"wall_s", "own_s": [by name]}]} */
static void put_times(const struct own_times *times, struct report *report)
{
        struct json *json = &report->pack->json;

        json_key(json, "sections");
        json_object(json);
        report_put_names(report, "names", &times->names);
        json_key(json, "datasets");
        json_array(json);
        for (size_t i = 0; i < times->n_datasets; i++) {
                json_object(json);
                json_key(json, "wall_s");
                json_double(json, times->wall_s[i]);
                json_key(json, "own_s");
                json_array(json);
                for (size_t j = 0; j < times->names.n; j++)
                        json_double(json, times->own_s[i * times->cap + j]);
                json_end(json);
                json_end(json);
        }
        json_end(json);
        json_end(json);
}

int report_sections_put(const struct report_chunks *chunks, struct report *report,
                        struct roast_error *error)
{
        ROAST_CLEANUP(own_times_deinit)
        struct own_times times = {
                .n_datasets = report->datasets.n,
                .wall_s = calloc(report->datasets.n + 1, sizeof(double)),
        };
        int r;

        if (!times.wall_s)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < chunks->n; i++)
                if (chunks->rows[i].wall_ns > 0)
                        times.wall_s[chunks->rows[i].dataset] +=
                                (double)chunks->rows[i].wall_ns / 1e9;
        r = read_sections(&times, chunks, report, error);
        if (r >= 0)
                put_times(&times, report);
        return r;
}
