/* A chunk record as the documented dict: see put-record.h. */

#include "v1/put-record.h"
#include "util/cbor.h"
#include "util/size.h"
#include "v1/put-parts.h"

double v1_record_real(const struct chunk_table *table, size_t row, enum chunk_field field,
                      double unit)
{
        int64_t value = chunk_table_get(table, row, field);

        return value == CHUNK_ABSENT ? (double)NAN : (double)value / unit;
}

const char *v1_record_outcome(const struct chunk_table *table, size_t row)
{
        int64_t value = chunk_table_get(table, row, CHUNK_OUTCOME);

        if (value == CHUNK_ABSENT)
                value = CHUNK_FINISHED;
        return value >= 0 && value < CHUNK_N_OUTCOMES ? chunk_outcomes[value] : "unknown";
}

static int64_t put_get(const struct v1_record *record, enum chunk_field field)
{
        return chunk_table_get(record->table, record->row, field);
}

static double put_field(const struct v1_record *record, enum chunk_field field, double unit)
{
        return v1_record_real(record->table, record->row, field, unit);
}

/* ---- what makes the values of keys that are no columns ---- */

static void put_t_end(struct emit *emit, const struct v1_record *record, const char *key)
{
        double start = put_field(record, CHUNK_START_UTC_NS, 1e9);
        double wall = put_field(record, CHUNK_WALL_NS, 1e9);

        if (isnan(wall) && record->fallbacks)
                wall = 0;
        put_real(emit, record, key, start + wall, PUT_ZERO);
}

static double put_grown(const struct v1_record *record, double unit)
{
        return (put_field(record, CHUNK_RSS_END_BYTES, 1) -
                put_field(record, CHUNK_RSS_START_BYTES, 1)) /
               unit;
}

static void put_mem_delta_mb(struct emit *emit, const struct v1_record *record, const char *key)
{
        put_real(emit, record, key, put_grown(record, V1_MIB), PUT_ZERO);
}

static void put_memory_start_gb(struct emit *emit, const struct v1_record *record, const char *key)
{
        put_real(emit, record, key, put_field(record, CHUNK_RSS_START_BYTES, 1e9), PUT_NULL);
}

static void put_memory_end_gb(struct emit *emit, const struct v1_record *record, const char *key)
{
        put_real(emit, record, key, put_field(record, CHUNK_RSS_END_BYTES, 1e9), PUT_NULL);
}

static void put_memory_delta_gb(struct emit *emit, const struct v1_record *record, const char *key)
{
        put_real(emit, record, key, put_grown(record, 1e9), PUT_NULL);
}

static void put_accessed_uncompressed_bytes(struct emit *emit, const struct v1_record *record,
                                            const char *key)
{
        put_whole(emit, record, key,
                  put_branch_sum(record) *
                          (put_field(record, CHUNK_SELECTED_UNCOMPRESSED_BYTES, 1) /
                           put_field(record, CHUNK_SELECTED_BYTES, 1)));
}

static void put_branches_read_percent(struct emit *emit, const struct v1_record *record,
                                      const char *key)
{
        put_real(emit, record, key,
                 100 * (double)put_n_branches(record) / put_field(record, CHUNK_TREE_BRANCHES, 1),
                 PUT_ZERO);
}

static void put_bytes_read_percent(struct emit *emit, const struct v1_record *record,
                                   const char *key)
{
        put_real(emit, record, key,
                 100 * put_field(record, CHUNK_SELECTED_BYTES, 1) /
                         put_field(record, CHUNK_TREE_BYTES, 1),
                 PUT_ZERO);
}

/* A dict that is kept as CBOR; without one nothing, or an empty one */
static void put_blob(struct emit *emit, const struct v1_record *record, const char *key,
                     enum chunk_field field, bool always)
{
        size_t len;
        const char *data = chunk_table_text(record->table, record->row, field, &len);
        bool filled = data && cbor_is_filled_map(data, len);

        if (!filled && !always)
                return;
        emit_key(emit, key);
        if (filled) {
                emit_cbor(emit, data, len);
                return;
        }
        emit_object(emit);
        emit_end(emit);
}

static void put_file_metadata(struct emit *emit, const struct v1_record *record, const char *key)
{
        put_blob(emit, record, key, CHUNK_FILE_METADATA, false);
}

static void put_metadata(struct emit *emit, const struct v1_record *record, const char *key)
{
        put_blob(emit, record, key, CHUNK_METADATA, record->fallbacks);
}

static void put_chunk_id(struct emit *emit, const struct v1_record *record, const char *key)
{
        emit_pair_int(emit, key, record->chunk_id);
}

static void put_peak_source(struct emit *emit, const struct v1_record *record, const char *key)
{
        int64_t value = put_get(record, CHUNK_PEAK_SOURCE);

        if (value != CHUNK_ABSENT)
                emit_pair_text(emit, key, value == CHUNK_PEAK_EXACT ? "exact" : "sampled");
        else
                put_absent(emit, record, key, PUT_NULL);
}

