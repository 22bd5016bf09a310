#pragma once
/* metrics.json of a measurement that is written */

#include "export/export.h"
#include "v1/documented.h"

struct v1 {
        struct roast_run *run; /* NULL: there is none */
        const struct roast_v1_options *options;
        struct roast_summary own;            /* what was computed here, */
        const struct roast_summary *summary; /* or is the caller's */
        unsigned int in_run;                 /* 1 << number of a part: it is in the run alone */
};

/* All of it */
int v1_put_metrics(struct v1 *v1, struct out *out, struct roast_error *error);
