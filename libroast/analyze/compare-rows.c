/*
 * The rows of a comparison: which figures there are, and where their values are
 *
 * A row is a figure (a measure of the units, or a section) over all units or
 * those of one dataset. With one run on each side its values are the units';
 * with more, each run gives one value, its median.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/contrast.h"
#include "analyze/statistics.h"
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

/* What a row is made of */
struct request {
        const struct compare_pair *pair;
        const struct figure *figure;
        const char *section; /* NULL: the figure's measure */
        size_t section_len;
        const char *dataset; /* NULL: all */
        size_t dataset_len;
};

/* A name of one run among those of another; -1: it has none */
static int64_t name_in(const struct intern *names, const char *name, size_t len)
{
        for (size_t i = 0; i < names->n; i++) {
                size_t other_len;
                const char *other = intern_get(names, i, &other_len);

                if (other_len == len && !memcmp(other, name, len))
                        return (int64_t)i;
        }
        return -1;
}

/* The column of a run that a request is about; NULL: the run has none */
static const float *column_of(const struct request *request, const struct costs *costs)
{
        int64_t name;

        if (!request->section)
                return costs->measures[request->figure->measure];
        name = name_in(&costs->names, request->section, request->section_len);
        for (size_t i = 0; i < costs->n_sections; i++)
                if ((int64_t)costs->sections[i].name == name)
                        return costs->sections[i].seconds;
        return NULL;
}

/* The values of one run, unit by unit; NaN for those that do not belong to the request */
static int gather(struct contrast_side *side, const struct request *request, size_t run)
{
        const struct compare_pair *pair = request->pair;
        const struct costs *costs = compare_costs(pair, run);
        const float *column = column_of(request, costs);
        int64_t dataset = COST_NO_NAME;

        if (request->dataset)
                dataset = name_in(&costs->names, request->dataset, request->dataset_len);
        side->n = pair->matched ? pair->match.n : costs->n;
        side->n_clusters = costs->n_clusters;
        side->values = malloc((side->n + 1) * sizeof(*side->values));
        side->cluster = malloc((side->n + 1) * sizeof(*side->cluster));
        if (!side->values || !side->cluster)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < side->n; i++) {
                size_t unit = pair->matched ? pair->match.index[run][i] : i;
                bool wanted =
                        column && (!request->dataset || (int64_t)costs->dataset[unit] == dataset);

                side->values[i] =
                        wanted ? (double)column[unit] / (double)costs->events[unit] : (double)NAN;
                side->cluster[i] = costs->cluster[unit];
        }
        return 0;
}

/* Leaves out the units that a run, or any of those that are matched, knows nothing of. */
static void drop_unknown(struct contrast_side *sides, size_t n_sides)
{
        size_t n = 0, all = sides[0].n;

        for (size_t i = 0; i < all; i++) {
                bool known = true;

                for (size_t j = 0; j < n_sides && known; j++)
                        known = isfinite(sides[j].values[i]);
                for (size_t j = 0; j < n_sides && known; j++) {
                        sides[j].values[n] = sides[j].values[i];
                        sides[j].cluster[n] = sides[j].cluster[i];
                }
                n += known;
        }
        for (size_t j = 0; j < n_sides; j++)
                sides[j].n = n;
}

static void free_sides(struct contrast_side *sides, size_t n)
{
        for (size_t i = 0; sides && i < n; i++) {
                free(sides[i].values);
                free(sides[i].cluster);
        }
        free(sides);
}

static int gather_all(struct contrast_side **ret, const struct request *request)
{
        const struct compare_pair *pair = request->pair;
        size_t n = pair->n_a + pair->n_b;
        struct contrast_side *sides = calloc(n, sizeof(*sides));

        *ret = sides;
        for (size_t i = 0; i < n; i++)
                if (!sides || gather(&sides[i], request, i) < 0) {
                        free_sides(sides, n);
                        return ROAST_E_NOMEM;
                }
        if (pair->matched) {
                drop_unknown(sides, n);
                return 0;
        }
        for (size_t i = 0; i < n; i++)
                drop_unknown(&sides[i], 1);
        return 0;
}

