/* Samples of workers, {worker: [(time, value), ...]}, averaged over time */

#include <math.h>
#include <stdlib.h>

#include "aggregate.h"
#include "metrics/presence.h"
#include "metrics/stat.h"
#include "util/array.h"

struct sample {
        double time;
        double value;
        size_t order;
};

struct samples {
        struct plain_clock *clock;
        struct sample *samples;
        size_t n;
        size_t cap;
};

static int aggregate_add_sample(PyObject *time, PyObject *value, struct samples *samples)
{
        struct sample sample = { .order = samples->n };

        if (plain_real(&sample.value, value) < 0)
                return -1;
        if (!isfinite(sample.value))
                return 0;
        if (plain_clock_read(samples->clock, &sample.time, time) < 0)
                return -1;
        if (ARRAY_ROOM(samples->samples, samples->n, samples->cap) < 0) {
                PyErr_NoMemory();
                return -1;
        }
        samples->samples[samples->n++] = sample;
        return 0;
}

static int aggregate_add_item(PyObject *item, void *context)
{
        PyObject *time = PySequence_GetItem(item, 0);
        PyObject *value = time ? PySequence_GetItem(item, 1) : NULL;
        int r = value ? aggregate_add_sample(time, value, context) : -1;

        Py_XDECREF(time);
        Py_XDECREF(value);
        return r;
}

static int aggregate_by_time(const void *a, const void *b)
{
        const struct sample *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return x->order < y->order ? -1 : 1;
}

/* The samples of an iterable, by time; the clock's origin is kept between calls. */
static int aggregate_read_samples(struct samples *samples, PyObject *iterable)
{
        samples->n = 0;
        if (plain_each(iterable, aggregate_add_item, samples) < 0)
                return -1;
        if (samples->n)
                qsort(samples->samples, samples->n, sizeof(*samples->samples), aggregate_by_time);
        return 0;
}

static struct stat_average aggregate_average_of(const struct samples *samples)
{
        struct stat_average average = { 0 };

        for (size_t i = 0; i < samples->n; i++)
                stat_average_add(&average, samples->samples[i].time, samples->samples[i].value);
        return average;
}

/* time_average(samples) -> float, or None without samples */
static PyObject *aggregate_time_average(PyObject *module, PyObject *iterable)
{
        struct plain_clock clock = { 0 };
        struct samples samples = { .clock = &clock };
        struct stat_average average = { 0 };
        int r = aggregate_read_samples(&samples, iterable);

        (void)module;
        if (r >= 0)
                average = aggregate_average_of(&samples);
        free(samples.samples);
        plain_clock_deinit(&clock);
        if (r < 0)
                return NULL;
        if (average.n == 0)
                Py_RETURN_NONE;
        return PyFloat_FromDouble(stat_average_mean(&average));
}

struct workers {
        struct samples samples;
        struct stat_sum means;
        struct presence presence;
        int64_t n;
};

static int aggregate_add_worker_mean(PyObject *worker, PyObject *series, void *context)
{
        struct workers *workers = context;
        struct stat_average average;

        (void)worker;
        if (aggregate_read_samples(&workers->samples, series) < 0)
                return -1;
        average = aggregate_average_of(&workers->samples);
        if (average.n)
                stat_add(&workers->means, stat_average_mean(&average));
        return 0;
}

/* worker_average({worker: samples}) -> float: the mean of the workers' time averages, or None */
static PyObject *aggregate_worker_average(PyObject *module, PyObject *mapping)
{
        struct plain_clock clock = { 0 };
        struct workers workers = { .samples.clock = &clock };
        int r = plain_each_pair(mapping, aggregate_add_worker_mean, &workers);

        (void)module;
        free(workers.samples.samples);
        plain_clock_deinit(&clock);
        if (r < 0)
                return NULL;
        if (workers.means.n == 0)
                Py_RETURN_NONE;
        return PyFloat_FromDouble(workers.means.mean);
}

