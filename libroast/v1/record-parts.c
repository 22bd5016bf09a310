/* Keys of a chunk record whose values have a shape of their own: see record.def. */

#include <math.h>

#include "util/array.h"
#include "util/cbor.h"
#include "util/size.h"
#include "v1/record.h"

/* A key of an object that is a number of a column */
struct record_figure {
        const char *key;
        int field;
        double unit;
};

bool v1_take_mem_delta_mb(struct v1_record *record, struct source *in)
{
        return v1_read_number(in, V1_MIB, &record->values[CHUNK_RSS_DELTA_BYTES]);
}

bool v1_take_accessed_bytes(struct v1_record *record, struct source *in)
{
        return v1_read_number(in, 1, &record->accessed_bytes);
}

bool v1_take_accessed_uncompressed_bytes(struct v1_record *record, struct source *in)
{
        return v1_read_number(in, 1, &record->accessed_uncompressed_bytes);
}

bool v1_take_branches_read_percent(struct v1_record *record, struct source *in)
{
        return v1_read_number(in, 1e7, &record->values[CHUNK_STATED_BRANCHES_PPB]);
}

bool v1_take_bytes_read_percent(struct v1_record *record, struct source *in)
{
        return v1_read_number(in, 1e7, &record->values[CHUNK_STATED_BYTES_PPB]);
}

bool v1_take_accessed_branches(struct v1_record *record, struct source *in)
{
        struct json_text name;

        if (!source_enter_if(in, JSON_ARRAY))
                return !in->bad;
        while (source_element(in)) {
                struct v1_branch *branch;

                if (source_type(in) != JSON_STRING) {
                        source_skip(in);
                        continue;
                }
                if (!source_text(in, &name))
                        return false;
                if (!name.data)
                        continue;
                if (ARRAY_ROOM(record->branches, record->n_branches, record->branches_cap) < 0)
                        return source_nomem(in);
                branch = &record->branches[record->n_branches];
                *branch = (struct v1_branch){ .name_len = name.len };
                if (!v1_keep_text(record, in, &name, &branch->name_at))
                        return false;
                record->n_branches++;
        }
        return !in->bad;
}

/* Sizes of the branches that were listed before, as a rule in the same order */
bool v1_take_branch_bytes(struct v1_record *record, struct source *in)
{
        size_t n = record->n_branches, next = 0;
        struct json_text key;

        record->of_chunk = true;
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                struct v1_value unknown;
                size_t i;

                if (!source_key_text(in, &key))
                        return false;
                for (i = 0; i < n && key.data; i++) {
                        const struct v1_branch *branch = &record->branches[(next + i) % n];

                        if (branch->name_len == key.len &&
                            !memcmp(v1_record_text(record, branch->name_at), key.data, key.len))
                                break;
                }
                if (n && i < n)
                        next += i;
                if (!v1_read_number(in, 1,
                                    n && i < n ? &record->branches[next++ % n].bytes : &unknown))
                        return false;
        }
        return !in->bad;
}

/* The section of that name, which is of that kind, too; a new one if there is none. NULL: no memory
 */
static struct v1_section *record_section(struct v1_record *record, struct source *in, int64_t kind,
                                         const struct json_text *name)
{
        struct v1_section *section;

        for (size_t i = 0; i < record->n_sections; i++) {
                section = &record->sections[i];
                if (section->name_len != name->len ||
                    memcmp(v1_record_text(record, section->name_at), name->data, name->len))
                        continue;
                section->fields[SECTION_KIND].integer |= kind;
                return section;
        }
        if (ARRAY_ROOM(record->sections, record->n_sections, record->sections_cap) < 0) {
                source_nomem(in);
                return NULL;
        }
        section = &record->sections[record->n_sections];
        *section = (struct v1_section){ .name_len = name->len };
        section->fields[SECTION_KIND] = (struct v1_value){ .type = V1_INT, .integer = kind };
        section->fields[SECTION_COUNT] = (struct v1_value){ .type = V1_INT, .integer = 1 };
        if (!v1_keep_text(record, in, name, &section->name_at))
                return NULL;
        record->n_sections++;
        return section;
}

