/* The contrasts of a comparison: see compare-jobs.h. */

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/compare-jobs.h"
#include "analyze/statistics.h"
#include "util/cleanup.h"

/* From so many units on there are several threads; each takes 100 bytes for a unit. */
#define UNITS_MANY  50000
#define THREADS_MAX 3

int64_t compare_name_in(const struct intern *names, const char *name, size_t len)
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
static const float *compare_column_of(const struct compare_request *request,
                                      const struct costs *costs)
{
        int64_t name;

        if (!request->section)
                return costs->measures[request->measure];
        name = compare_name_in(&costs->names, request->section, request->section_len);
        for (size_t i = 0; i < costs->n_sections; i++)
                if ((int64_t)costs->sections[i].name == name)
                        return costs->sections[i].seconds;
        return NULL;
}

/* The values of one run, unit by unit; NaN for those that do not belong to the request */
static int compare_gather(struct contrast_side *side, const struct compare_pair *pair,
                          const struct compare_request *request, size_t run)
{
        const struct costs *costs = compare_costs(pair, run);
        const float *column = compare_column_of(request, costs);
        int64_t dataset = COST_NO_NAME;

        if (request->dataset)
                dataset = compare_name_in(&costs->names, request->dataset, request->dataset_len);
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
static void compare_drop_unknown(struct contrast_side *sides, size_t n_sides)
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

static void compare_free_sides(struct contrast_side *sides, size_t n)
{
        for (size_t i = 0; sides && i < n; i++) {
                free(sides[i].values);
                free(sides[i].cluster);
        }
        free(sides);
}

static int compare_gather_all(struct contrast_side **ret, const struct compare_pair *pair,
                              const struct compare_request *request)
{
        size_t n = pair->n_a + pair->n_b;
        struct contrast_side *sides = calloc(n, sizeof(*sides));

        *ret = sides;
        for (size_t i = 0; i < n; i++)
                if (!sides || compare_gather(&sides[i], pair, request, i) < 0) {
                        compare_free_sides(sides, n);
                        return ROAST_E_NOMEM;
                }
        if (pair->matched) {
                compare_drop_unknown(sides, n);
                return 0;
        }
        for (size_t i = 0; i < n; i++)
                compare_drop_unknown(&sides[i], 1);
        return 0;
}

static int compare_median_of(double *median, const struct contrast_side *side)
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

/* A value for each run */
static int compare_contrast_medians(struct compare_job *job, const struct compare_pair *pair,
                                    const struct contrast_side *sides)
{
        enum contrast_scale scale = job->request.scale;
        size_t n = pair->n_a + pair->n_b;
        ROAST_CLEANUP(cleanup_free) double *values = malloc(n * sizeof(*values));

        if (!values)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n; i++)
                if (compare_median_of(&values[i], &sides[i]) < 0)
                        return ROAST_E_NOMEM;
        contrast_groups(&job->contrast, values, pair->n_a, values + pair->n_a, pair->n_b, scale,
                        job->reference);
        return 0;
}

bool compare_is_single(const struct compare_pair *pair)
{
        return pair->n_a == 1 && pair->n_b == 1;
}

static bool compare_nothing_there(const struct contrast_side *sides, size_t n)
{
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < sides[i].n; j++)
                        if (sides[i].values[j] != 0)
                                return false;
        return true;
}

int compare_median(double *median, const struct compare_pair *pair,
                   const struct compare_request *request)
{
        struct contrast_side *sides;
        int r = compare_gather_all(&sides, pair, request);

        if (r < 0)
                return r;
        r = compare_median_of(median, &sides[0]);
        compare_free_sides(sides, pair->n_a + pair->n_b);
        return r;
}

static int compare_do_job(struct compare_job *job, const struct compare_pair *pair)
{
        struct contrast_side *sides;
        int r = compare_gather_all(&sides, pair, &job->request);

        if (r < 0)
                return r;
        job->empty = compare_nothing_there(sides, pair->n_a + pair->n_b);
        if (!job->empty && compare_is_single(pair))
                r = contrast_runs(&job->contrast, &sides[0], &sides[1], pair->matched,
                                  job->request.scale, job->reference, job->seed);
        else if (!job->empty)
                r = compare_contrast_medians(job, pair, sides);
        compare_free_sides(sides, pair->n_a + pair->n_b);
        return r;
}

struct work {
        struct compare_job *jobs;
        size_t n;
        const struct compare_pair *pair;
        atomic_size_t next;
        atomic_int result;
};

static void *compare_do_jobs(void *context)
{
        struct work *work = context;
        size_t i;

        while ((i = atomic_fetch_add(&work->next, 1)) < work->n)
                if (compare_do_job(&work->jobs[i], work->pair) < 0)
                        atomic_store(&work->result, ROAST_E_NOMEM);
        return NULL;
}

int compare_do(struct compare_job *jobs, size_t n, const struct compare_pair *pair)
{
        struct work work = { .jobs = jobs, .n = n, .pair = pair };
        size_t more = compare_costs(pair, 0)->n < UNITS_MANY ? 0 : THREADS_MAX - 1, n_threads = 0;
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        pthread_t threads[THREADS_MAX];

        while (n_threads < more && (long)n_threads + 1 < cores &&
               pthread_create(&threads[n_threads], NULL, compare_do_jobs, &work) == 0)
                n_threads++;
        compare_do_jobs(&work);
        for (size_t i = 0; i < n_threads; i++)
                pthread_join(threads[i], NULL);
        return atomic_load(&work.result);
}
