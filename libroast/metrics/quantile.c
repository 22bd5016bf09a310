/* Quantiles of many numbers: see quantile.h. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "metrics/quantile.h"
#include "roast-error.h"
#include "util/array.h"

#define ROUNDS_MAX 128

void quantile_deinit(struct quantile *quantile)
{
        free(quantile->values);
        *quantile = (struct quantile){ 0 };
}

int quantile_add(struct quantile *quantile, double value)
{
        if (ARRAY_ROOM(quantile->values, quantile->n, quantile->cap) < 0)
                return ROAST_E_NOMEM;
        quantile->values[quantile->n++] = value;
        return 0;
}

static double quantile_median_of_3(double a, double b, double c)
{
        return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static int quantile_by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* Moves the k-th smallest to place k, what is not larger before it, what is not smaller behind. */
static void quantile_select_rank(double *values, size_t n, size_t k)
{
        size_t low = 0, high = n - 1;

        /* the range shrinks by a third or so each round, unless somebody chose the numbers badly */
        for (int round = 0; low < high; round++) {
                double pivot = quantile_median_of_3(values[low], values[low + (high - low) / 2],
                                                    values[high]);
                size_t i = low, j = high;

                if (round == ROUNDS_MAX) {
                        qsort(values + low, high - low + 1, sizeof(*values), quantile_by_value);
                        return;
                }
                for (;;) {
                        double swapped;

                        while (values[i] < pivot)
                                i++;
                        while (values[j] > pivot)
                                j--;
                        if (i >= j)
                                break;
                        swapped = values[i];
                        values[i++] = values[j];
                        values[j--] = swapped;
                }
                /* up to j: at most the pivot; behind: at least */
                if (i == j && k == i)
                        return;
                if (k <= j)
                        high = j;
                else
                        low = j + 1;
        }
}

double quantile_of(struct quantile *quantile, double share)
{
        double rank, next;
        size_t k;

        if (quantile->n == 0)
                return (double)NAN;
        rank = share * (double)(quantile->n - 1);
        k = (size_t)rank;
        quantile_select_rank(quantile->values, quantile->n, k);
        if (k + 1 == quantile->n)
                return quantile->values[k];
        next = quantile->values[k + 1];
        for (size_t i = k + 2; i < quantile->n; i++)
                if (quantile->values[i] < next)
                        next = quantile->values[i];
        return quantile->values[k] + (next - quantile->values[k]) * (rank - (double)k);
}
