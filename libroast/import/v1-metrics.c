/* metrics.json of a v1 measurement: one walk over it, and what is kept for its end */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/python-text.h"
#include "import/v1.h"
#include "util/cleanup.h"

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
        json_reader_deinit(&v1->in);
        v1_chunks_deinit(&v1->chunks);
        v1_series_deinit(&v1->series);
        intern_deinit(&v1->prefixes);
        free(v1->cpu_s);
}

int v1_find(const char *const *names, const struct json_text *key)
{
        for (int i = 0; names[i]; i++)
                if (json_text_is(key, names[i]))
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
static bool v1_check(struct v1 *v1, int r)
{
        return r >= 0 || json_read_fail(&v1->in, "the run does not take it");
}

static bool v1_add_fact(struct v1 *v1, const char *name, const struct json_number *number)
{
        return v1_check(v1, number->whole
                                    ? roast_run_fact_int(v1->run, name, number->integer, &v1->error)
                                    : roast_run_fact_real(v1->run, name, number->real, &v1->error));
}

static bool v1_read_figure(struct v1 *v1, const struct json_text *key)
{
        ROAST_CLEANUP(cleanup_free) char *name = NULL;
        int figure = v1_find(figure_keys, key);
        struct json_number number;

        if (memchr(key->data, 0, key->len))
                return json_read_skip(&v1->in);
        if (asprintf(&name, "imported.%.*s", (int)(key->len < 200 ? key->len : 200), key->data) <
            0) {
                name = NULL;
                return json_read_nomem(&v1->in);
        }
        if (!json_read_number(&v1->in, &number))
                return false;
        if (figure >= 0) {
                v1->figures[figure] = number;
                v1->has[figure] = isfinite(number.real);
        }
        return !isfinite(number.real) || v1_add_fact(v1, name, &number);
}

static bool v1_note_cpu(struct v1 *v1, const struct python_tuple *span, double value)
{
        int64_t i;
        double *grown;

        if (!span->items[1].text || strcmp(span->items[2].text, "thread-cpu") != 0)
                return true;
        i = intern_put(&v1->prefixes, span->items[1].text, strlen(span->items[1].text));
        if (i < 0)
                return json_read_nomem(&v1->in);
        grown = realloc(v1->cpu_s, v1->prefixes.n * sizeof(*grown));
        if (!grown)
                return json_read_nomem(&v1->in);
        v1->cpu_s = grown;
        v1->cpu_s[i] = value;
        return true;
}

/* "('execute', 'X', 'thread-cpu', 'seconds')": value */
static bool v1_read_span(struct v1 *v1, const struct json_text *key)
{
        ROAST_CLEANUP(python_tuple_deinit) struct python_tuple span = { 0 };
        struct json_number number;
        int r = python_tuple_read(&span, key->data, key->len);

        if (r < 0)
                return json_read_nomem(&v1->in);
        if (json_read_type(&v1->in) != JSON_NUMBER || r == 0 || span.n < 3 || !span.items[0].text ||
            !span.items[2].text)
                return json_read_skip(&v1->in);
        if (!json_read_number(&v1->in, &number))
                return false;
        return v1_check(v1, roast_run_add_span(v1->run, span.items[0].text, span.items[1].text,
                                               span.items[2].text,
                                               span.n > 3 ? span.items[3].text : NULL, number.real,
                                               &v1->error)) &&
               v1_note_cpu(v1, &span, number.real);
}

static bool v1_read_spans(struct v1 *v1)
{
        struct json_text key;

        if (json_read_type(&v1->in) != JSON_OBJECT)
                return json_read_skip(&v1->in);
        json_read_object(&v1->in);
        while (json_read_key(&v1->in, &key))
                if (!v1_read_span(v1, &key))
                        return false;
        return !v1->in.problem;
}

static bool v1_read_part(struct v1 *v1, enum part part)
{
        if (v1->seen & 1u << part)
                return json_read_fail(&v1->in, "a key is there twice");
        v1->seen |= 1u << part;
        switch (part) {
        case TRACKING:
                return v1_series_read(&v1->series, &v1->in);
        case RAW_CHUNKS:
                return v1_chunks_read(&v1->chunks, &v1->in);
        case SPANS:
                return v1_read_spans(v1);
        default:
                v1->chunk_info = v1->in.at;
                return json_read_skip(&v1->in);
        }
}

bool v1_read_metrics(struct v1 *v1)
{
        struct json_text key;

        if (!json_read_object(&v1->in))
                return false;
        while (json_read_key(&v1->in, &key)) {
                int part = v1_find(part_keys, &key);
                bool good = part >= 0 ? v1_read_part(v1, (enum part)part)
                            : json_read_type(&v1->in) == JSON_NUMBER ? v1_read_figure(v1, &key)
                                                                     : json_read_skip(&v1->in);

                if (!good)
                        return false;
        }
        return !v1->in.problem;
}

/* chunk_info says less than the records, and counts where they are not there. */
bool v1_read_info(struct v1 *v1)
{
        if (!v1->chunk_info || v1->chunks.n)
                return true;
        v1->in.at = v1->chunk_info;
        return v1_chunks_read_info(&v1->chunks, &v1->in);
}
