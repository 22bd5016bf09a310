/* How much of a file was read: see coverage.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/coverage.h"
#include "roast-error.h"
#include "util/cleanup.h"

void coverage_file_deinit(struct coverage_file *file)
{
        for (size_t i = 0; i < file->n; i++)
                free(file->sets[i].branches);
        free(file->sets);
        free(file->bytes);
        *file = (struct coverage_file){ 0 };
}

static int coverage_by_number(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return x == y ? 0 : x < y ? -1 : 1;
}

/* The larger of two, either of which may be NaN */
static double coverage_larger(double a, double b)
{
        return isfinite(b) && b > a ? b : a;
}

static struct coverage_set *coverage_find(const struct coverage_file *file,
                                          const uint32_t *branches, size_t n)
{
        for (size_t i = 0; i < file->n; i++)
                if (file->sets[i].n == n &&
                    (!n || !memcmp(file->sets[i].branches, branches, n * sizeof(*branches))))
                        return &file->sets[i];
        return NULL;
}

int coverage_file_add(struct coverage_file *file, uint32_t *branches, size_t n, double bytes,
                      double branches_percent, double bytes_percent)
{
        struct coverage_set *set, *sets;

        file->branches_percent = coverage_larger(file->branches_percent, branches_percent);
        file->bytes_percent = coverage_larger(file->bytes_percent, bytes_percent);
        if (n)
                qsort(branches, n, sizeof(*branches), coverage_by_number);
        set = coverage_find(file, branches, n);
        if (set) {
                set->bytes = coverage_larger(set->bytes, bytes);
                return 0;
        }
        sets = realloc(file->sets, (file->n + 1) * sizeof(*sets));
        if (!sets)
                return ROAST_E_NOMEM;
        file->sets = sets;
        set = &sets[file->n];
        *set = (struct coverage_set){ .n = n, .bytes = coverage_larger(0, bytes) };
        set->branches = malloc((n ? n : 1) * sizeof(*branches));
        if (!set->branches)
                return ROAST_E_NOMEM;
        if (n)
                memcpy(set->branches, branches, n * sizeof(*branches));
        file->n++;
        return 0;
}

int coverage_file_branch(struct coverage_file *file, uint32_t branch, double bytes)
{
        if (branch >= file->n_bytes) {
                size_t n = (size_t)branch + 64;
                double *grown = realloc(file->bytes, n * sizeof(*grown));

                if (!grown)
                        return ROAST_E_NOMEM;
                memset(grown + file->n_bytes, 0, (n - file->n_bytes) * sizeof(*grown));
                file->bytes = grown;
                file->n_bytes = n;
        }
        file->bytes[branch] = coverage_larger(file->bytes[branch], bytes);
        return 0;
}

/* Larger sets first; sets that look alike by their numbers, so that no order of arrival shows */
static int coverage_by_size(const void *a, const void *b)
{
        const struct coverage_set *x = a, *y = b;

        if (x->n != y->n)
                return x->n > y->n ? -1 : 1;
        if (x->bytes != y->bytes)
                return x->bytes > y->bytes ? -1 : 1;
        return x->n ? memcmp(x->branches, y->branches, x->n * sizeof(*x->branches)) : 0;
}

/* The branches of a set that no set before it has */
struct fresh {
        size_t n;
        double bytes;
        bool unknown; /* the bytes of one of them */
};

static struct fresh coverage_mark(const struct coverage_file *file, bool *touched,
                                  const struct coverage_set *set)
{
        struct fresh fresh = { 0 };

        for (size_t i = 0; i < set->n; i++) {
                uint32_t branch = set->branches[i];
                double bytes = branch < file->n_bytes ? file->bytes[branch] : 0;

                if (touched[branch])
                        continue;
                touched[branch] = true;
                fresh.n++;
                fresh.bytes += bytes;
                fresh.unknown |= !(bytes > 0);
        }
        return fresh;
}

static double coverage_percent(double part, double whole)
{
        return whole > 0 ? fmin(part * 100 / whole, 100) : 0;
}

int coverage_of_file(struct coverage *coverage, struct coverage_file *file, size_t n_branches,
                     double total_branches, double total_bytes)
{
        ROAST_CLEANUP(cleanup_free) bool *touched = calloc(n_branches + 1, sizeof(*touched));
        double largest = 0;

        *coverage = (struct coverage){ .branches_percent = file->branches_percent,
                                       .bytes_percent = file->bytes_percent };
        if (!touched)
                return ROAST_E_NOMEM;
        if (file->n)
                qsort(file->sets, file->n, sizeof(*file->sets), coverage_by_size);
        for (size_t i = 0; i < file->n; i++) {
                const struct coverage_set *set = &file->sets[i];
                struct fresh fresh = coverage_mark(file, touched, set);

                largest = coverage_larger(largest, set->bytes);
                coverage->branches += fresh.n;
                if (fresh.n && !fresh.unknown)
                        coverage->bytes += fresh.bytes;
                else if (fresh.n)
                        coverage->bytes += set->bytes * ((double)fresh.n / (double)set->n);
                if (fresh.unknown && fresh.n < set->n)
                        coverage->estimated = true;
        }
        coverage->bytes = coverage_larger(coverage->bytes, largest);
        if (file->n && coverage->branches > file->sets[0].n)
                coverage->branches_percent = coverage_larger(
                        coverage->branches_percent,
                        coverage_percent((double)coverage->branches, total_branches));
        if (coverage->bytes > largest)
                coverage->bytes_percent = coverage_larger(
                        coverage->bytes_percent, coverage_percent(coverage->bytes, total_bytes));
        return 0;
}
