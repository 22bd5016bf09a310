/*
 * The formulas
 *
 * Each is written as in the metrics reference. Inputs are read through formulas_in() and
 * divisors through formulas_divisor(), which note the first input that is absent, or a
 * divisor that is not positive; the result is then absent for that reason. A
 * result over an estimated input is estimated.
 */

#include <math.h>
#include <stdio.h>

#include "roast-metrics.h"

struct formula {
        const struct roast_metric_set *set;
        const char *estimated; /* why, or NULL */
        const char *absent;    /* why, or NULL */
        char buffer[80];       /* for a reason of its own */
};

static double formulas_in(struct formula *f, enum roast_metric metric)
{
        const struct roast_value *value = &f->set->values[metric];

        if (value->state == ROAST_ABSENT && !f->absent)
                f->absent = roast_metric_reason(f->set, metric);
        if (value->state == ROAST_ESTIMATED && !f->estimated)
                f->estimated = roast_metric_reason(f->set, metric);
        return value->real;
}

static double formulas_divisor(struct formula *f, enum roast_metric metric)
{
        double value = formulas_in(f, metric);

        if (!f->absent && !(value > 0)) {
                snprintf(f->buffer, sizeof(f->buffer), "%s is not positive",
                         roast_metrics[metric].key);
                f->absent = f->buffer;
        }
        return value;
}

static bool formulas_known(const struct formula *f, enum roast_metric metric)
{
        return f->set->values[metric].state != ROAST_ABSENT;
}

static double formulas_data_rate_gbps(struct formula *f)
{
        return formulas_in(f, ROAST_TOTAL_BYTES_READ) * 8 / 1e9 /
               formulas_divisor(f, ROAST_ELAPSED_TIME_SECONDS);
}

static double formulas_data_rate_mb_per_s(struct formula *f)
{
        return formulas_in(f, ROAST_DATA_RATE_GBPS) * 125;
}

static double formulas_event_rate_elapsed_khz(struct formula *f)
{
        return formulas_in(f, ROAST_TOTAL_EVENTS) /
               formulas_divisor(f, ROAST_ELAPSED_TIME_SECONDS) / 1000;
}

static double formulas_event_rate_cpu_total_khz(struct formula *f)
{
        return formulas_in(f, ROAST_TOTAL_EVENTS) / formulas_divisor(f, ROAST_TOTAL_CPU_TIME) /
               1000;
}

static double formulas_cores_per_worker(struct formula *f)
{
        return formulas_in(f, ROAST_TOTAL_CORES) / formulas_divisor(f, ROAST_AVG_WORKERS);
}

static double formulas_share_of(struct formula *f, enum roast_metric part, enum roast_metric rest)
{
        double whole = formulas_in(f, part) + formulas_in(f, rest);

        if (whole == 0)
                return 0;
        return whole > 0 ? formulas_in(f, part) / whole * 100 : (double)NAN;
}

static double formulas_processor_cpu_percent(struct formula *f)
{
        return formulas_share_of(f, ROAST_PROCESSOR_CPU_TIME_SECONDS,
                                 ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS);
}

static double formulas_processor_io_wait_percent(struct formula *f)
{
        return formulas_share_of(f, ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS,
                                 ROAST_PROCESSOR_CPU_TIME_SECONDS);
}

static double formulas_compression_overhead(struct formula *f)
{
        return formulas_in(f, ROAST_COMPRESSION_TIME_SECONDS) +
               formulas_in(f, ROAST_DECOMPRESSION_TIME_SECONDS);
}

static double formulas_serialization_overhead(struct formula *f)
{
        return formulas_in(f, ROAST_SERIALIZATION_TIME_SECONDS) +
               formulas_in(f, ROAST_DESERIALIZATION_TIME_SECONDS);
}

/* CPU seconds of all tasks: what Dask's spans saw, else the report's process time */
static double formulas_cpu_time(struct formula *f)
{
        if (formulas_known(f, ROAST_PROCESSOR_CPU_TIME_SECONDS))
                return formulas_in(f, ROAST_PROCESSOR_CPU_TIME_SECONDS) +
                       formulas_in(f, ROAST_OVERHEAD_CPU_TIME_SECONDS);
        f->estimated = "from the wall time of process(): no fine metrics";
        return formulas_in(f, ROAST_TOTAL_CPU_TIME);
}

static double formulas_core_efficiency(struct formula *f)
{
        return formulas_cpu_time(f) / (formulas_divisor(f, ROAST_ELAPSED_TIME_SECONDS) *
                                       formulas_divisor(f, ROAST_TOTAL_CORES));
}

static double formulas_speedup_factor(struct formula *f)
{
        return formulas_cpu_time(f) / formulas_divisor(f, ROAST_ELAPSED_TIME_SECONDS);
}

static double formulas_event_rate_core_hz(struct formula *f)
{
        return formulas_in(f, ROAST_TOTAL_EVENTS) /
               (formulas_divisor(f, ROAST_ELAPSED_TIME_SECONDS) *
                formulas_divisor(f, ROAST_TOTAL_CORES));
}

