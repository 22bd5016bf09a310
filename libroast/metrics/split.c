/* Where the wall time of chunks went: see split.h. */

#include "metrics/split.h"
#include "record/chunk.h"

static double ns_of(const struct run_value *values, enum chunk_field field)
{
        return values[field].type == RUN_INT ? (double)values[field].integer : 0;
}

void split_add(struct split_sum *sum, const struct run_value *values)
{
        double block_io = ns_of(values, CHUNK_BLOCK_IO_NS), gil = ns_of(values, CHUNK_GIL_NS);
        double asleep = block_io + gil + ns_of(values, CHUNK_OTHER_NS);
        double samples = ns_of(values, CHUNK_SPLIT_SAMPLES);

        sum->probe_ns += ns_of(values, CHUNK_PROBE_NS);
        if (values[CHUNK_WALL_NS].type != RUN_INT || values[CHUNK_CPU_NS].type != RUN_INT)
                return;
        sum->chunks++;
        sum->wall_ns += ns_of(values, CHUNK_WALL_NS);
        sum->cpu_ns += ns_of(values, CHUNK_CPU_NS);
        sum->runqueue_ns += ns_of(values, CHUNK_RUNQUEUE_NS);
        sum->throttled_ns += ns_of(values, CHUNK_THROTTLED_NS);
        sum->asleep_ns += asleep;
        if (asleep > 0 && samples > 0) {
                sum->samples += samples;
                sum->block_io_samples += samples * block_io / asleep;
                sum->gil_samples += samples * gil / asleep;
        }
}

int split_set(struct roast_metric_set *set, const struct split_sum *sum)
{
        double other = sum->samples - sum->block_io_samples - sum->gil_samples;
        const struct {
                enum roast_metric metric;
                double samples;
        } parts[] = {
                { ROAST_CHUNK_BLOCK_IO_SECONDS, sum->block_io_samples },
                { ROAST_CHUNK_GIL_SECONDS, sum->gil_samples },
                { ROAST_CHUNK_OTHER_WAIT_SECONDS, sum->samples > 0 ? other : 1 },
        };

        if (sum->chunks == 0)
                return 0;
        roast_metric_set_real(set, ROAST_CHUNK_CPU_SECONDS, sum->cpu_ns / 1e9);
        roast_metric_set_real(set, ROAST_CHUNK_RUNQUEUE_SECONDS, sum->runqueue_ns / 1e9);
        roast_metric_set_real(set, ROAST_CHUNK_THROTTLED_SECONDS, sum->throttled_ns / 1e9);
        roast_metric_set_count(set, ROAST_CHUNK_SPLIT_SAMPLES, (int64_t)sum->samples);
        roast_metric_set_real(set, ROAST_MONITORING_SECONDS, sum->probe_ns / 1e9);
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
                double share = parts[i].samples / (sum->samples > 0 ? sum->samples : 1);
                int r = roast_metric_set_estimated(
                        set, parts[i].metric, sum->asleep_ns * share / 1e9,
                        "from %.0f looks at sleeping threads", sum->samples);

                if (r < 0)
                        return r;
        }
        return 0;
}
