/* A set of metric values, each with its state: see roast-metrics.h. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics/stat.h"
#include "roast-metrics.h"

/* Said where nothing more precise is known. */
static const char *const group_reasons[ROAST_N_GROUPS] = {
        [ROAST_GROUP_WORKFLOW] = "no report",     [ROAST_GROUP_WORKER] = "no worker tracking",
        [ROAST_GROUP_FINE] = "no fine metrics",   [ROAST_GROUP_EFFICIENCY] = "no worker tracking",
        [ROAST_GROUP_CHUNK] = "no chunk records", [ROAST_GROUP_COVERAGE] = "no chunk records",
};

static void set_clear(struct roast_value *value)
{
        free(value->reason);
        *value = (struct roast_value){ 0 };
}

void roast_metric_set_deinit(struct roast_metric_set *set)
{
        for (size_t i = 0; i < ROAST_N_METRICS; i++)
                set_clear(&set->values[i]);
}

void roast_metric_set_count(struct roast_metric_set *set, enum roast_metric metric, int64_t count)
{
        struct roast_value *value = &set->values[metric];

        set_clear(value);
        value->state = ROAST_KNOWN;
        value->count = count;
        value->real = (double)count;
}

void roast_metric_set_real(struct roast_metric_set *set, enum roast_metric metric, double real)
{
        struct roast_value *value = &set->values[metric];

        set_clear(value);
        value->state = ROAST_KNOWN;
        value->real = real;
        value->count = stat_whole(real); /* of a count that was computed */
}

/* NULL: no memory */
static char *set_make_reason(const char *format, va_list args)
{
        char *reason;

        return vasprintf(&reason, format, args) < 0 ? NULL : reason;
}

int roast_metric_set_absent(struct roast_metric_set *set, enum roast_metric metric,
                            const char *format, ...)
{
        struct roast_value *value = &set->values[metric];
        va_list args;
        char *reason;

        /* first, for an argument may be the reason that is cleared */
        va_start(args, format);
        reason = set_make_reason(format, args);
        va_end(args);
        set_clear(value);
        value->reason = reason;
        return reason ? 0 : ROAST_E_NOMEM;
}

int roast_metric_set_estimated(struct roast_metric_set *set, enum roast_metric metric, double real,
                               const char *format, ...)
{
        struct roast_value *value = &set->values[metric];
        va_list args;
        char *reason;

        va_start(args, format);
        reason = set_make_reason(format, args);
        va_end(args);
        roast_metric_set_real(set, metric, real);
        value->state = ROAST_ESTIMATED;
        value->reason = reason;
        return reason ? 0 : ROAST_E_NOMEM;
}

const char *roast_metric_reason(const struct roast_metric_set *set, enum roast_metric metric)
{
        const char *reason = set->values[metric].reason;

        return reason ? reason : group_reasons[roast_metrics[metric].group];
}
