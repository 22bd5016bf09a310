#pragma once
/*
 * How throughput grows with the number of cores, over several runs
 *
 * Two laws are fitted: G. M. Amdahl's (AFIPS 1967), with a part sigma of the work
 * that does not run in parallel, and N. J. Gunther's universal scalability law
 * (CMG 1993), with a cost kappa of keeping each pair of cores in agreement
 * besides:
 *
 *     X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1))
 */

#include <stddef.h>

#include "roast-run.h"

struct roast_scaling_point {
        char *id; /* NULL: not known */
        char *path;
        char *name;
        double workers; /* NaN: not known */
        double cores;
        double events_per_s;
        double speedup;    /* against one core of the smallest run */
        double efficiency; /* of a core, against that of the smallest run */
        char *left_out;    /* why it is not in the fits; NULL: it is */
};

/* A figure and its 95 % interval; NaN where there is none */
struct roast_scaling_figure {
        double value;
        double low;
        double high;
};

struct roast_scaling_fit {
        const char *law; /* "amdahl", "usl" */
        const char *title;
        struct roast_scaling_figure lambda; /* events per second of one core */
        struct roast_scaling_figure sigma;
        struct roast_scaling_figure kappa;
        struct roast_scaling_figure half; /* cores at which a core does half of what one did */
        struct roast_scaling_figure knee; /* cores beyond which it gets slower; infinite: never */
        double deviation;                 /* of the runs from the law, relative, root mean square */
        const char *why;                  /* why there is no fit; "" if there is one */
};

#define ROAST_SCALING_N_FITS 2

struct roast_scaling {
        struct roast_scaling_point *points; /* by cores */
        size_t n_points;
        struct roast_scaling_fit fits[ROAST_SCALING_N_FITS];
};

int roast_scaling(struct roast_scaling *scaling, struct roast_run *const *runs, size_t n_runs,
                  struct roast_error *error);
void roast_scaling_deinit(struct roast_scaling *scaling);
/* The throughput that a fit tells for a number of cores */
double roast_scaling_at(const struct roast_scaling_fit *fit, double cores);

struct roast_tables;
int roast_scaling_tables(struct roast_tables *tables, const struct roast_scaling *scaling,
                         struct roast_error *error);
int roast_scaling_to_json(char **ret, const struct roast_scaling *scaling,
                          struct roast_error *error);