/* {name: seconds}, {name: MB} or {name: bytes} */
static bool record_take_sections(struct v1_record *record, struct source *in, int64_t kind,
                                 enum section_field field, double unit)
{
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                struct v1_section *section;
                struct json_text name;
                struct v1_value value;

                if (!v1_read_number(in, unit, &value) || !source_key_text(in, &name))
                        return false;
                if (value.type == V1_ABSENT || !name.data)
                        continue;
                section = record_section(record, in, kind, &name);
                if (!section)
                        return false;
                section->fields[field] = value;
                if (kind == SECTION_TIME && section->fields[SECTION_SELF_NS].type == V1_ABSENT)
                        section->fields[SECTION_SELF_NS] = section->fields[SECTION_MIN_NS] =
                                section->fields[SECTION_MAX_NS] = value;
        }
        return !in->bad;
}

bool v1_take_timing(struct v1_record *record, struct source *in)
{
        return record_take_sections(record, in, SECTION_TIME, SECTION_TOTAL_NS, 1e9);
}

bool v1_take_memory(struct v1_record *record, struct source *in)
{
        return record_take_sections(record, in, SECTION_MEMORY, SECTION_RSS_DELTA_BYTES, V1_MIB);
}

bool v1_take_bytes(struct v1_record *record, struct source *in)
{
        return record_take_sections(record, in, SECTION_BYTES_READ, SECTION_BYTES, 1);
}

/* The known numbers of an object into values by their field; the others are passed over. */
static bool record_take_figures(struct source *in, struct v1_value *values,
                                const struct record_figure *known)
{
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                const struct record_figure *figure = known;
                struct v1_value value;

                while (figure->key && !source_key_is(in, figure->key))
                        figure++;
                if (!v1_read_number(in, figure->key ? figure->unit : 1, &value))
                        return false;
                if (figure->key && value.type != V1_ABSENT)
                        values[figure->field] = value;
        }
        return !in->bad;
}

/*
 * [{"section_name": ..., ...}]: more than the totals, of sections that are known by them. The name
 * stands first in what we write; what stands before it does not count.
 */
static bool record_refine_section(struct v1_record *record, struct source *in, int64_t kind,
                                  const struct record_figure *known)
{
        struct v1_section *section = NULL;
        struct json_text name;

        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                const struct record_figure *figure = known;
                struct v1_value value;

                if (source_key_is(in, "section_name") && source_type(in) == JSON_STRING) {
                        if (!source_text(in, &name))
                                return false;
                        section = name.data ? record_section(record, in, kind, &name) : NULL;
                        continue;
                }
                while (figure->key && !source_key_is(in, figure->key))
                        figure++;
                if (!v1_read_number(in, figure->key ? figure->unit : 1, &value))
                        return false;
                if (section && figure->key && value.type != V1_ABSENT)
                        section->fields[figure->field] = value;
        }
        return !in->bad;
}

static bool record_refine_sections(struct v1_record *record, struct source *in, int64_t kind,
                                   const struct record_figure *known)
{
        if (!source_enter_if(in, JSON_ARRAY))
                return !in->bad;
        while (source_element(in))
                if (!record_refine_section(record, in, kind, known))
                        return false;
        return !in->bad;
}

bool v1_take_sections(struct v1_record *record, struct source *in)
{
        static const struct record_figure known[] = {
                { "time_delta", SECTION_TOTAL_NS, 1e9 }, { "count", SECTION_COUNT, 1 },
                { "self_time", SECTION_SELF_NS, 1e9 },   { "min_time", SECTION_MIN_NS, 1e9 },
                { "max_time", SECTION_MAX_NS, 1e9 },     { 0 },
        };

        return record_refine_sections(record, in, SECTION_TIME, known);
}

