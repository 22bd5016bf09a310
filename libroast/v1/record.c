/* One chunk record in the documented shape: see record.h. */

#include <math.h>
#include <stdlib.h>

#include "record/cbor-source.h"
#include "util/cbor.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "v1/record.h"

static bool record_take_nothing(struct v1_record *record, struct source *in)
{
        (void)record;
        return source_skip(in);
}

/* How the value of a key is read: by a function, or as a column */
static const struct v1_key {
        const char *key;
        bool (*take)(struct v1_record *record, struct source *in);
        enum chunk_field field;
        double unit;
} record_keys[] = {
#define SAME(key, id)       { key, NULL, CHUNK_##id, 1 },
#define REAL(key, id, unit) { key, NULL, CHUNK_##id, unit },
#define BOTH(key, name)     { key, v1_take_##name, 0, 1 },
#define NESTED(key, name)   BOTH(key, name)
#define MADE(key, name)     { key, record_take_nothing, 0, 1 },
#define PART(id)
#include "v1/record.def"
#undef SAME
#undef REAL
#undef BOTH
#undef NESTED
#undef MADE
#undef PART
        { NULL, v1_take_custom_metrics, 0, 1 },
};

enum { RECORD_OWN = ROAST_ARRAY_SIZE(record_keys) - 1 }; /* the user's own */

void v1_record_deinit(struct v1_record *record)
{
        buf_deinit(&record->texts);
        buf_deinit(&record->custom);
        free(record->sections);
        free(record->branches);
}

void v1_record_clear(struct v1_record *record)
{
        memset(record->values, 0, sizeof(record->values));
        buf_clear(&record->texts);
        buf_clear(&record->custom);
        record->seen = 0;
        record->n_sections = record->n_branches = record->n_custom = 0;
        record->has_dataset = record->has_duration = record->of_chunk = false;
        record->failed = false;
        record->accessed_bytes = record->accessed_uncompressed_bytes = (struct v1_value){ 0 };
        record->metadata_file = (struct v1_value){ 0 };
}

struct v1_value v1_number(const struct json_number *number, double unit)
{
        double real = number->real * unit;

        if (number->whole && unit == 1)
                return (struct v1_value){ .type = V1_INT, .integer = number->integer };
        if (!isfinite(real))
                return (struct v1_value){ 0 };
        if (real == rint(real) && fabs(real) < 9.2e18)
                return (struct v1_value){ .type = V1_INT, .integer = (int64_t)real };
        return (struct v1_value){ .type = V1_REAL, .real = real };
}

bool v1_read_number(struct source *in, double unit, struct v1_value *value)
{
        struct json_number number;

        if (!source_number_or_nan(in, &number))
                return false;
        *value = v1_number(&number, unit);
        return true;
}

int64_t v1_whole(const struct v1_value *value)
{
        if (value->type == V1_INT)
                return value->integer;
        return value->type == V1_REAL && fabs(value->real) < 9.2e18 ? llround(value->real)
                                                                    : CHUNK_ABSENT;
}

double v1_real(const struct v1_value *value)
{
        if (value->type == V1_INT)
                return (double)value->integer;
        return value->type == V1_REAL ? value->real : (double)NAN;
}

const char *v1_record_text(const struct v1_record *record, size_t at)
{
        return record->texts.data ? (const char *)record->texts.data + at : "";
}

bool v1_keep_text(struct v1_record *record, struct source *in, const struct json_text *text,
                  size_t *at)
{
        *at = record->texts.len;
        return buf_append(&record->texts, text->data, text->len) == 0 || source_nomem(in);
}

bool v1_take_text(struct v1_record *record, struct source *in, enum chunk_field field)
{
        struct json_text text;
        size_t at;

        if (source_type(in) != JSON_STRING)
                return source_skip(in);
        if (!source_text(in, &text))
                return false;
        if (!text.data)
                return true;
        if (!v1_keep_text(record, in, &text, &at))
                return false;
        record->values[field] = (struct v1_value){ .type = V1_TEXT, .at = at, .len = text.len };
        return true;
}

