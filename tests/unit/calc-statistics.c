/*
 * Asks the statistics of libroast, for the tests that hold them against scipy
 *
 * Reads lines "NAME N VALUES... N VALUES..." and writes the figures of each on a line.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/statistics.h"

#define MAX 4096

static double a[MAX], b[MAX];
static char scratch[64 * MAX];

static size_t read_values(double *values)
{
        size_t n = 0;

        if (scanf("%zu", &n) != 1 || n > MAX)
                exit(2);
        for (size_t i = 0; i < n; i++)
                if (scanf("%lf", &values[i]) != 1)
                        exit(2);
        return n;
}

static void print_test(struct stat_test test)
{
        printf("%.17g %.17g\n", test.statistic, test.p);
}

static void print_shift(struct stat_shift shift)
{
        printf("%.17g %.17g %.17g\n", shift.estimate, shift.low, shift.high);
}

static void answer(const char *name, size_t n_a, size_t n_b)
{
        struct stat_welch welch;

        if (!strcmp(name, "normal_cdf"))
                printf("%.17g\n", stat_normal_cdf(a[0]));
        else if (!strcmp(name, "normal_quantile"))
                printf("%.17g\n", stat_normal_quantile(a[0]));
        else if (!strcmp(name, "t_cdf"))
                printf("%.17g %.17g\n", stat_t_cdf(a[0], b[0]), stat_t_two_sided(a[0], b[0]));
        else if (!strcmp(name, "t_quantile"))
                printf("%.17g\n", stat_t_quantile(a[0], b[0]));
        else if (!strcmp(name, "mann_whitney"))
                print_test(stat_mann_whitney(a, n_a, b, n_b));
        else if (!strcmp(name, "signed_rank"))
                print_test(stat_signed_rank(a, n_a));
        else if (!strcmp(name, "shift_paired"))
                print_shift(stat_shift_paired(a, n_a, b[0]));
        else if (!strcmp(name, "shift_unpaired"))
                print_shift(stat_shift_unpaired(a, n_a, b, n_b, 1.96));
        else if (!strcmp(name, "median"))
                printf("%.17g\n", stat_quantile_sorted(a, n_a, 0.5));
        else if (!strcmp(name, "welch")) {
                welch = stat_welch(a, n_a, b, n_b);
                printf("%.17g %.17g %.17g\n", welch.difference / welch.error, welch.df, welch.p);
        } else if (!strcmp(name, "holm")) {
                stat_holm(a, n_a);
                for (size_t i = 0; i < n_a; i++)
                        printf("%.17g ", a[i]);
                printf("\n");
        } else {
                exit(2);
        }
}

int main(void)
{
        char name[32];

        while (scanf("%31s", name) == 1) {
                size_t n_a = read_values(a), n_b = read_values(b);

                if (strcmp(name, "welch") && strcmp(name, "holm")) {
                        stat_sort(a, NULL, n_a, scratch);
                        stat_sort(b, NULL, n_b, scratch);
                }
                answer(name, n_a, n_b);
        }
        return 0;
}
