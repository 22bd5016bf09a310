#pragma once
/*
 * Where the wall time of a thread went
 *
 *     wall = cpu + runqueue + throttled + block_io + lock + other
 *
 * to the nanosecond, by construction. The first three are measured; what is left
 * of the wall time was spent asleep and is divided in proportion to what the
 * watcher saw the thread sleep in. Looks that met it running or runnable say
 * nothing about that and are not among the samples.
 *
 * They do say whether the kernel's count can be true. Linux 6.18 was seen to count
 * all of a sleep as time in the queue, for up to one sleep in a hundred where cores
 * are scarce; probably of threads that it leaves in the queue as they fall asleep
 * (as it does since 6.12) and then moves to another core. So where looks met the
 * thread asleep far more often than the count leaves room for, the time asleep is
 * estimated from all looks, and the queue has the rest.
 *
 * The kernel counts throttling for the whole group and once per core, so of a
 * thread's time in the run queue as much as that is held to be throttling. Where
 * several threads share a quota and cores are scarce as well, it is too much.
 *
 * Without the wall time or the CPU time nothing of it is known: all parts are
 * PROBE_ABSENT. Without the run queue's, that and throttling are, and what the
 * thread waited for a core is among the time asleep.
 *
 * An estimate from `samples` looks has a standard error of at most
 * asleep / (2 sqrt(samples)). Many short chunks together give a good one: add up
 * their counts and divide the sum of their time asleep by those, rather than
 * adding up chunks of which some were never looked at while asleep.
 */

#include <stdbool.h>
#include <stdint.h>

struct probe_split {
        int64_t wall_ns;
        int64_t cpu_ns;
        int64_t runqueue_ns;  /* runnable without a core */
        int64_t throttled_ns; /* held back by the group's quota; the most it can be, see below */
        int64_t block_io_ns;  /* estimated, as are the next two */
        int64_t lock_ns;      /* a named lock: the GIL */
        int64_t other_ns;
        uint32_t samples; /* 0: time asleep is all in `other`, not knowing better */
        uint32_t block_io_samples;
        uint32_t lock_samples;
};

struct probe_split_input {
        int64_t wall_ns;
        int64_t cpu_ns;       /* what does not fit into the wall time is cut, here and below */
        int64_t runqueue_ns;  /* as the kernel counts: throttling included */
        int64_t throttled_ns; /* PROBE_ABSENT counts as nothing */
        uint32_t block_io_samples;
        uint32_t lock_samples;
        uint32_t other_samples;
        uint32_t awake_samples; /* looks that met it running or runnable */
};

void probe_split_compute(struct probe_split *split, const struct probe_split_input *input);
/* block_io + lock + other */
int64_t probe_split_asleep_ns(const struct probe_split *split);
/* The sum over chunks, as described above; one without parts adds nothing. Zeroes are the empty
 * sum. */
void probe_split_add(struct probe_split *sum, const struct probe_split *split);
