/*
 * The formulas
 *
 * Each is written as in the metrics reference. Inputs are read through in() and
 * divisors through divisor(), which note the first input that is absent, or a
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

static double in(struct formula *f, enum roast_metric metric)
{
        const struct roast_value *value = &f->set->values[metric];

        if (value->state == ROAST_ABSENT && !f->absent)
                f->absent = roast_metric_reason(f->set, metric);
        if (value->state == ROAST_ESTIMATED && !f->estimated)
                f->estimated = roast_metric_reason(f->set, metric);
        return value->real;
}

static double divisor(struct formula *f, enum roast_metric metric)
{
        double value = in(f, metric);

        if (!f->absent && !(value > 0)) {
                snprintf(f->buffer, sizeof(f->buffer), "%s is not positive",
                         roast_metrics[metric].key);
                f->absent = f->buffer;
        }
        return value;
}

static bool known(const struct formula *f, enum roast_metric metric)
{
        return f->set->values[metric].state != ROAST_ABSENT;
}

static double data_rate_gbps(struct formula *f)
{
        return in(f, ROAST_TOTAL_BYTES_READ) * 8 / 1e9 / divisor(f, ROAST_ELAPSED_TIME_SECONDS);
}

static double data_rate_mb_per_s(struct formula *f)
{
        return in(f, ROAST_DATA_RATE_GBPS) * 125;
}

static double event_rate_elapsed_khz(struct formula *f)
{
        return in(f, ROAST_TOTAL_EVENTS) / divisor(f, ROAST_ELAPSED_TIME_SECONDS) / 1000;
}

static double event_rate_cpu_total_khz(struct formula *f)
{
        return in(f, ROAST_TOTAL_EVENTS) / divisor(f, ROAST_TOTAL_CPU_TIME) / 1000;
}

static double cores_per_worker(struct formula *f)
{
        return in(f, ROAST_TOTAL_CORES) / divisor(f, ROAST_AVG_WORKERS);
}

static double share_of(struct formula *f, enum roast_metric part, enum roast_metric rest)
{
        double whole = in(f, part) + in(f, rest);

        if (whole == 0)
                return 0;
        return whole > 0 ? in(f, part) / whole * 100 : (double)NAN;
}

static double processor_cpu_percent(struct formula *f)
{
        return share_of(f, ROAST_PROCESSOR_CPU_TIME_SECONDS, ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS);
}

static double processor_io_wait_percent(struct formula *f)
{
        return share_of(f, ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS, ROAST_PROCESSOR_CPU_TIME_SECONDS);
}

static double compression_overhead(struct formula *f)
{
        return in(f, ROAST_COMPRESSION_TIME_SECONDS) + in(f, ROAST_DECOMPRESSION_TIME_SECONDS);
}

static double serialization_overhead(struct formula *f)
{
        return in(f, ROAST_SERIALIZATION_TIME_SECONDS) + in(f, ROAST_DESERIALIZATION_TIME_SECONDS);
}

/* CPU seconds of all tasks: what Dask's spans saw, else the report's process time */
static double cpu_time(struct formula *f)
{
        if (known(f, ROAST_PROCESSOR_CPU_TIME_SECONDS))
                return in(f, ROAST_PROCESSOR_CPU_TIME_SECONDS) +
                       in(f, ROAST_OVERHEAD_CPU_TIME_SECONDS);
        f->estimated = "from the wall time of process(): no fine metrics";
        return in(f, ROAST_TOTAL_CPU_TIME);
}

static double core_efficiency(struct formula *f)
{
        return cpu_time(f) /
               (divisor(f, ROAST_ELAPSED_TIME_SECONDS) * divisor(f, ROAST_TOTAL_CORES));
}

static double speedup_factor(struct formula *f)
{
        return cpu_time(f) / divisor(f, ROAST_ELAPSED_TIME_SECONDS);
}

static double event_rate_core_hz(struct formula *f)
{
        return in(f, ROAST_TOTAL_EVENTS) /
               (divisor(f, ROAST_ELAPSED_TIME_SECONDS) * divisor(f, ROAST_TOTAL_CORES));
}

