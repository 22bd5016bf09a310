/*
 * Base facts about the workers from samples that were given (table `sample`)
 *
 * Where nobody followed the workers themselves, their number, cores and memory are known at some
 * instants only. Averages over time are by the trapezoidal rule, whatever the order of the samples.
 * What workers joined or left and their series tell is better, and stays.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/collect.h"
#include "metrics/presence.h"
#include "metrics/stat.h"
#include "util/array.h"
#include "util/size.h"

enum { COUNTS, CORES, ALL_CORES, MEMORY, MEMORY_LIMIT, CPU, N_SERIES };

static const char *const sampled_names[N_SERIES] = {
        [COUNTS] = "worker_counts",
        [CORES] = "worker_cores",
        [ALL_CORES] = "total_cores",
        [MEMORY] = "worker_memory",
        [MEMORY_LIMIT] = "worker_memory_limit",
        [CPU] = "worker_cpu",
};

struct sample {
        int series;
        int64_t worker; /* number of its name; 0: of all */
        double time_s;
        double value;
        size_t order;
};

struct samples {
        struct sample *samples;
        size_t n;
        size_t cap;
        size_t first[N_SERIES + 1];
        int64_t origin_ns;
        int64_t peak_bytes; /* exactly, if it is a whole number */
        bool exact;
};

static int sampled_series_of(const struct collect *collect, const struct run_value *text)
{
        size_t len;
        const char *name = collect_text(collect, text, &len);

        for (int i = 0; name && i < N_SERIES; i++)
                if (strlen(sampled_names[i]) == len && !memcmp(sampled_names[i], name, len))
                        return i;
        return -1;
}

/* Since the first instant, so that no digit is lost */
static double sampled_time(struct samples *samples, const struct run_value *utc_ns)
{
        if (utc_ns->type != RUN_INT)
                return run_number(utc_ns) / 1e9;
        if (samples->n == 0)
                samples->origin_ns = utc_ns->integer;
        return (double)(utc_ns->integer - samples->origin_ns) / 1e9;
}

static int sampled_add(struct samples *samples, const struct collect *collect,
                       const struct run_value *values)
{
        struct sample sample = { .series = sampled_series_of(collect, &values[SAMPLE_NAME]),
                                 .worker = run_int_or(&values[SAMPLE_WORKER], 0),
                                 .time_s = sampled_time(samples, &values[SAMPLE_UTC_NS]),
                                 .value = run_number(&values[SAMPLE_VALUE]),
                                 .order = samples->n };

        if (sample.series < 0 || !isfinite(sample.value) || !isfinite(sample.time_s))
                return 0;
        if (ARRAY_ROOM(samples->samples, samples->n, samples->cap) < 0)
                return ROAST_E_NOMEM;
        samples->samples[samples->n++] = sample;
        return 0;
}

static int sampled_compare(const void *a, const void *b)
{
        const struct sample *x = a, *y = b;

        if (x->series != y->series)
                return x->series < y->series ? -1 : 1;
        if (x->worker != y->worker)
                return x->worker < y->worker ? -1 : 1;
        if (x->time_s != y->time_s)
                return x->time_s < y->time_s ? -1 : 1;
        return x->order < y->order ? -1 : 1;
}

