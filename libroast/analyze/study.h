#pragma once
/*
 * What a run says about where its time went, in the form that rules and
 * simulations use
 *
 * One walk over each table. A chunk that finished keeps one small row, so that
 * times can be compared with what events, file and host let expect; everything
 * else is summed up while it is read.
 *
 * Times are seconds since the run began; NaN is "not known".
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "metrics/split.h"
#include "metrics/stat.h"
#include "run/run.h"
#include "util/intern.h"

#define STUDY_NONE UINT32_MAX

/* A chunk that finished and counts. Names are numbers of strings: text id - 1, or STUDY_NONE. */
struct study_chunk {
        double start_s;
        float wall_s;
        float cpu_s;     /* NaN: not measured, and so the next two */
        float queue_s;   /* runnable, but without a core: run queue and quota */
        float asleep_s;  /* waiting for anything but a core or the GIL */
        float gap_s;     /* since the chunk before on the same thread; NaN: it was the first */
        float starved_s; /* of a gap that is too long, what the thread was idle */
        float rss_growth_bytes; /* peak over the start */
        float bytes;            /* requested */
        uint32_t events;
        uint32_t dataset;
        uint32_t file;
        uint32_t host;
        uint32_t slot;
        uint32_t order; /* of the chunks of its slot, from 0 */
        uint32_t entry_start;
};

/*
 * One thread of one worker, known by the chunks it ran. Where these do not tell their thread, as
 * tasks do not, it is a lane: of those that a worker has at the same time each is in another.
 */
struct study_slot {
        uint32_t worker;
        uint32_t chunks;
        bool is_lane;
        uint32_t next_lane; /* of the worker; 0: it is the last */
        double first_s;
        double last_s; /* end of its last chunk */
        double busy_s;
        double rss_n, rss_x, rss_y, rss_xx, rss_xy, rss_yy; /* resident bytes against order */
};

/* A worker, by the number of its name */
struct study_worker {
        bool known;
        bool here;
        double since_s; /* when it came last; within the run */
        double came_s;  /* when it came first */
        double left_s;  /* when it left last, or the run ended */
        double here_s;  /* how long it was there */
        double threads;
        double slots;       /* of its threads, those that ran chunks */
        double limit_bytes; /* 0: not known */
        uint32_t host;
        double rss_bytes; /* resident, the last sample */
        double peak_bytes;
        double spilled_bytes;
        double paused_s; /* memory near the limit, and nothing was executed */
        double lag_s;    /* sum of how late its event loop was */
        double lag_worst_s;
        int64_t lag_n;
        double sampled_s; /* time of its last sample of what Dask knows */
};

struct study_section {
        uint32_t name;
        int64_t chunks;
        double self_s;
        double wait_least_s; /* it was asleep at least, and at most, so long */
        double wait_most_s;
        /* own time per event against the order of the chunk */
        double n, x, y, xx, xy, yy;
        double order_events; /* sum of order x events */
};

/* Attempts that did not count */
struct study_waste {
        int64_t failed;
        int64_t lost;
        int64_t timed; /* those whose time is known */
        double wall_s;
        double attempts; /* all attempts at chunks */
};

/* What Dask's spans say, in seconds of the workers' threads */
struct study_spans {
        bool known;
        double processor_s;
        double reduce_s;
        double other_s;
        double serialize_s, deserialize_s, compress_s, decompress_s;
        double disk_s; /* spilling, both ways */
        double disk_bytes;
};

struct study {
        struct intern texts;
        double elapsed_s;
        bool unfinished; /* and elapsed_s is when the last chunk ended */
        int64_t start_utc_ns;
        double cpus; /* of the client's host; 0: not known */
        char client_host[256];
        char processor[256];

