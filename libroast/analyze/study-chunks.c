/* The chunks of a run, a small row each: see study.h. */

#include <stdlib.h>
#include <string.h>

#include "analyze/study.h"
#include "record/chunk.h"
#include "run/attempts.h"
#include "util/array.h"
#include "util/cleanup.h"

/* What the chunks of one file say about the bytes of its branches */
struct file_bytes {
        double requested;
        double selected; /* compressed, of the branches that were touched, in the whole tree */
        double entries;  /* that were processed */
        double last;     /* the end of the last chunk: entries of the tree, as far as is known */
};

struct reader {
        struct study *study;
        struct file_bytes *files; /* by the number of the name */
        uint32_t *slots;          /* open addressing: index + 1, 0 is free */
        uint64_t *slot_keys;
        size_t n_hash; /* a power of two */
        size_t cap_chunks, cap_slots, cap_index;
        double whole_bytes, packed_bytes;
        double unused_most;
};

static void study_reader_deinit(struct reader *reader)
{
        free(reader->files);
        free(reader->slots);
        free(reader->slot_keys);
}

static double study_chunks_number(const struct run_value *value)
{
        return value->type == RUN_INT ? (double)value->integer : (double)NAN;
}

static uint32_t study_clipped(const struct run_value *value)
{
        if (value->type != RUN_INT || value->integer < 0)
                return 0;
        return value->integer > UINT32_MAX - 1 ? UINT32_MAX - 1 : (uint32_t)value->integer;
}

static int study_rehash(struct reader *reader)
{
        size_t n = reader->n_hash ? reader->n_hash * 2 : 64;
        uint32_t *slots = calloc(n, sizeof(*slots));

        if (!slots)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < reader->study->n_slots; i++) {
                size_t at = reader->slot_keys[i] & (n - 1);

                while (slots[at])
                        at = (at + 1) & (n - 1);
                slots[at] = (uint32_t)i + 1;
        }
        free(reader->slots);
        reader->slots = slots;
        reader->n_hash = n;
        return 0;
}

static int study_add_slot(struct reader *reader, uint64_t key, const struct run_value *values)
{
        struct study *study = reader->study;
        size_t cap = reader->cap_slots;

        if (ARRAY_ROOM(study->slots, study->n_slots, cap) < 0 ||
            ARRAY_ROOM(reader->slot_keys, study->n_slots, reader->cap_slots) < 0)
                return ROAST_E_NOMEM;
        reader->slot_keys[study->n_slots] = key;
        study->slots[study->n_slots++] =
                (struct study_slot){ .worker = study_number(study, &values[CHUNK_WORKER]),
                                     .is_lane = values[CHUNK_THREAD].type != RUN_INT };
        return 0;
}

/*
 * The thread that ran a chunk: by worker, process and thread. Chunks of a worker that do not tell
 * their thread are together until study_gaps() knows which of them overlap. Negative: no memory.
 */
static int64_t study_slot_of(struct reader *reader, const struct run_value *values)
{
        struct study *study = reader->study;
        bool known = values[CHUNK_THREAD].type == RUN_INT;
        const int64_t who[] = { run_int_or(&values[CHUNK_WORKER], 0), known,
                                known ? run_int_or(&values[CHUNK_PID], 0) : 0,
                                known ? values[CHUNK_THREAD].integer : 0 };
        uint64_t key = run_hash(1, who, sizeof(who));
        size_t at;

        if (study->n_slots * 2 >= reader->n_hash && study_rehash(reader) < 0)
                return ROAST_E_NOMEM;
        for (at = key & (reader->n_hash - 1); reader->slots[at];
             at = (at + 1) & (reader->n_hash - 1))
                if (reader->slot_keys[reader->slots[at] - 1] == key)
                        return reader->slots[at] - 1;
        if (study_add_slot(reader, key, values) < 0)
                return ROAST_E_NOMEM;
        reader->slots[at] = (uint32_t)study->n_slots;
        return (int64_t)study->n_slots - 1;
}