static int sampled_read(struct samples *samples, struct collect *collect, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_SAMPLE, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (sampled_add(samples, collect, scan.values) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        if (samples->n)
                qsort(samples->samples, samples->n, sizeof(*samples->samples), sampled_compare);
        for (size_t i = 0, series = 0; series <= N_SERIES; series++) {
                while (i < samples->n && samples->samples[i].series < (int)series)
                        i++;
                samples->first[series] = i;
        }
        return r;
}

/* Samples from i on that are of the same worker */
static size_t sampled_of_worker(const struct samples *samples, size_t i, size_t end)
{
        size_t n = 1;

        while (i + n < end && samples->samples[i + n].worker == samples->samples[i].worker)
                n++;
        return n;
}

static struct stat_average sampled_average(const struct samples *samples, size_t i, size_t n)
{
        struct stat_average average = { 0 };

        for (; n > 0; n--, i++)
                stat_average_add(&average, samples->samples[i].time_s, samples->samples[i].value);
        return average;
}

/* Unless something better is known */
static void sampled_set(struct roast_metric_set *set, enum roast_metric metric, double value)
{
        if (set->values[metric].state == ROAST_ABSENT)
                roast_metric_set_real(set, metric, value);
}

static void sampled_set_counts(struct roast_metric_set *set, const struct samples *samples)
{
        size_t first = samples->first[COUNTS], n = samples->first[COUNTS + 1] - first;
        struct stat_average average = sampled_average(samples, first, n);
        struct stat_sum plain = { 0 };

        for (size_t i = first; i < first + n; i++)
                stat_add(&plain, samples->samples[i].value);
        if (plain.n == 0)
                return;
        sampled_set(set, ROAST_AVG_WORKERS, stat_average_mean(&average));
        sampled_set(set, ROAST_MEAN_WORKERS, plain.mean);
        sampled_set(set, ROAST_PEAK_WORKERS, plain.max);
}

static int sampled_set_cores(struct roast_metric_set *set, const struct samples *samples)
{
        size_t all = samples->first[ALL_CORES + 1] - samples->first[ALL_CORES];
        struct presence presence = { 0 };
        double cores, workers;
        int64_t number = -1;
        int r = 0;

        for (size_t i = 0; i < samples->first[CORES + 1] && r >= 0; i++) {
                const struct sample *sample = &samples->samples[i];

                if (i >= samples->first[CORES] &&
                    (i == samples->first[CORES] || sample->worker != sample[-1].worker))
                        number++;
                r = presence_add(&presence, sample->time_s,
                                 sample->series == COUNTS ? PRESENCE_COUNT : number, sample->value);
        }
        if (r >= 0)
                r = presence_average(&presence, &cores, &workers);
        presence_deinit(&presence);
        if (r > 0) {
                sampled_set(set, ROAST_TOTAL_CORES, cores);
                sampled_set(set, ROAST_CORES_PER_WORKER, cores / workers);
        } else if (r == 0 && all) {
                struct stat_average average =
                        sampled_average(samples, samples->first[ALL_CORES], all);

                sampled_set(set, ROAST_TOTAL_CORES, stat_average_mean(&average));
        }
        return r;
}

static void sampled_set_memory(struct roast_metric_set *set, const struct samples *samples)
{
        size_t end = samples->first[MEMORY + 1], n;
        struct stat_sum means = { 0 };
        double peak = -INFINITY;

        for (size_t i = samples->first[MEMORY]; i < end; i += n) {
                struct stat_average average;

                n = sampled_of_worker(samples, i, end);
                average = sampled_average(samples, i, n);
                stat_add(&means, stat_average_mean(&average));
                for (size_t j = i; j < i + n; j++)
                        peak = fmax(peak, samples->samples[j].value);
        }
        if (!means.n)
                return;
        sampled_set(set, ROAST_AVG_MEMORY_PER_WORKER_BYTES, means.mean);
        sampled_set(set, ROAST_PEAK_MEMORY_BYTES, peak);
}

/* Of a worker: what it had at an instant is its last sample until then, or else its first. */
static void sampled_add_shares(const struct samples *samples, size_t i, size_t n, int whole,
                               double scale, struct stat_sum *means, struct stat_sum *shares)
{
        size_t at = samples->first[whole], end = samples->first[whole + 1];
        int64_t worker = samples->samples[i].worker;
        struct stat_average average = { 0 };

        while (at < end && samples->samples[at].worker != worker)
                at++;
        for (size_t j = i; j < i + n && at < end; j++) {
                const struct sample *sample = &samples->samples[j];
                double share;

                while (at + 1 < end && samples->samples[at + 1].worker == worker &&
                       samples->samples[at + 1].time_s <= sample->time_s)
                        at++;
                share = sample->value / samples->samples[at].value * scale;
                if (!(samples->samples[at].value > 0) || !isfinite(share))
                        continue;
                stat_average_add(&average, sample->time_s, share);
                stat_add(shares, share);
        }
        if (average.n)
                stat_add(means, stat_average_mean(&average));
}

/* Utilisation of what each worker has, in percent: average, smallest and largest */
static void sampled_set_shares(struct roast_metric_set *set, const struct samples *samples,
                               int series, int whole, double scale, enum roast_metric average)
{
        size_t end = samples->first[series + 1], n;
        struct stat_sum means = { 0 }, shares = { 0 };

        for (size_t i = samples->first[series]; i < end; i += n) {
                n = sampled_of_worker(samples, i, end);
                sampled_add_shares(samples, i, n, whole, scale, &means, &shares);
        }
        if (!means.n)
                return;
        sampled_set(set, average, means.mean);
        sampled_set(set, average + 1, shares.min);
        sampled_set(set, average + 2, shares.max);
}

int collect_samples(struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        struct samples samples = { 0 };
        int r = sampled_read(&samples, collect, error);

        if (r >= 0 && samples.n) {
                sampled_set_counts(set, &samples);
                sampled_set_memory(set, &samples);
                sampled_set_shares(set, &samples, MEMORY, MEMORY_LIMIT, 100,
                                   ROAST_AVG_MEMORY_UTILIZATION_PERCENT);
                sampled_set_shares(set, &samples, CPU, CORES, 1, ROAST_AVG_CPU_UTILIZATION_PERCENT);
                if (sampled_set_cores(set, &samples) < 0)
                        r = roast_fail_nomem(error);
        }
        free(samples.samples);
        return r < 0 ? r : 0;
}