        struct study_chunk *chunks;
        size_t n_chunks;
        bool unsorted; /* chunks of a thread do not come one after the other */
        uint32_t *
                index; /* while reading: row of table chunk to number + 1, 0 if it does not count */
        size_t n_index;
        struct study_slot *slots;
        size_t n_slots;
        struct study_worker *workers; /* texts.n of them */
        bool has_workers;             /* their comings and goings are known */
        double strays;                /* slots of workers of which they are not */
        bool has_samples;
        double capacity_s; /* threads x time that they were there */
        double threads;    /* capacity over elapsed */
        struct study_section *sections;
        size_t n_sections;
        double *errors; /* attempts by the type of their error: texts.n + 1, the last without */
        struct study_waste waste;
        struct study_spans spans;
        struct split_sum split;
        double wall_s; /* of the chunks that finished */
        double events;

        double all_bytes; /* requested */
        /* of chunks that also tell which branches they touched */
        double requested_bytes;
        double needed_once_bytes; /* what their share of the files' branches comes to */
        double expansion;         /* uncompressed bytes to compressed */
        double ahead_bytes;       /* read ahead of process() */
        double unused_bytes;      /* of these, never touched */
        double unused_chunks;
        uint32_t unused_names; /* the text of the names, of the chunk with most */

        /* between chunks */
        double typical_gap_s; /* median; NaN: no two chunks of a thread */
        double overhead_s;    /* gaps, up to what is typical */
        double starved_s;     /* what they exceed that by, without a task on the thread */
        double tasked_s;      /* and with one */
        double first_s;       /* the first chunk begins, the last ends */
        double last_s;
        double median_wall_s;
};

/* Without sections it takes half the time. */
int study_run(struct study *study, struct roast_run *run, bool sections, struct roast_error *error);
void study_deinit(struct study *study);

/* The parts of study_run(), each in a file of its own */
int study_chunks(struct study *study, struct roast_run *run, struct roast_error *error);
int study_sections(struct study *study, struct roast_run *run, struct roast_error *error);
int study_workers(struct study *study, struct roast_run *run, struct roast_error *error);
int study_gaps(struct study *study, struct roast_run *run, struct roast_error *error);
int study_tasks(struct study *study, struct roast_run *run, struct roast_error *error);

/* A string for people; NULL when it is not known. Not ended by 0: use with %.*s. */
const char *study_text(const struct study *study, uint32_t number, size_t *len);

/* The middle of n numbers, which are reordered; NaN: there are none */
double study_median(float *values, size_t n);

static inline double study_seconds(const struct run_value *ns)
{
        return ns->type == RUN_INT ? (double)ns->integer / 1e9 : (double)NAN;
}

static inline uint32_t study_number(const struct study *study, const struct run_value *text)
{
        if (text->type != RUN_INT || text->integer < 1 || (uint64_t)text->integer > study->texts.n)
                return STUDY_NONE;
        return (uint32_t)(text->integer - 1);
}

/*
 * What a chunk of a dataset takes, without waiting for a core: fixed + per event. Where all chunks
 * of the dataset have about the same number of events the two cannot be told apart, and all is
 * taken to go with the events.
 */
struct study_fit {
        double fixed_s;
        double per_event_s;
        double n;
        double x, y, xx, xy;
        bool separated; /* the two were told apart */
};

/* By the number of the dataset: texts.n + 1 fits, the last for chunks without. The caller frees. */
int study_fits(const struct study *study, struct study_fit **ret, struct roast_error *error);

static inline const struct study_fit *study_fit_of(const struct study *study,
                                                   const struct study_fit *fits, uint32_t dataset)
{
        return &fits[dataset == STUDY_NONE ? study->texts.n : dataset];
}

static inline double study_expected(const struct study_fit *fit, double events)
{
        return fit->fixed_s + fit->per_event_s * events;
}

/* The time of a chunk without waiting for a core; all of it where that is not known */
static inline double study_own_s(const struct study_chunk *chunk)
{
        if (isnan(chunk->queue_s))
                return (double)chunk->wall_s;
        return fmax((double)chunk->wall_s - (double)chunk->queue_s, 0);
}
