/* The parts of a chunk record that hold others: branches, sections, the user's own; see record.h.
 */

#include <math.h>
#include <string.h>

#include "export/record.h"
#include "record/cbor-json.h"
#include "util/cbor.h"
#include "util/size.h"

static const char *record_part_name(const struct chunk_table *table,
                                    const struct chunk_parts *parts, size_t part, size_t *len)
{
        return intern_get(&table->strings, (size_t)parts->columns[0][part], len);
}

size_t record_n_branches(const struct record *record)
{
        const size_t *first = record->table->branches.first + record->row;

        return first[1] - first[0];
}

/* Bytes of the branches that are known; NaN: of none */
double record_branch_bytes(const struct record *record)
{
        const struct chunk_parts *parts = &record->table->branches;
        double sum = (double)NAN;

        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++)
                if (parts->columns[1][i] != CHUNK_ABSENT)
                        sum = (isnan(sum) ? 0 : sum) + (double)parts->columns[1][i];
        return sum;
}

/* Without branches and without a tree nobody looked. */
bool record_knows_branches(const struct record *record)
{
        return record_n_branches(record) ||
               chunk_table_get(record->table, record->row, CHUNK_TREE_BRANCHES) != CHUNK_ABSENT;
}

void record_put_branches(struct rows *rows, const struct record *record)
{
        const struct chunk_parts *parts = &record->table->branches;
        struct json *json;

        if (!record_knows_branches(record)) {
                rows_absent(rows);
                return;
        }
        json = rows_nested(rows);
        if (!json)
                return;
        json_array(json);
        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++) {
                size_t len;
                const char *name = record_part_name(record->table, parts, i, &len);

                json_string_n(json, name, len);
        }
        json_end(json);
}

void record_put_branch_bytes(struct rows *rows, const struct record *record)
{
        const struct chunk_parts *parts = &record->table->branches;
        struct json *json;

        if (isnan(record_branch_bytes(record))) {
                rows_absent(rows);
                return;
        }
        json = rows_nested(rows);
        if (!json)
                return;
        json_object(json);
        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++) {
                size_t len;
                const char *name = record_part_name(record->table, parts, i, &len);

                if (parts->columns[1][i] == CHUNK_ABSENT)
                        continue;
                json_key_n(json, name, len);
                json_int(json, parts->columns[1][i]);
        }
        json_end(json);
}

void record_put_scaled(struct json *json, const char *key, int64_t value, double unit)
{
        if (value == CHUNK_ABSENT)
                return;
        json_pair_double(json, key, (double)value / unit);
}

void record_put_count(struct json *json, const char *key, int64_t value)
{
        if (value == CHUNK_ABSENT)
                return;
        json_pair_int(json, key, value);
}

/* What sections of a kind took, by name: an object */
static void record_put_sums(struct json *json, const struct chunk_table *table, size_t row,
                            int64_t kind, enum section_field field, double unit)
{
        const struct chunk_parts *parts = &table->sections;

        json_object(json);
        for (size_t i = parts->first[row]; i < parts->first[row + 1]; i++) {
                size_t len;
                const char *name = record_part_name(table, parts, i, &len);
                int64_t kinds = parts->columns[1 + SECTION_KIND][i];
                int64_t value = parts->columns[1 + field][i];

                if (kinds == CHUNK_ABSENT || !(kinds & kind) || value == CHUNK_ABSENT)
                        continue;
                json_key_n(json, name, len);
                if (unit == 1)
                        json_int(json, value);
                else
                        json_double(json, (double)value / unit);
        }
        json_end(json);
}

/* The three dicts: timing in s, memory in MiB, bytes */
static void record_put_by_name(struct rows *rows, const struct record *record, int64_t kind,
                               enum section_field field, double unit)
{
        struct json *json = rows_nested(rows);

        if (json)
                record_put_sums(json, record->table, record->row, kind, field, unit);
}

void record_put_times(struct json *json, const struct chunk_table *table, size_t row)
{
        record_put_sums(json, table, row, SECTION_TIME, SECTION_TOTAL_NS, 1e9);
}

