/* Chunk records in the documented shape, as rows of a run, and what stands for them */

#include "run/run.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "v1/v1.h"

void v1_chunks_init(struct v1_chunks *chunks, struct roast_run *run)
{
        *chunks = (struct v1_chunks){ .run = run,
                                      .first_utc_ns = INT64_MIN,
                                      .last_utc_ns = INT64_MIN };
}

void v1_chunks_deinit(struct v1_chunks *chunks)
{
        v1_record_deinit(&chunks->record);
}

/* A value as a column. Nearly all are null: nothing but the type is written of those. */
static void chunks_set(struct run_value *column, const struct v1_value *value, bool exact)
{
        int64_t whole;

        column->type = RUN_NULL;
        if (value->type == V1_INT) {
                column->type = RUN_INT;
                column->integer = value->integer;
        } else if (value->type == V1_REAL && exact) {
                column->type = RUN_REAL;
                column->real = value->real;
        } else if (value->type == V1_REAL && (whole = v1_whole(value)) != CHUNK_ABSENT) {
                column->type = RUN_INT;
                column->integer = whole;
        }
}

static int chunks_add_parts(const struct v1_record *record, struct roast_run *run, bool exact,
                            struct roast_error *error)
{
        const struct run_value chunk_id = run_int(run->tables[RUN_CHUNK].last_id);
        int r = 0;

        for (size_t i = 0; i < record->n_sections && r >= 0; i++) {
                const struct v1_section *section = &record->sections[i];
                struct run_value values[2 + SECTION_N_FIELDS];

                values[0] = chunk_id;
                r = run_text_value(run, v1_record_text(record, section->name_at), section->name_len,
                                   &values[1], error);
                for (size_t j = 0; j < SECTION_N_FIELDS; j++)
                        chunks_set(&values[2 + j], &section->fields[j], exact);
                if (r >= 0)
                        r = run_insert(run, RUN_SECTION, values, 2 + SECTION_N_FIELDS, error);
        }
        for (size_t i = 0; i < record->n_branches && r >= 0; i++) {
                const struct v1_branch *branch = &record->branches[i];
                struct run_value values[3] = { chunk_id };

                r = run_text_value(run, v1_record_text(record, branch->name_at), branch->name_len,
                                   &values[1], error);
                chunks_set(&values[2], &branch->bytes, false);
                if (r >= 0)
                        r = run_insert(run, RUN_BRANCH, values, 3, error);
        }
        return r;
}

int v1_record_add(const struct v1_record *record, struct roast_run *run, bool exact,
                  struct roast_error *error)
{
        struct run_value values[CHUNK_N_FIELDS];
        int r = 0;

        for (unsigned int i = 0; i < CHUNK_N_FIELDS && r >= 0; i++) {
                const struct v1_value *value = &record->values[i];

                if (value->type != V1_TEXT)
                        chunks_set(&values[i], value, exact);
                else if (chunk_fields[i].type == CHUNK_TYPE_TEXT)
                        r = run_text_value(run, v1_record_text(record, value->at), value->len,
                                           &values[i], error);
                else
                        values[i] = (struct run_value){ .type = RUN_BYTES,
                                                        .data = v1_record_text(record, value->at),
                                                        .len = value->len };
        }
        if (r >= 0)
                r = run_insert(run, RUN_CHUNK, values, CHUNK_N_FIELDS, error);
        return r < 0 ? r : chunks_add_parts(record, run, exact, error);
}

/* Whether the attempt is another than those before, by who ran it and when it began */
static int chunks_is_new(const struct v1_record *record, struct roast_run *run)
{
        static const enum chunk_field fields[] = { CHUNK_PID,          CHUNK_THREAD,
                                                   CHUNK_START_UTC_NS, CHUNK_ENTRY_START,
                                                   CHUNK_WORKER,       CHUNK_HOST,
                                                   CHUNK_FILE };
        uint64_t key = 0;

        if (record->values[CHUNK_START_UTC_NS].type == V1_ABSENT)
                return 1;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(fields); i++) {
                const struct v1_value *value = &record->values[fields[i]];
                int64_t whole = v1_whole(value);

                key = value->type == V1_TEXT
                              ? run_hash(key, v1_record_text(record, value->at), value->len)
                              : run_hash(key, &whole, sizeof(whole));
        }
        return run_seen_add(&run->seen, key);
}

