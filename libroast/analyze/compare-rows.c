/*
 * The rows of a comparison: which figures there are, and where their values are
 *
 * A row is a figure (a measure of the units, or a section) over all units or
 * those of one dataset.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare-jobs.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "util/text.h"

/*
 * How far two runs of the same thing lie apart by themselves, as a logarithm
 *
 * One run on each side tells nothing about it. Two things are taken for it: no
 * machine repeats itself to better than a percent; and where chunks waited for
 * a core, others used it, and will use it otherwise next time. With w the share
 * of time spent waiting, k = -log(1 - w) is what that added to the wall time:
 * all of it may be different next time, for better or worse, and so may half as
 * much of the CPU time, for a shared core is a slower one. docs/compare.md has
 * the measurements.
 */
#define NOISE_LEAST 0.01
#define NOISE_WALL  2.0
#define NOISE_CPU   0.5

struct figure {
        const char *group;
        const char *key;
        const char *title;
        enum roast_compare_unit unit;
        enum contrast_scale scale;
        enum cost_measure measure;
        double noise; /* of k */
        double noise_least;
};

static const struct figure figures[] = {
        { "chunk", "wall_per_event", "Wall time per event", ROAST_COMPARE_SECONDS, CONTRAST_RATIO,
          COST_WALL, NOISE_WALL, NOISE_LEAST },
        { "chunk", "cpu_per_event", "CPU time per event", ROAST_COMPARE_SECONDS, CONTRAST_RATIO,
          COST_CPU, NOISE_CPU, NOISE_LEAST },
        { "chunk", "requested_bytes_per_event", "Bytes requested per event", ROAST_COMPARE_BYTES,
          CONTRAST_RATIO, COST_REQUESTED, 0, 0 },
        { "part", "runqueue", "Waiting for a core", ROAST_COMPARE_SECONDS, CONTRAST_DIFFERENCE,
          COST_RUNQUEUE, NOISE_WALL, NOISE_LEAST },
        { "part", "throttled", "Throttled", ROAST_COMPARE_SECONDS, CONTRAST_DIFFERENCE,
          COST_THROTTLED, NOISE_WALL, NOISE_LEAST },
        { "part", "block_io", "Waiting for a disk", ROAST_COMPARE_SECONDS, CONTRAST_DIFFERENCE,
          COST_BLOCK_IO, NOISE_WALL, NOISE_LEAST },
        { "part", "gil", "Waiting for the GIL", ROAST_COMPARE_SECONDS, CONTRAST_DIFFERENCE,
          COST_GIL, NOISE_WALL, NOISE_LEAST },
        { "part", "other", "Other waits", ROAST_COMPARE_SECONDS, CONTRAST_DIFFERENCE, COST_OTHER,
          NOISE_WALL, NOISE_LEAST },
};

static const struct figure dataset_figure = {
        "dataset", "", "", ROAST_COMPARE_SECONDS, CONTRAST_RATIO, COST_WALL, NOISE_WALL, NOISE_LEAST
};

static const struct figure section_figure = {
        "section", "", "", ROAST_COMPARE_SECONDS, CONTRAST_RATIO, COST_WALL, NOISE_WALL, NOISE_LEAST
};

/* Figures of whole runs */
static const enum roast_metric run_metrics[] = {
        ROAST_ELAPSED_TIME_SECONDS,
        ROAST_EVENT_RATE_ELAPSED_KHZ,
        ROAST_CORE_EFFICIENCY,
        ROAST_PEAK_MEMORY_BYTES,
};

static struct roast_compare_row *compare_add_row(struct roast_comparison *comparison,
                                                 const char *group, char *key, char *title)
{
        size_t n = (comparison->n_rows + 1) * sizeof(*comparison->rows);
        struct roast_compare_row *rows = key && title ? realloc(comparison->rows, n) : NULL;

        if (!rows) {
                free(key);
                free(title);
                return NULL;
        }
        comparison->rows = rows;
        rows += comparison->n_rows++;
        *rows = (struct roast_compare_row){ .group = group, .key = key, .title = title };
        return rows;
}

