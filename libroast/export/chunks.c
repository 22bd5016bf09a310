/* Attempts at chunks, and their sections, as rows */

#include <math.h>
#include <string.h>

#include "export/export.h"
#include "util/size.h"
#include "v1/put-record.h"

/* So many records are in memory at a time. */
#define BATCH 256
/* More columns than a record has */
#define COLUMNS_MAX 128

struct walk {
        struct rows rows;
        const struct roast_export_options *options;
        int64_t chunk_id;
        int64_t n; /* that were written */
};

/* Ends a walk that has what it wants; no error of its own. */
#define ENOUGH (-100)

static bool chunks_is_graph(const struct chunk_table *table, size_t row)
{
        return chunk_table_get(table, row, CHUNK_OUTCOME) == CHUNK_GRAPH;
}

static bool chunks_is_wanted(const struct walk *walk, const struct chunk_table *table, size_t row)
{
        const char *dataset = walk->options->dataset, *text;
        size_t len;

        if (chunks_is_graph(table, row) || walk->chunk_id < walk->options->first)
                return false;
        if (!dataset)
                return true;
        text = chunk_table_text(table, row, CHUNK_DATASET, &len);
        return text && strlen(dataset) == len && !memcmp(text, dataset, len);
}

static int chunks_put(const struct chunk_table *table, void *context, struct roast_error *error)
{
        struct walk *walk = context;
        int r = 0;

        for (size_t row = 0; row < table->n && r >= 0; row++, walk->chunk_id++) {
                if (!chunks_is_wanted(walk, table, row))
                        continue;
                if (walk->options->limit && walk->n++ == walk->options->limit) {
                        if (walk->options->next)
                                *walk->options->next = walk->chunk_id;
                        return ENOUGH;
                }
                rows_row(&walk->rows);
                v1_put_record(rows_emit(&walk->rows),
                              &(struct v1_record){ table, row, walk->chunk_id, false });
                rows_row_end(&walk->rows);
                r = out_step(walk->rows.out, error);
        }
        return r;
}

static int chunks_walk(struct roast_run *run, const struct roast_export_options *options,
                       struct out *out, const struct rows_column *columns, size_t n_columns,
                       run_records_visitor visit, struct roast_error *error)
{
        struct walk walk = { .options = options };
        int r;

        if (options->next)
                *options->next = -1;

        rows_begin(&walk.rows, out, options->format, columns, n_columns);
        r = run_records(run, BATCH, visit, &walk, error);
        rows_end(&walk.rows);
        emit_json_deinit(&walk.rows.json);
        return r == ENOUGH ? 0 : r;
}

int export_chunks(struct roast_run *run, const struct roast_export_options *options,
                  struct out *out, struct roast_error *error)
{
        struct rows_column columns[COLUMNS_MAX];
        size_t n = 0;

        while (n < COLUMNS_MAX && (columns[n].key = v1_record_key(n, &columns[n].nested)))
                n++;
        return chunks_walk(run, options, out, columns, n, chunks_put, error);
}

static const struct rows_column section_columns[] = {
        { "section", false },
        { "kind", false },
        { "chunk_id", false },
        { "dataset", false },
        { "file", false },
        { "entry_start", false },
        { "entry_stop", false },
        { "worker", false },
        { "attempt", false },
        { "outcome", false },
        { "count", false },
        { "total_s", false },
        { "self_s", false },
        { "min_s", false },
        { "max_s", false },
        { "memory_start_bytes", false },
        { "memory_end_bytes", false },
        { "memory_delta_bytes", false },
        { "bytes", false },
};

static void chunks_put_int(struct rows *rows, int64_t value)
{
        if (value == CHUNK_ABSENT)
                rows_absent(rows);
        else
                rows_int(rows, value);
}

static void chunks_put_text(struct rows *rows, const struct chunk_table *table, size_t row,
                            enum chunk_field field)
{
        size_t len;
        const char *text = chunk_table_text(table, row, field, &len);

        rows_text(rows, text, text ? len : 0);
}

static void chunks_put_section(struct rows *rows, const struct chunk_table *table, size_t row,
                               size_t section, int64_t chunk_id)
{
        static const enum section_field times[] = { SECTION_TOTAL_NS, SECTION_SELF_NS,
                                                    SECTION_MIN_NS, SECTION_MAX_NS };
        static const enum section_field others[] = { SECTION_RSS_START_BYTES, SECTION_RSS_END_BYTES,
                                                     SECTION_RSS_DELTA_BYTES, SECTION_BYTES };
        const struct chunk_parts *parts = &table->sections;
        size_t len;
        const char *name = intern_get(&table->strings, (size_t)parts->columns[0][section], &len);
        int64_t kind = parts->columns[1 + SECTION_KIND][section];

        rows_row(rows);
        rows_text(rows, name, len);
        rows_string(rows, kind & SECTION_TIME         ? "time"
                          : kind & SECTION_MEMORY     ? "memory"
                          : kind & SECTION_BYTES_READ ? "bytes"
                                                      : NULL);
        rows_int(rows, chunk_id);
        chunks_put_text(rows, table, row, CHUNK_DATASET);
        chunks_put_text(rows, table, row, CHUNK_FILE);
        chunks_put_int(rows, chunk_table_get(table, row, CHUNK_ENTRY_START));
        chunks_put_int(rows, chunk_table_get(table, row, CHUNK_ENTRY_STOP));
        chunks_put_text(rows, table, row, CHUNK_WORKER);
        chunks_put_int(rows, chunk_table_get(table, row, CHUNK_ATTEMPT));
        rows_string(rows, v1_record_outcome(table, row));
        chunks_put_int(rows, parts->columns[1 + SECTION_COUNT][section]);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(times); i++) {
                int64_t ns = parts->columns[1 + times[i]][section];

                rows_real(rows, ns == CHUNK_ABSENT ? (double)NAN : (double)ns / 1e9);
        }
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(others); i++)
                chunks_put_int(rows, parts->columns[1 + others[i]][section]);
        rows_row_end(rows);
}

static int chunks_put_sections(const struct chunk_table *table, void *context,
                               struct roast_error *error)
{
        const struct chunk_parts *parts = &table->sections;
        struct walk *walk = context;
        int r = 0;

        for (size_t row = 0; row < table->n && r >= 0; row++, walk->chunk_id++) {
                if (chunks_is_graph(table, row))
                        continue;
                for (size_t i = parts->first[row]; i < parts->first[row + 1]; i++)
                        chunks_put_section(&walk->rows, table, row, i, walk->chunk_id);
                r = out_step(walk->rows.out, error);
        }
        return r;
}

int export_sections(struct roast_run *run, const struct roast_export_options *options,
                    struct out *out, struct roast_error *error)
{
        return chunks_walk(run, options, out, section_columns, ROAST_ARRAY_SIZE(section_columns),
                           chunks_put_sections, error);
}