static int median_of(double *median, const struct contrast_side *side)
{
        ROAST_CLEANUP(cleanup_free) void *scratch = malloc(stat_sort_scratch(side->n + 1));
        ROAST_CLEANUP(cleanup_free) double *copy = malloc((side->n + 1) * sizeof(*copy));

        if (!scratch || !copy)
                return ROAST_E_NOMEM;
        memcpy(copy, side->values, side->n * sizeof(*copy));
        stat_sort(copy, NULL, side->n, scratch);
        *median = stat_quantile_sorted(copy, side->n, 0.5);
        return 0;
}

static double logarithm(enum contrast_scale scale, double value)
{
        return scale == CONTRAST_RATIO ? log(value) : value;
}

/* A value for each run */
static int contrast_medians(struct contrast *contrast, const struct request *request,
                            const struct contrast_side *sides, double reference)
{
        const struct compare_pair *pair = request->pair;
        size_t n = pair->n_a + pair->n_b;
        ROAST_CLEANUP(cleanup_free) double *values = malloc(n * sizeof(*values));

        if (!values)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n; i++) {
                if (median_of(&values[i], &sides[i]) < 0)
                        return ROAST_E_NOMEM;
                values[i] = logarithm(request->figure->scale, values[i]);
        }
        contrast_groups(contrast, values, pair->n_a, values + pair->n_a, pair->n_b,
                        request->figure->scale, reference);
        return 0;
}

static bool is_single(const struct compare_pair *pair)
{
        return pair->n_a == 1 && pair->n_b == 1;
}

static struct roast_compare_row *add_row(struct roast_comparison *comparison, const char *group,
                                         char *key, char *title)
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

static void fill_row(struct roast_compare_row *row, const struct contrast *contrast)
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
static double noise_of(const struct figure *figure, const struct compare_pair *pair)
{
        double most = 0;

        if (!is_single(pair))
                return 0;
        for (size_t i = 0; i < 2; i++)
                most = fmax(most, pair->runs[i]->waiting); /* NaN: not known, and left out */
        return expm1(figure->noise_least - figure->noise * log1p(-most));
}

static bool nothing_there(const struct contrast_side *sides, size_t n)
{
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < sides[i].n; j++)
                        if (sides[i].values[j] != 0)
                                return false;
        return true;
}

/* The wall time of an event in a, which parts of it are held against */
static int reference_of(double *reference, const struct compare_pair *pair)
{
        struct request request = { .pair = pair, .figure = &figures[0] };
        struct contrast_side *sides;
        int r = gather_all(&sides, &request);

        if (r < 0)
                return r;
        r = median_of(reference, &sides[0]);
        free_sides(sides, pair->n_a + pair->n_b);
        return r;
}

static int add_figure(struct roast_comparison *comparison, size_t against,
                      const struct request *request, double reference, char *key, char *title)
{
        const struct compare_pair *pair = request->pair;
        struct contrast_side *sides;
        struct roast_compare_row *row;
        struct contrast contrast;
        int r = key && title ? gather_all(&sides, request) : ROAST_E_NOMEM;

        if (r < 0 || nothing_there(sides, pair->n_a + pair->n_b)) {
                free(key);
                free(title);
                if (r >= 0)
                        free_sides(sides, pair->n_a + pair->n_b);
                return r;
        }
        if (is_single(pair))
                r = contrast_runs(&contrast, &sides[0], &sides[1], pair->matched,
                                  request->figure->scale, reference, 2 * comparison->n_rows + 1);
        else
                r = contrast_medians(&contrast, request, sides, reference);
        free_sides(sides, pair->n_a + pair->n_b);
        row = add_row(comparison, request->figure->group, key, title);
        if (!row || r < 0)
                return ROAST_E_NOMEM;
        fill_row(row, &contrast);
        row->against = against;
        row->unit = request->figure->unit;
        row->better = ROAST_BETTER_LESS;
        row->noise = noise_of(request->figure, pair);
        return 0;
}

