/*
 * Own time of each section, by dataset
 *
 * Own times do not overlap, so that they and what is left of the chunks' wall
 * time are parts of one whole: the page draws them side by side.
 */

#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "report/report.h"
#include "util/cleanup.h"
#include "util/size.h"

void report_sections_deinit(struct report_sections *times)
{
        report_names_deinit(&times->names);
        free(times->own_s);
}

/* Room for twice as many sections */
static int sections_widen(struct report_sections *times)
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

int report_sections_add(struct report_sections *times, struct report *report,
                        const struct report_chunks *chunks, const struct run_value *values)
{
        int64_t id = values[PART_CHUNK_ID].integer,
                self_ns = values[SECTION_COLUMN_SELF_NS].integer, section;

        if (values[SECTION_COLUMN_SELF_NS].type != RUN_INT || self_ns <= 0 || id < 0 ||
            (size_t)id >= chunks->n_ids || !chunks->dataset_of[id])
                return 0;
        times->n_datasets = report->datasets.n;
        section = report_name(report, &times->names, values[PART_NAME].integer);
        if (section < 0)
                return ROAST_E_NOMEM;
        while ((size_t)section >= times->cap)
                if (sections_widen(times) < 0)
                        return ROAST_E_NOMEM;
        times->own_s[(chunks->dataset_of[id] - 1) * times->cap + (size_t)section] +=
                (double)self_ns / 1e9;
        return 0;
}

/* Of the chunks whose sections count */
static bool sections_counts(const struct report_chunk *row)
{
        return row->wall_ns > 0 && (row->outcome == CHUNK_FINISHED ||
                                    row->outcome == CHUNK_FAILED || row->outcome == CHUNK_SKIPPED);
}

/* {"names": [...], "datasets": [{"wall_s", "own_s": [by name]}]} */
int report_sections_put(const struct report_sections *times, const struct report_chunks *chunks,
                        struct report *report, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free)
        double *wall_s = calloc(report->datasets.n + 1, sizeof(*wall_s));
        struct json *json = &report->pack->json;

        if (!wall_s)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < chunks->n; i++)
                if (sections_counts(&chunks->rows[i]))
                        wall_s[chunks->rows[i].dataset] += (double)chunks->rows[i].wall_ns / 1e9;
        json_key(json, "sections");
        json_object(json);
        report_put_names(report, "names", &times->names);
        json_key(json, "datasets");
        json_array(json);
        for (size_t i = 0; i < report->datasets.n; i++) {
                json_object(json);
                json_pair_double(json, "wall_s", wall_s[i]);
                json_key(json, "own_s");
                json_array(json);
                for (size_t j = 0; j < times->names.n; j++)
                        json_double(json, times->own_s[i * times->cap + j]);
                json_end(json);
                json_end(json);
        }
        json_end(json);
        json_end(json);
        return 0;
}
