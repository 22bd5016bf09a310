/*
 * metrics.json: the run in the documented keys
 *
 * What is large comes last, and is held back until its size is known: beyond
 * 10 MB it is in the run alone.
 */

#include <stddef.h>
#include <string.h>

#include "export/v1.h"
#include "run/run.h"
#include "util/cleanup.h"
#include "util/size.h"

#define LARGE_MAX 10000000
/* No record takes fewer characters, and no instant of a worker, who has cores and a limit then */
#define RECORD_MIN 1000
#define SAMPLE_MIN 60

/* Ends a walk that has become too large; no error of its own. */
#define TOO_LARGE (-100)

struct v1_writer {
        struct emit_json json;
        struct out *out;
        size_t held; /* where what is large begins in the buffer; SIZE_MAX: nothing is held back */
};

static int v1_step(struct emit *emit, struct roast_error *error)
{
        struct v1_writer *writer = (struct v1_writer *)(void *)emit;

        if (writer->held == SIZE_MAX || emit->error < 0)
                return out_step(writer->out, error);
        return writer->out->buf.len - writer->held > LARGE_MAX ? TOO_LARGE : 0;
}

static const struct roast_v1_pair *v1_changed(const struct roast_v1_options *options,
                                              const char *key)
{
        for (size_t i = 0; i < options->n_pairs; i++)
                if (!strcmp(options->pairs[i].key, key))
                        return &options->pairs[i];
        return NULL;
}

/* What somebody has put in place of the run's own */
static int v1_put_pairs(struct v1_writer *writer, const struct roast_v1_options *options,
                        struct roast_error *error)
{
        int r = 0;

        for (size_t i = 0; i < options->n_pairs && r >= 0; i++) {
                if (!options->pairs[i].json)
                        continue;
                json_key(&writer->out->json, options->pairs[i].key);
                json_raw(&writer->out->json, options->pairs[i].json);
                r = out_step(writer->out, error);
        }
        return r;
}

/* Figures whose keys somebody has changed are not put: they would be there twice. */
struct v1_filter {
        struct emit emit;
        struct emit *to;
        const struct roast_v1_options *options;
        bool passed;
};

static void v1_put_filtered(struct emit *emit, const struct emit_value *value)
{
        struct v1_filter *filter = (struct v1_filter *)emit;

        if (value->type == EMIT_KEY)
                filter->passed = v1_changed(filter->options, value->text) != NULL;
        if (!filter->passed)
                filter->to->put(filter->to, value);
}

static bool v1_is_put(const struct v1_part *part, const struct v1_source *source,
                      const struct roast_v1_options *options, bool large)
{
        return part->large == large && !v1_changed(options, part->key) &&
               v1_part_is_there(part, source);
}

static int v1_put_parts(struct v1_writer *writer, const struct v1_source *source,
                        const struct roast_v1_options *options, bool large,
                        struct roast_error *error)
{
        struct emit *emit = &writer->json.emit;
        int r = 0;

        for (const struct v1_part *part = v1_parts; part->key && r >= 0; part++) {
                if (!v1_is_put(part, source, options, large))
                        continue;
                emit_key(emit, part->key);
                r = v1_put_part(part, source, emit, error);
                if (r >= 0)
                        r = emit_step(emit, error);
        }
        return r;
}

/* Whether it is too large in any case, as far as numbers say it before anything is made */
static int v1_is_too_large(const struct v1_source *source, struct roast_error *error)
{
        const struct roast_value *chunks = &source->summary->metrics.values[ROAST_NUM_CHUNKS];
        int64_t n = 0;
        int r;

        if (source->has_records && chunks->real * RECORD_MIN > LARGE_MAX)
                return 1;
        if (!source->grid.n)
                return 0;
        r = v1_count_samples(source->run, &source->grid, &n, error);
        return r < 0 ? r : n > LARGE_MAX / SAMPLE_MIN;
}

static int v1_put_large(struct v1 *v1, struct v1_writer *writer, const struct v1_source *source,
                        struct roast_error *error)
{
        struct json before;
        int r = out_end(writer->out, error);

        if (r < 0)
                return r;
        before = writer->out->json;
        writer->held = writer->out->buf.len;
        r = v1_is_too_large(source, error);
        r = r > 0 ? TOO_LARGE : r < 0 ? r : v1_put_parts(writer, source, v1->options, true, error);
        if (r == TOO_LARGE) {
                writer->out->json = before;
                writer->out->buf.len = writer->held;
                for (size_t i = 0; v1_parts[i].key; i++)
                        if (v1_is_put(&v1_parts[i], source, v1->options, true))
                                v1->in_run |= 1u << i;
                r = 0;
        }
        writer->held = SIZE_MAX;
        return r;
}

static int v1_put_run(struct v1 *v1, struct v1_writer *writer, struct roast_error *error)
{
        struct v1_filter filter = { .emit = { .put = v1_put_filtered },
                                    .to = &writer->json.emit,
                                    .options = v1->options };
        ROAST_CLEANUP(v1_source_deinit) struct v1_source source = { 0 };
        int r;

        r = v1_source_init(&source, v1->run, v1->summary, error);
        if (r < 0)
                return r;
        v1_put_figures(&source, &filter.emit);
        r = v1_put_parts(writer, &source, v1->options, false, error);
        return r < 0 ? r : v1_put_large(v1, writer, &source, error);
}

int v1_put_metrics(struct v1 *v1, struct out *out, struct roast_error *error)
{
        struct v1_writer writer = { .out = out, .held = SIZE_MAX };
        int r = 0;

        emit_json_init(&writer.json, &out->json);
        writer.json.emit.step = v1_step;
        json_object(&out->json);
        if (v1->run && !v1->options->only_pairs)
                r = v1_put_run(v1, &writer, error);
        if (r >= 0)
                r = v1_put_pairs(&writer, v1->options, error);
        json_end(&out->json);
        out_puts(out, "\n");
        emit_json_deinit(&writer.json);
        return r;
}
