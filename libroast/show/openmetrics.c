/*
 * A run as OpenMetrics: see roast-show.h.
 *
 * Counters that grow while a run lasts come from the chunks, by dataset; every
 * other metric of the registry is a gauge. Its name is its key without prefix
 * and suffix of its unit, and with that of the base unit: seconds, bytes,
 * hertz, ratio. Only types are used that the older text format knows, too: the
 * node exporter reads files in that one.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/stat.h"
#include "run/list.h"
#include "show/openmetrics.h"
#include "util/cleanup.h"
#include "util/intern.h"
#include "util/size.h"

/* Datasets beyond these are told together: labels stay bounded. */
#define DATASETS_MAX 1000

static void openmetrics_put_about(struct exposition *e, const struct roast_run_about *about)
{
        exposition_family(e, "run_info", "gauge", NULL);
        exposition_help(e, "Which run this is, and how it ended");
        exposition_sample(e);
        exposition_label(e, "{", "name", about->name ? about->name : "");
        exposition_label(e, ",", "id", about->id ? about->id : "");
        exposition_label(e, ",", "outcome", run_state(about));
        exposition_puts(e, "} 1\n");
        exposition_family(e, "run_active", "gauge", NULL);
        exposition_help(e, "1 while the run has not ended");
        exposition_sample(e);
        exposition_int(e, about->end_utc_ns == INT64_MIN);
        if (about->start_utc_ns != INT64_MIN) {
                exposition_family(e, "run_start_time_seconds", "gauge", "seconds");
                exposition_help(e, "When the run began, since 1970");
                exposition_sample(e);
                exposition_real(e, (double)about->start_utc_ns / 1e9);
        }
        if (about->end_utc_ns != INT64_MIN) {
                exposition_family(e, "run_end_time_seconds", "gauge", "seconds");
                exposition_help(e, "When the run ended, since 1970");
                exposition_sample(e);
                exposition_real(e, (double)about->end_utc_ns / 1e9);
        }
}

/* Counters by dataset, and the metric that tells the whole where there are no chunks */
static const struct counter {
        const char *name;
        const char *unit;
        const char *help;
        enum roast_metric whole;
        enum { EVENTS, READ_BYTES, CHUNK_SECONDS, CHUNKS } figure;
} counters[] = {
        { "events", NULL, "Events of the chunks that finished; without chunks coffea's total",
          ROAST_TOTAL_EVENTS, EVENTS },
        { "read_bytes", "bytes",
          "Compressed bytes that chunks requested from files; without chunks coffea's total",
          ROAST_TOTAL_BYTES_READ, READ_BYTES },
        { "chunk_seconds", "seconds",
          "Wall time of process() in chunks that finished; without chunks coffea's total",
          ROAST_TOTAL_CPU_TIME, CHUNK_SECONDS },
        { "chunks", NULL, "Attempts at chunks, by how they ended; without them coffea's total",
          ROAST_NUM_CHUNKS, CHUNKS },
};

/*
 * Datasets as they are told: names that read the same, as those do that are not UTF-8 or that are
 * beyond the most there may be, are one. The same labels twice would spoil the whole exposition.
 */
struct told {
        struct intern names; /* as they read */
        struct roast_dataset *sums;
};

static void openmetrics_told_deinit(struct told *told)
{
        intern_deinit(&told->names);
        free(told->sums);
}

static void openmetrics_add_dataset(struct roast_dataset *sum, const struct roast_dataset *dataset)
{
        sum->finished = stat_sum_int(sum->finished, dataset->finished);
        sum->failed = stat_sum_int(sum->failed, dataset->failed);
        sum->events = stat_sum_int(sum->events, dataset->events);
        sum->wall_s += dataset->wall_s;
        sum->requested_bytes += dataset->requested_bytes;
        sum->wall_chunks += dataset->wall_chunks;
        sum->bytes_chunks += dataset->bytes_chunks;
}

static int openmetrics_tell_datasets(struct told *told, const struct roast_summary *summary)
{
        struct exposition name = { 0 };

        told->sums = calloc(DATASETS_MAX + 1, sizeof(*told->sums));
        if (!told->sums)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < summary->n_datasets && name.error >= 0; i++) {
                const struct roast_dataset *dataset = &summary->datasets[i];
                int64_t number;

                buf_clear(&name.out);
                exposition_escaped(&name, told->names.n >= DATASETS_MAX ? "(all others)"
                                          : dataset->name               ? dataset->name
                                                                        : "");
                number = intern_put(&told->names, name.out.data, name.out.len);
                if (number < 0)
                        name.error = ROAST_E_NOMEM;
                else
                        openmetrics_add_dataset(&told->sums[number], dataset);
        }
        buf_deinit(&name.out);
        return name.error;
}

