/* Datasets, sections, files and the other things of a summary, as dicts; null: not known */

#include "metrics/chunk-stats.h"
#include "record/chunk.h"
#include "v1/documented.h"
#include "v1/put-record.h"

static void put_sum(struct emit *emit, const char *key, const struct roast_byte_sum *sum)
{
        emit_pair_count(emit, key, sum->chunks > 0, sum->bytes);
}

static void put_ratio(struct emit *emit, const char *key, double part, double whole, bool known)
{
        emit_pair_known(emit, key, known && whole > 0, part / whole);
}

void v1_put_bytes(struct emit *emit, const struct roast_bytes *bytes)
{
        bool needed = bytes->needed.chunks > 0, trees = bytes->trees > 0;

        emit_object(emit);
        put_sum(emit, "bytes_needed", &bytes->needed);
        put_sum(emit, "bytes_requested", &bytes->requested);
        put_sum(emit, "bytes_kernel_read", &bytes->kernel);
        put_sum(emit, "bytes_storage_read", &bytes->storage);
        emit_pair_count(emit, "bytes_needed_again", needed, bytes->again);
        emit_pair_count(emit, "chunks_cutting_baskets", needed, bytes->cut_chunks);
        emit_pair_count(emit, "tree_branches", trees, bytes->tree_branches);
        emit_pair_count(emit, "tree_bytes", trees, bytes->tree_bytes);
        emit_pair_count(emit, "touched_branches", trees, bytes->touched_branches);
        emit_pair_count(emit, "touched_bytes", trees, bytes->touched_bytes);
        put_ratio(emit, "touched_bytes_percent", (double)bytes->touched_bytes * 100,
                  (double)bytes->tree_bytes, trees);
        put_ratio(emit, "touched_branches_percent", (double)bytes->touched_branches * 100,
                  (double)bytes->tree_branches, trees);
        put_ratio(emit, "request_amplification", (double)bytes->requested.bytes,
                  (double)bytes->needed.bytes, bytes->requested.chunks > 0);
        put_ratio(emit, "kernel_amplification", (double)bytes->kernel.bytes,
                  (double)bytes->requested.bytes, bytes->kernel.chunks > 0);
        put_ratio(emit, "border_amplification", (double)bytes->needed.bytes,
                  (double)(bytes->needed.bytes - bytes->again), needed);
        emit_end(emit);
}

void v1_put_dataset(struct emit *emit, const void *thing)
{
        const struct roast_dataset *dataset = thing;

        emit_object(emit);
        emit_pair_text(emit, "name", dataset->name);
        emit_pair_int(emit, "finished", dataset->finished);
        emit_pair_int(emit, "failed", dataset->failed);
        emit_pair_int(emit, "events", dataset->events);
        emit_pair_known(emit, "wall_s", dataset->wall_chunks > 0, dataset->wall_s);
        emit_pair_known(emit, "cpu_s", dataset->cpu_chunks > 0, dataset->cpu_s);
        emit_pair_known(emit, "rss_delta_bytes", dataset->rss_chunks > 0, dataset->rss_delta_bytes);
        emit_pair_whole(emit, "requested_bytes", dataset->bytes_chunks > 0,
                        dataset->requested_bytes);
        emit_key(emit, "bytes");
        v1_put_bytes(emit, &dataset->sums);
        emit_end(emit);
}

