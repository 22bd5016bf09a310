/*
 * What happened over time: the cluster as a whole, and each worker
 *
 * Of the cluster: workers, their threads, chunks in process() and events per
 * second. Of the workers a few series, each as quantiles over the workers, and
 * worker by worker on a grid that is as coarse as the number of them asks for.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "report/report.h"
#include "report/samples.h"
#include "run/series.h"
#include "util/cleanup.h"
#include "util/size.h"

#define FINE_MAX (1u << 22) /* values in memory, of one series */
#define EACH_MAX (1u << 18) /* values in the page, of one series */

static const struct definition {
        const char *key;
        const char *title;
        const char *unit; /* as the page formats it */
        const char *note;
        enum samples_kind kind;
        double factor;
        const char *columns[3]; /* summed up */
} definitions[] = {
        { "cpu",
          "CPU",
          "cores",
          "user and system time of the worker's process, mean of each step",
          SAMPLES_RATE,
          1e-9,
          { "cpu_user_ns", "cpu_system_ns" } },
        { "memory",
          "Memory",
          "bytes",
          "resident memory of the worker's process, highest in each step",
          SAMPLES_PEAK,
          1,
          { "rss_bytes" } },
        { "read",
          "Read from storage",
          "bytes/s",
          "by the worker's process, without what the cache had",
          SAMPLES_RATE,
          1,
          { "read_bytes" } },
        { "network",
          "Network, received",
          "bytes/s",
          "by the worker's host: all its processes together",
          SAMPLES_RATE,
          1,
          { "host_net_recv_bytes" } },
};

#define N_DEFINITIONS ROAST_ARRAY_SIZE(definitions)

static struct grid series_make_grid(const struct report *report, size_t n_workers)
{
        double duration_ns = (double)report->end_utc_ns - (double)report->zero_utc_ns;
        double cells = ceil(duration_ns / (report->interval_s * 1e9));
        size_t limit = FINE_MAX / (n_workers + 1) + 1;

        if (!(duration_ns > 0))
                return (struct grid){ report->zero_utc_ns, 1e9, 0 };
        limit = limit > GRID_CELLS_MAX ? GRID_CELLS_MAX : limit;
        if (!(cells >= 1))
                cells = 1;
        if (cells > (double)limit)
                cells = (double)limit;
        return (struct grid){ report->zero_utc_ns, duration_ns / cells, (size_t)cells };
}

/* ---- the cluster ---- */

struct cluster {
        struct density workers;
        struct density threads;
        struct density running;
        struct density events;
        bool threads_known;
        int64_t memory_limit_bytes; /* the lowest; INT64_MIN: not known */
};

static void series_cluster_deinit(struct cluster *cluster)
{
        density_deinit(&cluster->workers);
        density_deinit(&cluster->threads);
        density_deinit(&cluster->running);
        density_deinit(&cluster->events);
}

struct presence {
        bool here;
        double since;
        int64_t threads;
};

static void series_leave(struct cluster *cluster, const struct grid *grid, struct presence *worker,
                         double place)
{
        if (!worker->here)
                return;
        density_add(&cluster->workers, grid, worker->since, place, 1);
        if (worker->threads > 0)
                density_add(&cluster->threads, grid, worker->since, place, (double)worker->threads);
        else
                cluster->threads_known = false;
        worker->here = false;
}

static int series_add_event(struct cluster *cluster, const struct grid *grid, struct report *report,
                            struct presence *here, const struct run_value *values)
{
        int64_t limit = values[WORKER_EVENT_MEMORY_LIMIT_BYTES].type == RUN_INT
                                ? values[WORKER_EVENT_MEMORY_LIMIT_BYTES].integer
                                : INT64_MIN;
        int64_t worker = report_name(report, &report->workers, values[WORKER_EVENT_WORKER].integer);
        double place = grid_place(grid, values[WORKER_EVENT_UTC_NS].integer);

        if (worker < 0)
                return ROAST_E_NOMEM;
        series_leave(cluster, grid, &here[worker], place);
        if (values[WORKER_EVENT_KIND].integer == ROAST_WORKER_WENT)
                return 0;
        here[worker] = (struct presence){
                .here = true,
                .since = place,
                .threads = values[WORKER_EVENT_THREADS].type == RUN_INT
                                   ? values[WORKER_EVENT_THREADS].integer
                                   : -1,
        };
        if (limit > 0 && (cluster->memory_limit_bytes < 0 || limit < cluster->memory_limit_bytes))
                cluster->memory_limit_bytes = limit;
        return 0;
}

static int series_add_events(struct cluster *cluster, const struct grid *grid,
                             struct report *report, struct roast_error *error)
{
        size_t n = report->texts.n + 1;
        ROAST_CLEANUP(cleanup_free) struct presence *here = calloc(n, sizeof(*here));
        struct run_scan scan;
        int r;

