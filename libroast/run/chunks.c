/* The attempts at chunks of a run with their sections and branches: as tables, or encoded */

#include <stdlib.h>

#include "run/attempts.h"
#include "run/series.h"
#include "util/cleanup.h"

_Static_assert(CHUNK_N_FIELDS <= RUN_COLUMNS_MAX, "a row of chunk fits into a scan");

/* Parts of a chunk follow each other in both tables: the reader of parts stays one row ahead. */
struct part_reader {
        struct run_scan scan;
        bool has_row;
};

struct chunk_reader {
        struct chunk_table table;
        size_t batch;
        run_records_visitor visit;
        void *context;
        struct intern texts;
        struct part_reader sections;
        struct part_reader branches;
        int64_t chunk_id; /* of the last record */
};

static void chunks_reader_deinit(struct chunk_reader *reader)
{
        chunk_table_deinit(&reader->table);
        intern_deinit(&reader->texts);
}

static const char *chunks_read_text(const struct chunk_reader *reader,
                                    const struct run_value *value, size_t *len)
{
        if (value->type != RUN_INT || value->integer < 1 ||
            (uint64_t)value->integer > reader->texts.n)
                return NULL;
        return intern_get(&reader->texts, (size_t)value->integer - 1, len);
}

/* What a given record says in more digits than a column of a table has is rounded. */
static int64_t chunks_whole(const struct run_value *value)
{
        if (value->type == RUN_REAL)
                return fabs(value->real) < 9.2e18 ? llround(value->real) : CHUNK_ABSENT;
        return run_int_or(value, CHUNK_ABSENT);
}

static int chunks_read_one(struct chunk_reader *reader, const struct run_value *values)
{
        struct chunk_table *table = &reader->table;
        int r = chunk_table_add(table);

        for (unsigned int i = 0; i < CHUNK_N_FIELDS && r >= 0; i++) {
                const char *text = values[i].data;
                size_t len = values[i].len;

                if (values[i].type == RUN_NULL)
                        continue;
                if (chunk_fields[i].type == CHUNK_TYPE_INT) {
                        chunk_table_set(table, table->n - 1, i, chunks_whole(&values[i]));
                        continue;
                }
                if (chunk_fields[i].type == CHUNK_TYPE_TEXT)
                        text = chunks_read_text(reader, &values[i], &len);
                if (text)
                        r = chunk_table_set_text(table, table->n - 1, i, text, len);
        }
        return r;
}

static int chunks_corrupt(const struct part_reader *parts, const char *what,
                          struct roast_error *error)
{
        return roast_fail(error, ROAST_E_CORRUPT, "%s: is damaged (table %s: a row %s)",
                          run_label(parts->scan.run), run_tables[parts->scan.table].name, what);
}

static int chunks_part_step(struct part_reader *parts, struct roast_error *error)
{
        int r;

        do { /* sections of no chunk were given by themselves */
                r = run_scan_next(&parts->scan, error);
                parts->has_row = r > 0;
        } while (r > 0 && parts->scan.values[0].type == RUN_NULL);
        return r;
}

static int chunks_read_part(struct chunk_reader *reader, const struct part_reader *parts,
                            struct roast_error *error)
{
        const struct run_value *values = parts->scan.values;
        int64_t fields[SECTION_N_FIELDS];
        const char *name;
        size_t len;
        int r;

        name = chunks_read_text(reader, &values[PART_NAME], &len);
        if (!name)
                return chunks_corrupt(parts, "without a name", error);
        for (size_t i = 0; i < SECTION_N_FIELDS; i++)
                fields[i] = chunks_whole(&values[i + 2]);
        if (parts->scan.table == RUN_SECTION)
                r = chunk_table_add_section(&reader->table, name, len, fields);
        else
                r = chunk_table_add_branch(&reader->table, name, len, fields[0]);
        return r < 0 ? roast_fail_nomem(error) : 0;
}

/* Those of records that are part of another attempt are passed over. */
static int chunks_read_parts(struct chunk_reader *reader, struct part_reader *parts,
                             int64_t chunk_id, struct roast_error *error)
{
        int r = 0;

        while (r >= 0 && parts->has_row && parts->scan.values[PART_CHUNK_ID].integer <= chunk_id) {
                int64_t id = parts->scan.values[PART_CHUNK_ID].integer;

                if (id <= reader->chunk_id)
                        return chunks_corrupt(parts, "of no chunk", error);
                if (id == chunk_id)
                        r = chunks_read_part(reader, parts, error);
                if (r >= 0)
                        r = chunks_part_step(parts, error);
        }
        return r;
}

static int chunks_read_attempt(const struct run_attempt *attempt, void *context,
                               struct roast_error *error)
{
        struct chunk_reader *reader = context;
        int r;

        if (reader->table.n == reader->batch) {
                r = reader->visit(&reader->table, reader->context, error);
                if (r < 0)
                        return r;
                chunk_table_clear(&reader->table);
        }
        if (chunks_read_one(reader, attempt->chunk) < 0)
                return roast_fail_nomem(error);
        if (attempt->chunk_id == 0)
                return 0;
        r = chunks_read_parts(reader, &reader->sections, attempt->chunk_id, error);
        if (r >= 0)
                r = chunks_read_parts(reader, &reader->branches, attempt->chunk_id, error);
        reader->chunk_id = attempt->chunk_id;
        return r < 0 ? r : 0;
}

static int chunks_read_all(struct chunk_reader *reader, struct roast_run *run,
                           struct roast_error *error)
{
        int r;

        r = run_read_texts(run, &reader->texts, error);
        if (r >= 0)
                r = run_scan_begin(&reader->sections.scan, run, RUN_SECTION, error);
        if (r >= 0)
                r = chunks_part_step(&reader->sections, error);
        if (r >= 0)
                r = run_scan_begin(&reader->branches.scan, run, RUN_BRANCH, error);
        if (r >= 0)
                r = chunks_part_step(&reader->branches, error);
        if (r >= 0)
                r = roast_run_attempts(run, chunks_read_attempt, reader, error);
        if (r >= 0 && reader->sections.has_row)
                r = chunks_corrupt(&reader->sections, "of no chunk", error);
        if (r >= 0 && reader->branches.has_row)
                r = chunks_corrupt(&reader->branches, "of no chunk", error);
        run_scan_end(&reader->sections.scan);
        run_scan_end(&reader->branches.scan);
        return r;
}

int run_records(struct roast_run *run, size_t batch, run_records_visitor visit, void *context,
                struct roast_error *error)
{
        ROAST_CLEANUP(chunks_reader_deinit)
        struct chunk_reader reader = { .batch = batch, .visit = visit, .context = context };
        int r;

        chunk_table_init(&reader.table);
        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = chunks_read_all(&reader, run, error);
        run_view_end(run);
        return r < 0 ? r : visit(&reader.table, context, error);
}

static int chunks_encode(const struct chunk_table *table, void *context, struct roast_error *error)
{
        return chunk_table_encode(table, context, error);
}

int roast_run_encode_chunks(struct roast_run *run, void **data, size_t *len,
                            struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int r;

        r = run_records(run, SIZE_MAX, chunks_encode, &out, error);
        if (r < 0)
                return r;
        *data = out.data;
        *len = out.len;
        out.data = NULL;
        return 0;
}