static double event_rate_core_khz(struct formula *f)
{
        return event_rate_core_hz(f) / 1000;
}

/* Rates alone may be given, without the cores that one of them was divided by. */
static double efficiency_ratio(struct formula *f)
{
        if (!known(f, ROAST_TOTAL_CORES) && known(f, ROAST_EVENT_RATE_CORE_KHZ))
                return in(f, ROAST_EVENT_RATE_CORE_KHZ) /
                       divisor(f, ROAST_EVENT_RATE_CPU_TOTAL_KHZ);
        return in(f, ROAST_EVENT_RATE_ELAPSED_KHZ) / divisor(f, ROAST_EVENT_RATE_CPU_TOTAL_KHZ) /
               divisor(f, ROAST_TOTAL_CORES);
}

static double io_overhead(struct formula *f)
{
        return (in(f, ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS) +
                in(f, ROAST_OVERHEAD_IO_WAIT_TIME_SECONDS)) /
               divisor(f, ROAST_ELAPSED_TIME_SECONDS);
}

static double io_overhead_pct(struct formula *f)
{
        return in(f, ROAST_IO_OVERHEAD) * 100;
}

static double touched_branches_percent(struct formula *f)
{
        return in(f, ROAST_TOUCHED_BRANCHES) * 100 / divisor(f, ROAST_TREE_BRANCHES);
}

static double touched_bytes_percent(struct formula *f)
{
        return in(f, ROAST_TOUCHED_BYTES) * 100 / divisor(f, ROAST_TREE_BYTES);
}

static double border_amplification(struct formula *f)
{
        double needed = divisor(f, ROAST_BYTES_NEEDED);
        double once = needed - in(f, ROAST_BYTES_NEEDED_AGAIN);

        return once > 0 ? needed / once : (double)NAN;
}

static double request_amplification(struct formula *f)
{
        return in(f, ROAST_BYTES_REQUESTED) / divisor(f, ROAST_BYTES_NEEDED);
}

static double kernel_amplification(struct formula *f)
{
        return in(f, ROAST_BYTES_KERNEL_READ) / divisor(f, ROAST_BYTES_REQUESTED);
}

static double storage_amplification(struct formula *f)
{
        return in(f, ROAST_BYTES_STORAGE_READ) / divisor(f, ROAST_BYTES_REQUESTED);
}

static double monitoring_percent(struct formula *f)
{
        double spent = 0;

        if (known(f, ROAST_MONITORING_SECONDS))
                spent += in(f, ROAST_MONITORING_SECONDS);
        if (known(f, ROAST_MONITORING_SAMPLER_SECONDS))
                spent += in(f, ROAST_MONITORING_SAMPLER_SECONDS);
        else if (!known(f, ROAST_MONITORING_SECONDS))
                f->absent = "no chunk and no sample tells it";
        if (known(f, ROAST_MONITORING_SCHEDULER_SECONDS))
                spent += in(f, ROAST_MONITORING_SCHEDULER_SECONDS);
        return spent /
               divisor(f, known(f, ROAST_WORKER_CPU_SECONDS) ? ROAST_WORKER_CPU_SECONDS
                                                             : ROAST_CHUNK_CPU_SECONDS) *
               100;
}

static double total_bytes_uncompressed(struct formula *f)
{
        double compressed = in(f, ROAST_TOTAL_BYTES_READ);

        f->estimated = "the bytes read, at the compression ratio of the branches read";
        return compressed / divisor(f, ROAST_COMPRESSION_RATIO);
}

static double (*const formulas[ROAST_N_METRICS])(struct formula *) = {
#define METRIC(id, key, group, type, unit, better, fallback, fn, title, formula) [ROAST_##id] = fn,
#define ALIAS(key, id)
#include "metrics/metrics.def"
#undef METRIC
#undef ALIAS
};

static int derive(struct roast_metric_set *set, enum roast_metric metric)
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
                    derive(set, (enum roast_metric)i) < 0)
                        return roast_fail_nomem(error);
        return 0;
}
