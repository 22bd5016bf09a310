/*
 * Measurement directories of format v1
 *
 * metrics.json has the raw data, which become rows, and figures, of which only
 * those count that rows do not tell (imported.*). Its times of samples are
 * naive, in the scheduler's local time; those of chunks are UTC: where both are
 * there, the first are moved by the quarters of an hour that lie between them.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "import/import.h"
#include "util/cleanup.h"
#include "util/python-text.h"
#include "util/size.h"
#include "v1/v1.h"

#define METRICS_MAX (1u << 30)
#define OTHERS_MAX  (1u << 20)

#define QUARTER_NS (900 * 1000000000ll)
#define DAY_NS     (96 * QUARTER_NS)
#define CLOCKS_NS  (60 * 1000000000ll) /* more than clocks and samples are apart */

static int v1_fail_in(struct roast_error *error, int code, const char *path, const char *name,
                      const struct roast_error *what)
{
        return code == ROAST_E_NOMEM
                       ? roast_fail_nomem(error)
                       : roast_fail(error, code, "%s/%s: %s", path, name, what->message);
}

static int v1_parse_metrics(struct v1 *v1, const char *path, const struct buf *text,
                            struct roast_error *error)
{
        struct roast_error what = { 0 };
        int r;

        if (json_reader_init(&v1->reader, (const char *)text->data, text->len) < 0)
                return roast_fail_nomem(error);
        if (v1_read_metrics(v1)) {
                r = json_reader_end(&v1->reader, &what);
                if (r >= 0 && !v1_read_info(v1))
                        r = json_reader_end(&v1->reader, &what);
        } else {
                r = json_reader_end(&v1->reader, &what);
        }
        if (v1->error.code) {
                *error = v1->error;
                return v1->error.code;
        }
        if (v1->chunks.error.code) {
                *error = v1->chunks.error;
                return v1->chunks.error.code;
        }
        return r < 0 ? v1_fail_in(error, r, path, "metrics.json", &what) : 0;
}

/* "t0,t1": seconds of a clock that begins anywhere; what lies between them counts. */
static int v1_read_times(struct v1 *v1, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct json_number t0 = { 0 }, t1 = { 0 };
        struct json_reader in;
        bool good;
        int r;

        r = import_read_file(&text, path, "start_end_time.txt", OTHERS_MAX, error);
        if (r < 0)
                return r == ROAST_E_NOENT ? 0 : r;
        if (json_reader_init(&in, (const char *)text.data, text.len) < 0)
                return roast_fail_nomem(error);
        good = json_read_number(&in, &t0) && in.at < in.end && *in.at == ',';
        in.at += good;
        good = good && json_read_number(&in, &t1) && json_reader_end(&in, NULL) == 0;
        json_reader_deinit(&in);
        if (!good || !isfinite(t0.real) || !isfinite(t1.real))
                return roast_fail(error, ROAST_E_FORMAT,
                                  "%s/start_end_time.txt: two numbers separated by a comma are"
                                  " wanted",
                                  path);
        v1->elapsed_s = t1.real - t0.real;
        v1->t0_s = t0.real;
        return 0;
}

static bool v1_read_metadata_value(struct v1 *v1, struct json_reader *in,
                                   const struct json_text *key)
{
        struct json_number number;
        struct json_text text;

        if (json_text_is(key, "elapsed_time_seconds") && json_read_type(in) == JSON_NUMBER) {
                if (!json_read_number(in, &number))
                        return false;
                if (isnan(v1->elapsed_s))
                        v1->elapsed_s = number.real;
                return true;
        }
        if (json_text_is(key, "timestamp") && json_read_type(in) == JSON_STRING) {
                if (!json_read_string(in, &text))
                        return false;
                (void)python_time_read(text.data, text.len, &v1->saved_utc_ns);
                return true;
        }
        return json_read_skip(in);
}

static int v1_read_metadata(struct v1 *v1, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct roast_error what = { 0 };
        struct json_reader in;
        struct json_text key;
        int r;

        r = import_read_file(&text, path, "metadata.json", OTHERS_MAX, error);
        if (r < 0)
                return r == ROAST_E_NOENT ? 0 : r;
        if (json_reader_init(&in, (const char *)text.data, text.len) < 0)
                return roast_fail_nomem(error);
        if (json_read_object(&in))
                while (json_read_key(&in, &key) && v1_read_metadata_value(v1, &in, &key))
                        ;
        r = json_reader_end(&in, &what);
        json_reader_deinit(&in);
        return r < 0 ? v1_fail_in(error, r, path, "metadata.json", &what) : 0;
}

/* Anything the user gave, kept as it is */
static int v1_read_config(struct v1 *v1, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct roast_error what = { 0 };
        struct json_reader in;
        int r;

        r = import_read_file(&text, path, "config.json", OTHERS_MAX, error);
        if (r < 0)
                return r == ROAST_E_NOENT ? 0 : r;
        if (json_reader_init(&in, (const char *)text.data, text.len) < 0)
                return roast_fail_nomem(error);
        (void)json_read_skip(&in);
        r = json_reader_end(&in, &what);
        json_reader_deinit(&in);
        if (r < 0)
                return v1_fail_in(error, r, path, "config.json", &what);
        return roast_run_fact_text(v1->run, "import.config", (const char *)text.data, error);
}

