/* A run to test with: see sample.h. */

#include <stdio.h>
#include <string.h>

#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

uint64_t sample_random(uint64_t *seed)
{
        *seed ^= *seed >> 12;
        *seed ^= *seed << 25;
        *seed ^= *seed >> 27;
        return *seed * UINT64_C(2685821657736338717);
}

uint64_t sample_below(uint64_t *seed, uint64_t limit)
{
        return sample_random(seed) % limit;
}

int sample_set_text(struct chunk_table *table, enum chunk_field field, const char *text)
{
        if (!text)
                return 0;
        return chunk_table_set_text(table, table->n - 1, field, text, strlen(text));
}

/* A section that ran once */
static void set_times(int64_t *values, int64_t ns)
{
        for (size_t i = 0; i < SECTION_N_FIELDS; i++)
                values[i] = CHUNK_ABSENT;
        values[SECTION_KIND] = SECTION_TIME;
        values[SECTION_COUNT] = 1;
        values[SECTION_TOTAL_NS] = values[SECTION_SELF_NS] = ns;
        values[SECTION_MIN_NS] = values[SECTION_MAX_NS] = ns;
}

int sample_add_section(struct chunk_table *table, const char *name, int64_t ns)
{
        int64_t values[SECTION_N_FIELDS];

        set_times(values, ns);
        return chunk_table_add_section(table, name, strlen(name), values);
}

static const char *const addresses[] = { "tcp://10.0.0.1:1001", "tcp://10.0.0.1:1002",
                                         "tcp://10.0.0.2:1003" };

static int set_texts(struct chunk_table *table, size_t i)
{
        char file[64];
        int r;

        snprintf(file, sizeof(file), "root://host//store/file-%zu.root", i / 4);
        r = sample_set_text(table, CHUNK_DATASET, i % 3 ? "DYJets" : "TTbar");
        if (r >= 0)
                r = sample_set_text(table, CHUNK_FILE, file);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_TREE, "Events");
        if (r >= 0)
                r = sample_set_text(table, CHUNK_WORKER, addresses[i % 3]);
        if (r >= 0 && i % 10 == 9) {
                char message[64];

                snprintf(message, sizeof(message), "basket %zu cannot be read", i);
                r = sample_set_text(table, CHUNK_ERROR_TYPE, "OSError");
                if (r >= 0)
                        r = sample_set_text(table, CHUNK_ERROR_MESSAGE, message);
        }
        return r;
}

/* Chunks of a file touch one branch or two, and all but the first begin within a basket. */
static void set_bytes(struct chunk_table *table, size_t i)
{
        size_t row = table->n - 1;

        chunk_table_set(table, row, CHUNK_READ_BYTES, i % 4 ? 0 : 4096000);
        chunk_table_set(table, row, CHUNK_RCHAR_BYTES, 1800000);
        chunk_table_set(table, row, CHUNK_TREE_BRANCHES, 100);
        chunk_table_set(table, row, CHUNK_TREE_BYTES, 40000000);
        chunk_table_set(table, row, CHUNK_SELECTED_BYTES, i % 2 ? 5000000 : 3500000);
        chunk_table_set(table, row, CHUNK_SELECTED_UNCOMPRESSED_BYTES, i % 2 ? 9000000 : 6000000);
        chunk_table_set(table, row, CHUNK_CUT_BYTES, i % 4 ? 125000 : 0);
}

static void set_numbers(struct chunk_table *table, size_t i)
{
        size_t row = table->n - 1;
        int64_t wall = 500000000 + (int64_t)(i % 7) * 10000000;

        chunk_table_set(table, row, CHUNK_ENTRY_START, (int64_t)(i % 4) * 25000);
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, (int64_t)(i % 4 + 1) * 25000);
        chunk_table_set(table, row, CHUNK_NUM_EVENTS, 25000);
        chunk_table_set(table, row, CHUNK_OUTCOME, i % 10 == 9 ? CHUNK_FAILED : CHUNK_FINISHED);
        chunk_table_set(table, row, CHUNK_START_UTC_NS,
                        SAMPLE_START_UTC_NS + (int64_t)i * 100000000);
        chunk_table_set(table, row, CHUNK_WALL_NS, wall);
        chunk_table_set(table, row, CHUNK_CPU_NS, wall * 3 / 4);
        chunk_table_set(table, row, CHUNK_RSS_START_BYTES, 300000000);
        chunk_table_set(table, row, CHUNK_RSS_END_BYTES, 300000000 + (int64_t)(i % 5) * 1048576);
        chunk_table_set(table, row, CHUNK_REQUESTED_BYTES, 1500000);
        set_bytes(table, i);
        chunk_table_set(table, row, CHUNK_TREE_BRANCHES, 50);
        chunk_table_set(table, row, CHUNK_TREE_BYTES, 40000000);
        chunk_table_set(table, row, CHUNK_SELECTED_BYTES, i % 2 ? 6000000 : 4000000);
        chunk_table_set(table, row, CHUNK_SELECTED_UNCOMPRESSED_BYTES, i % 2 ? 15000000 : 10000000);
}