/* Appends CBOR to the record's texts; an empty map is no blob. */
bool v1_take_blob(struct v1_record *record, struct source *in, enum chunk_field field)
{
        size_t at = record->texts.len;

        if (source_type(in) != JSON_OBJECT)
                return source_skip(in);
        if (!cbor_of_source(&record->texts, in))
                return false;
        if (record->texts.len - at > 1)
                record->values[field] = (struct v1_value){ .type = V1_TEXT,
                                                           .at = at,
                                                           .len = record->texts.len - at };
        return true;
}

static bool record_take_number(struct v1_record *record, struct source *in, enum chunk_field field,
                               double unit)
{
        struct v1_value value;

        if (!v1_read_number(in, unit, &value))
                return false;
        if (value.type != V1_ABSENT)
                record->values[field] = value;
        return true;
}

/* An empty dict is not kept: the documented ones are there without anything in them, too. */
bool v1_take_custom_metrics(struct v1_record *record, struct source *in)
{
        size_t before = record->custom.len, value;
        struct json_text key;

        if (!source_key_text(in, &key))
                return false;
        if (!key.data)
                return source_skip(in);
        if (cbor_put_text(&record->custom, key.data, key.len) < 0)
                return source_nomem(in);
        value = record->custom.len;
        if (!cbor_of_source(&record->custom, in))
                return false;
        if (record->custom.len == value + 1 && record->custom.data[value] == 0xa0)
                record->custom.len = before;
        else
                record->n_custom++;
        return true;
}

/* Numbers from RECORD_OWN + 1 on are columns under their own name. */
static int record_find(const struct json_text *key)
{
        for (int i = 0; i < RECORD_OWN && key->data; i++)
                if (json_text_is(key, record_keys[i].key))
                        return i;
        for (int i = 0; i < CHUNK_N_FIELDS && key->data; i++)
                if (json_text_is(key, chunk_fields[i].name))
                        return RECORD_OWN + 1 + i;
        return RECORD_OWN;
}

_Static_assert(RECORD_OWN < 64, "a bit for each key");
_Static_assert(RECORD_OWN + 1 + CHUNK_N_FIELDS <= V1_KEYS_MAX, "a place for each key");

void v1_record_pick(struct v1_record *record, const struct json_text *key)
{
        record->picks = true;
        record->picked[record_find(key)] = true;
}

static int record_row_of(struct v1_record *record, struct source *in, size_t place)
{
        struct v1_place *known = place < V1_PLACES ? &record->places[place] : NULL;
        struct json_text key;
        int row;

        if (known && known->key && known->key == in->key)
                return known->row;
        if (!source_key_text(in, &key))
                return -1;
        row = known && known->row < RECORD_OWN && key.data &&
                              json_text_is(&key, record_keys[known->row].key)
                      ? known->row
                      : record_find(&key);
        if (known)
                *known = (struct v1_place){ in->key, row };
        return row;
}

static bool record_take_field(struct v1_record *record, struct source *in, enum chunk_field field,
                              double unit)
{
        switch (chunk_fields[field].type) {
        case CHUNK_TYPE_TEXT:
                record->has_dataset |= field == CHUNK_DATASET;
                return v1_take_text(record, in, field);
        case CHUNK_TYPE_BLOB:
                return v1_take_blob(record, in, field);
        default:
                record->has_duration |= field == CHUNK_WALL_NS;
                record->of_chunk |= field == CHUNK_TREE_BYTES;
                return record_take_number(record, in, field, unit);
        }
}

static bool record_take(struct v1_record *record, struct source *in, int row)
{
        if (record->picks && !record->picked[row])
                return source_skip(in);
        if (row > RECORD_OWN)
                return record_take_field(record, in, (enum chunk_field)(row - RECORD_OWN - 1), 1);
        if (record_keys[row].take) {
                if (row < RECORD_OWN && record->seen >> row & 1)
                        return source_fail(in, "a chunk has a key twice");
                record->seen |= (uint64_t)1 << row;
                return record_keys[row].take(record, in);
        }
        return record_take_field(record, in, record_keys[row].field, record_keys[row].unit);
}

/*
 * What the earlier package called accessed_bytes are the branches' bytes in the whole file. Where
 * the bytes of each branch or of the tree are given, accessed_bytes are those of the chunk, and the
 * percentage is of the whole file.
 */
