/*
 * A run as a measurement directory of format v1
 *
 * It is written beside its place and moved there when it is complete. The run
 * goes with it as run.roast: metrics.json says the same in the documented keys.
 */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/record.h"
#include "export/tracking.h"
#include "record/cbor.h"
#include "roast-metrics.h"
#include "run/run.h"
#include "util/cleanup.h"

#define BATCH 256

struct v1 {
        struct roast_run *run;
        struct roast_summary summary;
        struct out *out;
        bool any_chunk;
        struct rows rows;
        int64_t chunk_id;
        struct intern files; /* whose metadata have been written */
};

static void put_value(struct json *json, enum roast_metric metric, const struct roast_value *value)
{
        if (value->state == ROAST_ABSENT && roast_metrics[metric].fallback == ROAST_FALLBACK_ZERO)
                json_int(json, 0);
        else if (value->state == ROAST_ABSENT)
                json_null(json);
        else if (roast_metrics[metric].type == ROAST_TYPE_COUNT)
                json_int(json, value->count);
        else
                json_double(json, value->real);
}

/* As the documented dict: what is absent is 0, null, or not there, by the registry */
static void put_scalars(struct v1 *v1)
{
        const struct roast_metric_set *set = &v1->summary.metrics;
        struct json *json = &v1->out->json;

        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                if (set->values[i].state == ROAST_ABSENT &&
                    roast_metrics[i].fallback == ROAST_FALLBACK_OMIT)
                        continue;
                json_key(json, roast_metrics[i].key);
                put_value(json, i, &set->values[i]);
                for (size_t j = 0; j < roast_n_aliases; j++) {
                        if (roast_aliases[j].metric != i)
                                continue;
                        json_key(json, roast_aliases[j].key);
                        put_value(json, i, &set->values[i]);
                }
        }
}

static void put_datasets(struct v1 *v1)
{
        struct json *json = &v1->out->json;

        if (!v1->summary.n_datasets)
                return;
        json_key(json, "per_dataset");
        json_object(json);
        for (size_t i = 0; i < v1->summary.n_datasets; i++) {
                const struct roast_dataset *dataset = &v1->summary.datasets[i];

                if (!dataset->finished)
                        continue;
                json_key(json, dataset->name ? dataset->name : "unknown");
                json_object(json);
                json_key(json, "num_chunks");
                json_int(json, dataset->finished);
                json_key(json, "total_duration");
                json_double(json, dataset->wall_s);
                json_key(json, "total_events");
                json_int(json, dataset->events);
                json_key(json, "mean_duration");
                json_double(json, dataset->wall_s / (double)dataset->finished);
                if (dataset->events > 0) {
                        json_key(json, "mean_events_per_chunk");
                        json_double(json, (double)dataset->events / (double)dataset->finished);
                }
                json_end(json);
        }
        json_end(json);
}

/* A string as Python's repr() shows it, for the keys that are tuples */
static void put_repr(struct buf *out, const char *text, size_t len, int *r)
{
        char quote = memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';

        if (*r >= 0)
                *r = buf_put_u8(out, (uint8_t)quote);
        for (size_t i = 0; i < len && *r >= 0; i++) {
                unsigned char c = (unsigned char)text[i];

                if (c == '\\' || c == quote)
                        *r = buf_printf(out, "\\%c", c);
                else if (c < 0x20 || c == 0x7f)
                        *r = buf_printf(out, "\\x%02x", c);
                else
                        *r = buf_put_u8(out, c);
        }
        if (*r >= 0)
                *r = buf_put_u8(out, (uint8_t)quote);
}

