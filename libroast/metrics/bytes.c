/* Bytes of chunks by their sources: see bytes.h. */

#include <stdlib.h>

#include "metrics/bytes.h"
#include "record/chunk.h"
#include "util/array.h"

struct cut_chunk {
        size_t file, dataset;
        uint64_t before; /* bytes_key() of the chunk before */
        int64_t bytes;
};

struct last_chunk {
        int64_t start, stop;
};

int bytes_init(struct byte_walk *walk, struct collect *collect)
{
        *walk = (struct byte_walk){ .collect = collect };
        walk->last = calloc(collect->texts.n + 1, sizeof(*walk->last));
        return walk->last ? 0 : ROAST_E_NOMEM;
}

void bytes_deinit(struct byte_walk *walk)
{
        free(walk->last);
        free(walk->cuts);
        run_seen_deinit(&walk->ends);
        *walk = (struct byte_walk){ 0 };
}

/* Chunks of a file do not overlap: where one ends says which it is. */
static uint64_t bytes_key_of(const struct run_value *values, enum chunk_field end)
{
        const int64_t parts[] = { run_int_or(&values[CHUNK_DATASET], 0),
                                  run_int_or(&values[CHUNK_FILE], 0),
                                  run_int_or(&values[CHUNK_TREE], 0), run_int_or(&values[end], 0) };

        return run_hash(0, parts, sizeof(parts));
}

uint64_t bytes_key(const struct byte_walk *walk, const struct run_value *values)
{
        (void)walk;
        return bytes_key_of(values, CHUNK_ENTRY_STOP);
}

bool bytes_finished(const struct byte_walk *walk, uint64_t key)
{
        return run_seen_has(&walk->ends, key);
}

static void bytes_add_known(struct roast_byte_sum *sum, const struct run_value *value)
{
        if (value->type != RUN_INT)
                return;
        sum->chunks++;
        sum->bytes = stat_sum_int(sum->bytes, value->integer);
}

/*
 * The kernel counts for the process: what another chunk read there meanwhile is in both. Records
 * come in the order in which chunks ended, so the one before tells.
 */
static bool bytes_beside_another(struct byte_walk *walk, const struct run_value *values)
{
        size_t len;
        const char *name = collect_text(walk->collect, &values[CHUNK_WORKER], &len);
        struct last_chunk *last = &walk->last[name ? values[CHUNK_WORKER].integer : 0];
        int64_t start = run_int_or(&values[CHUNK_START_UTC_NS], 0);
        struct last_chunk now = { start,
                                  stat_sum_int(start, run_int_or(&values[CHUNK_WALL_NS], 0)) };
        bool beside = now.start < last->stop && last->start < now.stop;

        *last = now;
        return beside;
}

static int bytes_note_cut(struct byte_walk *walk, const struct run_value *values, size_t file,
                          size_t dataset)
{
        int64_t bytes = run_int_or(&values[CHUNK_CUT_BYTES], 0);

        if (run_seen_add(&walk->ends, bytes_key_of(values, CHUNK_ENTRY_STOP)) < 0)
                return ROAST_E_NOMEM;
        if (bytes <= 0)
                return 0;
        if (ARRAY_ROOM(walk->cuts, walk->n_cuts, walk->cap_cuts) < 0)
                return ROAST_E_NOMEM;
        walk->cuts[walk->n_cuts++] =
                (struct cut_chunk){ file, dataset, bytes_key_of(values, CHUNK_ENTRY_START), bytes };
        return 0;
}

static void bytes_add_chunk(struct roast_bytes *bytes, const struct run_value *values,
                            int64_t needed, bool beside)
{
        const struct run_value need = run_int(needed);

        bytes->chunks++;
        if (needed >= 0)
                bytes_add_known(&bytes->needed, &need);
        bytes_add_known(&bytes->requested, &values[CHUNK_REQUESTED_BYTES]);
        bytes_add_known(&bytes->kernel, &values[CHUNK_RCHAR_BYTES]);
        bytes_add_known(&bytes->storage, &values[CHUNK_READ_BYTES]);
        bytes->beside |= beside;
}