static void compare_fill_row(struct roast_compare_row *row, const struct contrast *contrast)
{
        row->a = contrast->a;
        row->a_low = contrast->a_low;
        row->a_high = contrast->a_high;
        row->b = contrast->b;
        row->b_low = contrast->b_low;
        row->b_high = contrast->b_high;
        row->change = contrast->change;
        row->change_low = contrast->change_low;
        row->change_high = contrast->change_high;
        row->p = row->p_adjusted = contrast->p;
        row->test = contrast->test;
        row->n = contrast->n;
        row->why = contrast->why;
}

/* The noise between two single runs; groups of runs have their own. */
static double compare_noise_of(const struct figure *figure, const struct compare_pair *pair)
{
        double most = 0;

        if (!compare_is_single(pair))
                return 0;
        for (size_t i = 0; i < 2; i++)
                most = fmax(most, pair->runs[i]->waiting); /* NaN: not known, and left out */
        return expm1(figure->noise_least - figure->noise * log1p(-most));
}

/* Rows to be, in their order */
struct rows {
        struct compare_job *jobs;
        struct title {
                const struct figure *figure;
                char *key; /* goes to the row, and so the title */
                char *title;
        } * titles;
        size_t n;
        size_t cap;
        const struct compare_pair *pair;
};

static void compare_rows_deinit(struct rows *rows)
{
        for (size_t i = 0; i < rows->n; i++) {
                free(rows->titles[i].key);
                free(rows->titles[i].title);
        }
        free(rows->titles);
        free(rows->jobs);
}

/* The job of one more row, with the measure of its figure; it takes key and title. NULL: no memory
 */
static struct compare_job *compare_plan_row(struct rows *rows, const struct figure *figure,
                                            char *key, char *title)
{
        struct compare_job *job;
        size_t cap = rows->cap;

        if (!key || !title || ARRAY_ROOM(rows->jobs, rows->n, cap) < 0 ||
            ARRAY_ROOM(rows->titles, rows->n, rows->cap) < 0) {
                free(key);
                free(title);
                return NULL;
        }
        job = &rows->jobs[rows->n];
        *job = (struct compare_job){ .seed = 2 * rows->n + 1 };
        job->request.measure = figure->measure;
        job->request.scale = figure->scale;
        rows->titles[rows->n++] = (struct title){ figure, key, title };
        return job;
}

static int compare_add_planned(struct roast_comparison *comparison, struct rows *rows, size_t i,
                               size_t against)
{
        const struct figure *figure = rows->titles[i].figure;
        struct roast_compare_row *row;

        if (rows->jobs[i].empty)
                return 0;
        row = compare_add_row(comparison, figure->group, rows->titles[i].key,
                              rows->titles[i].title);
        rows->titles[i].key = rows->titles[i].title = NULL;
        if (!row)
                return ROAST_E_NOMEM;
        compare_fill_row(row, &rows->jobs[i].contrast);
        row->against = against;
        row->unit = figure->unit;
        row->better = ROAST_BETTER_LESS;
        row->noise = compare_noise_of(figure, rows->pair);
        return 0;
}

/* Parts of the wall time are held against the wall time of an event in a. */
static int compare_plan_figures(struct rows *rows)
{
        const struct compare_request wall = { .measure = COST_WALL };
        double reference;
        int r = compare_median(&reference, rows->pair, &wall);

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(figures) && r >= 0; i++) {
                struct compare_job *job = compare_plan_row(
                        rows, &figures[i], strdup(figures[i].key), strdup(figures[i].title));

                if (!job)
                        return ROAST_E_NOMEM;
                job->reference = reference;
        }
        return r;
}

/* Datasets and sections that every run has: those of the first, in its order */
static bool compare_all_have(const struct compare_pair *pair, const char *name, size_t len)
{
        for (size_t i = 0; i < pair->n_a + pair->n_b; i++)
                if (compare_name_in(&compare_costs(pair, i)->names, name, len) < 0)
                        return false;
        return true;
}

