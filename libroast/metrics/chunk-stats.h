#pragma once
/* Statistics of chunks, datasets and sections, wherever their figures come from */

#include "metrics/quantile.h"
#include "metrics/stat.h"
#include "roast-metrics.h"

#define CHUNK_MIB (1024.0 * 1024.0)

/* What a finished chunk adds; what is not finite is not known and does not count. */
struct chunk_figures {
        double wall_s;
        double cpu_s;
        double rss_delta_mib;
        bool has_events;
        int64_t events;
        double requested_bytes;
};

struct chunk_stats {
        int64_t n;
        int64_t failed; /* skipped ones included */
        int64_t skipped;
        int64_t lost; /* not among n */
        int64_t retried;
        int64_t from_tasks; /* of the finished ones: their wall time is that of Dask's task */
        struct stat_sum wall_s;
        struct quantile walls_s;
        struct stat_sum rss_delta_mib;
        struct stat_sum events;
        struct stat_sum s_per_event; /* of chunks that have events */
        struct stat_sum bytes_per_event;
        int64_t total_events;
};

void chunk_stats_deinit(struct chunk_stats *stats);
/* 0 or ROAST_E_NOMEM */
int chunk_stats_finished(struct chunk_stats *stats, struct roast_dataset *dataset,
                         const struct chunk_figures *figures);
void chunk_stats_failed(struct chunk_stats *stats, struct roast_dataset *dataset);
/*
 * What only a run tells: lost, skipped and retried ones. Of the first two records know nothing:
 * where there are no tasks either they are absent. 0 or ROAST_E_NOMEM.
 */
int chunk_stats_set_ledger(struct roast_metric_set *set, const struct chunk_stats *stats,
                           bool has_tasks);
/* Sets the other base facts of the group; 0 or ROAST_E_NOMEM. */
int chunk_stats_set(struct roast_metric_set *set, struct chunk_stats *stats);

/* What a chunk's section, or one occurrence of it, adds */
struct section_figures {
        int kind; /* SECTION_* bits of record/chunk.h */
        int64_t count;
        double total_s;
        double self_s;
        double min_s;
        double max_s;
        double rss_delta_bytes; /* not finite: not known */
        bool has_bytes;
        int64_t bytes;
};

void section_add(struct roast_section *section, const struct section_figures *figures);
/* Whether its time is known: records that were imported may tell only memory or bytes. */
bool section_has_time(const struct roast_section *section);
/* By total time, longest first */
void section_sort(struct roast_section *sections, size_t n);