/* Datasets may share a file: each gets what its own chunks tell. */
int bytes_chunk(struct byte_walk *walk, const struct run_value *values, int64_t needed, size_t file,
                size_t dataset)
{
        struct roast_summary *summary = walk->collect->summary;
        struct roast_file *of = &summary->files[file];
        bool beside =
                values[CHUNK_RCHAR_BYTES].type == RUN_INT && bytes_beside_another(walk, values);

        if (of->sums.chunks == 0)
                of->dataset = dataset;
        bytes_add_chunk(&of->sums, values, needed, beside);
        bytes_add_chunk(&summary->datasets[dataset].sums, values, needed, beside);
        return bytes_note_cut(walk, values, file, dataset);
}

static void bytes_add_sum(struct roast_byte_sum *sum, const struct roast_byte_sum *more)
{
        sum->chunks += more->chunks;
        sum->bytes = stat_sum_int(sum->bytes, more->bytes);
}

static void bytes_add_tree(struct roast_bytes *bytes, const struct roast_bytes *more)
{
        bytes->trees += more->trees;
        bytes->tree_branches = stat_sum_int(bytes->tree_branches, more->tree_branches);
        bytes->tree_bytes = stat_sum_int(bytes->tree_bytes, more->tree_bytes);
        bytes->touched_branches = stat_sum_int(bytes->touched_branches, more->touched_branches);
        bytes->touched_bytes = stat_sum_int(bytes->touched_bytes, more->touched_bytes);
        bytes->touched_estimated |= more->touched_estimated;
}

static void bytes_add(struct roast_bytes *bytes, const struct roast_bytes *more)
{
        bytes->chunks += more->chunks;
        bytes_add_sum(&bytes->needed, &more->needed);
        bytes_add_sum(&bytes->requested, &more->requested);
        bytes_add_sum(&bytes->kernel, &more->kernel);
        bytes_add_sum(&bytes->storage, &more->storage);
        bytes->again = stat_sum_int(bytes->again, more->again);
        bytes->cut_chunks += more->cut_chunks;
        bytes->beside |= more->beside;
        bytes->mixed |= more->mixed;
        bytes_add_tree(bytes, more);
}

static const char no_chunk[] = "no chunk that finished tells it";

/* A sum over the chunks that tell it is an estimate of all of them. */
static int bytes_set_sum(struct roast_metric_set *set, enum roast_metric metric,
                         const struct roast_byte_sum *sum, const struct roast_bytes *bytes,
                         const char *estimated)
{
        if (sum->chunks == 0)
                return roast_metric_set_absent(set, metric, "%s", no_chunk);
        if (sum->chunks < bytes->chunks)
                return roast_metric_set_estimated(set, metric, (double)sum->bytes,
                                                  "%lld of %lld chunks tell it",
                                                  (long long)sum->chunks, (long long)bytes->chunks);
        if (estimated)
                return roast_metric_set_estimated(set, metric, (double)sum->bytes, "%s", estimated);
        roast_metric_set_count(set, metric, sum->bytes);
        return 0;
}