/* The smallest multiple that is not below */
static int64_t v1_multiple_from(int64_t least, int64_t step)
{
        return (int64_t)ceil((double)least / (double)step) * step;
}

/*
 * How much later than they say the samples were taken, which are in the time of some zone: chunks
 * run between the first and the last sample, but for a difference of clocks. Nothing if that is
 * so already, else whole hours if these will do, else halves or quarters. A run waits rather for
 * its first chunk than after its last one.
 */
static int64_t v1_offset_of(const struct v1 *v1)
{
        static const int64_t steps[] = { 4 * QUARTER_NS, 2 * QUARTER_NS, QUARTER_NS };
        int64_t least, most;

        if (!v1->series.n || v1->chunks.first_utc_ns == INT64_MIN ||
            __builtin_sub_overflow(v1->chunks.first_utc_ns, v1->series.first_utc_ns, &most) ||
            __builtin_sub_overflow(v1->chunks.last_utc_ns, v1->series.last_utc_ns, &least) ||
            most > DAY_NS || most < -DAY_NS || least > DAY_NS || least < -DAY_NS)
                return 0;
        least -= CLOCKS_NS;
        most += CLOCKS_NS;
        if (least <= 0 && most >= 0)
                return 0;
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
                if (v1_multiple_from(least, steps[i]) <= most)
                        return v1_multiple_from(least, steps[i]);
        return llround((double)(most - CLOCKS_NS) / (double)QUARTER_NS) * QUARTER_NS;
}

static int v1_add_times(struct v1 *v1, int64_t offset_ns, struct roast_error *error)
{
        int64_t start = v1->chunks.first_utc_ns, end = v1->chunks.last_utc_ns, elapsed_ns;
        bool known = v1->elapsed_s >= 0 && v1->elapsed_s < 9e9;
        int r;

        if (v1->series.n && (start == INT64_MIN || v1->series.first_utc_ns + offset_ns < start))
                start = v1->series.first_utc_ns + offset_ns;
        if (v1->series.n && v1->series.last_utc_ns + offset_ns > end)
                end = v1->series.last_utc_ns + offset_ns;
        elapsed_ns = known ? llround(v1->elapsed_s * 1e9) : 0;
        /* a clock that counts from 1970 tells when the run began: just before all else */
        if (start != INT64_MIN && v1->t0_s * 1e9 <= (double)start &&
            v1->t0_s * 1e9 > (double)start - fmax(v1->elapsed_s * 1e9, 1e9))
                start = llround(v1->t0_s * 1e9);
        if (start == INT64_MIN)
                start = end = v1->saved_utc_ns - elapsed_ns;
        if (known && __builtin_add_overflow(start, elapsed_ns, &end))
                end = start;
        r = roast_run_fact_int(v1->run, "run.start_utc_ns", start, error);
        if (r >= 0)
                r = roast_run_fact_int(v1->run, "run.end_utc_ns", end, error);
        if (r < 0)
                return r;
        return known ? roast_run_fact_int(v1->run, "run.elapsed_ns", elapsed_ns, error)
                     : roast_run_fact_absent(v1->run, "run.elapsed_ns",
                                             "the measurement does not tell it", error);
}

static int v1_add_report_figure(struct v1 *v1, const char *name, enum v1_figure figure,
                                struct roast_error *error)
{
        static const char *const silent = "the measurement does not tell it";
        static const char *const zeros =
                "the measurement says 0 for all of the report's: it had none";
        bool empty = !v1->figures[V1_EVENTS].real && !v1->figures[V1_BYTES_READ].real &&
                     (!v1->figures[V1_CPU_TIME].real ||
                      v1->figures[V1_CPU_TIME].real == v1->figures[V1_ELAPSED].real);
        const struct json_number *number = &v1->figures[figure];

        if (!v1->has[figure] || (empty && figure != V1_CHUNKS))
                return roast_run_fact_absent(v1->run, name, v1->has[figure] ? zeros : silent,
                                             error);
        return number->whole ? roast_run_fact_int(v1->run, name, number->integer, error)
                             : roast_run_fact_real(v1->run, name, number->real, error);
}

/* The report itself is not kept: what it said is told by the figures that were made of it. */
static int v1_add_report(struct v1 *v1, struct roast_error *error)
{
        double each = v1->figures[V1_CPU_PER_CHUNK].real;
        int r;

        if (v1->has[V1_CPU_PER_CHUNK] && each > 0 && v1->has[V1_CPU_TIME]) {
                v1->figures[V1_CHUNKS] = (struct json_number){
                        .whole = true,
                        .integer = v1_scaled(&v1->figures[V1_CPU_TIME], 1 / each),
                };
                v1->has[V1_CHUNKS] = v1->figures[V1_CHUNKS].integer >= 0;
        }
        r = v1_add_report_figure(v1, "report.entries", V1_EVENTS, error);
        if (r >= 0)
                r = v1_add_report_figure(v1, "report.bytesread", V1_BYTES_READ, error);
        if (r >= 0)
                r = v1_add_report_figure(v1, "report.processtime", V1_CPU_TIME, error);
        return r < 0 ? r : v1_add_report_figure(v1, "report.chunks", V1_CHUNKS, error);
}

