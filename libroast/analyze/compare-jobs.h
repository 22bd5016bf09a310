#pragma once
/*
 * The contrasts of a comparison: values are gathered, and held against each other
 *
 * With one run on each side the values of a contrast are the units'; with more,
 * each run gives one value, its median.
 */

#include "analyze/compare.h"
#include "analyze/contrast.h"

/* Which values: a measure of the units, or a section, over all units or those of one dataset */
struct compare_request {
        enum cost_measure measure;
        enum contrast_scale scale;
        const char *section; /* NULL: the measure */
        size_t section_len;
        const char *dataset; /* NULL: all */
        size_t dataset_len;
};

struct compare_job {
        struct compare_request request;
        double reference; /* what differences are held against */
        uint64_t seed;
        bool empty; /* all values are zero, and there is no contrast */
        struct contrast contrast;
};

/* A name of one run among those of another; -1: it has none */
int64_t compare_name_in(const struct intern *names, const char *name, size_t len);
bool compare_is_single(const struct compare_pair *pair);
/* The median of the values in the first run. 0 or ROAST_E_NOMEM, as below */
int compare_median(double *median, const struct compare_pair *pair,
                   const struct compare_request *request);
/* Many units are the work of several threads. */
int compare_do(struct compare_job *jobs, size_t n, const struct compare_pair *pair);