static void record_set_selected(struct v1_record *record)
{
        struct v1_value *selected = &record->values[CHUNK_SELECTED_BYTES];
        double tree = v1_real(&record->values[CHUNK_TREE_BYTES]);
        double share = v1_real(&record->values[CHUNK_STATED_BYTES_PPB]) / 1e9;
        double growth =
                v1_real(&record->accessed_uncompressed_bytes) / v1_real(&record->accessed_bytes);

        if (!record->of_chunk) {
                if (record->accessed_bytes.type != V1_ABSENT)
                        *selected = record->accessed_bytes;
                if (record->accessed_uncompressed_bytes.type != V1_ABSENT)
                        record->values[CHUNK_SELECTED_UNCOMPRESSED_BYTES] =
                                record->accessed_uncompressed_bytes;
        } else if (share >= 0 && share <= 1 && tree >= 0) {
                *selected = v1_number(&(struct json_number){ .real = round(tree * share) }, 1);
                if (growth > 0)
                        record->values[CHUNK_SELECTED_UNCOMPRESSED_BYTES] = v1_number(
                                &(struct json_number){ .real = round(v1_real(selected) * growth) },
                                1);
        }
}

/* An error makes a failure, unless the record says that the attempt ended in yet another way. */
static void record_set_outcome(struct v1_record *record)
{
        struct v1_value *outcome = &record->values[CHUNK_OUTCOME];

        if (outcome->type != V1_INT || outcome->integer == CHUNK_FINISHED)
                *outcome = (struct v1_value){ .type = V1_INT,
                                              .integer = record->failed ? CHUNK_FAILED
                                                                        : CHUNK_FINISHED };
}

static bool record_finish(struct v1_record *record, struct source *in)
{
        const struct v1_value *start = &record->values[CHUNK_RSS_START_BYTES];
        const struct v1_value *end = &record->values[CHUNK_RSS_END_BYTES];
        struct v1_value *delta = &record->values[CHUNK_RSS_DELTA_BYTES];
        size_t at = record->texts.len;

        record_set_outcome(record);
        record_set_selected(record);
        if (record->values[CHUNK_FILE].type == V1_ABSENT)
                record->values[CHUNK_FILE] = record->metadata_file;
        if (fabs(v1_real(end) - v1_real(start) - v1_real(delta)) < 1)
                *delta = (struct v1_value){ 0 };
        if (!record->n_custom)
                return true;
        if (cbor_put(&record->texts, CBOR_MAP, record->n_custom) < 0 ||
            buf_append(&record->texts, record->custom.data, record->custom.len) < 0)
                return source_nomem(in);
        record->values[CHUNK_CUSTOM] =
                (struct v1_value){ .type = V1_TEXT, .at = at, .len = record->texts.len - at };
        return true;
}

bool v1_record_read(struct v1_record *record, struct source *in)
{
        v1_record_clear(record);
        if (!source_enter(in))
                return false;
        for (size_t place = 0; source_key(in); place++) {
                int row = record_row_of(record, in, place);

                if (row < 0 || !record_take(record, in, row))
                        return false;
        }
        return !in->bad && record_finish(record, in);
}

static int record_put_parts(const struct v1_record *record, struct chunk_table *table)
{
        int r = 0;

        for (size_t i = 0; i < record->n_sections && r == 0; i++) {
                const struct v1_section *section = &record->sections[i];
                int64_t values[SECTION_N_FIELDS];

                for (size_t j = 0; j < SECTION_N_FIELDS; j++)
                        values[j] = v1_whole(&section->fields[j]);
                r = chunk_table_add_section(table, v1_record_text(record, section->name_at),
                                            section->name_len, values);
        }
        for (size_t i = 0; i < record->n_branches && r == 0; i++)
                r = chunk_table_add_branch(
                        table, v1_record_text(record, record->branches[i].name_at),
                        record->branches[i].name_len, v1_whole(&record->branches[i].bytes));
        return r;
}

int v1_record_put(const struct v1_record *record, struct chunk_table *table)
{
        int r = chunk_table_add(table);

        for (unsigned int i = 0; i < CHUNK_N_FIELDS && r == 0; i++) {
                const struct v1_value *value = &record->values[i];

                if (value->type == V1_TEXT)
                        r = chunk_table_set_text(table, table->n - 1, i,
                                                 v1_record_text(record, value->at), value->len);
                else
                        chunk_table_set(table, table->n - 1, i, v1_whole(value));
        }
        return r < 0 ? r : record_put_parts(record, table);
}