/* Values of workers as shares of what each has */
struct shares {
        struct samples values;
        struct samples wholes; /* of the worker at hand */
        PyObject *by_worker;   /* {worker: samples of what it has} */
        double scale;
        struct stat_sum means;  /* of the workers' averages over time */
        struct stat_sum shares; /* of all samples */
};

/* What the worker had at a time: the last sample until then, or else its first; by time */
static double aggregate_whole_at(const struct samples *wholes, size_t *at, double time)
{
        while (*at + 1 < wholes->n && wholes->samples[*at + 1].time <= time)
                ++*at;
        return wholes->samples[*at].value;
}

static int aggregate_add_worker_shares(PyObject *worker, PyObject *series, void *context)
{
        struct shares *shares = context;
        struct stat_average average = { 0 };
        PyObject *wholes;
        size_t at = 0;
        int r = plain_get_object(shares->by_worker, worker, &wholes);

        if (r > 0)
                r = aggregate_read_samples(&shares->wholes, wholes);
        Py_XDECREF(wholes);
        if (r < 0 || !wholes || !shares->wholes.n)
                return r < 0 ? -1 : 0;
        if (aggregate_read_samples(&shares->values, series) < 0)
                return -1;
        for (size_t i = 0; i < shares->values.n; i++) {
                const struct sample *sample = &shares->values.samples[i];
                double whole = aggregate_whole_at(&shares->wholes, &at, sample->time);
                double share = sample->value / whole * shares->scale;

                if (!(whole > 0) || !isfinite(share))
                        continue;
                stat_average_add(&average, sample->time, share);
                stat_add(&shares->shares, share);
        }
        if (average.n)
                stat_add(&shares->means, stat_average_mean(&average));
        return 0;
}

/* worker_share(values, wholes, scale) -> (average, smallest, largest) of scale x value / whole */
static PyObject *aggregate_worker_share(PyObject *module, PyObject *args)
{
        struct plain_clock clock = { 0 };
        struct shares shares = { .values.clock = &clock, .wholes.clock = &clock };
        PyObject *values;
        int r;

        (void)module;
        if (!PyArg_ParseTuple(args, "OOd", &values, &shares.by_worker, &shares.scale))
                return NULL;
        r = plain_each_pair(values, aggregate_add_worker_shares, &shares);
        free(shares.values.samples);
        free(shares.wholes.samples);
        plain_clock_deinit(&clock);
        if (r < 0)
                return NULL;
        if (shares.means.n == 0)
                Py_RETURN_NONE;
        return Py_BuildValue("(ddd)", shares.means.mean, shares.shares.min, shares.shares.max);
}

struct peak {
        PyObject *value;
        double real;
};

static int aggregate_note_peak(PyObject *item, void *context)
{
        struct peak *peak = context;
        PyObject *value = PySequence_GetItem(item, 1);
        double real;
        int r = value ? plain_real(&real, value) : -1;

        if (r >= 0 && isfinite(real) && (!peak->value || real > peak->real)) {
                Py_XDECREF(peak->value);
                peak->value = Py_NewRef(value);
                peak->real = real;
        }
        Py_XDECREF(value);
        return r;
}

static int aggregate_note_worker_peak(PyObject *worker, PyObject *series, void *context)
{
        (void)worker;
        return plain_each(series, aggregate_note_peak, context);
}

/* worker_peak({worker: samples}) -> the largest value, as it was given, or None */
static PyObject *aggregate_worker_peak(PyObject *module, PyObject *mapping)
{
        struct peak peak = { 0 };

        (void)module;
        if (plain_each_pair(mapping, aggregate_note_worker_peak, &peak) < 0) {
                Py_XDECREF(peak.value);
                return NULL;
        }
        return peak.value ? peak.value : Py_NewRef(Py_None);
}