/* The tasks whose time on a core is the processor's */
struct processor {
        double cpu_s;
        size_t n;
        char name[256];
};

static int v1_note_processor(const struct roast_span *span, void *context)
{
        struct processor *processor = context;

        if (!span->prefix || !span->activity || strcmp(span->activity, "thread-cpu") != 0 ||
            span->value != processor->cpu_s || !strcmp(span->prefix, processor->name))
                return 0;
        snprintf(processor->name, sizeof(processor->name), "%s", span->prefix);
        processor->n++;
        return 0;
}

/* The name is not kept: it is that of the tasks whose time the processor's is, if of one only. */
static int v1_add_processor(struct v1 *v1, struct roast_error *error)
{
        struct processor processor = { .cpu_s = v1->figures[V1_PROCESSOR_CPU].real };
        int r;

        if (!v1->has[V1_PROCESSOR_CPU] || !(processor.cpu_s > 0))
                return 0;
        r = roast_run_commit(v1->run, error);
        if (r >= 0)
                r = roast_run_spans(v1->run, v1_note_processor, &processor, error);
        return r < 0 || processor.n != 1
                       ? r
                       : roast_run_fact_text(v1->run, "processor.name", processor.name, error);
}

/* Its name is the directory's; the same content has the same id. */
static int v1_add_identity(struct v1 *v1, const char *path, const struct buf *text,
                           struct roast_error *error)
{
        XXH128_hash_t hash = XXH3_128bits(text->data, text->len);
        ROAST_CLEANUP(cleanup_free) char *real = realpath(path, NULL);
        const char *name = real ? strrchr(real, '/') : NULL;
        char id[33];
        int r;

        snprintf(id, sizeof(id), "%016llx%016llx", (unsigned long long)hash.high64,
                 (unsigned long long)hash.low64);
        r = roast_run_fact_text(v1->run, "run.id", id, error);
        if (r >= 0)
                r = roast_run_fact_text(v1->run, "run.name", name && name[1] ? name + 1 : path,
                                        error);
        return r < 0 ? r : roast_run_fact_text(v1->run, "run.outcome", "finished", error);
}

static int v1_add_all(struct v1 *v1, struct roast_error *error)
{
        int64_t offset_ns = v1_offset_of(v1);
        int r;

        if (isnan(v1->elapsed_s) && v1->has[V1_ELAPSED])
                v1->elapsed_s = v1->figures[V1_ELAPSED].real;
        r = v1_series_end(&v1->series, v1->run, offset_ns, error);
        if (r >= 0 && offset_ns)
                r = roast_run_fact_int(v1->run, "import.offset_ns", offset_ns, error);
        if (r >= 0)
                r = v1_add_times(v1, offset_ns, error);
        if (r >= 0 && v1->series.n_ticks > 1)
                r = roast_run_fact_real(v1->run, "backend.interval_s",
                                        ((double)v1->series.last_tick_utc_ns -
                                         (double)v1->series.first_tick_utc_ns) /
                                                1e9 / (double)(v1->series.n_ticks - 1),
                                        error);
        if (r >= 0)
                r = v1_add_report(v1, error);
        return r < 0 ? r : v1_add_processor(v1, error);
}

/* When it was saved, if nothing in it tells: when the file was written */
static int v1_note_written(struct v1 *v1, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *name = NULL;
        struct stat st;

        if (asprintf(&name, "%s/metrics.json", path) < 0) {
                name = NULL;
                return roast_fail_nomem(error);
        }
        if (stat(name, &st) == 0)
                v1->saved_utc_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
        return 0;
}

static int v1_import(struct roast_run *run, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        ROAST_CLEANUP(v1_deinit)
        struct v1 v1 = { .run = run, .elapsed_s = (double)NAN, .t0_s = (double)NAN };
        int r;

        v1_chunks_init(&v1.chunks, run);
        r = v1_note_written(&v1, path, error);
        if (r >= 0)
                r = import_read_file(&text, path, "metrics.json", METRICS_MAX, error);
        if (r >= 0)
                r = v1_add_identity(&v1, path, &text, error);
        if (r >= 0)
                r = v1_parse_metrics(&v1, path, &text, error);
        if (r >= 0)
                r = v1_read_times(&v1, path, error);
        if (r >= 0)
                r = v1_read_metadata(&v1, path, error);
        if (r >= 0)
                r = v1_read_config(&v1, path, error);
        return r < 0 ? r : v1_add_all(&v1, error);
}

static int v1_recognises(const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *name = NULL;
        struct stat st;

        if (asprintf(&name, "%s/metrics.json", path) < 0) {
                name = NULL;
                return roast_fail_nomem(error);
        }
        return stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

const struct importer import_v1 = { "a v1 measurement", v1_recognises, v1_import };
