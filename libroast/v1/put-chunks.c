/* What the documented dict holds of every chunk: see documented.h. */

#include <stdlib.h>

#include "run/attempts.h"
#include "run/series.h"
#include "util/cleanup.h"
#include "v1/documented.h"
#include "v1/put-record.h"

/* So many records are in memory at a time. */
#define BATCH 256

struct put_chunks {
        struct emit *emit;
        struct intern texts;
        int64_t chunk_id;
};

static void put_chunks_deinit(struct put_chunks *chunks)
{
        intern_deinit(&chunks->texts);
}

static bool put_is_text(const struct intern *texts, const struct run_value *value)
{
        return value->type == RUN_INT && value->integer >= 1 &&
               (uint64_t)value->integer <= texts->n;
}

/* A row that is no chunk: a graph was built, or it went with its worker */
static bool put_is_no_chunk(int64_t outcome)
{
        return outcome == CHUNK_LOST || outcome == CHUNK_GRAPH;
}

/* (file, first entry, last entry): (start, end, bytes) */
static int put_info(const struct run_attempt *attempt, void *context, struct roast_error *error)
{
        static const enum chunk_field needed[] = { CHUNK_ENTRY_START, CHUNK_ENTRY_STOP,
                                                   CHUNK_START_UTC_NS, CHUNK_WALL_NS };
        struct put_chunks *chunks = context;
        const struct run_value *values = attempt->chunk;
        struct emit *emit = chunks->emit;
        double start_s;
        const char *file;
        size_t len;

        for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
                if (values[needed[i]].type != RUN_INT)
                        return 0;
        if (!put_is_text(&chunks->texts, &values[CHUNK_FILE]) || put_is_no_chunk(attempt->outcome))
                return 0;
        file = intern_get(&chunks->texts, (size_t)values[CHUNK_FILE].integer - 1, &len);
        start_s = (double)values[CHUNK_START_UTC_NS].integer / 1e9;
        emit_next_is_key(emit);
        emit_tuple(emit, 3);
        emit_text_n(emit, file, len);
        emit_int(emit, values[CHUNK_ENTRY_START].integer);
        emit_int(emit, values[CHUNK_ENTRY_STOP].integer);
        emit_end(emit);
        emit_tuple(emit, 3);
        emit_real(emit, start_s);
        emit_real(emit, start_s + (double)values[CHUNK_WALL_NS].integer / 1e9);
        emit_int(emit, run_int_or(&values[CHUNK_REQUESTED_BYTES], 0));
        emit_end(emit);
        return emit_step(emit, error);
}

int v1_put_chunk_info(const struct v1_source *source, struct emit *emit, struct roast_error *error)
{
        ROAST_CLEANUP(put_chunks_deinit) struct put_chunks chunks = { .emit = emit };
        int r;

        r = run_read_texts(source->run, &chunks.texts, error);
        emit_object(emit);
        if (r >= 0)
                r = roast_run_attempts(source->run, put_info, &chunks, error);
        emit_end(emit);
        return r;
}

static int put_batch(const struct chunk_table *table, void *context, struct roast_error *error)
{
        struct put_chunks *chunks = context;
        int r = 0;

        for (size_t row = 0; row < table->n && r >= 0; row++) {
                emit_object(chunks->emit);
                v1_put_record(chunks->emit,
                              &(struct v1_record){ table, row, chunks->chunk_id++, true });
                emit_end(chunks->emit);
                r = emit_step(chunks->emit, error);
        }
        return r;
}

int v1_put_records(const struct v1_source *source, struct emit *emit, struct roast_error *error)
{
        struct put_chunks chunks = { .emit = emit };
        int r;

        emit_array(emit);
        r = run_records(source->run, BATCH, put_batch, &chunks, error);
        emit_end(emit);
        return r;
}

/* ---- which branches were read of each file ---- */

/* Each file with each branch, once: the numbers of their names, by name */
struct put_reads {
        struct intern texts;
        int64_t *files; /* of every row of the table of chunks; 0: of none */
        size_t n_files;
        struct run_seen pairs; /* file << 32 | branch */
};

static void put_reads_deinit(struct put_reads *reads)
{
        intern_deinit(&reads->texts);
        free(reads->files);
        run_seen_deinit(&reads->pairs);
}

