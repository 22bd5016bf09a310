/* How throughput grows with the number of cores: see roast-scaling.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/laws.h"
#include "roast-metrics.h"
#include "roast-scaling.h"
#include "util/cleanup.h"

static double scaling_metric_of(const struct roast_summary *summary, enum roast_metric metric)
{
        const struct roast_value *value = &summary->metrics.values[metric];

        return value->state == ROAST_ABSENT ? (double)NAN : value->real;
}

/* The reason for leaving a run out: the metric that is missing, and why; NULL: no memory */
static int scaling_leave_out(struct roast_scaling_point *point, const struct roast_summary *summary,
                             enum roast_metric metric)
{
        const struct roast_value *value = &summary->metrics.values[metric];

        if (value->state != ROAST_ABSENT && value->real > 0)
                return 0;
        free(point->left_out);
        point->left_out = NULL;
        if (asprintf(&point->left_out, "%s is not known: %s", roast_metrics[metric].title,
                     value->state == ROAST_ABSENT ? roast_metric_reason(&summary->metrics, metric)
                                                  : "it is 0") < 0) {
                point->left_out = NULL;
                return ROAST_E_NOMEM;
        }
        return 0;
}

static int scaling_fill_point(struct roast_scaling_point *point, struct roast_run *run,
                              const struct roast_summary *summary, struct roast_error *error)
{
        const char *path = roast_run_path(run);
        struct roast_run_about about;
        int r = roast_run_about(run, &about, error);

        if (r < 0)
                return r;
        point->id = about.id ? strdup(about.id) : NULL;
        point->path = strdup(path ? path : "");
        point->name = strdup(about.name ? about.name : path ? path : "");
        point->workers = scaling_metric_of(summary, ROAST_AVG_WORKERS);
        point->cores = scaling_metric_of(summary, ROAST_TOTAL_CORES);
        point->events_per_s = 1e3 * scaling_metric_of(summary, ROAST_EVENT_RATE_ELAPSED_KHZ);
        point->speedup = point->efficiency = (double)NAN;
        if ((about.id && !point->id) || !point->path || !point->name ||
            scaling_leave_out(point, summary, ROAST_TOTAL_CORES) < 0 ||
            scaling_leave_out(point, summary, ROAST_EVENT_RATE_ELAPSED_KHZ) < 0)
                return roast_fail_nomem(error);
        return 0;
}

/* A run that is given twice would count as two that happen to agree. */
static int scaling_leave_out_again(struct roast_scaling *scaling)
{
        struct roast_scaling_point *points = scaling->points;
        struct roast_scaling_point *last = &points[scaling->n_points - 1];

        for (size_t i = 0; i + 1 < scaling->n_points && !last->left_out && last->id; i++) {
                if (!points[i].id || strcmp(points[i].id, last->id) != 0)
                        continue;
                if (asprintf(&last->left_out, "it is the same run as %s",
                             points[i].path[0] ? points[i].path : points[i].name) < 0) {
                        last->left_out = NULL;
                        return ROAST_E_NOMEM;
                }
        }
        return 0;
}

static int scaling_by_cores(const void *x, const void *y)
{
        const struct roast_scaling_point *a = x, *b = y;

        if (!a->left_out != !b->left_out)
                return a->left_out ? 1 : -1;
        if (!a->left_out && a->cores != b->cores)
                return a->cores < b->cores ? -1 : 1;
        return strcmp(a->name, b->name);
}

/* Cores are a mean over the run, in which workers do not come at the same moment each time. */
static bool scaling_same_size(double a, double b)
{
        return fabs(a - b) <= 0.02 * fabs(a);
}

/* Against what a core did in the smallest runs, on average */
static void scaling_relate(struct roast_scaling *scaling)
{
        struct roast_scaling_point *points = scaling->points;
        double sum = 0;
        size_t n = 0;

        for (size_t i = 0; i < scaling->n_points; i++)
                if (!points[i].left_out && scaling_same_size(points[0].cores, points[i].cores)) {
                        sum += points[i].events_per_s / points[i].cores;
                        n++;
                }
        for (size_t i = 0; i < scaling->n_points && n; i++) {
                if (points[i].left_out)
                        continue;
                points[i].speedup = points[i].events_per_s / (sum / (double)n);
                points[i].efficiency = points[i].speedup / points[i].cores;
        }
}

static int scaling_fit_laws(struct roast_scaling *scaling)
{
        static const struct {
                const char *law, *title, *why;
                size_t sizes;
        } laws[ROAST_SCALING_N_FITS] = {
                { "amdahl", "Amdahl's law", "it takes two numbers of cores", 2 },
                { "usl", "Universal scalability law", "it takes three numbers of cores", 3 },
        };
        size_t n = 0, sizes = 0;
        double size = 0;
        ROAST_CLEANUP(cleanup_free) double *cores = calloc(scaling->n_points + 1, sizeof(*cores));
        ROAST_CLEANUP(cleanup_free) double *rates = calloc(scaling->n_points + 1, sizeof(*rates));
        int r = 0;

        if (!cores || !rates)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < scaling->n_points; i++) {
                if (scaling->points[i].left_out)
                        continue;
                cores[n] = scaling->points[i].cores;
                rates[n] = scaling->points[i].events_per_s;
                if (n == 0 || !scaling_same_size(size, cores[n])) {
                        size = cores[n];
                        sizes++;
                }
                n++;
        }
        for (size_t i = 0; i < ROAST_SCALING_N_FITS && r >= 0; i++) {
                struct roast_scaling_fit *fit = &scaling->fits[i];

                fit->law = laws[i].law;
                fit->title = laws[i].title;
                fit->why = sizes < laws[i].sizes ? laws[i].why : "";
                if (sizes >= laws[i].sizes)
                        r = law_fit_with_intervals(fit, cores, rates, n, i == 1, i + 1);
        }
        return r;
}

int roast_scaling(struct roast_scaling *scaling, struct roast_run *const *runs, size_t n_runs,
                  struct roast_error *error)
{
        int r = 0;

        *scaling = (struct roast_scaling){ 0 };
        scaling->points = calloc(n_runs + 1, sizeof(*scaling->points));
        if (!scaling->points)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < n_runs && r >= 0; i++) {
                struct roast_summary summary;

                r = roast_summary_of_run(&summary, runs[i], error);
                if (r < 0)
                        break;
                r = scaling_fill_point(&scaling->points[scaling->n_points++], runs[i], &summary,
                                       error);
                roast_summary_deinit(&summary);
                if (r >= 0 && scaling_leave_out_again(scaling) < 0)
                        r = roast_fail_nomem(error);
        }
        if (r >= 0) {
                qsort(scaling->points, scaling->n_points, sizeof(*scaling->points),
                      scaling_by_cores);
                scaling_relate(scaling);
                if (scaling_fit_laws(scaling) < 0)
                        r = roast_fail_nomem(error);
        }
        if (r < 0)
                roast_scaling_deinit(scaling);
        return r;
}

double roast_scaling_at(const struct roast_scaling_fit *fit, double cores)
{
        const struct law law = { fit->lambda.value, fit->sigma.value, fit->kappa.value };

        return law_at(&law, cores);
}

void roast_scaling_deinit(struct roast_scaling *scaling)
{
        for (size_t i = 0; i < scaling->n_points; i++) {
                free(scaling->points[i].id);
                free(scaling->points[i].path);
                free(scaling->points[i].name);
                free(scaling->points[i].left_out);
        }
        free(scaling->points);
        *scaling = (struct roast_scaling){ 0 };
}
