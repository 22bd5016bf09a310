/* The parts of a chunk record that hold others: branches, sections, the user's own fields */

#include "v1/put-parts.h"
#include "util/cbor.h"

static void put_part_name(struct emit *emit, const struct v1_record *record,
                          const struct chunk_parts *parts, size_t part)
{
        size_t len;
        const char *name =
                intern_get(&record->table->strings, (size_t)parts->columns[0][part], &len);

        emit_text_n(emit, name, len);
}

/* ---- branches ---- */

size_t put_n_branches(const struct v1_record *record)
{
        const size_t *first = record->table->branches.first + record->row;

        return first[1] - first[0];
}

double put_branch_sum(const struct v1_record *record)
{
        const struct chunk_parts *parts = &record->table->branches;
        double sum = (double)NAN;

        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++)
                if (parts->columns[1][i] != CHUNK_ABSENT)
                        sum = (isnan(sum) ? 0 : sum) + (double)parts->columns[1][i];
        return sum;
}

/* Without branches and without a tree nobody looked. */
static bool put_knows_branches(const struct v1_record *record)
{
        return record->fallbacks || put_n_branches(record) ||
               chunk_table_get(record->table, record->row, CHUNK_TREE_BRANCHES) != CHUNK_ABSENT;
}

void put_accessed_branches(struct emit *emit, const struct v1_record *record, const char *key)
{
        const struct chunk_parts *parts = &record->table->branches;

        if (!put_knows_branches(record))
                return;
        emit_key(emit, key);
        emit_array(emit);
        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++)
                put_part_name(emit, record, parts, i);
        emit_end(emit);
}

void put_num_branches_accessed(struct emit *emit, const struct v1_record *record, const char *key)
{
        if (put_knows_branches(record))
                emit_pair_int(emit, key, (int64_t)put_n_branches(record));
}

void put_accessed_bytes(struct emit *emit, const struct v1_record *record, const char *key)
{
        put_whole(emit, record, key, put_branch_sum(record));
}

void put_branch_bytes(struct emit *emit, const struct v1_record *record, const char *key)
{
        const struct chunk_parts *parts = &record->table->branches;

        if (!record->fallbacks && isnan(put_branch_sum(record)))
                return;
        emit_key(emit, key);
        emit_object(emit);
        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++) {
                bool known = parts->columns[1][i] != CHUNK_ABSENT;

                if (!known && !record->fallbacks)
                        continue;
                emit_next_is_key(emit);
                put_part_name(emit, record, parts, i);
                if (known)
                        emit_int(emit, parts->columns[1][i]);
                else
                        emit_null(emit);
        }
        emit_end(emit);
}

/* ---- sections ---- */

struct put_view {
        int64_t kind;
        enum section_field field;
        double unit; /* 1: an integer */
        bool zero;   /* what is not known is 0, where it is not left out */
};

/* {name: what sections of a kind took} */
static void put_by_name(struct emit *emit, const struct v1_record *record,
                        const struct put_view *view)
{
        const struct chunk_parts *parts = &record->table->sections;

        emit_object(emit);
        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++) {
                int64_t kinds = parts->columns[1 + SECTION_KIND][i];
                int64_t value = parts->columns[1 + view->field][i];

                if (kinds == CHUNK_ABSENT || !(kinds & view->kind) ||
                    (value == CHUNK_ABSENT && !record->fallbacks))
                        continue;
                if (value == CHUNK_ABSENT && view->zero)
                        value = 0;
                emit_next_is_key(emit);
                put_part_name(emit, record, parts, i);
                if (value == CHUNK_ABSENT)
                        emit_null(emit);
                else if (view->unit == 1)
                        emit_int(emit, value);
                else
                        emit_real(emit, (double)value / view->unit);
        }
        emit_end(emit);
}

void v1_put_section_times(struct emit *emit, const struct v1_record *record)
{
        put_by_name(emit, record, &(struct put_view){ SECTION_TIME, SECTION_TOTAL_NS, 1e9, false });
}

void put_timing(struct emit *emit, const struct v1_record *record, const char *key)
{
        emit_key(emit, key);
        v1_put_section_times(emit, record);
}

void put_memory(struct emit *emit, const struct v1_record *record, const char *key)
{
        emit_key(emit, key);
        put_by_name(emit, record,
                    &(struct put_view){ SECTION_MEMORY, SECTION_RSS_DELTA_BYTES, V1_MIB, true });
}