void v1_put_section(struct emit *emit, const void *thing)
{
        const struct roast_section *section = thing;
        bool timed = section_has_time(section), followed = section->memory_chunks > 0;

        emit_object(emit);
        emit_pair_text(emit, "name", section->name);
        emit_pair_bool(emit, "time", section->kind & SECTION_TIME);
        emit_pair_bool(emit, "memory", section->kind & SECTION_MEMORY);
        emit_pair_bool(emit, "reads", section->kind & SECTION_BYTES_READ);
        emit_pair_int(emit, "chunks", section->chunks);
        emit_pair_int(emit, "count", section->count);
        emit_pair_known(emit, "total_s", timed, section->total_s);
        emit_pair_known(emit, "self_s", section->kind & SECTION_TIME, section->self_s);
        emit_pair_known(emit, "min_s", timed, section->min_s);
        emit_pair_known(emit, "max_s", timed, section->max_s);
        emit_pair_int(emit, "memory_chunks", section->memory_chunks);
        emit_pair_known(emit, "rss_delta_bytes", followed, section->rss_delta_bytes);
        emit_pair_known(emit, "rss_delta_min_bytes", followed, section->rss_delta_min_bytes);
        emit_pair_known(emit, "rss_delta_max_bytes", followed, section->rss_delta_max_bytes);
        emit_pair_count(emit, "bytes", section->bytes_chunks > 0, section->bytes);
        emit_end(emit);
}

void v1_put_file(struct emit *emit, const void *thing)
{
        const struct roast_file *file = thing;
        bool branches = file->has_coverage && file->branches > 0;
        bool bytes = file->has_coverage && file->bytes > 0;

        emit_object(emit);
        emit_pair_text(emit, "name", file->name);
        emit_pair_int(emit, "finished", file->finished);
        emit_pair_int(emit, "failed", file->failed);
        emit_pair_int(emit, "events", file->events);
        emit_pair_known(emit, "wall_s", file->wall_chunks > 0, file->wall_s);
        emit_pair_whole(emit, "requested_bytes", file->bytes_chunks > 0, file->requested_bytes);
        emit_pair_known(emit, "compression_ratio", isfinite(file->compression_ratio),
                        file->compression_ratio);
        emit_pair_count(emit, "total_branches", branches, file->branches);
        emit_pair_known(emit, "branches_read_percent", branches || file->branches_read_percent > 0,
                        file->branches_read_percent);
        emit_pair_whole(emit, "total_tree_bytes", bytes, file->bytes);
        emit_pair_whole(emit, "bytes_read", file->has_coverage, round(file->bytes_read));
        emit_pair_known(emit, "bytes_read_percent", bytes || file->bytes_read_percent > 0,
                        file->bytes_read_percent);
        emit_pair_count(emit, "branches_read", file->has_coverage, file->branches_read);
        emit_pair_bool(emit, "estimated", file->estimated);
        emit_key(emit, "bytes");
        v1_put_bytes(emit, &file->sums);
        emit_end(emit);
}

void v1_put_branch(struct emit *emit, const void *thing)
{
        const struct roast_branch *branch = thing;

        emit_object(emit);
        emit_pair_text(emit, "branch", branch->name);
        emit_pair_int(emit, "chunks", branch->chunks);
        put_sum(emit, "bytes_needed", &branch->needed);
        emit_end(emit);
}

void v1_put_failure(struct emit *emit, const void *thing)
{
        const struct roast_failure *failure = thing;
        int outcome = failure->outcome;

        emit_object(emit);
        emit_pair_text(emit, "outcome",
                       outcome >= 0 && outcome < CHUNK_N_OUTCOMES ? chunk_outcomes[outcome]
                                                                  : "unknown");
        emit_pair_text(emit, "error_type", failure->error_type);
        emit_pair_text(emit, "error_message", failure->error_message);
        emit_pair_text(emit, "file", failure->file);
        emit_pair_int(emit, "attempts", failure->attempts);
        emit_pair_int(emit, "recovered", failure->recovered);
        emit_pair_real(emit, "wall_s", failure->wall_s);
        emit_end(emit);
}

void v1_put_custom(struct emit *emit, const struct roast_custom *custom)
{
        const struct roast_value *value = &custom->value;

        if (value->state == ROAST_ABSENT)
                emit_null(emit);
        else if (value->count && (double)value->count == value->real)
                emit_int(emit, value->count);
        else
                emit_real(emit, value->real);
}

