#pragma once
/*
 * One chunk record in the documented shape, read from JSON or from Python
 *
 * The keys are those of record.def. A record is read into an object of its own, which is used again
 * for the next one; from there it becomes a row of a table of records, or rows of a run.
 */

#include "record/chunk.h"
#include "util/source.h"

#define V1_MIB 1048576.0

/* What is known of a column: a number in its unit, or text. All-zero is absent. */
struct v1_value {
        enum { V1_ABSENT, V1_INT, V1_REAL, V1_TEXT } type;
        union {
                int64_t integer;
                double real; /* finite, and no whole number that fits */
                size_t at;   /* in the record's texts */
        };
        size_t len;
};

struct v1_section {
        size_t name_at;
        size_t name_len;
        struct v1_value fields[SECTION_N_FIELDS];
};

struct v1_branch {
        size_t name_at;
        size_t name_len;
        struct v1_value bytes;
};

/* Which key stood at a place of the record before: that of the next one is the same, as a rule. */
struct v1_place {
        const void *key;
        int row; /* of the table of keys, as v1_record_find() has them */
};

enum { V1_PLACES = 80, V1_KEYS_MAX = 160 };

struct v1_record {
        struct v1_value values[CHUNK_N_FIELDS];
        struct buf texts;
        struct v1_section *sections;
        size_t n_sections;
        size_t sections_cap;
        struct v1_branch *branches;
        size_t n_branches;
        size_t branches_cap;
        struct buf custom; /* pairs of a CBOR map */
        size_t n_custom;
        uint64_t seen;    /* keys whose values are no columns, by their place in record.def */
        bool has_dataset; /* the key is there, whatever it holds */
        bool has_duration;
        bool of_chunk; /* accessed_bytes are of the chunk, and not of the whole file */
        bool failed;
        /* as they stand in the record; what they say depends on other keys */
        struct v1_value accessed_bytes;
        struct v1_value accessed_uncompressed_bytes;
        struct v1_value metadata_file; /* the file that file_metadata names */
        struct v1_place places[V1_PLACES];
        bool picks; /* only some keys are read */
        bool picked[V1_KEYS_MAX];
};

void v1_record_deinit(struct v1_record *record);
/* Nothing is known of it. */
void v1_record_clear(struct v1_record *record);
/* From now on the keys that were named are read, and no others. */
void v1_record_pick(struct v1_record *record, const struct json_text *key);
/* The object that comes next; false: the source knows why. */
bool v1_record_read(struct v1_record *record, struct source *in);

/* A value as a whole number; CHUNK_ABSENT: not known, or out of range */
int64_t v1_whole(const struct v1_value *value);
/* NaN: not known */
double v1_real(const struct v1_value *value);
const char *v1_record_text(const struct v1_record *record, size_t at);
/* A number of a unit; what is not finite is absent. */
struct v1_value v1_number(const struct json_number *number, double unit);
/* The same of a value that comes next; anything else is passed over, and absent. */
bool v1_read_number(struct source *in, double unit, struct v1_value *value);

/* Adds the record as a row; 0 or ROAST_E_NOMEM. */
int v1_record_put(const struct v1_record *record, struct chunk_table *table);

/* record-parts.c: reads the value of a key; v1_take_NAME of record.def */
#define SAME(key, id)
#define REAL(key, id, unit)
#define MADE(key, name)
#define PART(id)
#define BOTH(key, name)   bool v1_take_##name(struct v1_record *record, struct source *in);
#define NESTED(key, name) BOTH(key, name)
#include "v1/record.def"
#undef SAME
#undef REAL
#undef MADE
#undef PART
#undef BOTH
#undef NESTED

/* For them: text into the record; a value of a field */
bool v1_keep_text(struct v1_record *record, struct source *in, const struct json_text *text,
                  size_t *at);
bool v1_take_text(struct v1_record *record, struct source *in, enum chunk_field field);
bool v1_take_blob(struct v1_record *record, struct source *in, enum chunk_field field);