void put_bytes(struct emit *emit, const struct v1_record *record, const char *key)
{
        emit_key(emit, key);
        put_by_name(emit, record, &(struct put_view){ SECTION_BYTES_READ, SECTION_BYTES, 1, true });
}

struct put_figure {
        const char *key;
        enum section_field field;
        double unit;
        enum put_fallback fallback;
};

static const struct put_figure time_figures[] = {
        { "time_delta", SECTION_TOTAL_NS, 1e9, PUT_NULL },
        { "count", SECTION_COUNT, 1, PUT_NULL },
        { "self_time", SECTION_SELF_NS, 1e9, PUT_NULL },
        { "min_time", SECTION_MIN_NS, 1e9, PUT_NULL },
        { "max_time", SECTION_MAX_NS, 1e9, PUT_NULL },
        { 0 },
};

static const struct put_figure memory_figures[] = {
        { "memory_start_gb", SECTION_RSS_START_BYTES, 1e9, PUT_NULL },
        { "memory_end_gb", SECTION_RSS_END_BYTES, 1e9, PUT_NULL },
        { "memory_delta_gb", SECTION_RSS_DELTA_BYTES, 1e9, PUT_ZERO },
        { "count", SECTION_COUNT, 1, PUT_NULL },
        { 0 },
};

/* A list of the sections of a kind */
static void put_list(struct emit *emit, const struct v1_record *record, int64_t kind,
                     const struct put_figure *figures)
{
        const struct chunk_parts *parts = &record->table->sections;

        emit_array(emit);
        for (size_t i = parts->first[record->row]; i < parts->first[record->row + 1]; i++) {
                int64_t kinds = parts->columns[1 + SECTION_KIND][i];

                if (kinds == CHUNK_ABSENT || !(kinds & kind))
                        continue;
                emit_object(emit);
                emit_key(emit, "section_name");
                put_part_name(emit, record, parts, i);
                for (const struct put_figure *figure = figures; figure->key; figure++) {
                        int64_t value = parts->columns[1 + figure->field][i];

                        if (figure->unit == 1)
                                put_int(emit, record, figure->key, value, figure->fallback);
                        else
                                put_real(emit, record, figure->key,
                                         value == CHUNK_ABSENT ? (double)NAN
                                                               : (double)value / figure->unit,
                                         figure->fallback);
                }
                emit_end(emit);
        }
        emit_end(emit);
}

void put_sections(struct emit *emit, const struct v1_record *record, const char *key)
{
        emit_key(emit, key);
        put_list(emit, record, SECTION_TIME, time_figures);
}

void put_memory_sections(struct emit *emit, const struct v1_record *record, const char *key)
{
        emit_key(emit, key);
        put_list(emit, record, SECTION_MEMORY, memory_figures);
}

/* ---- the user's own ---- */

struct put_own {
        struct emit *emit;
        enum { PUT_ALL, PUT_TAKEN, PUT_FREE } which; /* whether another key has that name */
};

static bool put_is_taken(const char *key, size_t len)
{
        bool nested;
        const char *other;

        for (size_t i = 0; (other = v1_record_key(i, &nested)); i++)
                if (strlen(other) == len && !memcmp(other, key, len))
                        return true;
        return false;
}

static void put_own_pair(const char *key, size_t len, const void *value, size_t value_len,
                         void *context)
{
        const struct put_own *own = context;

        if (own->which != PUT_ALL && put_is_taken(key, len) != (own->which == PUT_TAKEN))
                return;
        if (own->which == PUT_TAKEN && len == 14 && !memcmp(key, "custom_metrics", 14)) {
                cbor_each_pair(value, value_len, put_own_pair,
                               &(struct put_own){ own->emit, PUT_ALL });
                return;
        }
        emit_name_n(own->emit, key, len);
        emit_cbor(own->emit, value, value_len);
}

static void put_own_pairs(struct emit *emit, const struct v1_record *record, int which)
{
        size_t len;
        const char *data = chunk_table_text(record->table, record->row, CHUNK_CUSTOM, &len);

        if (data)
                cbor_each_pair(data, len, put_own_pair, &(struct put_own){ emit, which });
}

/* What record_metric() collected, with what could not stand among the other keys */
void put_custom_metrics(struct emit *emit, const struct v1_record *record, const char *key)
{
        emit_key(emit, key);
        emit_object(emit);
        put_own_pairs(emit, record, PUT_TAKEN);
        emit_end(emit);
}

void put_own_fields(struct emit *emit, const struct v1_record *record)
{
        put_own_pairs(emit, record, PUT_FREE);
}