void v1_put_documented_dataset(struct emit *emit, const struct roast_dataset *dataset)
{
        emit_object(emit);
        emit_pair_int(emit, "num_chunks", dataset->finished);
        emit_pair_real(emit, "total_duration", dataset->wall_s);
        emit_pair_int(emit, "total_events", dataset->events);
        /* the documented key is always there: 0 where no chunk's time is known */
        emit_pair_real(emit, "mean_duration",
                       dataset->wall_chunks ? dataset->wall_s / (double)dataset->wall_chunks : 0);
        if (dataset->events > 0) {
                emit_pair_real(emit, "mean_events_per_chunk",
                               (double)dataset->events / (double)dataset->finished);
                emit_pair_known(emit, "time_per_event", dataset->wall_events > 0,
                                dataset->wall_s / (double)dataset->wall_events);
                emit_pair_known(emit, "memory_per_event", dataset->rss_events > 0,
                                dataset->rss_delta_bytes / (double)dataset->rss_events);
        }
        emit_end(emit);
}

void v1_put_documented_section(struct emit *emit, const struct roast_section *section)
{
        double n = (double)section->memory_chunks;

        emit_object(emit);
        emit_pair_int(emit, "count", section->count);
        emit_pair_real(emit, "total_duration", section->total_s);
        emit_pair_text(emit, "type",
                       section->type                    ? section->type
                       : section->kind & SECTION_MEMORY ? "memory"
                       : section->kind & SECTION_TIME   ? "time"
                                                        : "bytes");
        emit_pair_real(emit, "mean_duration", section->total_s / (double)section->count);
        if (section->memory_chunks) {
                emit_pair_real(emit, "mean_mem_delta_mb", section->rss_delta_bytes / V1_MIB / n);
                emit_pair_real(emit, "max_mem_delta_mb", section->rss_delta_max_bytes / V1_MIB);
                emit_pair_real(emit, "min_mem_delta_mb", section->rss_delta_min_bytes / V1_MIB);
        }
        if (section->bytes_chunks)
                emit_pair_int(emit, "total_bytes", section->bytes);
        emit_end(emit);
}

/* ---- with their names, as the parts of the documented dict have them ---- */

void v1_put_named_dataset(struct emit *emit, const void *thing)
{
        const struct roast_dataset *dataset = thing;

        if (!dataset->finished)
                return;
        emit_name(emit, dataset->name);
        v1_put_documented_dataset(emit, dataset);
}

void v1_put_named_section(struct emit *emit, const void *thing)
{
        const struct roast_section *section = thing;

        emit_name(emit, section->name);
        v1_put_documented_section(emit, section);
}

void v1_put_named_bytes(struct emit *emit, const void *thing)
{
        const struct roast_dataset *dataset = thing;

        emit_name(emit, dataset->name);
        v1_put_bytes(emit, &dataset->sums);
}

void v1_put_named_ledger(struct emit *emit, const void *thing)
{
        const struct roast_ledger_row *row = thing;

        emit_name(emit, row->worker);
        emit_object(emit);
        for (size_t i = 0; i < ROAST_LEDGER_N_PARTS; i++)
                if (row->known >> i & 1)
                        emit_pair_real(emit, roast_ledger_parts[i].key, row->seconds[i]);
        emit_end(emit);
}

void v1_put_named_metadata(struct emit *emit, const void *thing)
{
        const struct roast_file *file = thing;

        if (!file->metadata)
                return;
        emit_name(emit, file->name);
        emit_cbor(emit, file->metadata, file->metadata_len);
}

void v1_put_ratio(struct emit *emit, const void *thing)
{
        const struct roast_file *file = thing;

        if (file->has_coverage && file->compression_ratio > 0)
                emit_real(emit, file->compression_ratio);
}

void v1_put_percent(struct emit *emit, const void *thing)
{
        const struct roast_file *file = thing;

        if (file->has_coverage && file->bytes_read_percent > 0)
                emit_real(emit, file->bytes_read_percent);
}
