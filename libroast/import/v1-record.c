/*
 * One chunk record of a v1 measurement
 *
 * The keys are those of the documented dict, as the earlier package and ours
 * write them. What is not understood is a field of the user's own.
 */

#include <math.h>
#include <string.h>

#include "import/v1.h"
#include "record/cbor-json.h"
#include "record/documented.h"
#include "util/cbor.h"
#include "util/cleanup.h"
#include "util/size.h"

/* Keys whose values have a shape of their own */
enum own_key {
        OWN_TIMING,
        OWN_MEMORY,
        OWN_BYTES,
        OWN_BRANCHES,
        OWN_BRANCH_BYTES,
        OWN_SPLIT,
        OWN_OUTCOME,
        OWN_ERROR,
        OWN_PEAK_SOURCE,
        OWN_FILE_METADATA,
        OWN_METADATA,
        OWN_ACCESSED_BYTES,
        OWN_ACCESSED_UNCOMPRESSED,
        OWN_BYTES_PERCENT,
};

static const char *const own_keys[] = {
        [OWN_TIMING] = "timing",
        [OWN_MEMORY] = "memory",
        [OWN_BYTES] = "bytes",
        [OWN_BRANCHES] = "accessed_branches",
        [OWN_BRANCH_BYTES] = "branch_bytes",
        [OWN_SPLIT] = "wall_split",
        [OWN_OUTCOME] = "outcome",
        [OWN_ERROR] = "error",
        [OWN_PEAK_SOURCE] = "peak_source",
        [OWN_FILE_METADATA] = "file_metadata",
        [OWN_METADATA] = "metadata",
        [OWN_ACCESSED_BYTES] = "accessed_bytes",
        [OWN_ACCESSED_UNCOMPRESSED] = "accessed_uncompressed_bytes",
        [OWN_BYTES_PERCENT] = "bytes_read_percent",
        NULL,
};

/* A record that is being read */
struct record {
        struct v1_chunks *chunks;
        struct json_reader *in;
        struct buf custom; /* pairs of a CBOR map */
        size_t n_custom;
        uint32_t seen; /* bits of enum own_key */
        int64_t outcome;
        bool failed;
        int64_t accessed_bytes;
        int64_t accessed_uncompressed_bytes;
        double bytes_percent;
};

static void v1_set(const struct record *record, enum chunk_field field, int64_t value)
{
        struct chunk_table *table = &record->chunks->table;

        chunk_table_set(table, table->n - 1, field, value);
}

static int64_t v1_get(const struct record *record, enum chunk_field field)
{
        return chunk_table_get(&record->chunks->table, record->chunks->table.n - 1, field);
}

bool v1_read_scaled(struct json_reader *in, double unit, int64_t *value)
{
        struct json_number number;

        *value = CHUNK_ABSENT;
        if (json_read_type(in) != JSON_NUMBER)
                return json_read_skip(in);
        if (!json_read_number(in, &number))
                return false;
        *value = v1_scaled(&number, unit);
        return true;
}

static bool v1_read_number(struct record *record, enum chunk_field field, double unit)
{
        int64_t value;

        if (!v1_read_scaled(record->in, unit, &value))
                return false;
        if (value != CHUNK_ABSENT)
                v1_set(record, field, value);
        return true;
}

static bool v1_read_text(struct record *record, enum chunk_field field)
{
        struct chunk_table *table = &record->chunks->table;
        struct json_text text;

        if (json_read_type(record->in) != JSON_STRING)
                return json_read_skip(record->in);
        if (!json_read_string(record->in, &text))
                return false;
        return chunk_table_set_text(table, table->n - 1, field, text.data, text.len) == 0 ||
               json_read_nomem(record->in);
}

static bool v1_read_blob(struct record *record, enum chunk_field field)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct chunk_table *table = &record->chunks->table;

        if (json_read_type(record->in) != JSON_OBJECT)
                return json_read_skip(record->in);
        if (!cbor_of_json(&out, record->in))
                return false;
        if (out.len <= 1) /* an empty map */
                return true;
        return chunk_table_set_text(table, table->n - 1, field, out.data, out.len) == 0 ||
               json_read_nomem(record->in);
}

static bool v1_read_sections(struct record *record, int64_t kind, double unit)
{
        struct json_reader *in = record->in;
        struct json_text key;

        if (json_read_type(in) != JSON_OBJECT)
                return json_read_skip(in);
        json_read_object(in);
        while (json_read_key(in, &key)) {
                ROAST_CLEANUP(buf_deinit) struct buf name = BUF_INIT;
                int64_t values[SECTION_N_FIELDS], value;

                if (buf_append(&name, key.data, key.len) < 0)
                        return json_read_nomem(in);
                if (!v1_read_scaled(in, unit, &value))
                        return false;
                if (value == CHUNK_ABSENT)
                        continue;
                for (int i = 0; i < SECTION_N_FIELDS; i++)
                        values[i] = CHUNK_ABSENT;
                values[SECTION_KIND] = kind;
                values[SECTION_COUNT] = 1;
                if (kind == SECTION_TIME)
                        values[SECTION_TOTAL_NS] = values[SECTION_SELF_NS] =
                                values[SECTION_MIN_NS] = values[SECTION_MAX_NS] = value;
                else
                        values[kind == SECTION_MEMORY ? SECTION_RSS_DELTA_BYTES : SECTION_BYTES] =
                                value;
                if (chunk_table_add_section(&record->chunks->table,
                                            name.data ? (const char *)name.data : "", name.len,
                                            values) < 0)
                        return json_read_nomem(in);
        }
        return !in->problem;
}