/* "('/a.root', 0, 20000)": [start, end, bytes] */
static void put_info(struct v1 *v1, const struct chunk_table *table, size_t row)
{
        ROAST_CLEANUP(buf_deinit) struct buf key = BUF_INIT;
        struct json *json = &v1->out->json;
        int64_t start = chunk_table_get(table, row, CHUNK_ENTRY_START);
        int64_t stop = chunk_table_get(table, row, CHUNK_ENTRY_STOP);
        int64_t bytes = chunk_table_get(table, row, CHUNK_REQUESTED_BYTES);
        double begin = record_real(table, row, CHUNK_START_UTC_NS, 1e9);
        double end = begin + record_real(table, row, CHUNK_WALL_NS, 1e9);
        size_t len;
        const char *file = chunk_table_text(table, row, CHUNK_FILE, &len);
        int r;

        if (!file || start == CHUNK_ABSENT || stop == CHUNK_ABSENT || isnan(end) ||
            chunk_table_get(table, row, CHUNK_OUTCOME) != CHUNK_FINISHED)
                return;
        r = buf_puts(&key, "(");
        put_repr(&key, file, len, &r);
        if (r >= 0)
                r = buf_printf(&key, ", %lld, %lld)", (long long)start, (long long)stop);
        if (r < 0) {
                json->error = r;
                return;
        }
        if (!v1->any_chunk) {
                json_key(json, "chunk_info");
                json_object(json);
        }
        v1->any_chunk = true;
        json_key_n(json, (const char *)key.data, key.len);
        json_array(json);
        json_double(json, begin);
        json_double(json, end);
        json_int(json, bytes == CHUNK_ABSENT ? 0 : bytes);
        json_end(json);
}

static int put_infos(const struct chunk_table *table, void *context, struct roast_error *error)
{
        struct v1 *v1 = context;
        int r = 0;

        for (size_t row = 0; row < table->n && r >= 0; row++) {
                put_info(v1, table, row);
                r = out_step(v1->out, error);
        }
        return r;
}

/* Of each file the first metadata that came */
static int put_file(const struct chunk_table *table, void *context, struct roast_error *error)
{
        struct v1 *v1 = context;
        struct json *json = &v1->out->json;

        for (size_t row = 0; row < table->n; row++) {
                size_t len, blob_len, n = v1->files.n;
                const char *file = chunk_table_text(table, row, CHUNK_FILE, &len);
                const char *blob = chunk_table_text(table, row, CHUNK_FILE_METADATA, &blob_len);

                if (!file || !blob)
                        continue;
                if (intern_put(&v1->files, file, len) < 0)
                        return roast_fail_nomem(error);
                if (v1->files.n == n)
                        continue;
                if (n == 0) {
                        json_key(json, "file_metadata");
                        json_object(json);
                }
                json_key_n(json, file, len);
                cbor_to_json(json, blob, blob_len);
        }
        return out_step(v1->out, error);
}

static int put_record(const struct chunk_table *table, void *context, struct roast_error *error)
{
        struct v1 *v1 = context;
        int r = 0;

        for (size_t row = 0; row < table->n && r >= 0; row++, v1->chunk_id++) {
                if (chunk_table_get(table, row, CHUNK_OUTCOME) == CHUNK_GRAPH)
                        continue;
                if (!v1->rows.any) {
                        json_key(&v1->out->json, "raw_chunk_metrics");
                        json_array(&v1->out->json);
                }
                record_put(&v1->rows, table, row, v1->chunk_id);
                r = out_step(v1->out, error);
        }
        return r;
}

static int put_chunks(struct v1 *v1, struct roast_error *error)
{
        int r;

        r = run_records(v1->run, BATCH, put_infos, v1, error);
        if (v1->any_chunk)
                json_end(&v1->out->json);
        if (r >= 0)
                r = run_records(v1->run, BATCH, put_file, v1, error);
        if (v1->files.n)
                json_end(&v1->out->json);
        /* rows inside an array: it puts the commas */
        v1->rows = (struct rows){ .out = v1->out,
                                  .format = ROAST_EXPORT_JSON,
                                  .inside = true,
                                  .columns = record_columns,
                                  .n_columns = record_n_columns };
        if (r >= 0)
                r = run_records(v1->run, BATCH, put_record, v1, error);
        if (v1->rows.any)
                json_end(&v1->out->json);
        return r;
}

