#pragma once
/* What is documented as plain data, as rows of a run: docs/format.md says what becomes of it. */

#include "roast-run.h"
#include "util/intern.h"
#include "v1/record.h"

/* A number in a unit, rounded; CHUNK_ABSENT: not finite, or out of range */
int64_t v1_scaled(const struct json_number *number, double unit);

/* A record that was read as rows of a run. Exact: what is no whole number of its column stays so.
 */
int v1_record_add(const struct v1_record *record, struct roast_run *run, bool exact,
                  struct roast_error *error);

/* Chunk records on their way into the run */
struct v1_chunks {
        struct roast_run *run;
        struct v1_record record;  /* at hand */
        struct roast_error error; /* of the run, not of the source */
        size_t n;
        int64_t first_utc_ns; /* when the first began and the last ended; INT64_MIN: not known */
        int64_t last_utc_ns;
};

void v1_chunks_init(struct v1_chunks *chunks, struct roast_run *run);
void v1_chunks_deinit(struct v1_chunks *chunks);
/* raw_chunk_metrics, and chunk_info, which stands for them where they are missing */
bool v1_chunks_read(struct v1_chunks *chunks, struct source *in);
bool v1_chunks_read_info(struct v1_chunks *chunks, struct source *in);

/* tracking_data: samples of the workers */
struct v1_sample {
        int64_t utc_ns;
        int64_t value;
        uint32_t worker;
        uint32_t column;
        size_t order; /* in the file */
};

struct v1_series {
        struct v1_sample *samples;
        size_t n;
        size_t cap;
        struct intern workers;
        int64_t first_utc_ns; /* INT64_MIN: there is none */
        int64_t last_utc_ns;
        int64_t n_ticks; /* instants at which the workers were counted, the first and the last */
        int64_t first_tick_utc_ns;
        int64_t last_tick_utc_ns;
};

void v1_series_deinit(struct v1_series *series);
bool v1_series_read(struct v1_series *series, struct source *in);
/* Into the run, `offset_ns` later than they say */
int v1_series_end(struct v1_series *series, struct roast_run *run, int64_t offset_ns,
                  struct roast_error *error);

/* Figures that become something else than imported.* */
enum v1_figure {
        V1_EVENTS,
        V1_BYTES_READ,
        V1_CPU_TIME,
        V1_CHUNKS,
        V1_CPU_PER_CHUNK,
        V1_ELAPSED,
        V1_PROCESSOR_CPU,
        V1_N_FIGURES
};

/* A measurement on its way into a run */
struct v1 {
        struct roast_run *run;
        struct roast_error error; /* of the run, not of the text */
        struct json_reader reader;
        struct source_json json; /* over it */
        struct json_number figures[V1_N_FIGURES];
        bool has[V1_N_FIGURES];
        uint32_t seen;          /* which parts have come */
        const char *chunk_info; /* where it stands */
        struct v1_chunks chunks;
        struct v1_series series;
        double elapsed_s; /* NaN: not known */
        double t0_s;      /* of start_end_time.txt; NaN: not known */
        int64_t saved_utc_ns;
};

void v1_deinit(struct v1 *v1);
/* The whole of metrics.json; then chunk_info, if that said more than the records. */
bool v1_read_metrics(struct v1 *v1);
bool v1_read_info(struct v1 *v1);