        if (!here)
                return roast_fail_nomem(error);
        r = run_scan_begin(&scan, report->run, RUN_WORKER_EVENT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (series_add_event(cluster, grid, report, here, scan.values) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        for (size_t i = 0; i < n && r >= 0; i++)
                series_leave(cluster, grid, &here[i], (double)grid->n);
        return r;
}

static void series_add_chunks(struct cluster *cluster, const struct grid *grid,
                              const struct report_chunks *chunks)
{
        for (size_t i = 0; i < chunks->n; i++) {
                const struct report_chunk *row = &chunks->rows[i];
                double from = grid_place(grid, row->start_utc_ns);
                double cells = (double)row->wall_ns / grid->step_ns;

                if (row->start_utc_ns == INT64_MIN || row->wall_ns <= 0)
                        continue;
                density_add(&cluster->running, grid, from, from + cells, 1);
                if (row->events > 0 && row->outcome == CHUNK_FINISHED)
                        density_add(&cluster->events, grid, from, from + cells,
                                    (double)row->events / cells);
        }
}

static int series_put_cluster(const struct report_chunks *chunks, struct report *report,
                              const struct grid *grid, struct roast_error *error)
{
        ROAST_CLEANUP(series_cluster_deinit)
        struct cluster cluster = { .threads_known = true, .memory_limit_bytes = INT64_MIN };
        ROAST_CLEANUP(cleanup_free) float *values = malloc((grid->n + 1) * sizeof(*values));
        struct pack *pack = report->pack;
        int r;

        if (!values || density_init(&cluster.workers, grid) < 0 ||
            density_init(&cluster.threads, grid) < 0 || density_init(&cluster.running, grid) < 0 ||
            density_init(&cluster.events, grid) < 0)
                return roast_fail_nomem(error);
        r = series_add_events(&cluster, grid, report, error);
        if (r < 0)
                return r;
        series_add_chunks(&cluster, grid, chunks);
        density_read(&cluster.workers, grid, 1, values);
        pack_reals(pack, "workers", values, grid->n);
        if (cluster.threads_known) {
                density_read(&cluster.threads, grid, 1, values);
                pack_reals(pack, "threads", values, grid->n);
        }
        density_read(&cluster.running, grid, 1, values);
        pack_reals(pack, "running", values, grid->n);
        density_read(&cluster.events, grid, 1e9 / grid->step_ns, values);
        pack_reals(pack, "events", values, grid->n);
        if (cluster.memory_limit_bytes > 0)
                json_pair_int(&pack->json, "memory_limit_bytes", cluster.memory_limit_bytes);
        return 0;
}

/* ---- the workers ---- */

/* Every series of one block; a column that the block does not have is left out. */
static void series_sample_block(struct samples *samples, const struct series_walk *walk,
                                size_t worker)
{
        for (size_t k = 0; k < N_DEFINITIONS; k++) {
                const int64_t *parts[3] = { NULL };
                int64_t units[3];
                size_t n = 0;

                for (; definitions[k].columns[n]; n++) {
                        parts[n] = series_walk_column(walk, definitions[k].columns[n], &units[n]);
                        if (!parts[n])
                                break;
                }
                if (definitions[k].columns[n])
                        continue;
                for (size_t i = 0; i < walk->block.n; i++) {
                        int64_t sum = 0, value;
                        bool known = true;

                        for (size_t j = 0; j < n && known; j++)
                                known = parts[j][i] >= 0 &&
                                        !__builtin_mul_overflow(parts[j][i], units[j], &value) &&
                                        !__builtin_add_overflow(sum, value, &sum);
                        if (known)
                                samples_add(&samples[k], worker, series_ns(walk->block.times[i]),
                                            sum);
                }
        }
}

static int series_read_blocks(struct samples *samples, struct report *report,
                              struct roast_error *error)
{
        struct series_walk walk;
        int r;

        r = series_walk_begin(&walk, report->run, &report->texts, error);
        while (r >= 0 && (r = series_walk_next(&walk, error)) > 0) {
                uint32_t slot = report->workers.slots[walk.worker_text];

                if (slot)
                        series_sample_block(samples, &walk, slot - 1);
        }
        series_walk_end(&walk);
        return r;
}

/* Whether anything is drawn of a row with these columns */
static bool series_is_drawn(const struct report *report, int64_t columns_text)
{
        const char *columns;
        int64_t unit;
        size_t len;

        if (columns_text < 1 || (uint64_t)columns_text > report->texts.n)
                return false;
        columns = intern_get(&report->texts, (size_t)columns_text - 1, &len);
        for (size_t k = 0; k < N_DEFINITIONS; k++) {
                const char *const *name = definitions[k].columns;

                while (*name && series_column(columns, len, *name, &unit) >= 0)
                        name++;
                if (!*name)
                        return true;
        }
        return false;
}

/*
 * Workers that have samples, so that the matrices can be made. What has others
 * than those that are drawn is no worker, as the manager of TaskVine.
 */
static int series_name_sampled(struct report *report, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct series_block *blocks = NULL;
        size_t n;
        int r;

        r = series_list(report->run, 0, &blocks, &n, error);
        for (size_t i = 0; r >= 0 && i < n; i++)
                if (series_is_drawn(report, blocks[i].columns_text) &&
                    report_name(report, &report->workers, blocks[i].worker_text) < 0)
                        r = roast_fail_nomem(error);
        return r;
}

static int series_by_value(const void *a, const void *b)
{
        float x = *(const float *)a, y = *(const float *)b;

        return x < y ? -1 : x > y;
}

static const struct band {
        const char *key;
        double share;
} bands[] = { { "min", 0 }, { "low", 0.1 }, { "median", 0.5 }, { "high", 0.9 }, { "max", 1 } };

#define N_BANDS ROAST_ARRAY_SIZE(bands)

/* Between the two neighbours, as NumPy does it */
static float series_quantile(const float *sorted, size_t n, double share)
{
        double place = share * (double)(n - 1);
        size_t low = (size_t)place, high = low + 1 < n ? low + 1 : low;

        return sorted[low] + (sorted[high] - sorted[low]) * (float)(place - (double)low);
}

/* values: worker by worker, n each; column: room for all workers; out: the bands, then the mean */
static void series_make_bands(const float *values, size_t n_workers, size_t n, float *column,
                              float *out)
{
        for (size_t i = 0; i < n; i++) {
                size_t count = 0;
                double sum = 0;

                for (size_t w = 0; w < n_workers; w++) {
                        float value = values[w * n + i];

                        if (isnan(value))
                                continue;
                        column[count++] = value;
                        sum += (double)value;
                }
                qsort(column, count, sizeof(*column), series_by_value);
                for (size_t b = 0; b < N_BANDS; b++)
                        out[b * n + i] =
                                count ? series_quantile(column, count, bands[b].share) : NAN;
                out[N_BANDS * n + i] = count ? (float)(sum / (double)count) : NAN;
        }
}

static bool series_any_known(const float *values, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!isnan(values[i]))
                        return true;
        return false;
}

static int series_put(const struct samples *samples, const struct definition *definition,
                      struct report *report, struct roast_error *error)
{
        size_t n = samples->grid->n, n_workers = samples->n_workers;
        size_t fold = n_workers * n / EACH_MAX + 1, coarse = 0;
        ROAST_CLEANUP(cleanup_free) float *values = malloc((n_workers * n + 1) * sizeof(*values));
        ROAST_CLEANUP(cleanup_free) float *out = malloc(((N_BANDS + 1) * n + 1) * sizeof(*out));
        ROAST_CLEANUP(cleanup_free) float *column = malloc((n_workers + 1) * sizeof(*column));
        struct json *json = &report->pack->json;

