/* Series of workers on a grid: see samples.h. */

#include "report/samples.h"

#include <math.h>
#include <stdlib.h>

#include "util/size.h"

int samples_init(struct samples *samples, enum samples_kind kind, const struct grid *grid,
                 size_t n_workers, double gap_ns)
{
        size_t n;

        *samples = (struct samples){
                .kind = kind, .grid = grid, .n_workers = n_workers, .gap_ns = gap_ns
        };
        if (!size_mul(n_workers, grid->n, &n))
                return ROAST_E_NOMEM;
        samples->amounts = calloc(n + 1, sizeof(*samples->amounts));
        samples->known = calloc(n + 1, sizeof(*samples->known));
        samples->before = calloc(n_workers + 1, sizeof(*samples->before));
        samples->before_ns = calloc(n_workers + 1, sizeof(*samples->before_ns));
        if (!samples->amounts || !samples->known || !samples->before || !samples->before_ns)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n_workers; i++)
                samples->before_ns[i] = INT64_MIN;
        return 0;
}

void samples_deinit(struct samples *samples)
{
        free(samples->amounts);
        free(samples->known);
        free(samples->before);
        free(samples->before_ns);
}

static void samples_add_peak(struct samples *samples, size_t worker, size_t cell, double value)
{
        size_t at = worker * samples->grid->n + cell;

        if (samples->known[at] == 0 || samples->amounts[at] < (float)value)
                samples->amounts[at] = (float)value;
        samples->known[at] = 1;
}

/* A gauge holds its value in the cells in which there is no sample. */
static void samples_hold_peak(struct samples *samples, size_t worker, double from, double to,
                              double value)
{
        double first = fmax(floor(from) + 1, 0), end = fmin(floor(to), (double)samples->grid->n);

        if (first < end)
                for (size_t cell = (size_t)first; cell < (size_t)end; cell++)
                        samples_add_peak(samples, worker, cell, value);
}

static void samples_add_rate(struct samples *samples, size_t worker, double from, double to,
                             double amount)
{
        double per_cell = amount / (to - from), end = (double)samples->grid->n;

        from = from < 0 ? 0 : from;
        to = to > end ? end : to;
        while (from < to) {
                size_t cell = (size_t)from, at = worker * samples->grid->n + cell;
                double stop = (double)(cell + 1) < to ? (double)(cell + 1) : to;

                samples->amounts[at] += (float)(per_cell * (stop - from));
                samples->known[at] += (float)(stop - from);
                from = stop;
        }
}

void samples_add(struct samples *samples, size_t worker, int64_t utc_ns, int64_t value)
{
        int64_t before_ns = samples->before_ns[worker], before = samples->before[worker];
        double place = grid_place(samples->grid, utc_ns), from;

        if (before_ns != INT64_MIN && utc_ns <= before_ns)
                return;
        samples->before_ns[worker] = utc_ns;
        samples->before[worker] = value;
        if (samples->kind == SAMPLES_PEAK && place >= 0 && place < (double)samples->grid->n)
                samples_add_peak(samples, worker, (size_t)place, (double)value);
        if (before_ns == INT64_MIN || (double)utc_ns - (double)before_ns > samples->gap_ns)
                return;
        from = grid_place(samples->grid, before_ns);
        if (samples->kind == SAMPLES_PEAK)
                samples_hold_peak(samples, worker, from, place, (double)before);
        else if (value >= before && from < place) /* less: the counter began anew */
                samples_add_rate(samples, worker, from, place, (double)value - (double)before);
}

size_t samples_read(const struct samples *samples, size_t worker, size_t fold, double factor,
                    float *values)
{
        const float *amounts = samples->amounts + worker * samples->grid->n;
        const float *known = samples->known + worker * samples->grid->n;
        double cell_s = samples->grid->step_ns / 1e9;
        size_t n = 0;

        for (size_t i = 0; i < samples->grid->n; i += fold, n++) {
                double amount = 0, part = 0;

                for (size_t j = i; j < samples->grid->n && j < i + fold; j++) {
                        part += (double)known[j];
                        if (samples->kind == SAMPLES_RATE)
                                amount += (double)amounts[j];
                        else if (known[j] > 0 && (double)amounts[j] > amount)
                                amount = (double)amounts[j];
                }
                if (part <= 0)
                        values[n] = NAN;
                else if (samples->kind == SAMPLES_PEAK)
                        values[n] = (float)(amount * factor);
                else
                        values[n] = (float)(amount / (part * cell_s) * factor);
        }
        return n;
}