static int add_parts(struct chunk_table *table, size_t i)
{
        int64_t values[SECTION_N_FIELDS];
        int r = sample_add_section(table, "select", 200000000);

        set_times(values, 100000000);
        values[SECTION_KIND] |= SECTION_MEMORY;
        values[SECTION_RSS_DELTA_BYTES] = (int64_t)(i % 5) * 1048576;
        if (r >= 0)
                r = chunk_table_add_section(table, "fill", 4, values);
        if (r >= 0)
                r = chunk_table_add_branch(table, "Muon_pt", 7, 1000000);
        if (r >= 0 && i % 2)
                r = chunk_table_add_branch(table, "Muon_eta", 8, CHUNK_ABSENT);
        return r;
}

int sample_chunks(struct chunk_table *table, size_t n)
{
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++) {
                r = chunk_table_add(table);
                if (r < 0)
                        break;
                set_numbers(table, i);
                r = set_texts(table, i);
                if (r >= 0)
                        r = add_parts(table, i);
        }
        return r;
}

int sample_add_chunks(struct roast_run *run, size_t n, struct roast_error *error)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        int r;

        chunk_table_init(&table);
        r = sample_chunks(&table, n);
        if (r < 0)
                return roast_fail_nomem(error);
        r = chunk_table_encode(&table, &bytes, error);
        return r < 0 ? r : roast_run_add_chunks(run, bytes.data, bytes.len, error);
}

/* A task begins 20 ms before its process(), and ends 30 ms after it. */
static int add_task(struct roast_run *run, size_t i, struct roast_error *error)
{
        int64_t start = SAMPLE_START_UTC_NS + (int64_t)i * 100000000 - 20000000;
        int64_t compute = 550000000 + (int64_t)(i % 7) * 10000000;
        char key[32], file[64];
        struct roast_task task = {
                .key = key,
                .prefix = "MyProcessor",
                .worker = addresses[i % 3],
                .attempt = 1,
                .outcome = i % 10 == 9 ? CHUNK_FAILED : CHUNK_FINISHED,
                .start_utc_ns = start,
                .stop_utc_ns = start + compute,
                .compute_start_utc_ns = start,
                .compute_ns = compute,
                .transfer_ns = -1,
                .deserialize_ns = -1,
                .disk_ns = -1,
                .result_bytes = 5000,
                .transfer_bytes = -1,
                .error_type = i % 10 == 9 ? "OSError" : NULL,
                .dataset = i % 3 ? "DYJets" : "TTbar",
                .file = file,
                .tree = "Events",
                .entry_start = (int64_t)(i % 4) * 25000,
                .entry_stop = (int64_t)(i % 4 + 1) * 25000,
                .cpu_ns = -1,
                .peak_memory_bytes = -1,
        };

        snprintf(key, sizeof(key), "MyProcessor-%zu", i);
        snprintf(file, sizeof(file), "root://host//store/file-%zu.root", i / 4);
        return roast_run_add_task(run, &task, error);
}

