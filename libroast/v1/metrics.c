/* metrics.json of a v1 measurement: one walk over it, and what is kept for its end */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "v1/plain.h"
#include "v1/v1.h"

static const char *const figure_keys[] = {
        [V1_EVENTS] = "total_events",
        [V1_BYTES_READ] = "total_bytes_read",
        [V1_CPU_TIME] = "total_cpu_time",
        [V1_CHUNKS] = "num_chunks",
        [V1_CPU_PER_CHUNK] = "avg_cpu_time_per_chunk",
        [V1_ELAPSED] = "elapsed_time_seconds",
        [V1_PROCESSOR_CPU] = "processor_cpu_time_seconds",
        NULL,
};

enum part { TRACKING, RAW_CHUNKS, CHUNK_INFO, SPANS };

static const char *const part_keys[] = {
        [TRACKING] = "tracking_data",
        [RAW_CHUNKS] = "raw_chunk_metrics",
        [CHUNK_INFO] = "chunk_info",
        [SPANS] = "raw_span_metrics",
        NULL,
};

void v1_deinit(struct v1 *v1)
{
        json_reader_deinit(&v1->reader);
        v1_chunks_deinit(&v1->chunks);
        v1_series_deinit(&v1->series);
}

static int metrics_find(const char *const *names, struct source *in)
{
        for (int i = 0; names[i]; i++)
                if (source_key_is(in, names[i]))
                        return i;
        return -1;
}

int64_t v1_scaled(const struct json_number *number, double unit)
{
        double real = number->real * unit;

        if (number->whole && unit == 1)
                return number->integer;
        return real > -9.2e18 && real < 9.2e18 ? llround(real) : CHUNK_ABSENT;
}

/* A call into the run failed: the walk over the text ends, too. */
static bool metrics_check(struct source *in, int r)
{
        return r >= 0 || source_fail(in, "the run does not take it");
}

static bool metrics_read_figure(struct v1 *v1, struct source *in)
{
        ROAST_CLEANUP(cleanup_free) char *name = NULL;
        int figure = metrics_find(figure_keys, in);
        struct json_number number;
        struct json_text key;

        if (!source_key_text(in, &key))
                return false;
        if (memchr(key.data, 0, key.len))
                return source_skip(in);
        if (asprintf(&name, "imported.%.*s", (int)(key.len < 200 ? key.len : 200), key.data) < 0) {
                name = NULL;
                return source_nomem(in);
        }
        if (!source_number(in, &number))
                return false;
        if (figure >= 0) {
                v1->figures[figure] = number;
                v1->has[figure] = isfinite(number.real);
        }
        if (!isfinite(number.real))
                return true;
        return metrics_check(
                in, number.whole ? roast_run_fact_int(v1->run, name, number.integer, &v1->error)
                                 : roast_run_fact_real(v1->run, name, number.real, &v1->error));
}

static bool metrics_read_part(struct v1 *v1, struct source *in, enum part part)
{
        if (v1->seen & 1u << part)
                return source_fail(in, "a key is there twice");
        v1->seen |= 1u << part;
        switch (part) {
        case TRACKING:
                return v1_series_read(&v1->series, in);
        case RAW_CHUNKS:
                return v1_chunks_read(&v1->chunks, in);
        case SPANS:
                return v1_spans_add(v1->run, in, &v1->error);
        default:
                v1->chunk_info = v1->reader.at;
                return source_skip(in);
        }
}

bool v1_read_metrics(struct v1 *v1)
{
        struct source *in = source_json_init(&v1->json, &v1->reader);

        if (!json_read_object(&v1->reader))
                return false;
        while (source_key(in)) {
                int part = metrics_find(part_keys, in);
                bool good = part >= 0 ? metrics_read_part(v1, in, (enum part)part)
                            : source_type(in) == JSON_NUMBER ? metrics_read_figure(v1, in)
                                                             : source_skip(in);

                if (!good)
                        return false;
        }
        return !in->bad;
}

/* chunk_info says less than the records, and counts where they are not there. */
bool v1_read_info(struct v1 *v1)
{
        if (!v1->chunk_info || v1->chunks.n)
                return true;
        v1->reader.at = v1->chunk_info;
        return v1_chunks_read_info(&v1->chunks, &v1->json.source);
}
