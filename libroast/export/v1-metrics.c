/* metrics.json: the run in the documented keys */

#include <math.h>
#include <string.h>

#include "export/record.h"
#include "export/tracking.h"
#include "export/v1.h"
#include "record/cbor-json.h"
#include "util/cleanup.h"

#define BATCH 256

static void v1_put_value(struct json *json, enum roast_metric metric,
                         const struct roast_value *value)
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
static void v1_put_scalars(struct v1 *v1)
{
        const struct roast_metric_set *set = &v1->summary.metrics;
        struct json *json = &v1->out->json;

        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                if (set->values[i].state == ROAST_ABSENT &&
                    roast_metrics[i].fallback == ROAST_FALLBACK_OMIT)
                        continue;
                json_key(json, roast_metrics[i].key);
                v1_put_value(json, i, &set->values[i]);
                for (size_t j = 0; j < roast_n_aliases; j++) {
                        if (roast_aliases[j].metric != i)
                                continue;
                        json_key(json, roast_aliases[j].key);
                        v1_put_value(json, i, &set->values[i]);
                }
        }
}

static void v1_put_customs(struct v1 *v1)
{
        for (size_t i = 0; i < v1->summary.n_customs; i++) {
                const struct roast_custom *custom = &v1->summary.customs[i];

                if (custom->value.state == ROAST_ABSENT)
                        continue;
                json_pair_double(&v1->out->json, custom->key, custom->value.real);
        }
}

static void v1_put_datasets(struct v1 *v1)
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
                json_pair_int(json, "num_chunks", dataset->finished);
                json_pair_double(json, "total_duration", dataset->wall_s);
                json_pair_int(json, "total_events", dataset->events);
                /* the documented key is always there: 0 where no chunk tells its time */
                json_pair_double(
                        json, "mean_duration",
                        dataset->wall_chunks ? dataset->wall_s / (double)dataset->wall_chunks : 0);
                if (dataset->events > 0)
                        json_pair_double(json, "mean_events_per_chunk",
                                         (double)dataset->events / (double)dataset->finished);
                json_end(json);
        }
        json_end(json);
}

/* A string as Python's repr() shows it, for the keys that are tuples */
static void v1_put_repr(struct buf *out, const char *text, size_t len, int *r)
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
static void v1_put_info(struct v1 *v1, const struct chunk_table *table, size_t row)
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
        v1_put_repr(&key, file, len, &r);
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

static int v1_put_infos(const struct chunk_table *table, void *context, struct roast_error *error)
{
        struct v1 *v1 = context;
        int r = 0;

        for (size_t row = 0; row < table->n && r >= 0; row++) {
                v1_put_info(v1, table, row);
                r = out_step(v1->out, error);
        }
        return r;
}

static void v1_put_file_figures(struct json *json, const struct roast_file *file)
{
        json_key(json, file->name);
        json_object(json);
        json_pair_int(json, "total_branches", file->branches);
        json_pair_double(json, "branches_read_percent", file->branches_read_percent);
        json_pair_double(json, "total_tree_bytes", file->bytes);
        json_pair_double(json, "bytes_read", file->bytes_read);
        json_pair_double(json, "bytes_read_percent", file->bytes_read_percent);
        json_end(json);
}

/* What was read of each file, under the documented keys */
static int v1_put_files(struct v1 *v1, struct roast_error *error)
{
        static const char *const keys[] = { "file_metadata", "compression_ratios",
                                            "file_read_metrics", "bytes_read_percent_per_file" };
        struct json *json = &v1->out->json;
        int r = 0;

        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]) && v1->summary.n_files; k++) {
                json_key(json, keys[k]);
                if (k % 2)
                        json_array(json);
                else
                        json_object(json);
                for (size_t i = 0; i < v1->summary.n_files && r >= 0; i++) {
                        const struct roast_file *file = &v1->summary.files[i];

                        if (k == 0 && file->metadata) {
                                json_key(json, file->name);
                                cbor_to_json(json, file->metadata, file->metadata_len);
                        } else if (k == 1 && file->compression_ratio > 0) {
                                json_double(json, file->compression_ratio);
                        } else if (k == 2 && file->has_coverage) {
                                v1_put_file_figures(json, file);
                        } else if (k == 3 && file->bytes_read_percent > 0) {
                                json_double(json, file->bytes_read_percent);
                        }
                        r = out_step(v1->out, error);
                }
                json_end(json);
        }
        return r;
}

static int v1_put_record(const struct chunk_table *table, void *context, struct roast_error *error)
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

static int v1_put_chunks(struct v1 *v1, struct roast_error *error)
{
        int r;

        r = run_records(v1->run, BATCH, v1_put_infos, v1, error);
        if (v1->any_chunk)
                json_end(&v1->out->json);
        if (r >= 0)
                r = v1_put_files(v1, error);
        /* rows inside an array: it puts the commas */
        v1->rows = (struct rows){ .out = v1->out,
                                  .format = ROAST_EXPORT_JSON,
                                  .inside = true,
                                  .columns = record_columns,
                                  .n_columns = record_n_columns };
        if (r >= 0)
                r = run_records(v1->run, BATCH, v1_put_record, v1, error);
        if (v1->rows.any)
                json_end(&v1->out->json);
        return r;
}

/* "('execute', 'X', 'thread-cpu', 'seconds')": value */
static int v1_put_span(struct v1 *v1, const struct run_value *values, bool first)
{
        ROAST_CLEANUP(buf_deinit) struct buf key = BUF_INIT;
        struct json *json = &v1->out->json;
        int r = buf_puts(&key, "(");

        for (size_t i = 0; i < 4 && r >= 0; i++) {
                if (i == SPAN_UNIT && values[SPAN_UNIT].type != RUN_STRING)
                        break;
                if (i)
                        r = buf_puts(&key, ", ");
                if (values[i].type == RUN_STRING)
                        v1_put_repr(&key, values[i].data, values[i].len, &r);
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
        if (values[SPAN_VALUE].real == floor(values[SPAN_VALUE].real) &&
            fabs(values[SPAN_VALUE].real) < 9e15)
                json_int(json, (int64_t)values[SPAN_VALUE].real);
        else
                json_double(json, values[SPAN_VALUE].real);
        return 0;
}

static int v1_put_spans(struct v1 *v1, struct roast_error *error)
{
        struct run_scan scan;
        bool any = false;
        int r;

        r = run_scan_begin(&scan, v1->run, RUN_SPAN, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                if (scan.values[SPAN_VALUE].type != RUN_REAL)
                        continue;
                if (v1_put_span(v1, scan.values, !any) < 0)
                        r = roast_fail_nomem(error);
                any = true;
        }
        run_scan_end(&scan);
        if (any)
                json_end(&v1->out->json);
        return r;
}

int v1_put_metrics(struct v1 *v1, struct roast_error *error)
{
        struct json *json = &v1->out->json;
        int r;

        json_object(json);
        v1_put_scalars(v1);
        v1_put_customs(v1);
        v1_put_datasets(v1);
        json_key(json, "tracking_data");
        if (v1->summary.metrics.values[ROAST_PEAK_WORKERS].state == ROAST_ABSENT) {
                json_null(json);
                r = 0;
        } else {
                r = tracking_put(v1->run, TRACKING_PAIRS, v1->out, error);
        }
        if (r >= 0)
                r = v1_put_chunks(v1, error);
        if (r >= 0)
                r = v1_put_spans(v1, error);
        json_end(json);
        out_puts(v1->out, "\n");
        return r;
}