static int add_figures(struct roast_comparison *comparison, const struct compare_pair *pair,
                       size_t against, double reference, const char *group)
{
        int r = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(figures) && r >= 0; i++) {
                const struct request request = { .pair = pair, .figure = &figures[i] };

                if (!strcmp(figures[i].group, group))
                        r = add_figure(comparison, against, &request, reference,
                                       strdup(figures[i].key), strdup(figures[i].title));
        }
        return r;
}

/* Datasets and sections that every run has: those of the first, in its order */
static bool all_have(const struct compare_pair *pair, const char *name, size_t len)
{
        for (size_t i = 0; i < pair->n_a + pair->n_b; i++)
                if (name_in(&compare_costs(pair, i)->names, name, len) < 0)
                        return false;
        return true;
}

static int add_datasets(struct roast_comparison *comparison, const struct compare_pair *pair,
                        size_t against)
{
        const struct costs *first = compare_costs(pair, 0);
        ROAST_CLEANUP(cleanup_free) bool *seen = calloc(first->names.n + 1, sizeof(*seen));
        struct figure figure = figures[0];
        size_t n = 0;
        int r = 0;

        if (!seen)
                return ROAST_E_NOMEM;
        figure.group = "dataset";
        for (size_t i = 0; i < first->n; i++)
                if (first->dataset[i] != COST_NO_NAME && !seen[first->dataset[i]]) {
                        seen[first->dataset[i]] = true;
                        n++;
                }
        for (size_t i = 0; i < first->names.n && n > 1 && r >= 0; i++) {
                struct request request = { .pair = pair, .figure = &figure };

                request.dataset = intern_get(&first->names, i, &request.dataset_len);
                if (seen[i] && all_have(pair, request.dataset, request.dataset_len))
                        r = add_figure(comparison, against, &request, 0,
                                       text_copy(request.dataset, request.dataset_len),
                                       text_copy(request.dataset, request.dataset_len));
        }
        return r;
}

static int add_sections(struct roast_comparison *comparison, const struct compare_pair *pair,
                        size_t against)
{
        const struct costs *first = compare_costs(pair, 0);
        int r = 0;

        for (size_t i = 0; i < first->n_sections && r >= 0; i++) {
                struct request request = { .pair = pair, .figure = &section_figure };

                request.section =
                        intern_get(&first->names, first->sections[i].name, &request.section_len);
                if (all_have(pair, request.section, request.section_len))
                        r = add_figure(comparison, against, &request, 0,
                                       text_copy(request.section, request.section_len),
                                       text_copy(request.section, request.section_len));
        }
        return r;
}

/* Figures of whole runs, of which each run has one value */
static int add_run_metric(struct roast_comparison *comparison, const struct compare_pair *pair,
                          size_t against, enum roast_metric metric)
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
                values[i] = log(value->real);
        }
        contrast_groups(&contrast, values, pair->n_a, values + pair->n_a, pair->n_b, CONTRAST_RATIO,
                        0);
        row = add_row(comparison, "run", strdup(info->key), strdup(info->title));
        if (!row)
                return ROAST_E_NOMEM;
        fill_row(row, &contrast);
        row->against = against;
        row->unit = ROAST_COMPARE_METRIC;
        row->metric = metric;
        row->better = info->better;
        return 0;
}

int compare_rows(struct roast_comparison *comparison, const struct compare_pair *pair,
                 size_t against)
{
        double reference = (double)NAN;
        int r = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(run_metrics) && r >= 0; i++)
                r = add_run_metric(comparison, pair, against, run_metrics[i]);
        for (size_t i = 0; i < pair->n_a + pair->n_b; i++)
                if (compare_costs(pair, i)->n == 0)
                        return r; /* a run without chunks has no further rows */
        if (r >= 0)
                r = reference_of(&reference, pair);
        if (r >= 0)
                r = add_figures(comparison, pair, against, reference, "chunk");
        if (r >= 0)
                r = add_figures(comparison, pair, against, reference, "part");
        if (r >= 0)
                r = add_datasets(comparison, pair, against);
        return r < 0 ? r : add_sections(comparison, pair, against);
}