static double formulas_event_rate_core_khz(struct formula *f)
{
        return formulas_event_rate_core_hz(f) / 1000;
}

/* Rates alone may be given, without the cores that one of them was divided by. */
static double formulas_efficiency_ratio(struct formula *f)
{
        if (!formulas_known(f, ROAST_TOTAL_CORES) && formulas_known(f, ROAST_EVENT_RATE_CORE_KHZ))
                return formulas_in(f, ROAST_EVENT_RATE_CORE_KHZ) /
                       formulas_divisor(f, ROAST_EVENT_RATE_CPU_TOTAL_KHZ);
        return formulas_in(f, ROAST_EVENT_RATE_ELAPSED_KHZ) /
               formulas_divisor(f, ROAST_EVENT_RATE_CPU_TOTAL_KHZ) /
               formulas_divisor(f, ROAST_TOTAL_CORES);
}

static double formulas_io_overhead(struct formula *f)
{
        return (formulas_in(f, ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS) +
                formulas_in(f, ROAST_OVERHEAD_IO_WAIT_TIME_SECONDS)) /
               formulas_divisor(f, ROAST_ELAPSED_TIME_SECONDS);
}

static double formulas_io_overhead_pct(struct formula *f)
{
        return formulas_in(f, ROAST_IO_OVERHEAD) * 100;
}

static double formulas_touched_branches_percent(struct formula *f)
{
        return formulas_in(f, ROAST_TOUCHED_BRANCHES) * 100 /
               formulas_divisor(f, ROAST_TREE_BRANCHES);
}

static double formulas_touched_bytes_percent(struct formula *f)
{
        return formulas_in(f, ROAST_TOUCHED_BYTES) * 100 / formulas_divisor(f, ROAST_TREE_BYTES);
}

static double formulas_border_amplification(struct formula *f)
{
        double needed = formulas_divisor(f, ROAST_BYTES_NEEDED);
        double once = needed - formulas_in(f, ROAST_BYTES_NEEDED_AGAIN);

        return once > 0 ? needed / once : (double)NAN;
}

static double formulas_request_amplification(struct formula *f)
{
        return formulas_in(f, ROAST_BYTES_REQUESTED) / formulas_divisor(f, ROAST_BYTES_NEEDED);
}

static double formulas_kernel_amplification(struct formula *f)
{
        return formulas_in(f, ROAST_BYTES_KERNEL_READ) / formulas_divisor(f, ROAST_BYTES_REQUESTED);
}

static double formulas_storage_amplification(struct formula *f)
{
        return formulas_in(f, ROAST_BYTES_STORAGE_READ) /
               formulas_divisor(f, ROAST_BYTES_REQUESTED);
}

static double formulas_monitoring_percent(struct formula *f)
{
        double spent = 0;

        if (formulas_known(f, ROAST_MONITORING_SECONDS))
                spent += formulas_in(f, ROAST_MONITORING_SECONDS);
        if (formulas_known(f, ROAST_MONITORING_SAMPLER_SECONDS))
                spent += formulas_in(f, ROAST_MONITORING_SAMPLER_SECONDS);
        else if (!formulas_known(f, ROAST_MONITORING_SECONDS))
                f->absent = "no chunk and no sample tells it";
        if (formulas_known(f, ROAST_MONITORING_SCHEDULER_SECONDS))
                spent += formulas_in(f, ROAST_MONITORING_SCHEDULER_SECONDS);
        return spent /
               formulas_divisor(f, formulas_known(f, ROAST_WORKER_CPU_SECONDS)
                                           ? ROAST_WORKER_CPU_SECONDS
                                           : ROAST_CHUNK_CPU_SECONDS) *
               100;
}

static double formulas_total_bytes_uncompressed(struct formula *f)
{
        double compressed = formulas_in(f, ROAST_TOTAL_BYTES_READ);

        f->estimated = "the bytes read, at the compression ratio of the branches read";
        return compressed / formulas_divisor(f, ROAST_COMPRESSION_RATIO);
}

static double (*const formulas[ROAST_N_METRICS])(struct formula *) = {
#define METRIC(id, key, group, type, unit, better, fallback, fn, title, formula) [ROAST_##id] = fn,
#define ALIAS(key, id)
#include "roast-metrics.def"
#undef METRIC
#undef ALIAS
};

static int formulas_derive(struct roast_metric_set *set, enum roast_metric metric)
{
        struct formula f = { .set = set };
        double value = formulas[metric](&f);

        if (!f.absent && !isfinite(value))
                f.absent = "its inputs are not finite";
        if (f.absent)
                return roast_metric_set_absent(set, metric, "%s", f.absent);
        if (f.estimated)
                return roast_metric_set_estimated(set, metric, value, "%s", f.estimated);
        roast_metric_set_real(set, metric, value);
        return 0;
}

int roast_metric_set_derive(struct roast_metric_set *set, struct roast_error *error)
{
        for (int i = 0; i < ROAST_N_METRICS; i++)
                if (formulas[i] && set->values[i].state == ROAST_ABSENT &&
                    formulas_derive(set, (enum roast_metric)i) < 0)
                        return roast_fail_nomem(error);
        return 0;
}
