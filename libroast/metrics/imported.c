/* Figures that an imported measurement came with: see imported.h. */

#include <math.h>

#include "metrics/imported.h"

void imported_note(struct imported *imported, const char *key, const struct roast_fact *fact)
{
        int metric = roast_metric_find(key);

        if (metric < 0 || (fact->type != ROAST_FACT_INT && fact->type != ROAST_FACT_REAL))
                return;
        /* the documented dicts hold 0 where such a metric is absent: it says nothing */
        if (fact->real == 0 && roast_metrics[metric].fallback == ROAST_FALLBACK_ZERO)
                return;
        imported->given[metric] = isfinite(fact->real);
        imported->values[metric] = fact->real;
}

int imported_fill(struct roast_metric_set *set, const struct imported *imported)
{
        int n = 0;

        for (int i = 0; i < ROAST_N_METRICS; i++) {
                if (!imported->given[i] || set->values[i].state != ROAST_ABSENT)
                        continue;
                if (roast_metric_set_estimated(set, (enum roast_metric)i, imported->values[i],
                                               "as the measurement says that was imported") < 0)
                        return ROAST_E_NOMEM;
                n++;
        }
        return n;
}