/* What is not known, or cannot be, is left out: counters are never negative. */
static void openmetrics_put_dataset(struct exposition *e, const struct counter *counter,
                                    const struct told *told, size_t i)
{
        const struct roast_dataset *dataset = &told->sums[i];
        const int64_t outcomes[] = { dataset->finished, dataset->failed };
        const bool unknown[] = {
                [EVENTS] = dataset->events < 0,
                [READ_BYTES] = !dataset->bytes_chunks || dataset->requested_bytes < 0,
                [CHUNK_SECONDS] = !dataset->wall_chunks || dataset->wall_s < 0,
                [CHUNKS] = false,
        };
        size_t len;
        const char *name = intern_get(&told->names, i, &len);

        if (unknown[counter->figure])
                return;
        for (size_t k = 0; k < (counter->figure == CHUNKS ? 2 : 1); k++) {
                exposition_sample(e);
                exposition_puts(e, "{dataset=\"");
                exposition_put(e, name, len);
                exposition_puts(e, "\"");
                if (counter->figure == CHUNKS)
                        exposition_label(e, ",", "outcome", k ? "failed" : "finished");
                exposition_put(e, "}", 1);
                if (counter->figure == CHUNK_SECONDS)
                        exposition_real(e, dataset->wall_s);
                else
                        exposition_int(e, counter->figure == EVENTS ? dataset->events
                                          : counter->figure == READ_BYTES
                                                  ? stat_whole(dataset->requested_bytes)
                                                  : outcomes[k]);
        }
}

static void openmetrics_put_counter(struct exposition *e, const struct counter *counter,
                                    const struct roast_summary *summary, const struct told *told)
{
        const struct roast_value *whole = &summary->metrics.values[counter->whole];

        if (told->names.n == 0 && whole->state == ROAST_ABSENT)
                return;
        exposition_family(e, counter->name, "counter", counter->unit);
        exposition_help(e, counter->help);
        for (size_t i = 0; i < told->names.n; i++)
                openmetrics_put_dataset(e, counter, told, i);
        if (told->names.n == 0) {
                exposition_sample(e);
                exposition_real(e, whole->real);
        }
}

/* Registry rows that are counters above, or the same as others in another unit */
static bool openmetrics_is_elsewhere(enum roast_metric metric)
{
        static const enum roast_metric elsewhere[] = {
                ROAST_TOTAL_EVENTS,       ROAST_TOTAL_BYTES_READ,
                ROAST_NUM_CHUNKS,         ROAST_NUM_SUCCESSFUL_CHUNKS,
                ROAST_NUM_FAILED_CHUNKS,  ROAST_TOTAL_EVENTS_FROM_CHUNKS,
                ROAST_DATA_RATE_MB_PER_S, ROAST_EVENT_RATE_CORE_HZ,
                ROAST_IO_OVERHEAD_PCT,
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(elsewhere); i++)
                if (elsewhere[i] == metric)
                        return true;
        return false;
}

/* From the registry's units to base units, and what is cut off a key and put on it */
static const struct base {
        const char *unit; /* NULL: none */
        double factor;
        const char *cut[3];
} bases[ROAST_N_UNITS] = {
        [ROAST_UNIT_SECONDS] = { "seconds", 1, { "_seconds", "_s" } },
        [ROAST_UNIT_BYTES] = { "bytes", 1, { "_bytes" } },
        [ROAST_UNIT_MIB] = { "bytes", 1048576, { "_mb" } },
        [ROAST_UNIT_COUNT] = { NULL, 1, { 0 } },
        [ROAST_UNIT_WORKERS] = { NULL, 1, { 0 } },
        [ROAST_UNIT_CORES] = { NULL, 1, { 0 } },
        [ROAST_UNIT_GBPS] = { "bytes_per_second", 1e9 / 8, { "_gbps" } },
        [ROAST_UNIT_MB_PER_S] = { "bytes_per_second", 1e6, { "_mb_per_s" } },
        [ROAST_UNIT_KHZ] = { "hertz", 1000, { "_khz" } },
        [ROAST_UNIT_KHZ_PER_CORE] = { "hertz", 1000, { "_khz" } },
        [ROAST_UNIT_HZ_PER_CORE] = { "hertz", 1, { "_hz" } },
        [ROAST_UNIT_FRACTION] = { "ratio", 1, { "_ratio" } },
        [ROAST_UNIT_PERCENT] = { "ratio", 0.01, { "_percent", "_pct" } },
        [ROAST_UNIT_FACTOR] = { NULL, 1, { 0 } },
};

