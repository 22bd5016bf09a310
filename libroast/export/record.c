/*
 * A chunk record as a row: see record.h.
 *
 * Keys and units are those of the documented dict; what is not known is left
 * out, where that has a 0.
 */

#include <math.h>
#include <string.h>

#include "export/record.h"
#include "record/cbor-json.h"
#include "util/cbor.h"
#include "util/size.h"

#define MIB 1048576.0

static int64_t record_get(const struct record *record, enum chunk_field field)
{
        return chunk_table_get(record->table, record->row, field);
}

double record_real(const struct chunk_table *table, size_t row, enum chunk_field field, double unit)
{
        int64_t value = chunk_table_get(table, row, field);

        return value == CHUNK_ABSENT ? (double)NAN : (double)value / unit;
}

static double record_field_real(const struct record *record, enum chunk_field field, double unit)
{
        return record_real(record->table, record->row, field, unit);
}

const char *record_outcome(const struct chunk_table *table, size_t row)
{
        int64_t value = chunk_table_get(table, row, CHUNK_OUTCOME);

        if (value == CHUNK_ABSENT)
                value = CHUNK_FINISHED;
        return value >= 0 && value < CHUNK_N_OUTCOMES ? chunk_outcomes[value] : "unknown";
}

static void record_put_end(struct rows *rows, const struct record *record)
{
        rows_real(rows, record_field_real(record, CHUNK_START_UTC_NS, 1e9) +
                                record_field_real(record, CHUNK_WALL_NS, 1e9));
}

static double record_memory_delta(const struct record *record, double unit)
{
        return (record_field_real(record, CHUNK_RSS_END_BYTES, 1) -
                record_field_real(record, CHUNK_RSS_START_BYTES, 1)) /
               unit;
}

static void record_put_delta_mb(struct rows *rows, const struct record *record)
{
        rows_real(rows, record_memory_delta(record, MIB));
}

static void record_put_delta_gb(struct rows *rows, const struct record *record)
{
        rows_real(rows, record_memory_delta(record, 1e9));
}

static void record_put_whole(struct rows *rows, double value)
{
        if (fabs(value) < 9e18)
                rows_int(rows, (int64_t)value);
        else
                rows_absent(rows);
}

static void record_put_n_branches(struct rows *rows, const struct record *record)
{
        if (record_knows_branches(record))
                rows_int(rows, (int64_t)record_n_branches(record));
        else
                rows_absent(rows);
}

static void record_put_accessed_bytes(struct rows *rows, const struct record *record)
{
        record_put_whole(rows, record_branch_bytes(record));
}

static void record_put_accessed_uncompressed(struct rows *rows, const struct record *record)
{
        record_put_whole(rows,
                         record_branch_bytes(record) *
                                 (record_field_real(record, CHUNK_SELECTED_UNCOMPRESSED_BYTES, 1) /
                                  record_field_real(record, CHUNK_SELECTED_BYTES, 1)));
}

static void record_put_branches_percent(struct rows *rows, const struct record *record)
{
        rows_real(rows, 100 * (double)record_n_branches(record) /
                                record_field_real(record, CHUNK_TREE_BRANCHES, 1));
}

static void record_put_bytes_percent(struct rows *rows, const struct record *record)
{
        rows_real(rows, 100 * record_field_real(record, CHUNK_SELECTED_BYTES, 1) /
                                record_field_real(record, CHUNK_TREE_BYTES, 1));
}

static void record_put_blob(struct rows *rows, const struct record *record, enum chunk_field field)
{
        size_t len;
        const char *data = chunk_table_text(record->table, record->row, field, &len);
        struct json *json;

        if (!data || !cbor_is_filled_map(data, len)) {
                rows_absent(rows);
                return;
        }
        json = rows_nested(rows);
        if (json)
                cbor_to_json(json, data, len);
}

static void record_put_file_metadata(struct rows *rows, const struct record *record)
{
        record_put_blob(rows, record, CHUNK_FILE_METADATA);
}

static void record_put_metadata(struct rows *rows, const struct record *record)
{
        record_put_blob(rows, record, CHUNK_METADATA);
}

static void record_put_chunk_id(struct rows *rows, const struct record *record)
{
        rows_int(rows, record->chunk_id);
}

