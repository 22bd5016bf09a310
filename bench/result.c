/* Rows of results, and the few figures that they are made of */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "result.h"

static int ascending(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

struct figure figure_best(double *values, size_t n)
{
        qsort(values, n, sizeof(*values), ascending);
        return (struct figure){ values[0], values[(n + 2) / 4] - values[0] };
}

struct figure figure_median(double *values, size_t n)
{
        size_t last = n - 1;

        qsort(values, n, sizeof(*values), ascending);
        return (struct figure){ (values[last / 2] + values[n / 2]) / 2,
                                (values[(3 * last + 3) / 4] - values[last / 4]) / 2 };
}

struct figure figure_ratio(struct figure value, struct figure reference)
{
        double share = value.value / reference.value;

        return (struct figure){ share, share * hypot(value.spread / value.value,
                                                     reference.spread / reference.value) };
}

void result_print(const struct result *result)
{
        printf("{\"name\": \"%s\", \"value\": %.9g, \"spread\": %.9g, \"unit\": \"%s\"",
               result->name, result->figure.value, result->figure.spread,
               result->of ? "x" : result->unit);
        if (result->at_most > 0)
                printf(", \"bound\": %.9g, \"direction\": \"at most\"", result->at_most);
        if (result->at_least > 0)
                printf(", \"bound\": %.9g, \"direction\": \"at least\"", result->at_least);
        if (result->of)
                printf(", \"reference\": \"%s\"", result->of);
        puts("}");
        fflush(stdout); /* before a fork copies what is not written yet */
}

void result_absent(const char *name, const char *why)
{
        printf("{\"name\": \"%s\", \"absent\": \"%s\"}\n", name, why);
}