static const char *openmetrics_name_of(struct exposition *e, enum roast_metric metric)
{
        const struct roast_metric_info *info = &roast_metrics[metric];
        const struct base *base = &bases[info->unit];
        const char *key = info->key;
        size_t len;

        if (!strncmp(key, "num_", 4))
                key += 4;
        len = strlen(key);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(base->cut) && base->cut[i]; i++) {
                size_t cut = strlen(base->cut[i]);

                if (len > cut && !strcmp(key + len - cut, base->cut[i])) {
                        len -= cut;
                        break;
                }
        }
        snprintf(e->name, sizeof(e->name), "%.*s%s%s", (int)len, key, base->unit ? "_" : "",
                 base->unit ? base->unit : "");
        return e->name;
}

static bool openmetrics_is_shown(const struct roast_metric_set *set, enum roast_metric metric)
{
        return !openmetrics_is_elsewhere(metric) && set->values[metric].state != ROAST_ABSENT &&
               isfinite(set->values[metric].real);
}

static void openmetrics_put_registry(struct exposition *e, const struct roast_metric_set *set)
{
        bool any = false;

        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                const struct roast_metric_info *info = &roast_metrics[i];

                if (!openmetrics_is_shown(set, i))
                        continue;
                exposition_family(e, openmetrics_name_of(e, i), "gauge", bases[info->unit].unit);
                exposition_escaped(e, info->title);
                exposition_puts(e, ": ");
                exposition_help(e, info->formula);
                exposition_sample(e);
                exposition_real(e, set->values[i].real * bases[info->unit].factor);
        }
        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                if (!openmetrics_is_shown(set, i) || set->values[i].state != ROAST_ESTIMATED)
                        continue;
                openmetrics_name_of(e, i);
                if (!any) {
                        exposition_family(e, "metric_estimated", "gauge", NULL);
                        exposition_help(e,
                                        "1 for each metric here that is estimated, not measured");
                }
                any = true;
                exposition_sample(e);
                exposition_label(e, "{", "metric", e->name);
                exposition_puts(e, "} 1\n");
        }
}

/* The user's own metrics have keys of any kind: they are labels. */
static void openmetrics_put_customs(struct exposition *e, const struct roast_summary *summary)
{
        bool any = false;

        for (size_t i = 0; i < summary->n_customs; i++) {
                const struct roast_custom *custom = &summary->customs[i];

                if (custom->value.state == ROAST_ABSENT || !isfinite(custom->value.real))
                        continue;
                if (!any) {
                        exposition_family(e, "custom_metric", "gauge", NULL);
                        exposition_help(e,
                                        "Metrics that the user registered, each in its own unit");
                }
                any = true;
                exposition_sample(e);
                exposition_label(e, "{", "metric", custom->key);
                exposition_label(e, ",", "unit", custom->unit ? custom->unit : "");
                exposition_put(e, "}", 1);
                exposition_real(e, custom->value.real);
        }
}

int roast_openmetrics(char **ret, size_t *len, const struct roast_openmetrics *source,
                      struct roast_error *error)
{
        ROAST_CLEANUP(openmetrics_told_deinit) struct told told = { 0 };
        struct exposition e = { .error = openmetrics_tell_datasets(&told, source->summary) };

        openmetrics_put_about(&e, source->about);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(counters); i++)
                openmetrics_put_counter(&e, &counters[i], source->summary, &told);
        openmetrics_put_registry(&e, &source->summary->metrics);
        openmetrics_put_customs(&e, source->summary);
        if (source->workers)
                openmetrics_workers(&e, source->workers, source->per_worker);
        exposition_puts(&e, "# EOF\n");
        *len = e.out.len;
        *ret = e.error < 0 ? NULL : buf_release_string(&e.out);
        if (!*ret) {
                buf_deinit(&e.out);
                return roast_fail_nomem(error);
        }
        return 0;
}
