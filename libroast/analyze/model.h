#pragma once
/*
 * What a run says about another one: the model that is simulated
 *
 * A chunk takes a fixed time and one for each event of its dataset, times a
 * ratio that is drawn from those of the measured chunks, without the time it
 * waited for a core. Waiting for cores comes back by the load of the simulated
 * run. Between two chunks of a thread lies a gap, drawn from the measured ones.
 */

#include "analyze/study.h"

#define MODEL_TREE       20 /* coffea's treereduction */
#define MODEL_RETRIES    3  /* and its retries */
#define MODEL_CHUNKS_MAX 50000000

struct model_dataset {
        double alone_s; /* of an event, if nothing were fixed, and how much less of it a second */
        double instead; /* that is fixed leaves: see model_expected() */
        size_t chunks;
        size_t first; /* its ratios: from here, n of them */
        size_t n;
        double mean; /* of them */
};

struct model_chunk {
        uint32_t dataset; /* index of a model_dataset */
        uint32_t events;
};

struct model {
        struct model_dataset *datasets;
        size_t n_datasets;
        float *ratios;
        struct model_chunk *chunks; /* as they were */
        size_t n_chunks;
        float *gaps;
        size_t n_gaps;
        float *arrivals; /* when threads took their first chunk, after the first of all; those */
                         /* that were there before others had gone */
        size_t n_arrivals;
        /* the fixed part of a chunk: what is likely, see model_fixed() */
        double fixed_s; /* the middle */
        double fixed_mean_s;
        double fixed_error_s; /* infinite: nothing is known */
        double fixed_most_s;
        double cold_s;  /* what the first chunk of a thread takes more */
        double workers; /* of the run: the most at a time */
        double threads_each;
        double threads; /* that ran chunks, as many as there were at a time */
        double begin_s; /* when the first chunk began */
        double ahead_s; /* of that: thread time of reading the files' metadata */
        double files;
        double after_s; /* after the last chunk */
        double merge_s; /* of one output */
        double fail_rate;
        /* cores */
        double cpu_share; /* of a chunk's own time */
        double cores;     /* of the one host, shared by all; 0: not known, or several hosts */
        double slowdown;  /* by waiting for cores, as measured */
        double others;    /* threads of others that compete for the cores, on average */
        double gap_share; /* of the gaps, on a thread and a core: waiting stretches it */
        /* memory of a worker */
        double peak_bytes;
        double growth_bytes;
        double limit_bytes;
        double most_events; /* of a chunk */
};

/* What a simulation takes of that which the run does not tell for sure: each from 0 to 1 */
struct model_doubt {
        double fixed;   /* quantile of the fixed part of a chunk */
        double sharing; /* of the cores: from the least to the most that others may take */
};

int model_make(struct model *model, const struct study *study, struct roast_error *error);
void model_deinit(struct model *model);

/*
 * The chunks of coffea's Runner for another chunk size; the caller frees. ROAST_E_INVALID if there
 * are more than `most`.
 */
int model_rechunk(const struct model *model, const struct study *study, int64_t chunksize,
                  size_t most, struct model_chunk **ret, size_t *n, struct roast_error *error);

/* The fixed part of a chunk, by its quantile: the median at 0.5 */
double model_fixed(const struct model *model, double quantile);
/* What an event takes if so much is fixed, and what a chunk does, without waiting for a core */
double model_per_event(const struct model_dataset *dataset, double fixed_s);
double model_expected(const struct model_dataset *dataset, double fixed_s, double events);
/* Whether fixed part and time per event could be told apart */
bool model_is_separated(const struct model *model);

/*
 * How much slower CPU time passes with so many threads at work; `sharing` is that of model_doubt.
 */
double model_slowdown(const struct model *model, double threads, double sharing);

/* The parts of model_make(), each in a file of its own */
int model_add_workers(struct model *model, const struct study *study);
int model_fit(struct model *model, const struct study *study);
void model_add_cores(struct model *model, const struct study *study);

/* Whether a chunk tells about first chunks of a thread only */
bool model_is_cold(const struct study *study, const struct study_chunk *chunk);