/* Adds the record, and notes when it began and ended. */
static bool chunks_add(struct v1_chunks *chunks, struct source *in)
{
        int64_t start = v1_whole(&chunks->record.values[CHUNK_START_UTC_NS]);
        int64_t wall = v1_whole(&chunks->record.values[CHUNK_WALL_NS]), end;
        int r = chunks_is_new(&chunks->record, chunks->run);

        if (r < 0)
                return source_nomem(in);
        chunks->n++;
        if (r == 0)
                return true;
        if (v1_record_add(&chunks->record, chunks->run, false, &chunks->error) < 0)
                return source_fail(in, "the run does not take it");
        if (start == CHUNK_ABSENT)
                return true;
        if (chunks->first_utc_ns == INT64_MIN || start < chunks->first_utc_ns)
                chunks->first_utc_ns = start;
        if (wall < 0 || __builtin_add_overflow(start, wall, &end))
                end = start;
        if (end > chunks->last_utc_ns)
                chunks->last_utc_ns = end;
        return true;
}

bool v1_chunks_read(struct v1_chunks *chunks, struct source *in)
{
        if (!source_enter_if(in, JSON_ARRAY))
                return !in->bad;
        while (source_element(in))
                if (source_type(in) == JSON_OBJECT
                            ? !v1_record_read(&chunks->record, in) || !chunks_add(chunks, in)
                            : !source_skip(in))
                        return false;
        return !in->bad;
}

static struct v1_value chunks_int(int64_t integer)
{
        return (struct v1_value){ .type = V1_INT, .integer = integer };
}

/* "('/a.root', 0, 20000)": [start, end, bytes] */
static bool chunks_read_info_of(struct v1_chunks *chunks, struct source *in,
                                const struct python_tuple *chunk)
{
        static const double units[3] = { 1e9, 1e9, 1 };
        struct v1_value values[3] = { 0 }, *fields = chunks->record.values;
        struct json_text file;
        size_t at;

        if (chunk->n != 3 || chunk->items[0].type != PYTHON_TEXT ||
            chunk->items[1].type != PYTHON_INT || chunk->items[2].type != PYTHON_INT)
                return source_skip(in);
        if (!source_enter_if(in, JSON_ARRAY))
                return !in->bad;
        for (size_t i = 0; source_element(in); i++)
                if (i < 3 ? !v1_read_number(in, units[i], &values[i]) : !source_skip(in))
                        return false;
        if (in->bad)
                return false;
        v1_record_clear(&chunks->record);
        file = (struct json_text){ chunk->items[0].text, strlen(chunk->items[0].text) };
        if (!v1_keep_text(&chunks->record, in, &file, &at))
                return false;
        fields[CHUNK_FILE] = (struct v1_value){ .type = V1_TEXT, .at = at, .len = file.len };
        fields[CHUNK_OUTCOME] = chunks_int(CHUNK_FINISHED);
        fields[CHUNK_ENTRY_START] = chunks_int(chunk->items[1].integer);
        fields[CHUNK_ENTRY_STOP] = chunks_int(chunk->items[2].integer);
        fields[CHUNK_START_UTC_NS] = values[0];
        fields[CHUNK_REQUESTED_BYTES] = values[2];
        if (v1_real(&values[1]) >= v1_real(&values[0]))
                fields[CHUNK_WALL_NS] = v1_number(
                        &(struct json_number){ .real = v1_real(&values[1]) - v1_real(&values[0]) },
                        1);
        return chunks_add(chunks, in);
}

bool v1_chunks_read_info(struct v1_chunks *chunks, struct source *in)
{
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                ROAST_CLEANUP(python_tuple_deinit) struct python_tuple chunk = { 0 };

                if (source_key_tuple(in, &chunk) < 0)
                        return source_nomem(in);
                if (!chunks_read_info_of(chunks, in, &chunk))
                        return false;
        }
        return !in->bad;
}
