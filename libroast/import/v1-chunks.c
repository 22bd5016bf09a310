/* Chunk records of a v1 measurement on their way into the run, and what stands for them */

#include <string.h>

#include "import/python-text.h"
#include "import/v1.h"
#include "util/cleanup.h"

/* So many records go into the run at a time. */
#define BATCH 1000

void v1_chunks_init(struct v1_chunks *chunks, struct roast_run *run)
{
        *chunks = (struct v1_chunks){ .run = run,
                                      .first_utc_ns = INT64_MIN,
                                      .last_utc_ns = INT64_MIN };
        chunk_table_init(&chunks->table);
}

void v1_chunks_deinit(struct v1_chunks *chunks)
{
        chunk_table_deinit(&chunks->table);
}

void v1_chunks_note(struct v1_chunks *chunks, int64_t start, int64_t wall)
{
        int64_t end;

        if (start == CHUNK_ABSENT)
                return;
        if (chunks->first_utc_ns == INT64_MIN || start < chunks->first_utc_ns)
                chunks->first_utc_ns = start;
        if (wall < 0 || __builtin_add_overflow(start, wall, &end))
                end = start;
        if (end > chunks->last_utc_ns)
                chunks->last_utc_ns = end;
}

/* The records so far go into the run. */
static int v1_flush(struct v1_chunks *chunks)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int r;

        if (chunks->table.n == 0)
                return 0;
        r = chunk_table_encode(&chunks->table, &out, &chunks->error);
        if (r >= 0)
                r = roast_run_add_chunks(chunks->run, out.data, out.len, &chunks->error);
        chunk_table_clear(&chunks->table);
        return r;
}

bool v1_chunks_add(struct v1_chunks *chunks, struct json_reader *in)
{
        if (chunks->table.n == BATCH && v1_flush(chunks) < 0)
                return json_read_fail(in, "the run does not take it");
        chunks->n++;
        return chunk_table_add(&chunks->table) == 0 || json_read_nomem(in);
}

bool v1_chunks_read(struct v1_chunks *chunks, struct json_reader *in)
{
        if (json_read_type(in) != JSON_ARRAY)
                return json_read_skip(in);
        json_read_array(in);
        while (json_read_element(in))
                if (json_read_type(in) == JSON_OBJECT ? !v1_record_read(chunks, in)
                                                      : !json_read_skip(in))
                        return false;
        return !in->problem;
}

/* "('/a.root', 0, 20000)": [start, end, bytes] */
static bool v1_chunks_read_one(struct v1_chunks *chunks, struct json_reader *in,
                               const struct python_tuple *chunk)
{
        struct chunk_table *table = &chunks->table;
        int64_t values[3] = { CHUNK_ABSENT, CHUNK_ABSENT, CHUNK_ABSENT };
        static const double units[3] = { 1e9, 1e9, 1 };
        int64_t wall_ns;
        size_t n = 0;

        if (json_read_type(in) != JSON_ARRAY || chunk->n != 3 ||
            chunk->items[0].type != PYTHON_TEXT || chunk->items[1].type != PYTHON_INT ||
            chunk->items[2].type != PYTHON_INT)
                return json_read_skip(in);
        json_read_array(in);
        for (; json_read_element(in); n++)
                if (n < 3 ? !v1_read_scaled(in, units[n], &values[n]) : !json_read_skip(in))
                        return false;
        if (in->problem || !v1_chunks_add(chunks, in))
                return false;
        chunk_table_set(table, table->n - 1, CHUNK_OUTCOME, CHUNK_FINISHED);
        chunk_table_set(table, table->n - 1, CHUNK_ENTRY_START, chunk->items[1].integer);
        chunk_table_set(table, table->n - 1, CHUNK_ENTRY_STOP, chunk->items[2].integer);
        chunk_table_set(table, table->n - 1, CHUNK_START_UTC_NS, values[0]);
        if (values[0] != CHUNK_ABSENT && values[1] >= values[0] &&
            !__builtin_sub_overflow(values[1], values[0], &wall_ns))
                chunk_table_set(table, table->n - 1, CHUNK_WALL_NS, wall_ns);
        chunk_table_set(table, table->n - 1, CHUNK_REQUESTED_BYTES, values[2]);
        v1_chunks_note(chunks, values[0], chunk_table_get(table, table->n - 1, CHUNK_WALL_NS));
        return chunk_table_set_text(table, table->n - 1, CHUNK_FILE, chunk->items[0].text,
                                    strlen(chunk->items[0].text)) == 0 ||
               json_read_nomem(in);
}

bool v1_chunks_read_info(struct v1_chunks *chunks, struct json_reader *in)
{
        struct json_text key;

        if (json_read_type(in) != JSON_OBJECT)
                return json_read_skip(in);
        json_read_object(in);
        while (json_read_key(in, &key)) {
                ROAST_CLEANUP(python_tuple_deinit) struct python_tuple chunk = { 0 };
                int r = python_tuple_read(&chunk, key.data, key.len);

                if (r < 0)
                        return json_read_nomem(in);
                if (!v1_chunks_read_one(chunks, in, &chunk))
                        return false;
        }
        return !in->problem;
}

int v1_chunks_end(struct v1_chunks *chunks, struct roast_error *error)
{
        int r = chunks->error.code ? chunks->error.code : v1_flush(chunks);

        if (r < 0 && error)
                *error = chunks->error;
        return r < 0 ? r : 0;
}
