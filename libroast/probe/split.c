/* Where the wall time of a thread went: see split.h */

#include "probe/split.h"
#include "probe/readings.h"

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
                int64_t runnable = split_take(&left, input->runqueue_ns);

                split->throttled_ns = split_take(&runnable, input->throttled_ns);
                split->runqueue_ns = runnable;
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