static int bytes_set_tree(struct roast_metric_set *set, const struct roast_bytes *bytes)
{
        static const char mixed[] = "chunks of one file touched different branches";
        const struct {
                enum roast_metric metric;
                int64_t value;
                bool estimated;
        } rows[] = {
                { ROAST_TREE_BRANCHES, bytes->tree_branches, false },
                { ROAST_TREE_BYTES, bytes->tree_bytes, false },
                { ROAST_TOUCHED_BRANCHES, bytes->touched_branches, false },
                { ROAST_TOUCHED_BYTES, bytes->touched_bytes, bytes->touched_estimated },
        };
        int r = 0;

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r >= 0; i++) {
                if (bytes->trees == 0)
                        r = roast_metric_set_absent(set, rows[i].metric,
                                                    "no chunk tells of the branches it touched");
                else if (rows[i].metric == ROAST_TREE_BRANCHES && rows[i].value == 0)
                        r = roast_metric_set_absent(set, rows[i].metric,
                                                    "no chunk tells how many branches there are");
                else if (rows[i].estimated)
                        r = roast_metric_set_estimated(set, rows[i].metric, (double)rows[i].value,
                                                       "%s", mixed);
                else
                        roast_metric_set_count(set, rows[i].metric, rows[i].value);
        }
        if (r < 0)
                return r;
        if (bytes->needed.chunks == 0) {
                r = roast_metric_set_absent(set, ROAST_CHUNKS_CUTTING_BASKETS, "%s", no_chunk);
                return r < 0 ? r
                             : roast_metric_set_absent(set, ROAST_BYTES_NEEDED_AGAIN, "%s",
                                                       no_chunk);
        }
        roast_metric_set_count(set, ROAST_CHUNKS_CUTTING_BASKETS, bytes->cut_chunks);
        if (bytes->mixed && bytes->again)
                return roast_metric_set_estimated(set, ROAST_BYTES_NEEDED_AGAIN,
                                                  (double)bytes->again, "%s", mixed);
        roast_metric_set_count(set, ROAST_BYTES_NEEDED_AGAIN, bytes->again);
        return 0;
}

static int bytes_set_metrics(struct roast_metric_set *set, const struct roast_bytes *bytes)
{
        const char *beside =
                bytes->beside ? "chunks side by side in a process count each other's bytes" : NULL;
        int r = 0;

        if (bytes->chunks == 0)
                return 0;
        r = bytes_set_sum(set, ROAST_BYTES_NEEDED, &bytes->needed, bytes, NULL);
        if (r >= 0)
                r = bytes_set_sum(set, ROAST_BYTES_REQUESTED, &bytes->requested, bytes, NULL);
        if (r >= 0)
                r = bytes_set_sum(set, ROAST_BYTES_KERNEL_READ, &bytes->kernel, bytes, beside);
        if (r >= 0)
                r = bytes_set_sum(set, ROAST_BYTES_STORAGE_READ, &bytes->storage, bytes, beside);
        return r < 0 ? r : bytes_set_tree(set, bytes);
}

/* A basket that a border cuts is read by the chunks on both sides, if both are there. */
static void bytes_sum_cuts(struct byte_walk *walk)
{
        struct roast_summary *summary = walk->collect->summary;

        for (size_t i = 0; i < walk->n_cuts; i++) {
                const struct cut_chunk *cut = &walk->cuts[i];
                struct roast_bytes *file = &summary->files[cut->file].sums;
                struct roast_bytes *dataset = &summary->datasets[cut->dataset].sums;

                if (!run_seen_has(&walk->ends, cut->before))
                        continue;
                file->cut_chunks++;
                file->again = stat_sum_int(file->again, cut->bytes);
                dataset->cut_chunks++;
                dataset->again = stat_sum_int(dataset->again, cut->bytes);
                dataset->mixed |= file->mixed;
        }
}

static void bytes_set_tree_of(struct roast_file *file)
{
        struct roast_bytes *bytes = &file->sums;

        if (!file->has_coverage || !(file->bytes > 0))
                return;
        bytes->trees = 1;
        bytes->tree_branches = file->branches;
        bytes->tree_bytes = stat_whole(file->bytes);
        bytes->touched_branches = file->branches_read;
        bytes->touched_bytes = stat_whole(fmin(file->bytes_read, file->bytes));
        bytes->touched_estimated = file->estimated;
}

int bytes_end(struct byte_walk *walk)
{
        struct roast_summary *summary = walk->collect->summary;

        bytes_sum_cuts(walk);
        for (size_t i = 0; i < summary->n_files; i++) {
                struct roast_file *file = &summary->files[i];

                bytes_set_tree_of(file);
                bytes_add(&summary->bytes, &file->sums);
                /* a tree counts once: for the dataset that had it first */
                if (file->sums.chunks)
                        bytes_add_tree(&summary->datasets[file->dataset].sums, &file->sums);
        }
        return bytes_set_metrics(&summary->metrics, &summary->bytes);
}