void record_put_timing(struct rows *rows, const struct record *record)
{
        record_put_by_name(rows, record, SECTION_TIME, SECTION_TOTAL_NS, 1e9);
}

void record_put_memory(struct rows *rows, const struct record *record)
{
        record_put_by_name(rows, record, SECTION_MEMORY, SECTION_RSS_DELTA_BYTES, 1 << 20);
}

void record_put_bytes(struct rows *rows, const struct record *record)
{
        record_put_by_name(rows, record, SECTION_BYTES_READ, SECTION_BYTES, 1);
}

/* The two lists: of times, and of memory */
static void record_put_list(struct rows *rows, const struct record *record, int64_t kind)
{
        const struct chunk_parts *parts = &record->table->sections;
        struct json *json = rows_nested(rows);

        if (!json)
                return;
        json_array(json);
        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++) {
                int64_t values[SECTION_N_FIELDS];
                size_t len;
                const char *name = record_part_name(record->table, parts, i, &len);

                for (size_t j = 0; j < SECTION_N_FIELDS; j++)
                        values[j] = parts->columns[1 + j][i];
                if (values[SECTION_KIND] == CHUNK_ABSENT || !(values[SECTION_KIND] & kind))
                        continue;
                json_object(json);
                json_key(json, "section_name");
                json_string_n(json, name, len);
                if (kind == SECTION_TIME) {
                        record_put_scaled(json, "time_delta", values[SECTION_TOTAL_NS], 1e9);
                        record_put_count(json, "count", values[SECTION_COUNT]);
                        record_put_scaled(json, "self_time", values[SECTION_SELF_NS], 1e9);
                        record_put_scaled(json, "min_time", values[SECTION_MIN_NS], 1e9);
                        record_put_scaled(json, "max_time", values[SECTION_MAX_NS], 1e9);
                } else {
                        record_put_scaled(json, "memory_start_gb", values[SECTION_RSS_START_BYTES],
                                          1e9);
                        record_put_scaled(json, "memory_end_gb", values[SECTION_RSS_END_BYTES],
                                          1e9);
                        record_put_scaled(json, "memory_delta_gb", values[SECTION_RSS_DELTA_BYTES],
                                          1e9);
                        record_put_count(json, "count", values[SECTION_COUNT]);
                }
                json_end(json);
        }
        json_end(json);
}

void record_put_sections(struct rows *rows, const struct record *record)
{
        record_put_list(rows, record, SECTION_TIME);
}

void record_put_memory_sections(struct rows *rows, const struct record *record)
{
        record_put_list(rows, record, SECTION_MEMORY);
}

struct custom {
        struct rows *rows;
        enum { ALL, TAKEN, FREE } which; /* those that have the name of a measured key, or not */
};

static bool record_is_taken(const char *key, size_t len)
{
        for (size_t i = 0; i < record_n_columns; i++)
                if (strlen(record_columns[i].key) == len &&
                    !memcmp(record_columns[i].key, key, len))
                        return true;
        return false;
}

static void record_put_pair(const char *key, size_t len, const void *value, size_t value_len,
                            void *context)
{
        const struct custom *custom = context;
        struct json *json = &custom->rows->out->json;

        if (custom->which != ALL && record_is_taken(key, len) != (custom->which == TAKEN))
                return;
        if (custom->which == TAKEN && len == 14 && !memcmp(key, "custom_metrics", 14)) {
                cbor_each_pair(value, value_len, record_put_pair,
                               &(struct custom){ custom->rows, ALL });
                return;
        }
        json_key_n(json, key, len);
        cbor_to_json(json, value, value_len);
}

/* What record_metric() collected, with what could not stand beside the measured keys */
void record_put_custom(struct rows *rows, const struct record *record)
{
        size_t len;
        const char *data = chunk_table_text(record->table, record->row, CHUNK_CUSTOM, &len);
        struct json *json = rows_nested(rows);

        if (!json)
                return;
        json_object(json);
        if (data)
                cbor_each_pair(data, len, record_put_pair, &(struct custom){ rows, TAKEN });
        json_end(json);
        if (data)
                cbor_each_pair(data, len, record_put_pair, &(struct custom){ rows, FREE });
}