static int aggregate_add_presence(struct workers *workers, int64_t worker)
{
        const struct samples *samples = &workers->samples;

        for (size_t i = 0; i < samples->n; i++)
                if (presence_add(&workers->presence, samples->samples[i].time, worker,
                                 samples->samples[i].value) < 0) {
                        PyErr_NoMemory();
                        return -1;
                }
        return 0;
}

static int aggregate_add_worker_cores(PyObject *worker, PyObject *series, void *context)
{
        struct workers *workers = context;

        (void)worker;
        if (aggregate_read_samples(&workers->samples, series) < 0)
                return -1;
        return aggregate_add_presence(workers, workers->n++);
}

static void aggregate_set_counts(struct roast_metric_set *set, const struct samples *samples)
{
        struct stat_average average = aggregate_average_of(samples);
        struct stat_sum plain = { 0 };

        for (size_t i = 0; i < samples->n; i++)
                stat_add(&plain, samples->samples[i].value);
        if (plain.n == 0)
                return;
        roast_metric_set_real(set, ROAST_AVG_WORKERS, stat_average_mean(&average));
        roast_metric_set_real(set, ROAST_MEAN_WORKERS, plain.mean);
        roast_metric_set_real(set, ROAST_PEAK_WORKERS, plain.max);
}

static int aggregate_fill_tracking(struct roast_metric_set *set, struct workers *workers,
                                   PyObject *counts, PyObject *cores)
{
        double all_cores, all_workers;
        PyObject *items = PyMapping_Items(counts);
        int r = items ? aggregate_read_samples(&workers->samples, items) : -1;

        Py_XDECREF(items);
        if (r >= 0) {
                aggregate_set_counts(set, &workers->samples);
                r = aggregate_add_presence(workers, PRESENCE_COUNT);
        }
        if (r < 0 || plain_each_pair(cores, aggregate_add_worker_cores, workers) < 0)
                return -1;
        r = presence_average(&workers->presence, &all_cores, &all_workers);
        if (r < 0) {
                PyErr_NoMemory();
                return -1;
        }
        if (r > 0) {
                roast_metric_set_real(set, ROAST_TOTAL_CORES, all_cores);
                roast_metric_set_real(set, ROAST_CORES_PER_WORKER, all_cores / all_workers);
        }
        return 0;
}

/* aggregate_tracking({time: workers}, {worker: [(time, cores), ...]}) -> Summary */
static PyObject *aggregate_tracking(PyObject *module, PyObject *args)
{
        struct roast_summary summary = { 0 };
        struct plain_clock clock = { 0 };
        struct workers workers = { .samples.clock = &clock };
        PyObject *counts, *cores, *object = NULL;

        if (!PyArg_ParseTuple(args, "OO", &counts, &cores))
                return NULL;
        if (aggregate_fill_tracking(&summary.metrics, &workers, counts, cores) >= 0)
                object = native_summary_new(module, &summary);
        roast_summary_deinit(&summary);
        presence_deinit(&workers.presence);
        free(workers.samples.samples);
        plain_clock_deinit(&clock);
        return object;
}

static PyMethodDef functions[] = {
        { "time_average", aggregate_time_average, METH_O,
          "time_average(samples)\n--\n\nThe average over time of [(time, value), ...]." },
        { "worker_average", aggregate_worker_average, METH_O,
          "worker_average(series)\n--\n\nThe mean of the workers' averages over time." },
        { "worker_peak", aggregate_worker_peak, METH_O,
          "worker_peak(series)\n--\n\nThe largest value of any worker, as it was given." },
        { "worker_share", aggregate_worker_share, METH_VARARGS,
          "worker_share(values, wholes, scale)\n--\n\nThe workers' values as shares of what each "
          "has: average over time, smallest, largest." },
        { "aggregate_tracking", aggregate_tracking, METH_VARARGS,
          "aggregate_tracking(counts, cores)\n--\n\nWorkers and cores over time." },
        { 0 },
};

int native_add_aggregate_workers(PyObject *module)
{
        return PyModule_AddFunctions(module, functions);
}
