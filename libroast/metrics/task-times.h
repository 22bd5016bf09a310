#pragma once
/*
 * What the executor's tasks took, by worker and by kind
 *
 * Dask tells kinds of tasks apart by their prefix. That of coffea's chunks may
 * be the class of the processor, cut or changed by Dask, or automatic_retries,
 * which file metadata has too. The tasks themselves know which chunk they are
 * about: so it is known of each prefix how much of its time is the processor's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one worker, clipped to the run; a thread is taken while an attempt lasts */
struct task_time {
        double chunk_ns; /* computing chunks; lost attempts included */
        double other_ns; /* computing anything else */
        double wait_ns;  /* the rest of the attempts: unpacking, reading back what was spilled */
};

#define TASK_PREFIXES_MAX 256

struct task_prefix {
        int64_t text; /* number of the string */
        double chunk_ns;
        double other_ns;
};

struct task_times {
        struct task_time *workers; /* by number of the name */
        bool any;
        bool has_chunks; /* some are about chunks */
        struct task_prefix *prefixes;
        size_t n_prefixes;
};

void task_times_deinit(struct task_times *sums);
/* The share of a prefix's time that is the processor's; negative: there are no such tasks. */
double task_share(const struct task_times *sums, int64_t prefix_text);