static void record_put_peak_source(struct rows *rows, const struct record *record)
{
        int64_t value = record_get(record, CHUNK_PEAK_SOURCE);

        rows_string(rows, value == CHUNK_ABSENT       ? NULL
                          : value == CHUNK_PEAK_EXACT ? "exact"
                                                      : "sampled");
}

/* Parts of "wall_split" */
static const struct {
        const char *key;
        enum chunk_field field;
        double unit;
} record_split[] = {
        { "cpu", CHUNK_CPU_NS, 1e9 },
        { "runqueue", CHUNK_RUNQUEUE_NS, 1e9 },
        { "throttled", CHUNK_THROTTLED_NS, 1e9 },
        { "block_io", CHUNK_BLOCK_IO_NS, 1e9 },
        { "gil", CHUNK_GIL_NS, 1e9 },
        { "other", CHUNK_OTHER_NS, 1e9 },
        { "samples", CHUNK_SPLIT_SAMPLES, 1 },
};

static void record_put_split(struct rows *rows, const struct record *record)
{
        struct json *json;

        if (record_get(record, CHUNK_CPU_NS) == CHUNK_ABSENT) {
                rows_absent(rows);
                return;
        }
        json = rows_nested(rows);
        if (!json)
                return;
        json_object(json);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(record_split); i++) {
                int64_t value = record_get(record, record_split[i].field);

                if (record_split[i].unit == 1)
                        record_put_count(json, record_split[i].key, value);
                else
                        record_put_scaled(json, record_split[i].key, value, record_split[i].unit);
        }
        json_end(json);
}

static void record_put_outcome(struct rows *rows, const struct record *record)
{
        rows_string(rows, record_outcome(record->table, record->row));
}

/* The key alone says that the chunk failed. */
static void record_put_error(struct rows *rows, const struct record *record)
{
        size_t len;
        const char *text = chunk_table_text(record->table, record->row, CHUNK_ERROR_MESSAGE, &len);

        if (!text)
                text = chunk_table_text(record->table, record->row, CHUNK_ERROR_TYPE, &len);
        rows_text(rows, text, text ? len : 0);
}

/* How the value of a column comes about */
static const struct column {
        enum { INTEGER, REAL, STRING, OWN } kind;
        enum chunk_field field;
        double unit;
        void (*put)(struct rows *rows, const struct record *record);
} columns[] = {
#define INTEGER(key, field)    { INTEGER, field, 1, NULL },
#define REAL(key, field, unit) { REAL, field, unit, NULL },
#define STRING(key, field)     { STRING, field, 1, NULL },
#define OWN(key, put)          { OWN, 0, 1, put },
#define NESTED(key, put)       { OWN, 0, 1, put },
#include "export/record.def"
#undef INTEGER
#undef REAL
#undef STRING
#undef OWN
#undef NESTED
};

const struct rows_column record_columns[] = {
#define INTEGER(key, field)    { key, false },
#define REAL(key, field, unit) { key, false },
#define STRING(key, field)     { key, false },
#define OWN(key, put)          { key, false },
#define NESTED(key, put)       { key, true },
#include "export/record.def"
#undef INTEGER
#undef REAL
#undef STRING
#undef OWN
#undef NESTED
};

const size_t record_n_columns = ROAST_ARRAY_SIZE(record_columns);

void record_put(struct rows *rows, const struct chunk_table *table, size_t row, int64_t chunk_id)
{
        const struct record record = { table, row, chunk_id };

        rows_row(rows);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(columns); i++) {
                const struct column *column = &columns[i];
                const char *text;
                size_t len;

                switch (column->kind) {
                case INTEGER:
                        if (record_get(&record, column->field) == CHUNK_ABSENT)
                                rows_absent(rows);
                        else
                                rows_int(rows, record_get(&record, column->field));
                        break;
                case REAL:
                        rows_real(rows, record_field_real(&record, column->field, column->unit));
                        break;
                case STRING:
                        text = chunk_table_text(table, row, column->field, &len);
                        rows_text(rows, text, text ? len : 0);
                        break;
                case OWN:
                        column->put(rows, &record);
                        break;
                }
        }
        rows_row_end(rows);
}
