#pragma once
/* metrics.json of a measurement that is written */

#include "export/export.h"
#include "roast-metrics.h"

struct v1 {
        struct roast_run *run;
        struct roast_summary summary;
        struct out *out;
        bool any_chunk;
        struct rows rows;
        int64_t chunk_id;
};

/* All of it, into v1->out; the summary is there. */
int v1_put_metrics(struct v1 *v1, struct roast_error *error);