static int compare_plan_datasets(struct rows *rows)
{
        const struct costs *first = compare_costs(rows->pair, 0);
        ROAST_CLEANUP(cleanup_free) bool *seen = calloc(first->names.n + 1, sizeof(*seen));
        size_t n = 0;

        if (!seen)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < first->n; i++)
                if (first->dataset[i] != COST_NO_NAME && !seen[first->dataset[i]]) {
                        seen[first->dataset[i]] = true;
                        n++;
                }
        for (size_t i = 0; i < first->names.n && n > 1; i++) {
                size_t len;
                const char *name = intern_get(&first->names, i, &len);
                struct compare_job *job;

                if (!seen[i] || !compare_all_have(rows->pair, name, len))
                        continue;
                job = compare_plan_row(rows, &dataset_figure, text_copy(name, len),
                                       text_copy(name, len));
                if (!job)
                        return ROAST_E_NOMEM;
                job->request.dataset = name;
                job->request.dataset_len = len;
        }
        return 0;
}

static int compare_plan_sections(struct rows *rows)
{
        const struct costs *first = compare_costs(rows->pair, 0);

        for (size_t i = 0; i < first->n_sections; i++) {
                size_t len;
                const char *name = intern_get(&first->names, first->sections[i].name, &len);
                struct compare_job *job;

                if (!compare_all_have(rows->pair, name, len))
                        continue;
                job = compare_plan_row(rows, &section_figure, text_copy(name, len),
                                       text_copy(name, len));
                if (!job)
                        return ROAST_E_NOMEM;
                job->request.section = name;
                job->request.section_len = len;
        }
        return 0;
}

/* Figures of whole runs, of which each run has one value */
static int compare_add_run_metric(struct roast_comparison *comparison,
                                  const struct compare_pair *pair, size_t against,
                                  enum roast_metric metric)
{
        const struct roast_metric_info *info = &roast_metrics[metric];
        size_t n = pair->n_a + pair->n_b;
        ROAST_CLEANUP(cleanup_free) double *values = malloc(n * sizeof(*values));
        struct roast_compare_row *row;
        struct contrast contrast;

        if (!values)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n; i++) {
                const struct roast_value *value = &pair->runs[i]->summary.metrics.values[metric];

                if (value->state == ROAST_ABSENT || !(value->real > 0))
                        return 0;
                values[i] = value->real;
        }
        contrast_groups(&contrast, values, pair->n_a, values + pair->n_a, pair->n_b, CONTRAST_RATIO,
                        0);
        row = compare_add_row(comparison, "run", strdup(info->key), strdup(info->title));
        if (!row)
                return ROAST_E_NOMEM;
        compare_fill_row(row, &contrast);
        row->against = against;
        row->unit = ROAST_COMPARE_METRIC;
        row->metric = metric;
        row->better = info->better;
        return 0;
}

int compare_rows(struct roast_comparison *comparison, const struct compare_pair *pair,
                 size_t against)
{
        ROAST_CLEANUP(compare_rows_deinit) struct rows rows = { .pair = pair };
        int r = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(run_metrics) && r >= 0; i++)
                r = compare_add_run_metric(comparison, pair, against, run_metrics[i]);
        for (size_t i = 0; i < pair->n_a + pair->n_b; i++)
                if (compare_costs(pair, i)->n == 0)
                        return r; /* a run without chunks has no further rows */
        if (r >= 0)
                r = compare_plan_figures(&rows);
        if (r >= 0)
                r = compare_plan_datasets(&rows);
        if (r >= 0)
                r = compare_plan_sections(&rows);
        if (r >= 0)
                r = compare_do(rows.jobs, rows.n, pair);
        for (size_t i = 0; i < rows.n && r >= 0; i++)
                r = compare_add_planned(comparison, &rows, i, against);
        return r;
}