static int add_merging_task(struct roast_run *run, size_t i, struct roast_error *error)
{
        struct roast_task task = ROAST_TASK_INIT;
        char key[32];

        snprintf(key, sizeof(key), "reduce-%zu", i);
        task.key = key;
        task.prefix = "reduce";
        task.worker = addresses[0];
        task.attempt = 1;
        task.outcome = CHUNK_FINISHED;
        task.start_utc_ns = SAMPLE_START_UTC_NS + (int64_t)(i + 7) * 100000000;
        task.stop_utc_ns = task.start_utc_ns + 50000000;
        task.compute_start_utc_ns = task.start_utc_ns + 10000000;
        task.compute_ns = 40000000;
        task.transfer_ns = 10000000;
        task.transfer_bytes = 45000;
        return roast_run_add_task(run, &task, error);
}

int sample_add_tasks(struct roast_run *run, size_t n, struct roast_error *error)
{
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++) {
                r = add_task(run, i, error);
                if (r >= 0 && i % 10 == 9)
                        r = add_merging_task(run, i, error);
        }
        return r;
}

static int add_spans(struct roast_run *run, struct roast_error *error)
{
        static const struct {
                const char *prefix, *activity, *unit;
                double value;
        } spans[] = {
                { "MyProcessor", "thread-cpu", "seconds", 15.5 },
                { "MyProcessor", "thread-noncpu", "seconds", 4.5 },
                { "MyProcessor", "deserialize", "seconds", 0.25 },
                { "MyProcessor", "memory-read", "bytes", 130000 },
                { "MyProcessor", "memory-read", "count", 12 },
                { "reduce", "thread-cpu", "seconds", 0.75 },
                { "reduce", "disk-write", "bytes", 2500000 },
                { "reduce", "disk-write", "seconds", 0.125 },
                { "reduce", "serialize", "seconds", 0.5 },
                { "reduce", "compress", "seconds", 0.0625 },
        };
        int r = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(spans) && r >= 0; i++)
                r = roast_run_add_span(run, "execute", spans[i].prefix, spans[i].activity,
                                       spans[i].unit, spans[i].value, error);
        return r;
}

