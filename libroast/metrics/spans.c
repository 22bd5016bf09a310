/* Base facts from Dask's fine metrics, as the run holds them */

#include "metrics/collect.h"
#include "metrics/fine.h"

static struct fine_name name_of(const struct run_value *value)
{
        if (value->type != RUN_STRING)
                return (struct fine_name){ 0 };
        return (struct fine_name){ value->data, value->len };
}

int collect_spans(struct collect *collect, struct roast_error *error)
{
        struct fine_sums sums = { .processor = collect->processor };
        struct run_scan scan;
        bool any = false;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_SPAN, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                /* kind, prefix, activity, unit, value */
                const struct run_value *values = scan.values;

                if (values[4].type == RUN_REAL && fine_equal(name_of(&values[0]), "execute") &&
                    fine_add(&sums, name_of(&values[1]), name_of(&values[2]), name_of(&values[3]),
                             values[4].real))
                        any = true;
        }
        run_scan_end(&scan);
        if (r >= 0 && any && fine_set(&collect->summary->metrics, &sums) < 0)
                return roast_fail_nomem(error);
        return r;
}