bool v1_take_memory_sections(struct v1_record *record, struct source *in)
{
        static const struct record_figure known[] = {
                { "memory_start_gb", SECTION_RSS_START_BYTES, 1e9 },
                { "memory_end_gb", SECTION_RSS_END_BYTES, 1e9 },
                { "count", SECTION_COUNT, 1 },
                { 0 },
        };

        return record_refine_sections(record, in, SECTION_MEMORY, known);
}

bool v1_take_wall_split(struct v1_record *record, struct source *in)
{
        static const struct record_figure known[] = {
#define SPLIT(key, id, unit) { key, CHUNK_##id, unit },
#include "v1/split.def"
#undef SPLIT
                { 0 },
        };

        return record_take_figures(in, record->values, known);
}

/* What file_metadata says that is a column too */
struct record_file {
        struct v1_record *record;
        size_t at; /* of the blob */
};

static void record_note_file(const char *key, size_t key_len, const void *value, size_t value_len,
                             void *context)
{
        const struct record_file *file = context;
        struct v1_record *record = file->record;
        const struct json_text name = { key, key_len };
        struct cursor in = cursor_init(value, value_len);
        struct cbor_item item = cbor_next(&in);
        struct json_number number = { .real = cbor_number(&item) };

        if (json_text_is(&name, "total_branches"))
                record->values[CHUNK_TREE_BRANCHES] = v1_number(&number, 1);
        else if (json_text_is(&name, "total_tree_bytes"))
                record->values[CHUNK_TREE_BYTES] = v1_number(&number, 1);
        else if (json_text_is(&name, "filename") && item.type == CBOR_TEXT)
                record->metadata_file =
                        (struct v1_value){ .type = V1_TEXT,
                                           .at = (size_t)(item.data - record->texts.data),
                                           .len = (size_t)item.value };
}

bool v1_take_file_metadata(struct v1_record *record, struct source *in)
{
        const struct v1_value *blob = &record->values[CHUNK_FILE_METADATA];
        struct record_file file = { record, record->texts.len };

        if (!v1_take_blob(record, in, CHUNK_FILE_METADATA))
                return false;
        if (blob->type == V1_TEXT)
                cbor_each_pair(v1_record_text(record, blob->at), blob->len, record_note_file,
                               &file);
        return true;
}

bool v1_take_metadata(struct v1_record *record, struct source *in)
{
        return v1_take_blob(record, in, CHUNK_METADATA);
}

bool v1_take_peak_source(struct v1_record *record, struct source *in)
{
        struct json_text text;

        if (source_type(in) != JSON_STRING)
                return source_skip(in);
        if (!source_text(in, &text))
                return false;
        if (text.data)
                record->values[CHUNK_PEAK_SOURCE] =
                        (struct v1_value){ .type = V1_INT,
                                           .integer = json_text_is(&text, "exact")
                                                              ? CHUNK_PEAK_EXACT
                                                              : CHUNK_PEAK_SAMPLED };
        return true;
}

bool v1_take_outcome(struct v1_record *record, struct source *in)
{
        struct json_text text;

        if (source_type(in) != JSON_STRING)
                return source_skip(in);
        if (!source_text(in, &text))
                return false;
        for (int i = 0; text.data && i < CHUNK_N_OUTCOMES; i++)
                if (json_text_is(&text, chunk_outcomes[i]))
                        record->values[CHUNK_OUTCOME] =
                                (struct v1_value){ .type = V1_INT, .integer = i };
        return true;
}

/* Whatever it holds, the record is of a failure. */
bool v1_take_error(struct v1_record *record, struct source *in)
{
        record->failed = true;
        if (record->values[CHUNK_ERROR_MESSAGE].type != V1_ABSENT)
                return source_skip(in);
        return v1_take_text(record, in, CHUNK_ERROR_MESSAGE);
}