static void study_add_bytes(struct reader *reader, const struct study_chunk *chunk,
                            const struct run_value *values)
{
        struct study *study = reader->study;
        double selected = study_chunks_number(&values[CHUNK_SELECTED_BYTES]);
        double whole = study_chunks_number(&values[CHUNK_SELECTED_UNCOMPRESSED_BYTES]);
        double stop = study_chunks_number(&values[CHUNK_ENTRY_STOP]);
        double ahead = study_chunks_number(&values[CHUNK_AHEAD_BYTES]);
        double unused = study_chunks_number(&values[CHUNK_UNUSED_BYTES]);
        struct file_bytes *file;

        study->ahead_bytes += ahead > 0 ? ahead : 0;
        if (unused > 0) {
                study->unused_bytes += unused;
                study->unused_chunks++;
                if (unused > reader->unused_most) {
                        reader->unused_most = unused;
                        study->unused_names = study_number(study, &values[CHUNK_UNUSED_BRANCHES]);
                }
        }
        if (chunk->bytes > 0)
                study->all_bytes += (double)chunk->bytes;
        if (chunk->file == STUDY_NONE || !(chunk->bytes > 0) || !(selected > 0) || !(stop > 0))
                return;
        file = &reader->files[chunk->file];
        file->requested += (double)chunk->bytes;
        file->entries += stop - study_chunks_number(&values[CHUNK_ENTRY_START]);
        file->selected = fmax(file->selected, selected);
        file->last = fmax(file->last, stop);
        if (whole > 0) {
                reader->whole_bytes += whole;
                reader->packed_bytes += selected;
        }
}

static struct study_chunk study_row_of(const struct study *study, const struct run_value *values)
{
        double growth = study_chunks_number(&values[CHUNK_RSS_PEAK_BYTES]) -
                        study_chunks_number(&values[CHUNK_RSS_START_BYTES]);

        return (struct study_chunk){
                .start_s = study->start_utc_ns == INT64_MIN
                                   ? (double)NAN
                                   : (double)(values[CHUNK_START_UTC_NS].integer -
                                              study->start_utc_ns) /
                                             1e9,
                .wall_s = (float)study_seconds(&values[CHUNK_WALL_NS]),
                .cpu_s = (float)study_seconds(&values[CHUNK_CPU_NS]),
                .queue_s = (float)(study_seconds(&values[CHUNK_RUNQUEUE_NS]) +
                                   study_seconds(&values[CHUNK_THROTTLED_NS])),
                .asleep_s = (float)(study_seconds(&values[CHUNK_BLOCK_IO_NS]) +
                                    study_seconds(&values[CHUNK_OTHER_NS])),
                .gap_s = (float)NAN,
                .rss_growth_bytes = (float)growth,
                .bytes = (float)study_chunks_number(&values[CHUNK_REQUESTED_BYTES]),
                .events = study_clipped(&values[CHUNK_NUM_EVENTS]),
                .entry_start = study_clipped(&values[CHUNK_ENTRY_START]),
                .dataset = study_number(study, &values[CHUNK_DATASET]),
                .file = study_number(study, &values[CHUNK_FILE]),
                .host = study_number(study, &values[CHUNK_HOST]),
        };
}

/* Resident memory at the end against the number of chunks before: a leak grows. */
static void study_add_memory(struct study_slot *slot, double bytes)
{
        double x = slot->chunks;

        if (isnan(bytes))
                return;
        slot->rss_n++;
        slot->rss_x += x;
        slot->rss_y += bytes;
        slot->rss_xx += x * x;
        slot->rss_xy += x * bytes;
        slot->rss_yy += bytes * bytes;
}

