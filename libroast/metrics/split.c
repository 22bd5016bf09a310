/* Where the wall time of chunks went: see split.h. */

#include "metrics/split.h"
#include "record/chunk.h"
#include "util/size.h"

static double split_ns_of(const struct run_value *values, enum chunk_field field)
{
        return values[field].type == RUN_INT ? (double)values[field].integer : 0;
}

/* What a chunk neither ran nor waited for a core; some tell only that it was so long. */
static double split_asleep_of(const struct run_value *values)
{
        double left = split_ns_of(values, CHUNK_WALL_NS) - split_ns_of(values, CHUNK_CPU_NS) -
                      split_ns_of(values, CHUNK_RUNQUEUE_NS) -
                      split_ns_of(values, CHUNK_THROTTLED_NS);

        if (values[CHUNK_OTHER_NS].type == RUN_INT)
                return split_ns_of(values, CHUNK_BLOCK_IO_NS) + split_ns_of(values, CHUNK_GIL_NS) +
                       split_ns_of(values, CHUNK_OTHER_NS);
        return left > 0 ? left : 0;
}

void split_add(struct split_sum *sum, const struct run_value *values)
{
        double samples = split_ns_of(values, CHUNK_SPLIT_SAMPLES);
        double asleep;

        sum->probed += values[CHUNK_PROBE_NS].type == RUN_INT;
        sum->probe_ns += split_ns_of(values, CHUNK_PROBE_NS);
        if (values[CHUNK_WALL_NS].type != RUN_INT || values[CHUNK_CPU_NS].type != RUN_INT)
                return;
        asleep = split_asleep_of(values);
        sum->chunks++;
        sum->wall_ns += split_ns_of(values, CHUNK_WALL_NS);
        sum->cpu_ns += split_ns_of(values, CHUNK_CPU_NS);
        sum->queued += values[CHUNK_RUNQUEUE_NS].type == RUN_INT;
        sum->runqueue_ns += split_ns_of(values, CHUNK_RUNQUEUE_NS);
        sum->throttled_ns += split_ns_of(values, CHUNK_THROTTLED_NS);
        sum->asleep_ns += asleep;
        if (asleep > 0 && samples > 0) {
                sum->samples += samples;
                sum->block_io_samples += samples * split_ns_of(values, CHUNK_BLOCK_IO_NS) / asleep;
                sum->gil_samples += samples * split_ns_of(values, CHUNK_GIL_NS) / asleep;
        }
}

static const char no_chunk[] = "no chunk tells it";

static int split_set_monitoring(struct roast_metric_set *set, const struct split_sum *sum)
{
        if (sum->probed == 0)
                return roast_metric_set_absent(set, ROAST_MONITORING_SECONDS, no_chunk);
        roast_metric_set_real(set, ROAST_MONITORING_SECONDS, sum->probe_ns / 1e9);
        return 0;
}

static int split_set_queue(struct roast_metric_set *set, const struct split_sum *sum)
{
        int r;

        if (sum->queued) {
                roast_metric_set_real(set, ROAST_CHUNK_RUNQUEUE_SECONDS, sum->runqueue_ns / 1e9);
                roast_metric_set_real(set, ROAST_CHUNK_THROTTLED_SECONDS, sum->throttled_ns / 1e9);
                return 0;
        }
        r = roast_metric_set_absent(set, ROAST_CHUNK_RUNQUEUE_SECONDS, no_chunk);
        return r < 0 ? r : roast_metric_set_absent(set, ROAST_CHUNK_THROTTLED_SECONDS, no_chunk);
}

/* Time asleep that no look met is in the last part alone, and nothing is known of the others. */
static int split_set_asleep(struct roast_metric_set *set, const struct split_sum *sum)
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
        bool known = sum->samples > 0 || sum->asleep_ns <= 0;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ROAST_ARRAY_SIZE(parts); i++) {
                double share = parts[i].samples / (sum->samples > 0 ? sum->samples : 1);

                if (!known && parts[i].metric != ROAST_CHUNK_OTHER_WAIT_SECONDS)
                        r = roast_metric_set_absent(set, parts[i].metric,
                                                    "no look met a chunk asleep");
                else
                        r = roast_metric_set_estimated(
                                set, parts[i].metric, sum->asleep_ns * share / 1e9,
                                "from %.0f looks at sleeping threads", sum->samples);
        }
        return r;
}

int split_set(struct roast_metric_set *set, const struct split_sum *sum)
{
        int r;

        if (sum->chunks == 0)
                return 0;
        roast_metric_set_real(set, ROAST_CHUNK_CPU_SECONDS, sum->cpu_ns / 1e9);
        roast_metric_set_count(set, ROAST_CHUNK_SPLIT_SAMPLES, (int64_t)sum->samples);
        r = split_set_monitoring(set, sum);
        if (r >= 0)
                r = split_set_queue(set, sum);
        return r < 0 ? r : split_set_asleep(set, sum);
}
