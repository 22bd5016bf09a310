#pragma once
/*
 * What the executor's tasks took, by worker and by kind
 *
 * Dask tells kinds of tasks apart by their prefix. That of coffea's chunks may
 * be the class of the processor, cut or changed by Dask, or automatic_retries,
 * which file metadata has too. The tasks themselves know which chunk they are
 * about: so it is known of each prefix how much of its time is the processor's.
 * Logs of other executors may not know the chunk, and yet the prefix that tasks
 * about chunks bear (fact task.chunk_prefix).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time on threads, and what executors that measure tasks tell of it */
struct task_kind {
        double ns;
        double measured_ns; /* of attempts whose CPU time is known */
        double cpu_ns;      /* of these, on a core */
};

/* Of one worker, clipped to the run; a thread is taken while an attempt lasts */
struct task_time {
        struct task_kind chunk; /* computing chunks; lost and unfinished attempts included */
        struct task_kind other; /* computing anything else, or not known what */
        double wait_ns; /* the rest of the attempts: unpacking, reading back what was spilled */
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
        bool has_chunks; /* some are about chunks; false: nobody can tell which */
        struct task_prefix *prefixes;
        size_t n_prefixes;
};

void task_times_deinit(struct task_times *sums);
/* The share of a prefix's time that is the processor's; negative: there are no such tasks. */
double task_share(const struct task_times *sums, int64_t prefix_text);
