/* Where the wall time of a thread went: see split.h */

#include <math.h>

#include "probe/readings.h"
#include "probe/split.h"

#define SPLIT_SLACK_NS   10000000 /* by how much the kernel's counts may lag */
#define SPLIT_UNLIKELY_E 10       /* less likely than e to the minus this: not by chance */

/* Moves up to `wish` out of `left`. */
static int64_t split_take(int64_t *left, int64_t wish)
{
        int64_t taken = wish < 0 ? 0 : wish > *left ? *left : wish;

        *left -= taken;
        return taken;
}

/* whole * part / parts without overflow; part <= parts. */
static int64_t split_share(int64_t whole, uint32_t part, uint32_t parts)
{
        return whole / parts * part + whole % parts * part / parts;
}

static void split_divide(struct probe_split *split, int64_t asleep_ns)
{
        split->block_io_ns = 0;
        split->lock_ns = 0;
        if (split->samples) {
                split->block_io_ns =
                        split_share(asleep_ns, split->block_io_samples, split->samples);
                split->lock_ns = split_share(asleep_ns, split->lock_samples, split->samples);
        }
        split->other_ns = asleep_ns - split->block_io_ns - split->lock_ns;
}

/* Chernoff's bound on meeting the thread asleep so often if it slept for no longer than that */
static bool split_is_too_little(int64_t asleep_ns, int64_t of_ns, double asleep_looks, double looks)
{
        double share = ((double)asleep_ns + SPLIT_SLACK_NS) / (double)of_ns;
        double seen = looks ? asleep_looks / looks : 0, divergence;

        if (!(seen > share))
                return false;
        divergence = seen * log(seen / share);
        if (seen < 1)
                divergence += (1 - seen) * log((1 - seen) / (1 - share));
        return looks * divergence > SPLIT_UNLIKELY_E;
}

/* Time in the run queue, as far as looks agree: see split.h. A quota holds the watcher back as
 * well, so that looks are of the time `of_ns` without throttling. */
static int64_t split_queued_ns(int64_t queued_ns, int64_t left_ns, int64_t of_ns,
                               const struct probe_split *split, uint32_t awake_samples)
{
        uint32_t looks = split->samples + awake_samples;
        int64_t asleep_ns;

        if (queued_ns > left_ns)
                queued_ns = left_ns;
        if (!split_is_too_little(left_ns - queued_ns, of_ns, split->samples, looks))
                return queued_ns;
        asleep_ns = split_share(of_ns, split->samples, looks);
        return asleep_ns < left_ns ? left_ns - asleep_ns : 0;
}

void probe_split_compute(struct probe_split *split, const struct probe_split_input *input)
{
        int64_t left = input->wall_ns;

        *split = (struct probe_split){
                .wall_ns = input->wall_ns < 0 ? PROBE_ABSENT : input->wall_ns,
                .cpu_ns = PROBE_ABSENT,
                .runqueue_ns = PROBE_ABSENT,
                .throttled_ns = PROBE_ABSENT,
                .block_io_ns = PROBE_ABSENT,
                .lock_ns = PROBE_ABSENT,
                .other_ns = PROBE_ABSENT,
                .samples = input->block_io_samples + input->lock_samples + input->other_samples,
                .block_io_samples = input->block_io_samples,
                .lock_samples = input->lock_samples,
        };
        if (input->wall_ns < 0 || input->cpu_ns < 0)
                return;
        split->cpu_ns = split_take(&left, input->cpu_ns);
        if (input->runqueue_ns >= 0) {
                int64_t queued_ns = input->runqueue_ns;

                split->throttled_ns =
                        split_take(&left, split_take(&queued_ns, input->throttled_ns));
                split->runqueue_ns =
                        split_take(&left, split_queued_ns(queued_ns, left,
                                                          input->wall_ns - split->throttled_ns,
                                                          split, input->awake_samples));
        }
        split_divide(split, left);
}

int64_t probe_split_asleep_ns(const struct probe_split *split)
{
        return split->block_io_ns + split->lock_ns + split->other_ns;
}

void probe_split_add(struct probe_split *sum, const struct probe_split *split)
{
        int64_t asleep_ns = probe_split_asleep_ns(sum) + probe_split_asleep_ns(split);

        if (split->cpu_ns < 0)
                return;
        sum->wall_ns += split->wall_ns;
        sum->cpu_ns += split->cpu_ns;
        if (split->runqueue_ns >= 0) {
                sum->runqueue_ns += split->runqueue_ns;
                sum->throttled_ns += split->throttled_ns;
        }
        sum->samples += split->samples;
        sum->block_io_samples += split->block_io_samples;
        sum->lock_samples += split->lock_samples;
        split_divide(sum, asleep_ns);
}