/* "('execute', 'X', 'thread-cpu', 'seconds')": value */
static int put_span(struct v1 *v1, const struct run_value *values, bool first)
{
        ROAST_CLEANUP(buf_deinit) struct buf key = BUF_INIT;
        struct json *json = &v1->out->json;
        int r = buf_puts(&key, "(");

        for (size_t i = 0; i < 4 && r >= 0; i++) {
                if (i == 3 && values[3].type != RUN_STRING)
                        break;
                if (i)
                        r = buf_puts(&key, ", ");
                if (values[i].type == RUN_STRING)
                        put_repr(&key, values[i].data, values[i].len, &r);
                else if (r >= 0)
                        r = buf_puts(&key, "None");
        }
        if (r >= 0)
                r = buf_puts(&key, ")");
        if (r < 0)
                return r;
        if (first) {
                json_key(json, "raw_span_metrics");
                json_object(json);
        }
        json_key_n(json, (const char *)key.data, key.len);
        if (values[4].real == floor(values[4].real) && fabs(values[4].real) < 9e15)
                json_int(json, (int64_t)values[4].real);
        else
                json_double(json, values[4].real);
        return 0;
}

static int put_spans(struct v1 *v1, struct roast_error *error)
{
        struct run_scan scan;
        bool any = false;
        int r;

        r = run_scan_begin(&scan, v1->run, RUN_SPAN, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                if (scan.values[4].type != RUN_REAL)
                        continue;
                if (put_span(v1, scan.values, !any) < 0)
                        r = roast_fail_nomem(error);
                any = true;
        }
        run_scan_end(&scan);
        if (any)
                json_end(&v1->out->json);
        return r;
}

static int put_metrics(struct v1 *v1, struct roast_error *error)
{
        struct json *json = &v1->out->json;
        int r;

        json_object(json);
        put_scalars(v1);
        put_datasets(v1);
        json_key(json, "tracking_data");
        if (v1->summary.metrics.values[ROAST_PEAK_WORKERS].state == ROAST_ABSENT) {
                json_null(json);
                r = 0;
        } else {
                r = tracking_put(v1->run, TRACKING_PAIRS, v1->out, error);
        }
        if (r >= 0)
                r = put_chunks(v1, error);
        if (r >= 0)
                r = put_spans(v1, error);
        json_end(json);
        out_puts(v1->out, "\n");
        return r;
}

static int write_all(const void *data, size_t len, void *context, struct roast_error *error)
{
        const char *at = data;

        while (len) {
                ssize_t n = write(*(const int *)context, at, len);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return roast_fail(error, ROAST_E_IO, "cannot write: %s", strerror(errno));
                at += n;
                len -= (size_t)n;
        }
        return 0;
}

static int open_file(const char *directory, const char *name, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *path = NULL;
        int fd;

        if (asprintf(&path, "%s/%s", directory, name) < 0) {
                path = NULL;
                return roast_fail_nomem(error);
        }
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return fd < 0 ? roast_fail(error, ROAST_E_IO, "%s: cannot be created: %s", path,
                                   strerror(errno))
                      : fd;
}

static int write_text(const char *directory, const char *name, const char *text,
                      struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_close) int fd = open_file(directory, name, error);

        return fd < 0 ? fd : write_all(text, strlen(text), &fd, error);
}

static int write_metrics(struct v1 *v1, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_close) int fd = open_file(directory, "metrics.json", error);
        ROAST_CLEANUP(out_deinit) struct out out;
        int r;

        out_init(&out, write_all, &fd);
        if (fd < 0)
                return fd;
        v1->out = &out;
        r = run_view_begin(v1->run, error);
        if (r < 0)
                return r;
        r = roast_summary_of_run(&v1->summary, v1->run, error);
        if (r >= 0)
                r = put_metrics(v1, error);
        run_view_end(v1->run);
        return r < 0 ? r : out_end(&out, error);
}