static int study_add_finished(struct reader *reader, int64_t id, const struct run_value *values)
{
        struct study *study = reader->study;
        struct study_chunk row;
        struct study_slot *slot;
        int64_t number_of_slot;

        if (values[CHUNK_WALL_NS].type != RUN_INT || values[CHUNK_WALL_NS].integer < 0 ||
            values[CHUNK_START_UTC_NS].type != RUN_INT)
                return 0;
        row = study_row_of(study, values);
        if (!isfinite(row.start_s))
                return 0;
        number_of_slot = study_slot_of(reader, values);
        if (number_of_slot < 0 ||
            ARRAY_ROOM(study->chunks, study->n_chunks, reader->cap_chunks) < 0)
                return ROAST_E_NOMEM;
        slot = &study->slots[number_of_slot];
        row.slot = (uint32_t)number_of_slot;
        study_add_memory(slot, study_chunks_number(&values[CHUNK_RSS_END_BYTES]));
        study->unsorted |= slot->chunks && row.start_s < slot->last_s;
        row.order = slot->chunks++;
        slot->last_s = row.start_s; /* until study_gaps() knows better */
        if (id > 0)
                study->index[id] = (uint32_t)study->n_chunks + 1;
        study->chunks[study->n_chunks++] = row;
        study->wall_s += (double)row.wall_s;
        study->events += row.events;
        split_add(&study->split, values);
        study_add_bytes(reader, &row, values);
        return 0;
}

static void study_add_waste(struct study *study, int64_t outcome, const struct run_value *values)
{
        double wall_s = study_seconds(&values[CHUNK_WALL_NS]);
        uint32_t type = study_number(study, &values[CHUNK_ERROR_TYPE]);

        study->waste.lost += outcome == CHUNK_LOST;
        study->waste.failed += outcome == CHUNK_FAILED;
        if (wall_s > 0) {
                study->waste.wall_s += wall_s;
                study->waste.timed++;
        }
        if (outcome == CHUNK_FAILED)
                study->errors[type == STUDY_NONE ? study->texts.n : type]++;
}

static int study_add_attempt(const struct run_attempt *attempt, void *context,
                             struct roast_error *error)
{
        struct reader *reader = context;
        struct study *study = reader->study;
        size_t id = (size_t)attempt->chunk_id;

        if (ARRAY_ROOM(study->index, id, reader->cap_index) < 0)
                return roast_fail_nomem(error);
        for (; study->n_index <= id; study->n_index++)
                study->index[study->n_index] = 0;
        if (attempt->outcome == CHUNK_GRAPH)
                return 0;
        study->waste.attempts++;
        if (attempt->outcome != CHUNK_FINISHED)
                study_add_waste(study, attempt->outcome, attempt->chunk);
        else if (study_add_finished(reader, attempt->chunk_id, attempt->chunk) < 0)
                return roast_fail_nomem(error);
        return 0;
}

static void study_sum_bytes(struct reader *reader)
{
        struct study *study = reader->study;

        for (size_t i = 0; i < study->texts.n; i++) {
                const struct file_bytes *file = &reader->files[i];

                if (!(file->last > 0))
                        continue;
                study->requested_bytes += file->requested;
                study->needed_once_bytes +=
                        fmin(file->selected * fmin(file->entries / file->last, 1), file->requested);
        }
        study->expansion =
                reader->packed_bytes > 0 ? reader->whole_bytes / reader->packed_bytes : 1;
}

int study_chunks(struct study *study, struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(study_reader_deinit) struct reader reader = { .study = study };
        int r;

        study->unused_names = STUDY_NONE;
        reader.files = calloc(study->texts.n + 1, sizeof(*reader.files));
        study->errors = calloc(study->texts.n + 1, sizeof(*study->errors));
        study->index = calloc(1, sizeof(*study->index));
        if (!reader.files || !study->errors || !study->index)
                return roast_fail_nomem(error);
        reader.cap_index = 1;
        study->n_index = 1;
        r = roast_run_attempts(run, study_add_attempt, &reader, error);
        if (r >= 0)
                study_sum_bytes(&reader);
        return r;
}