static bool v1_read_branches(struct record *record)
{
        struct json_reader *in = record->in;
        struct json_text name;

        if (json_read_type(in) != JSON_ARRAY)
                return json_read_skip(in);
        json_read_array(in);
        while (json_read_element(in)) {
                if (json_read_type(in) != JSON_STRING) {
                        if (!json_read_skip(in))
                                return false;
                        continue;
                }
                if (!json_read_string(in, &name))
                        return false;
                if (chunk_table_add_branch(&record->chunks->table, name.data, name.len,
                                           CHUNK_ABSENT) < 0)
                        return json_read_nomem(in);
        }
        return !in->problem;
}

/* Sizes of the branches that were listed before, as a rule in the same order */
static bool v1_read_branch_bytes(struct record *record)
{
        const struct chunk_table *table = &record->chunks->table;
        const struct chunk_parts *parts = &table->branches;
        size_t first = parts->first[table->n - 1], n = parts->n - first, next = 0;
        struct json_reader *in = record->in;
        struct json_text key;

        if (json_read_type(in) != JSON_OBJECT)
                return json_read_skip(in);
        json_read_object(in);
        while (json_read_key(in, &key)) {
                int64_t bytes;
                size_t i;

                for (i = 0; i < n; i++) {
                        size_t at = first + (next + i) % n, len;
                        const char *name =
                                intern_get(&table->strings, (size_t)parts->columns[0][at], &len);

                        if (len == key.len && !memcmp(name, key.data, len))
                                break;
                }
                if (!v1_read_scaled(in, 1, &bytes))
                        return false;
                if (i < n) {
                        next = (next + i) % n;
                        parts->columns[1][first + next] = bytes;
                        next++;
                }
        }
        return !in->problem;
}

/* The numbers of an object that are known; the others are passed over. */
static bool v1_read_numbers(struct record *record, const struct documented_number *known)
{
        struct json_reader *in = record->in;
        struct json_text key;

        if (json_read_type(in) != JSON_OBJECT)
                return json_read_skip(in);
        json_read_object(in);
        while (json_read_key(in, &key)) {
                const struct documented_number *number = known;

                while (number->key && !json_text_is(&key, number->key))
                        number++;
                if (number->key ? !v1_read_number(record, number->field, number->unit)
                                : !json_read_skip(in))
                        return false;
        }
        return !in->problem;
}

/* Of the file's metadata also the totals of the tree, which are fields of their own */
static bool v1_read_file_metadata(struct record *record)
{
        static const struct documented_number totals[] = {
                { "total_branches", CHUNK_TREE_BRANCHES, 1 },
                { "total_tree_bytes", CHUNK_TREE_BYTES, 1 },
                { 0 },
        };
        const char *start = record->in->at;

        if (!v1_read_blob(record, CHUNK_FILE_METADATA))
                return false;
        record->in->at = start;
        return v1_read_numbers(record, totals);
}

static bool v1_read_word(struct record *record, enum own_key key)
{
        struct json_reader *in = record->in;
        struct json_text text;

        if (key == OWN_ERROR) { /* whatever it holds, the record is of a failure */
                record->failed = true;
                if (v1_get(record, CHUNK_ERROR_MESSAGE) == CHUNK_ABSENT)
                        return v1_read_text(record, CHUNK_ERROR_MESSAGE);
                return json_read_skip(in);
        }
        if (json_read_type(in) != JSON_STRING)
                return json_read_skip(in);
        if (!json_read_string(in, &text))
                return false;
        if (key == OWN_PEAK_SOURCE)
                v1_set(record, CHUNK_PEAK_SOURCE,
                       json_text_is(&text, "exact") ? CHUNK_PEAK_EXACT : CHUNK_PEAK_SAMPLED);
        for (int i = 0; key == OWN_OUTCOME && i < CHUNK_N_OUTCOMES; i++)
                if (json_text_is(&text, chunk_outcomes[i]))
                        record->outcome = i;
        return true;
}