        if (!values || !out || !column)
                return roast_fail_nomem(error);
        for (size_t w = 0; w < n_workers; w++)
                samples_read(samples, w, 1, definition->factor, values + w * n);
        if (!series_any_known(values, n_workers * n))
                return 0;
        series_make_bands(values, n_workers, n, column, out);
        for (size_t w = 0; w < n_workers; w++)
                coarse = samples_read(samples, w, fold, definition->factor, values + w * coarse);
        json_object(json);
        json_pair(json, "key", definition->key);
        json_pair(json, "title", definition->title);
        json_pair(json, "unit", definition->unit);
        json_pair(json, "note", definition->note);
        for (size_t b = 0; b < N_BANDS; b++)
                pack_reals(report->pack, bands[b].key, out + b * n, n);
        pack_reals(report->pack, "mean", out + N_BANDS * n, n);
        json_pair_int(json, "fold", (int64_t)fold);
        pack_reals(report->pack, "each", values, n_workers * coarse);
        json_end(json);
        return 0;
}

static int series_put_workers(struct report *report, const struct grid *grid,
                              struct roast_error *error)
{
        double gap_ns = fmax(60e9, 30 * report->interval_s * 1e9);
        struct samples samples[N_DEFINITIONS] = { 0 };
        int r = 0;

        for (size_t k = 0; k < N_DEFINITIONS && r >= 0; k++)
                r = samples_init(&samples[k], definitions[k].kind, grid, report->workers.n, gap_ns);
        r = r < 0 ? roast_fail_nomem(error) : series_read_blocks(samples, report, error);
        for (size_t k = 0; k < N_DEFINITIONS; k++) {
                if (r >= 0)
                        r = series_put(&samples[k], &definitions[k], report, error);
                samples_deinit(&samples[k]);
        }
        return r;
}

int report_series_put(const struct report_chunks *chunks, struct report *report,
                      struct roast_error *error)
{
        struct json *json = &report->pack->json;
        struct grid grid;
        int r;

        r = series_name_sampled(report, error);
        if (r < 0)
                return r;
        grid = series_make_grid(report, report->workers.n);
        json_key(json, "grid");
        json_object(json);
        json_pair_int(json, "n", (int64_t)grid.n);
        json_pair_double(json, "step_s", grid.step_ns / 1e9);
        r = series_put_cluster(chunks, report, &grid, error);
        json_end(json);
        json_key(json, "series");
        json_array(json);
        if (r >= 0 && grid.n)
                r = series_put_workers(report, &grid, error);
        json_end(json);
        return r;
}