static int put_read_files(struct put_reads *reads, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        size_t cap = 0;
        int r;

        r = run_scan_begin(&scan, run, RUN_CHUNK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                const struct run_value *file = &scan.values[CHUNK_FILE];
                bool counts = put_is_text(&reads->texts, file) &&
                              !put_is_no_chunk(run_int_or(&scan.values[CHUNK_OUTCOME], 0));

                if (reads->n_files == cap) {
                        int64_t *grown;

                        cap = cap ? 2 * cap : 1024;
                        grown = realloc(reads->files, cap * sizeof(*grown));
                        if (!grown) {
                                r = roast_fail_nomem(error);
                                break;
                        }
                        reads->files = grown;
                }
                reads->files[reads->n_files++] = counts ? file->integer : 0;
        }
        run_scan_end(&scan);
        return r;
}

static int put_read_pairs(struct put_reads *reads, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_BRANCH, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                int64_t chunk = scan.values[0].integer, file;

                if (chunk < 1 || (uint64_t)chunk > reads->n_files ||
                    !put_is_text(&reads->texts, &scan.values[1]))
                        continue;
                file = reads->files[chunk - 1];
                if (file &&
                    run_seen_add(&reads->pairs,
                                 (uint64_t)file << 32 | (uint32_t)scan.values[1].integer) < 0)
                        r = roast_fail_nomem(error);
        }
        run_scan_end(&scan);
        return r;
}

static int put_compare_texts(const struct intern *texts, uint64_t a, uint64_t b)
{
        size_t len_a, len_b;
        const char *text_a = intern_get(texts, (size_t)a - 1, &len_a);
        const char *text_b = intern_get(texts, (size_t)b - 1, &len_b);
        int order = memcmp(text_a, text_b, len_a < len_b ? len_a : len_b);

        return order ? order : (len_a > len_b) - (len_a < len_b);
}

static int put_compare_pairs(const void *a, const void *b, void *texts)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x >> 32 != y >> 32 ? (x >> 32 > y >> 32) - (x >> 32 < y >> 32)
                                  : put_compare_texts(texts, (uint32_t)x, (uint32_t)y);
}

/* The first pair of a file, or the one behind the last */
static size_t put_first_pair(const struct put_reads *reads, uint64_t file)
{
        size_t low = 0, high = reads->pairs.n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (reads->pairs.keys[middle] >> 32 < file)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static void put_file_reads(const struct put_reads *reads, const struct roast_file *file,
                           struct emit *emit)
{
        int64_t number = intern_find(&reads->texts, file->name, strlen(file->name)) + 1;
        size_t at = number > 0 ? put_first_pair(reads, (uint64_t)number) : reads->pairs.n;

        emit_name(emit, file->name);
        emit_object(emit);
        emit_pair_int(emit, "total_branches", file->branches > 0 ? file->branches : 0);
        emit_pair_real(emit, "branches_read_percent",
                       file->branches > 0 ? file->branches_read_percent : 0);
        emit_pair_whole(emit, "total_tree_bytes", true, file->bytes > 0 ? file->bytes : 0);
        emit_pair_whole(emit, "bytes_read", true, round(file->bytes_read));
        emit_pair_real(emit, "bytes_read_percent", file->bytes > 0 ? file->bytes_read_percent : 0);
        emit_key(emit, "accessed_branches");
        emit_array(emit);
        for (; at < reads->pairs.n && (int64_t)(reads->pairs.keys[at] >> 32) == number; at++) {
                size_t len;
                const char *name =
                        intern_get(&reads->texts, (uint32_t)reads->pairs.keys[at] - 1, &len);

                emit_text_n(emit, name, len);
        }
        emit_end(emit);
        emit_end(emit);
}

int v1_put_read_metrics(const struct v1_source *source, struct emit *emit,
                        struct roast_error *error)
{
        ROAST_CLEANUP(put_reads_deinit) struct put_reads reads = { 0 };
        int r;

        r = run_read_texts(source->run, &reads.texts, error);
        if (r >= 0 && intern_index(&reads.texts) < 0)
                r = roast_fail_nomem(error);
        if (r >= 0)
                r = put_read_files(&reads, source->run, error);
        if (r >= 0)
                r = put_read_pairs(&reads, source->run, error);
        if (r >= 0 && reads.pairs.n)
                qsort_r(reads.pairs.keys, reads.pairs.n, sizeof(*reads.pairs.keys),
                        put_compare_pairs, &reads.texts);
        emit_object(emit);
        for (size_t i = 0; i < source->summary->n_files && r >= 0; i++) {
                if (!source->summary->files[i].has_coverage)
                        continue;
                put_file_reads(&reads, &source->summary->files[i], emit);
                r = emit_step(emit, error);
        }
        emit_end(emit);
        return r;
}