static bool v1_read_own(struct record *record, enum own_key key)
{
        int64_t value;

        if (record->seen & 1u << key)
                return json_read_fail(record->in, "a chunk has a key twice");
        record->seen |= 1u << key;
        switch (key) {
        case OWN_TIMING:
                return v1_read_sections(record, SECTION_TIME, 1e9);
        case OWN_MEMORY:
                return v1_read_sections(record, SECTION_MEMORY, 1 << 20);
        case OWN_BYTES:
                return v1_read_sections(record, SECTION_BYTES_READ, 1);
        case OWN_BRANCHES:
                return v1_read_branches(record);
        case OWN_BRANCH_BYTES:
                return v1_read_branch_bytes(record);
        case OWN_SPLIT:
                return v1_read_numbers(record, documented_split);
        case OWN_FILE_METADATA:
                return v1_read_file_metadata(record);
        case OWN_METADATA:
                return v1_read_blob(record, CHUNK_METADATA);
        case OWN_ACCESSED_BYTES:
                return v1_read_scaled(record->in, 1, &record->accessed_bytes);
        case OWN_ACCESSED_UNCOMPRESSED:
                return v1_read_scaled(record->in, 1, &record->accessed_uncompressed_bytes);
        case OWN_BYTES_PERCENT:
                if (!v1_read_scaled(record->in, 1e9, &value))
                        return false;
                record->bytes_percent = value == CHUNK_ABSENT ? (double)NAN : (double)value / 1e9;
                return true;
        default:
                return v1_read_word(record, key);
        }
}

static bool v1_read_custom(struct record *record, const struct json_text *key)
{
        if (cbor_put_text(&record->custom, key->data, key->len) < 0)
                return json_read_nomem(record->in);
        record->n_custom++;
        return cbor_of_json(&record->custom, record->in);
}

static bool v1_read_value(struct record *record, const struct json_text *key)
{
        int own = v1_find(own_keys, key);

        if (own >= 0)
                return v1_read_own(record, (enum own_key)own);
        for (const struct documented_number *number = documented_numbers; number->key; number++)
                if (json_text_is(key, number->key))
                        return v1_read_number(record, number->field, number->unit);
        for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++) {
                if (!json_text_is(key, chunk_fields[i].name))
                        continue;
                if (chunk_fields[i].type == CHUNK_TYPE_TEXT)
                        return v1_read_text(record, i);
                return chunk_fields[i].type == CHUNK_TYPE_INT ? v1_read_number(record, i, 1)
                                                              : json_read_skip(record->in);
        }
        return v1_find(documented_derived, key) >= 0 ? json_read_skip(record->in)
                                                     : v1_read_custom(record, key);
}

/*
 * What the earlier package called accessed_bytes are the branches' bytes in the whole file; where
 * the bytes of each branch are given, accessed_bytes are those of the chunk, and the percentage
 * tells the others.
 */
static void v1_set_selected(struct record *record)
{
        int64_t tree = v1_get(record, CHUNK_TREE_BYTES), selected;
        bool of_chunk = record->seen & 1u << OWN_BRANCH_BYTES;

        if (!of_chunk) {
                v1_set(record, CHUNK_SELECTED_BYTES, record->accessed_bytes);
                v1_set(record, CHUNK_SELECTED_UNCOMPRESSED_BYTES,
                       record->accessed_uncompressed_bytes);
                return;
        }
        if (tree == CHUNK_ABSENT || !(record->bytes_percent >= 0 && record->bytes_percent <= 100))
                return;
        selected = llround((double)tree * record->bytes_percent / 100);
        v1_set(record, CHUNK_SELECTED_BYTES, selected);
        if (record->accessed_bytes > 0 && record->accessed_uncompressed_bytes > 0)
                v1_set(record, CHUNK_SELECTED_UNCOMPRESSED_BYTES,
                       v1_scaled(&(struct json_number){ .real = (double)selected },
                                 (double)record->accessed_uncompressed_bytes /
                                         (double)record->accessed_bytes));
}

static bool v1_finish_record(struct record *record)
{
        ROAST_CLEANUP(buf_deinit) struct buf map = BUF_INIT;
        struct chunk_table *table = &record->chunks->table;

        v1_set(record, CHUNK_OUTCOME,
               record->outcome != CHUNK_ABSENT ? record->outcome
               : record->failed                ? CHUNK_FAILED
                                               : CHUNK_FINISHED);
        v1_set_selected(record);
        v1_chunks_note(record->chunks, v1_get(record, CHUNK_START_UTC_NS),
                       v1_get(record, CHUNK_WALL_NS));
        if (!record->n_custom)
                return true;
        if (cbor_put(&map, CBOR_MAP, record->n_custom) < 0 ||
            buf_append(&map, record->custom.data, record->custom.len) < 0 ||
            chunk_table_set_text(table, table->n - 1, CHUNK_CUSTOM, map.data, map.len) < 0)
                return json_read_nomem(record->in);
        return true;
}

bool v1_record_read(struct v1_chunks *chunks, struct json_reader *in)
{
        struct record record = { .chunks = chunks,
                                 .in = in,
                                 .outcome = CHUNK_ABSENT,
                                 .accessed_bytes = CHUNK_ABSENT,
                                 .accessed_uncompressed_bytes = CHUNK_ABSENT,
                                 .bytes_percent = (double)NAN };
        struct json_text key;
        bool good = v1_chunks_add(chunks, in);

        if (good)
                json_read_object(in);
        while (good && json_read_key(in, &key))
                good = v1_read_value(&record, &key);
        good = good && !in->problem && v1_finish_record(&record);
        buf_deinit(&record.custom);
        return good;
}
