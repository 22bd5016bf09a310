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
#include <string.h>

#include "roast-show.h"
#include "run/list.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "util/utf8.h"

/* Datasets beyond these are told together: labels stay bounded. */
#define DATASETS_MAX 1000

struct exposition {
        struct buf out;
        int error;
        const char *family; /* name of the current one */
        size_t family_len;
        const char *suffix; /* of its samples */
        char name[128];
};

/* Small pieces are the rule: they go without a call where there is room. */
static inline void put(struct exposition *e, const char *data, size_t len)
{
        struct buf *out = &e->out;

        if (e->error < 0)
                return;
        if (len > out->cap - out->len) {
                e->error = buf_append(out, data, len);
                return;
        }
        memcpy(out->data + out->len, data, len);
        out->len += len;
}

static void puts_(struct exposition *e, const char *text)
{
        put(e, text, strlen(text));
}

static void put_int(struct exposition *e, int64_t value)
{
        uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
        char text[24], *at = text + sizeof(text);

        do
                *--at = (char)('0' + rest % 10);
        while (rest /= 10);
        if (value < 0)
                *--at = '-';
        put(e, at, (size_t)(text + sizeof(text) - at));
}

/* How many characters from here on stand for themselves */
static size_t plain_length(const char *text, size_t len)
{
        size_t n = 0;

        while (n < len && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
                n++;
        return n;
}

/* A label's value, or a help text: well-formed UTF-8, on one line */
static void put_escaped(struct exposition *e, const char *text)
{
        size_t len = strlen(text);

        for (size_t i = 0; i < len;) {
                size_t plain = plain_length(text + i, len - i);
                size_t n = plain ? plain : utf8_length((const uint8_t *)text + i, len - i);

                if (plain)
                        put(e, text + i, plain);
                else if (n == 0)
                        puts_(e, "\xef\xbf\xbd");
                else if (text[i] == '\n')
                        puts_(e, "\\n");
                else if (text[i] == '"' || text[i] == '\\')
                        put(e, (char[]){ '\\', text[i] }, 2);
                else
                        put(e, text + i, n);
                i += n ? n : 1;
        }
}

/* `name` is that of the family, without "_total" for a counter. */
static void family(struct exposition *e, const char *name, const char *type, const char *unit)
{
        e->family = name;
        e->family_len = strlen(name);
        e->suffix = !strcmp(type, "counter") ? "_total" : "";
        puts_(e, "# TYPE roast_");
        puts_(e, name);
        puts_(e, " ");
        puts_(e, type);
        if (unit) {
                puts_(e, "\n# UNIT roast_");
                puts_(e, name);
                puts_(e, " ");
                puts_(e, unit);
        }
        puts_(e, "\n# HELP roast_");
        puts_(e, name);
        puts_(e, " ");
}

static void help(struct exposition *e, const char *text)
{
        put_escaped(e, text);
        puts_(e, "\n");
}

/* The name of a sample; labels, if any, and a value follow. */
static void sample(struct exposition *e)
{
        put(e, "roast_", 6);
        put(e, e->family, e->family_len);
        puts_(e, e->suffix);
}

static void value_int(struct exposition *e, int64_t value)
{
        put(e, " ", 1);
        put_int(e, value);
        put(e, "\n", 1);
}

static void value_real(struct exposition *e, double value)
{
        put(e, " ", 1);
        if (e->error >= 0)
                e->error = buf_put_real(&e->out, value);
        put(e, "\n", 1);
}

static void label(struct exposition *e, const char *before, const char *name, const char *value)
{
        puts_(e, before);
        puts_(e, name);
        puts_(e, "=\"");
        put_escaped(e, value);
        put(e, "\"", 1);
}

static void put_about(struct exposition *e, const struct roast_run_about *about)
{
        family(e, "run_info", "gauge", NULL);
        help(e, "Which run this is, and how it ended");
        sample(e);
        label(e, "{", "name", about->name ? about->name : "");
        label(e, ",", "id", about->id ? about->id : "");
        label(e, ",", "outcome", run_state(about));
        puts_(e, "} 1\n");
        family(e, "run_active", "gauge", NULL);
        help(e, "1 while the run has not ended");
        sample(e);
        value_int(e, about->end_utc_ns == INT64_MIN);
        if (about->start_utc_ns != INT64_MIN) {
                family(e, "run_start_time_seconds", "gauge", "seconds");
                help(e, "When the run began, since 1970");
                sample(e);
                value_real(e, (double)about->start_utc_ns / 1e9);
        }
        if (about->end_utc_ns != INT64_MIN) {
                family(e, "run_end_time_seconds", "gauge", "seconds");
                help(e, "When the run ended, since 1970");
                sample(e);
                value_real(e, (double)about->end_utc_ns / 1e9);
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

static void add_dataset(struct roast_dataset *sum, const struct roast_dataset *dataset)
{
        sum->finished += dataset->finished;
        sum->failed += dataset->failed;
        sum->events += dataset->events;
        sum->wall_s += dataset->wall_s;
        sum->requested_bytes += dataset->requested_bytes;
        sum->wall_chunks += dataset->wall_chunks;
        sum->bytes_chunks += dataset->bytes_chunks;
}

static void put_dataset(struct exposition *e, const struct counter *counter, const char *name,
                        const struct roast_dataset *dataset)
{
        const int64_t outcomes[] = { dataset->finished, dataset->failed };

        if ((counter->figure == READ_BYTES && !dataset->bytes_chunks) ||
            (counter->figure == CHUNK_SECONDS && !dataset->wall_chunks))
                return; /* not known */
        for (size_t i = 0; i < (counter->figure == CHUNKS ? 2 : 1); i++) {
                sample(e);
                label(e, "{", "dataset", name);
                if (counter->figure == CHUNKS)
                        label(e, ",", "outcome", i ? "failed" : "finished");
                put(e, "}", 1);
                if (counter->figure == CHUNK_SECONDS)
                        value_real(e, dataset->wall_s);
                else
                        value_int(e, counter->figure == EVENTS ? dataset->events
                                     : counter->figure == READ_BYTES
                                             ? (int64_t)dataset->requested_bytes
                                             : outcomes[i]);
        }
}

static void put_counter(struct exposition *e, const struct counter *counter,
                        const struct roast_summary *summary)
{
        const struct roast_value *whole = &summary->metrics.values[counter->whole];
        struct roast_dataset others = { 0 };
        size_t n = summary->n_datasets < DATASETS_MAX ? summary->n_datasets : DATASETS_MAX;

        if (n == 0 && whole->state == ROAST_ABSENT)
                return;
        family(e, counter->name, "counter", counter->unit);
        help(e, counter->help);
        for (size_t i = 0; i < n; i++)
                put_dataset(e, counter, summary->datasets[i].name ? summary->datasets[i].name : "",
                            &summary->datasets[i]);
        for (size_t i = n; i < summary->n_datasets; i++)
                add_dataset(&others, &summary->datasets[i]);
        if (n < summary->n_datasets)
                put_dataset(e, counter, "(all others)", &others);
        if (n == 0) {
                sample(e);
                value_real(e, whole->real);
        }
}

/* Registry rows that are counters above, or the same as others in another unit */
static bool is_elsewhere(enum roast_metric metric)
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

static const char *name_of(struct exposition *e, enum roast_metric metric)
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

static bool is_shown(const struct roast_metric_set *set, enum roast_metric metric)
{
        return !is_elsewhere(metric) && set->values[metric].state != ROAST_ABSENT &&
               isfinite(set->values[metric].real);
}

static void put_registry(struct exposition *e, const struct roast_metric_set *set)
{
        bool any = false;

        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                const struct roast_metric_info *info = &roast_metrics[i];

                if (!is_shown(set, i))
                        continue;
                family(e, name_of(e, i), "gauge", bases[info->unit].unit);
                put_escaped(e, info->title);
                puts_(e, ": ");
                help(e, info->formula);
                sample(e);
                value_real(e, set->values[i].real * bases[info->unit].factor);
        }
        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                if (!is_shown(set, i) || set->values[i].state != ROAST_ESTIMATED)
                        continue;
                name_of(e, i);
                if (!any) {
                        family(e, "metric_estimated", "gauge", NULL);
                        help(e, "1 for each metric here that is estimated, not measured");
                }
                any = true;
                sample(e);
                label(e, "{", "metric", e->name);
                puts_(e, "} 1\n");
        }
}

/* The user's own metrics have keys of any kind: they are labels. */
static void put_customs(struct exposition *e, const struct roast_summary *summary)
{
        bool any = false;

        for (size_t i = 0; i < summary->n_customs; i++) {
                const struct roast_custom *custom = &summary->customs[i];

                if (custom->value.state == ROAST_ABSENT || !isfinite(custom->value.real))
                        continue;
                if (!any) {
                        family(e, "custom_metric", "gauge", NULL);
                        help(e, "Metrics that the user registered, each in its own unit");
                }
                any = true;
                sample(e);
                label(e, "{", "metric", custom->key);
                label(e, ",", "unit", custom->unit ? custom->unit : "");
                put(e, "}", 1);
                value_real(e, custom->value.real);
        }
}

static void put_worker_sums(struct exposition *e, const struct roast_worker_now *workers, size_t n)
{
        int64_t here = 0, threads = 0, rss = 0, n_rss = 0;
        double fullest = -1;

        for (size_t i = 0; i < n; i++) {
                if (!workers[i].here)
                        continue;
                here++;
                threads += workers[i].threads > 0 ? workers[i].threads : 0;
                if (workers[i].rss_bytes < 0)
                        continue;
                n_rss++;
                rss += workers[i].rss_bytes;
                if (workers[i].memory_limit_bytes > 0)
                        fullest = fmax(fullest, (double)workers[i].rss_bytes /
                                                        (double)workers[i].memory_limit_bytes);
        }
        family(e, "workers", "gauge", NULL);
        help(e, "Workers that are here now");
        sample(e);
        value_int(e, here);
        family(e, "cores", "gauge", NULL);
        help(e, "Threads of the workers that are here now");
        sample(e);
        value_int(e, threads);
        if (n_rss) {
                family(e, "memory_bytes", "gauge", "bytes");
                help(e, "Resident memory of the workers that are here, by their last samples");
                sample(e);
                value_int(e, rss);
        }
        if (fullest >= 0) {
                family(e, "memory_utilization_max_ratio", "gauge", "ratio");
                help(e, "Resident memory over its limit, of the worker that is nearest to it");
                sample(e);
                value_real(e, fullest);
        }
}

static int64_t figure_of(const struct roast_worker_now *worker, int figure)
{
        return figure == 0   ? worker->here
               : figure == 1 ? worker->threads
               : figure == 2 ? worker->rss_bytes
                             : worker->memory_limit_bytes;
}

static void put_each_worker(struct exposition *e, const struct roast_worker_now *workers, size_t n)
{
        static const struct {
                const char *name;
                const char *unit;
                const char *help;
        } figures[] = {
                { "worker_up", NULL, "1 while the worker is here" },
                { "worker_cores", NULL, "Threads of the worker" },
                { "worker_memory_bytes", "bytes", "Resident memory, by the last sample" },
                { "worker_memory_limit_bytes", "bytes", "What the worker may take" },
        };

        for (int i = 0; i < (int)ROAST_ARRAY_SIZE(figures); i++) {
                family(e, figures[i].name, "gauge", figures[i].unit);
                help(e, figures[i].help);
                for (size_t j = 0; j < n; j++) {
                        int64_t value = figure_of(&workers[j], i);

                        if (value < 0)
                                continue;
                        sample(e);
                        label(e, "{", "worker", workers[j].name);
                        put(e, "}", 1);
                        value_int(e, value);
                }
        }
}

int roast_openmetrics(char **ret, size_t *len, const struct roast_openmetrics *source,
                      struct roast_error *error)
{
        struct exposition e = { 0 };
        size_t n;

        put_about(&e, source->about);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(counters); i++)
                put_counter(&e, &counters[i], source->summary);
        put_registry(&e, &source->summary->metrics);
        put_customs(&e, source->summary);
        if (source->workers) {
                const struct roast_worker_now *workers = roast_workers_all(source->workers, &n);

                put_worker_sums(&e, workers, n);
                if (source->per_worker)
                        put_each_worker(&e, workers, n);
        }
        puts_(&e, "# EOF\n");
        *len = e.out.len;
        *ret = e.error < 0 ? NULL : buf_release_string(&e.out);
        if (!*ret) {
                buf_deinit(&e.out);
                return roast_fail_nomem(error);
        }
        return 0;
}