int sample_begin(struct roast_run *run, struct roast_error *error)
{
        struct roast_worker workers[] = {
                { "tcp://10.0.0.1:1001", "node1", 11, 2, 4000000000 },
                { "tcp://10.0.0.1:1002", "node1", 12, 2, 4000000000 },
                { "tcp://10.0.0.2:1003", NULL, -1, 4, -1 },
        };
        int r;

        r = roast_run_fact_text(run, "run.id", "00112233445566778899aabbccddeeff", error);
        if (r >= 0)
                r = roast_run_fact_text(run, "run.name", "sample", error);
        if (r >= 0)
                r = roast_run_fact_text(run, "processor.name", "MyProcessor", error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.start_utc_ns", SAMPLE_START_UTC_NS, error);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(workers) && r >= 0; i++)
                r = roast_run_add_worker_event(run, SAMPLE_START_UTC_NS, ROAST_WORKER_PRESENT,
                                               &workers[i], error);
        if (r >= 0)
                r = roast_run_add_worker_event(run, SAMPLE_START_UTC_NS + 5 * SAMPLE_S,
                                               ROAST_WORKER_WENT, &workers[2], error);
        return r;
}

int sample_end(struct roast_run *run, struct roast_error *error)
{
        int r = add_spans(run, error);

        if (r >= 0)
                r = roast_run_fact_int(run, "report.bytesread", 60000000, error);
        if (r >= 0)
                r = roast_run_fact_int(run, "report.entries", 900000, error);
        if (r >= 0)
                r = roast_run_fact_real(run, "report.processtime", 19.25, error);
        if (r >= 0)
                r = roast_run_fact_int(run, "report.chunks", 40, error);
        if (r >= 0)
                r = roast_run_fact_real(run, "metric.events_per_joule", 12.5, error);
        if (r >= 0)
                r = roast_run_fact_text(run, "metric.events_per_joule.unit", "events/J", error);
        if (r >= 0)
                r = roast_run_fact_text(run, "metric.events_per_joule.better", "more", error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.elapsed_ns", 10 * SAMPLE_S, error);
        if (r >= 0)
                r = roast_run_fact_text(run, "run.outcome", "finished", error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.end_utc_ns", SAMPLE_START_UTC_NS + 10 * SAMPLE_S,
                                       error);
        return r;
}

int sample_fill(struct roast_run *run, size_t n_chunks, struct roast_error *error)
{
        int r = sample_begin(run, error);

        if (r >= 0)
                r = roast_run_commit(run, error);
        if (r >= 0)
                r = sample_add_chunks(run, n_chunks, error);
        if (r >= 0)
                r = sample_add_tasks(run, n_chunks, error);
        if (r >= 0)
                r = roast_run_commit(run, error);
        if (r >= 0)
                r = sample_end(run, error);
        return r < 0 ? r : roast_run_commit(run, error);
}

static int dump_metrics(struct buf *out, const struct roast_metric_set *set)
{
        int r = 0;

        for (unsigned int i = 0; i < ROAST_N_METRICS && r >= 0; i++) {
                const struct roast_value *value = &set->values[i];

                r = buf_printf(out, "%s %d %a %lld %s\n", roast_metrics[i].key, (int)value->state,
                               value->real, (long long)value->count, roast_metric_reason(set, i));
        }
        return r;
}

char *sample_dump(const struct roast_summary *summary)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int r = dump_metrics(&out, &summary->metrics);

        for (size_t i = 0; i < summary->n_datasets && r >= 0; i++) {
                const struct roast_dataset *d = &summary->datasets[i];

                r = buf_printf(&out, "dataset %s %lld %lld %lld %a %a %a %lld %lld\n",
                               d->name ? d->name : "-", (long long)d->finished,
                               (long long)d->failed, (long long)d->events, d->wall_s, d->cpu_s,
                               d->requested_bytes, (long long)d->cpu_chunks,
                               (long long)d->bytes_chunks);
        }
        for (size_t i = 0; i < summary->n_files && r >= 0; i++) {
                const struct roast_file *f = &summary->files[i];

                r = buf_printf(&out, "file %s %lld %lld %lld %a %a %lld %a %a %a\n", f->name,
                               (long long)f->finished, (long long)f->failed, (long long)f->events,
                               f->wall_s, f->requested_bytes, (long long)f->branches_read,
                               f->bytes_read, f->branches_read_percent, f->bytes_read_percent);
        }
        for (size_t i = 0; i < summary->n_customs && r >= 0; i++)
                r = buf_printf(&out, "custom %s %a\n", summary->customs[i].key,
                               summary->customs[i].value.real);
        for (size_t i = 0; i < summary->n_sections && r >= 0; i++) {
                const struct roast_section *s = &summary->sections[i];

                r = buf_printf(&out, "section %s %d %lld %lld %a %a %a %a %a %a %a %lld\n", s->name,
                               s->kind, (long long)s->chunks, (long long)s->count, s->total_s,
                               s->self_s, s->min_s, s->max_s, s->rss_delta_bytes,
                               s->rss_delta_min_bytes, s->rss_delta_max_bytes, (long long)s->bytes);
        }
        for (size_t i = 0; i < summary->n_ledger && r >= 0; i++) {
                r = buf_printf(&out, "ledger %s %x", summary->ledger[i].worker,
                               summary->ledger[i].estimated);
                for (size_t j = 0; j < ROAST_LEDGER_N_PARTS && r >= 0; j++)
                        r = buf_printf(&out, " %a", summary->ledger[i].seconds[j]);
                if (r >= 0)
                        r = buf_puts(&out, "\n");
        }
        for (size_t i = 0; i < summary->n_failures && r >= 0; i++) {
                const struct roast_failure *f = &summary->failures[i];

                r = buf_printf(&out, "failure %d %s %s %lld %lld %a\n", f->outcome,
                               f->error_type ? f->error_type : "-",
                               f->error_message ? f->error_message : "-", (long long)f->attempts,
                               (long long)f->recovered, f->wall_s);
        }
        for (size_t i = 0; i < summary->n_branches && r >= 0; i++) {
                const struct roast_branch *b = &summary->branches[i];

                r = buf_printf(&out, "branch %s %lld %lld %lld\n", b->name, (long long)b->chunks,
                               (long long)b->needed.chunks, (long long)b->needed.bytes);
        }
        return r < 0 ? NULL : buf_release_string(&out);
}

char *sample_summary(struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        char *text;

        if (roast_summary_of_run(&summary, run, error) < 0)
                return NULL;
        text = sample_dump(&summary);
        if (!text)
                roast_fail_nomem(error);
        return text;
}

void sample_freep(struct roast_run **run)
{
        roast_run_free(*run);
}