/* t0 and t1 as the collector gives them: seconds since 1970, and by the monotonic clock later */
static int write_times(struct v1 *v1, const char *directory, struct roast_error *error)
{
        const struct roast_value *elapsed = &v1->summary.metrics.values[ROAST_ELAPSED_TIME_SECONDS];
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct roast_run_about about;
        double start, span;
        char time[32];
        int r;

        r = roast_run_about(v1->run, &about, error);
        if (r < 0)
                return r;
        start = about.start_utc_ns == INT64_MIN ? 0 : (double)about.start_utc_ns / 1e9;
        span = elapsed->state == ROAST_ABSENT ? 0 : elapsed->real;
        r = buf_put_real(&text, start);
        if (r >= 0)
                r = buf_puts(&text, ",");
        if (r >= 0)
                r = buf_put_real(&text, start + span);
        if (r < 0 || buf_append(&text, "\n", 2) < 0)
                return roast_fail_nomem(error);
        r = write_text(directory, "start_end_time.txt", (const char *)text.data, error);
        if (r < 0)
                return r;
        buf_clear(&text);
        tracking_time(time, about.end_utc_ns == INT64_MIN ? 0 : about.end_utc_ns);
        r = buf_printf(&text, "{\n  \"timestamp\": \"%s\",\n  \"elapsed_time_seconds\": ", time);
        if (r >= 0)
                r = buf_put_real(&text, span);
        if (r < 0 || buf_puts(&text, ",\n  \"format\": \"roastcoffea_measurement_v1\"\n}\n") < 0 ||
            buf_put_u8(&text, 0) < 0)
                return roast_fail_nomem(error);
        return write_text(directory, "metadata.json", (const char *)text.data, error);
}

struct config {
        const char *directory;
        struct roast_error *error;
        int r;
};

static int write_config(const struct roast_fact *fact, void *context)
{
        struct config *config = context;

        if (strcmp(fact->name, "import.config") != 0 || fact->type != ROAST_FACT_TEXT)
                return 0;
        config->r = write_text(config->directory, "config.json", fact->text, config->error);
        return 1;
}

static int write_run(struct v1 *v1, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *path = NULL;

        if (asprintf(&path, "%s/run.roast", directory) < 0) {
                path = NULL;
                return roast_fail_nomem(error);
        }
        return roast_run_copy_new(v1->run, path, error);
}

static int write_files(struct v1 *v1, const char *directory, struct roast_error *error)
{
        struct config config = { directory, error, 0 };
        int r;

        r = write_metrics(v1, directory, error);
        if (r >= 0)
                r = write_times(v1, directory, error);
        if (r >= 0)
                r = roast_run_facts(v1->run, write_config, &config, error);
        if (r >= 0)
                r = config.r;
        return r < 0 ? r : write_run(v1, directory, error);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

/* With the mode that mkdir(2) would have given it */
static int make_temporary(char *name)
{
        mode_t mask = umask(0);

        umask(mask);
        return mkdtemp(name) && chmod(name, 0777 & ~mask) == 0 ? 0 : -1;
}

int roast_export_v1(struct roast_run *run, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *temporary = NULL;
        struct v1 v1 = { .run = run };
        size_t len = strlen(directory);
        int r;

        while (len > 1 && directory[len - 1] == '/')
                len--;
        if (asprintf(&temporary, "%.*s.part-XXXXXX", (int)len, directory) < 0) {
                temporary = NULL;
                return roast_fail_nomem(error);
        }
        if (access(directory, F_OK) == 0)
                return roast_fail(error, ROAST_E_STATE, "%s: is there already: it is not replaced",
                                  directory);
        if (make_temporary(temporary) < 0)
                return roast_fail(error, ROAST_E_IO, "%s: cannot be created: %s", directory,
                                  strerror(errno));
        r = write_files(&v1, temporary, error);
        /* an empty directory that came meanwhile is replaced, any other is not */
        if (r >= 0 && rename(temporary, directory) < 0)
                r = roast_fail(error,
                               errno == ENOTEMPTY || errno == EEXIST ? ROAST_E_STATE : ROAST_E_IO,
                               "%s: cannot be created: %s", directory, strerror(errno));
        if (r < 0)
                nftw(temporary, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        roast_summary_deinit(&v1.summary);
        intern_deinit(&v1.files);
        return r;
}
