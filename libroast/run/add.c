/* What a run is made of, as rows: facts, workers, spans, chunks */

#include <string.h>

#include "record/chunk.h"
#include "run/run.h"
#include "util/cleanup.h"
#include "util/size.h"

static int add_fact(struct roast_run *run, const char *name, struct run_value value,
                    const char *reason, struct roast_error *error)
{
        struct run_value row[] = { run_string(name, strlen(name)), value,
                                   run_string(reason, reason ? strlen(reason) : 0) };

        return run_insert(run, RUN_FACT, row, 3, error);
}

int roast_run_fact_int(struct roast_run *run, const char *name, int64_t value,
                       struct roast_error *error)
{
        return add_fact(run, name, run_int(value), NULL, error);
}

int roast_run_fact_real(struct roast_run *run, const char *name, double value,
                        struct roast_error *error)
{
        return add_fact(run, name, run_real(value), isnan(value) ? "not a number" : NULL, error);
}

int roast_run_fact_text(struct roast_run *run, const char *name, const char *value,
                        struct roast_error *error)
{
        return add_fact(run, name, run_string(value, strlen(value)), NULL, error);
}

int roast_run_fact_absent(struct roast_run *run, const char *name, const char *reason,
                          struct roast_error *error)
{
        return add_fact(run, name, (struct run_value){ 0 }, reason, error);
}

/* Where a negative number stands for "not known" */
static struct run_value add_int_or_null(int64_t value)
{
        return value < 0 ? (struct run_value){ 0 } : run_int(value);
}

int run_text_value(struct roast_run *run, const char *string, size_t len, struct run_value *value,
                   struct roast_error *error)
{
        int64_t id = run_text(run, string, len, error);

        if (id < 0)
                return (int)id;
        *value = id ? run_int(id) : (struct run_value){ 0 };
        return 0;
}

int roast_run_add_worker_event(struct roast_run *run, int64_t utc_ns, enum roast_worker_event kind,
                               const struct roast_worker *worker, struct roast_error *error)
{
        struct run_value name, host;
        int r;

        r = run_text_value(run, worker->name, strlen(worker->name), &name, error);
        if (r >= 0)
                r = run_text_value(run, worker->host, worker->host ? strlen(worker->host) : 0,
                                   &host, error);
        if (r < 0)
                return r;
        return run_insert(run, RUN_WORKER_EVENT,
                          (struct run_value[]){ run_int(utc_ns), name, run_int(kind), host,
                                                add_int_or_null(worker->pid),
                                                add_int_or_null(worker->threads),
                                                add_int_or_null(worker->memory_limit_bytes) },
                          7, error);
}

int roast_run_add_span(struct roast_run *run, const char *kind, const char *prefix,
                       const char *activity, const char *unit, double value,
                       struct roast_error *error)
{
        struct run_value row[] = { run_string(kind, strlen(kind)),
                                   run_string(prefix, prefix ? strlen(prefix) : 0),
                                   run_string(activity, strlen(activity)),
                                   run_string(unit, unit ? strlen(unit) : 0), run_real(value) };

        return run_insert(run, RUN_SPAN, row, 5, error);
}

static int add_chunk(struct roast_run *run, const struct chunk_table *chunks, size_t row,
                     struct roast_error *error)
{
        struct run_value values[CHUNK_N_FIELDS];
        size_t len;

        for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++) {
                const char *text;
                int r = 0;

                values[i] = (struct run_value){ 0 };
                if (chunk_table_get(chunks, row, i) == CHUNK_ABSENT)
                        continue;
                switch (chunk_fields[i].type) {
                case CHUNK_TYPE_INT:
                        values[i] = run_int(chunk_table_get(chunks, row, i));
                        break;
                case CHUNK_TYPE_TEXT:
                        text = chunk_table_text(chunks, row, i, &len);
                        r = run_text_value(run, text, len, &values[i], error);
                        break;
                case CHUNK_TYPE_BLOB:
                        text = chunk_table_text(chunks, row, i, &len);
                        values[i] =
                                (struct run_value){ .type = RUN_BYTES, .data = text, .len = len };
                        break;
                }
                if (r < 0)
                        return r;
        }
        if (values[CHUNK_START_UTC_NS].type == RUN_INT) {
                const char *worker = chunk_table_text(chunks, row, CHUNK_WORKER, &len);
                int64_t *start_ns = &values[CHUNK_START_UTC_NS].integer;

                *start_ns = run_clock_correct(*start_ns, run_clock_offset(run, worker, len));
        }
        return run_insert(run, RUN_CHUNK, values, CHUNK_N_FIELDS, error);
}

static int add_parts(struct roast_run *run, enum run_table table, const struct chunk_table *chunks,
                     const struct chunk_parts *parts, size_t row, struct roast_error *error)
{
        int64_t chunk_id = run->tables[RUN_CHUNK].last_id;

        for (size_t i = parts->first[row]; i < parts->first[row + 1]; i++) {
                struct run_value values[SECTION_N_COLUMNS] = { run_int(chunk_id) };
                const char *name;
                size_t len;
                int r;

                name = intern_get(&chunks->strings, (size_t)parts->columns[0][i], &len);
                r = run_text_value(run, name, len, &values[PART_NAME], error);
                if (r < 0)
                        return r;
                for (size_t j = 1; j < parts->n_columns; j++)
                        if (parts->columns[j][i] != CHUNK_ABSENT)
                                values[j + 1] = run_int(parts->columns[j][i]);
                r = run_insert(run, table, values, parts->n_columns + 1, error);
                if (r < 0)
                        return r;
        }
        return 0;
}

/*
 * A record comes by the event and again in the output: an attempt is known by
 * who ran it and when it began. Without those it cannot be told, and is new.
 */
static int add_is_new(struct roast_run *run, const struct chunk_table *chunks, size_t row)
{
        static const enum chunk_field numbers[] = { CHUNK_PID, CHUNK_THREAD, CHUNK_START_UTC_NS,
                                                    CHUNK_ENTRY_START };
        static const enum chunk_field texts[] = { CHUNK_WORKER, CHUNK_HOST, CHUNK_FILE };
        uint64_t key = 0;

        if (chunk_table_get(chunks, row, CHUNK_START_UTC_NS) == CHUNK_ABSENT)
                return 1;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(numbers); i++) {
                int64_t value = chunk_table_get(chunks, row, numbers[i]);

                key = run_hash(key, &value, sizeof(value));
        }
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(texts); i++) {
                size_t len;
                const char *text = chunk_table_text(chunks, row, texts[i], &len);

                key = run_hash(key, text, len);
        }
        return run_seen_add(&run->seen, key);
}

int roast_run_add_chunks(struct roast_run *run, const void *data, size_t len,
                         struct roast_error *error)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table chunks;
        int r, n = 0;

        chunk_table_init(&chunks);
        r = chunk_table_decode(&chunks, data, len, error);
        for (size_t row = 0; row < chunks.n && r >= 0; row++) {
                size_t n_seen = run->seen.n;

                r = add_is_new(run, &chunks, row);
                if (r == 0)
                        continue;
                if (r < 0)
                        return roast_fail_nomem(error);
                n++;
                r = add_chunk(run, &chunks, row, error);
                if (r >= 0)
                        r = add_parts(run, RUN_SECTION, &chunks, &chunks.sections, row, error);
                if (r >= 0)
                        r = add_parts(run, RUN_BRANCH, &chunks, &chunks.branches, row, error);
                if (r < 0)
                        run_seen_truncate(&run->seen, n_seen);
        }
        return r < 0 ? r : n;
}