static void put_wall_split(struct emit *emit, const struct v1_record *record, const char *key)
{
        if (put_get(record, CHUNK_CPU_NS) == CHUNK_ABSENT && !record->fallbacks)
                return;
        emit_key(emit, key);
        emit_object(emit);
#define SPLIT(name, id, unit)                                                                      \
        if ((unit) == 1)                                                                           \
                put_int(emit, record, name, put_get(record, CHUNK_##id), PUT_ZERO);                \
        else                                                                                       \
                put_real(emit, record, name, put_field(record, CHUNK_##id, unit), PUT_NULL);
#include "v1/split.def"
#undef SPLIT
        emit_end(emit);
}

static void put_outcome(struct emit *emit, const struct v1_record *record, const char *key)
{
        emit_pair_text(emit, key, v1_record_outcome(record->table, record->row));
}

/* The key alone says that the chunk failed. */
static void put_error(struct emit *emit, const struct v1_record *record, const char *key)
{
        size_t len;
        const char *text = chunk_table_text(record->table, record->row, CHUNK_ERROR_MESSAGE, &len);

        if (!text)
                text = chunk_table_text(record->table, record->row, CHUNK_ERROR_TYPE, &len);
        if (!text)
                return;
        emit_key(emit, key);
        emit_text_n(emit, text, len);
}

/* ---- the table ---- */

enum put_how { PUT_SAME, PUT_REAL, PUT_MADE };

static const struct put_row {
        const char *key;
        enum put_how how;
        enum chunk_field field;
        double unit;
        void (*put)(struct emit *emit, const struct v1_record *record, const char *key);
        bool nested;
} rows[] = {
#define SAME(key, field)       { key, PUT_SAME, CHUNK_##field, 1, NULL, false },
#define REAL(key, field, unit) { key, PUT_REAL, CHUNK_##field, unit, NULL, false },
#define BOTH(key, name)        { key, PUT_MADE, 0, 1, put_##name, false },
#define MADE(key, name)        { key, PUT_MADE, 0, 1, put_##name, false },
#define NESTED(key, name)      { key, PUT_MADE, 0, 1, put_##name, true },
#define PART(field)
#include "v1/record.def"
#undef SAME
#undef REAL
#undef BOTH
#undef MADE
#undef NESTED
#undef PART
};

_Static_assert(CHUNK_N_FIELDS <= 64, "the columns that have a key are bits of a number");

/* Columns that a row names; the others follow under their own names. */
static const uint64_t named = 0
#define SAME(key, field)       | 1ull << CHUNK_##field
#define REAL(key, field, unit) | 1ull << CHUNK_##field
#define BOTH(key, name)
#define MADE(key, name)
#define NESTED(key, name)
#define PART(field) | 1ull << CHUNK_##field
#include "v1/record.def"
#undef SAME
#undef REAL
#undef BOTH
#undef MADE
#undef NESTED
#undef PART
        ;

const char *v1_record_key(size_t i, bool *nested)
{
        *nested = i < ROAST_ARRAY_SIZE(rows) && rows[i].nested;
        if (i < ROAST_ARRAY_SIZE(rows))
                return rows[i].key;
        i -= ROAST_ARRAY_SIZE(rows);
        for (unsigned int field = 0; field < CHUNK_N_FIELDS; field++)
                if (!(named >> field & 1) && i-- == 0)
                        return chunk_fields[field].name;
        return NULL;
}

/* Of a column that is not known: no key where the key itself says something */
static enum put_fallback put_fallback_of(enum chunk_field field, const char *key)
{
        if (field == CHUNK_NUM_EVENTS || field == CHUNK_ERROR_TYPE || field == CHUNK_ERROR_MESSAGE)
                return PUT_NOTHING;
        return strcmp(key, "bytes_read") == 0 ? PUT_ZERO : PUT_NULL;
}

static void put_column(struct emit *emit, const struct v1_record *record, const char *key,
                       enum chunk_field field)
{
        const char *text;
        size_t len;

        if (chunk_fields[field].type == CHUNK_TYPE_INT) {
                put_int(emit, record, key, put_get(record, field), put_fallback_of(field, key));
                return;
        }
        text = chunk_table_text(record->table, record->row, field, &len);
        if (!text) {
                put_absent(emit, record, key, put_fallback_of(field, key));
                return;
        }
        emit_key(emit, key);
        emit_text_n(emit, text, len);
}

void v1_put_record(struct emit *emit, const struct v1_record *record)
{
        bool early = true; /* the keys of the earlier package, before chunk_id */

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                const struct put_row *row = &rows[i];

                if (row->how == PUT_SAME)
                        put_column(emit, record, row->key, row->field);
                else if (row->how == PUT_REAL)
                        put_real(emit, record, row->key, put_field(record, row->field, row->unit),
                                 early ? PUT_ZERO : PUT_NULL);
                else
                        row->put(emit, record, row->key);
                early = early && row->put != put_chunk_id;
        }
        for (unsigned int field = 0; field < CHUNK_N_FIELDS; field++)
                if (!(named >> field & 1))
                        put_column(emit, record, chunk_fields[field].name, field);
        put_own_fields(emit, record);
}
