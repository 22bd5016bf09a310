/* Bytes of chunks by their sources: see bytes.h. */

#include "metrics/bytes.h"
#include "record/chunk.h"

static void add_known(struct roast_byte_sum *sum, const struct run_value *value)
{
        if (value->type != RUN_INT)
                return;
        sum->chunks++;
        sum->bytes = stat_sum_int(sum->bytes, value->integer);
}

void bytes_add_chunk(struct roast_bytes *bytes, const struct run_value *values)
{
        bytes->chunks++;
        add_known(&bytes->needed, &values[CHUNK_NEEDED_BYTES]);
        add_known(&bytes->requested, &values[CHUNK_REQUESTED_BYTES]);
        add_known(&bytes->kernel, &values[CHUNK_RCHAR_BYTES]);
        add_known(&bytes->storage, &values[CHUNK_READ_BYTES]);
}

static void add_sum(struct roast_byte_sum *sum, const struct roast_byte_sum *more)
{
        sum->chunks += more->chunks;
        sum->bytes = stat_sum_int(sum->bytes, more->bytes);
}

void bytes_add(struct roast_bytes *bytes, const struct roast_bytes *more)
{
        bytes->chunks += more->chunks;
        add_sum(&bytes->needed, &more->needed);
        add_sum(&bytes->requested, &more->requested);
        add_sum(&bytes->kernel, &more->kernel);
        add_sum(&bytes->storage, &more->storage);
        bytes->again = stat_sum_int(bytes->again, more->again);
        bytes->cut_chunks += more->cut_chunks;
        bytes->trees += more->trees;
        bytes->tree_branches = stat_sum_int(bytes->tree_branches, more->tree_branches);
        bytes->tree_bytes = stat_sum_int(bytes->tree_bytes, more->tree_bytes);
        bytes->touched_branches = stat_sum_int(bytes->touched_branches, more->touched_branches);
        bytes->touched_bytes = stat_sum_int(bytes->touched_bytes, more->touched_bytes);
        bytes->beside |= more->beside;
        bytes->mixed |= more->mixed;
        bytes->touched_estimated |= more->touched_estimated;
}

/* A sum over the chunks that tell it is an estimate of all of them. */
static int set_sum(struct roast_metric_set *set, enum roast_metric metric,
                   const struct roast_byte_sum *sum, const struct roast_bytes *bytes,
                   const char *estimated)
{
        if (sum->chunks == 0)
                return roast_metric_set_absent(set, metric, "no chunk that finished tells it");
        if (sum->chunks < bytes->chunks)
                return roast_metric_set_estimated(set, metric, (double)sum->bytes,
                                                  "%lld of %lld chunks tell it",
                                                  (long long)sum->chunks, (long long)bytes->chunks);
        if (estimated)
                return roast_metric_set_estimated(set, metric, (double)sum->bytes, "%s", estimated);
        roast_metric_set_count(set, metric, sum->bytes);
        return 0;
}

static int set_tree(struct roast_metric_set *set, const struct roast_bytes *bytes)
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
                else if (rows[i].estimated)
                        r = roast_metric_set_estimated(set, rows[i].metric, (double)rows[i].value,
                                                       "%s", mixed);
                else
                        roast_metric_set_count(set, rows[i].metric, rows[i].value);
        }
        if (r < 0 || bytes->needed.chunks == 0)
                return r;
        roast_metric_set_count(set, ROAST_CHUNKS_CUTTING_BASKETS, bytes->cut_chunks);
        if (bytes->mixed && bytes->again)
                return roast_metric_set_estimated(set, ROAST_BYTES_NEEDED_AGAIN,
                                                  (double)bytes->again, "%s", mixed);
        roast_metric_set_count(set, ROAST_BYTES_NEEDED_AGAIN, bytes->again);
        return 0;
}

int bytes_set(struct roast_metric_set *set, const struct roast_bytes *bytes)
{
        const char *beside =
                bytes->beside ? "chunks side by side in a process count each other's bytes" : NULL;
        int r = 0;

        if (bytes->chunks == 0)
                return 0;
        r = set_sum(set, ROAST_BYTES_NEEDED, &bytes->needed, bytes, NULL);
        if (r >= 0)
                r = set_sum(set, ROAST_BYTES_REQUESTED, &bytes->requested, bytes, NULL);
        if (r >= 0)
                r = set_sum(set, ROAST_BYTES_KERNEL_READ, &bytes->kernel, bytes, beside);
        if (r >= 0)
                r = set_sum(set, ROAST_BYTES_STORAGE_READ, &bytes->storage, bytes, beside);
        return r < 0 ? r : set_tree(set, bytes);
}
