/* Runs with one trait: see scene.h. */

#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "record/chunk.h"
#include "sample.h"
#include "scene.h"
#include "timeline/block.h"
#include "util/cleanup.h"

#define S 1e9

static void set(struct chunk_table *table, enum chunk_field field, double value)
{
        if (value >= 0)
                chunk_table_set(table, table->n - 1, field, (int64_t)value);
}

static void set_split(struct chunk_table *table, const struct scene_chunk *chunk)
{
        int64_t wall = (int64_t)(chunk->wall * S), left = wall;
        const struct {
                enum chunk_field field;
                double share;
        } parts[] = {
                { CHUNK_RUNQUEUE_NS, chunk->queue }, { CHUNK_THROTTLED_NS, chunk->throttled },
                { CHUNK_BLOCK_IO_NS, chunk->disk },  { CHUNK_GIL_NS, chunk->gil },
                { CHUNK_OTHER_NS, chunk->other },
        };

        for (size_t i = 0; i < 5; i++) {
                int64_t part = (int64_t)((double)wall * parts[i].share);

                chunk_table_set(table, table->n - 1, parts[i].field, part);
                left -= part;
        }
        chunk_table_set(table, table->n - 1, CHUNK_CPU_NS, left);
        chunk_table_set(table, table->n - 1, CHUNK_SPLIT_SAMPLES, chunk->samples);
}

static int add_chunk(struct chunk_table *table, const struct scene *scene,
                     const struct scene_chunk *chunk, double start)
{
        char worker[32];
        int r = chunk_table_add(table);

        if (r < 0)
                return r;
        snprintf(worker, sizeof(worker), "tcp://10.0.0.%d:1000", chunk->worker);
        set(table, CHUNK_ENTRY_START, (double)chunk->entry_start);
        set(table, CHUNK_ENTRY_STOP, (double)(chunk->entry_start + chunk->events));
        set(table, CHUNK_NUM_EVENTS, (double)chunk->events);
        set(table, CHUNK_OUTCOME, chunk->outcome);
        set(table, CHUNK_PID, 100 + chunk->worker);
        set(table, CHUNK_THREAD, 1);
        chunk_table_set(table, table->n - 1, CHUNK_START_UTC_NS,
                        SCENE_START_UTC_NS + (int64_t)(start * S));
        set(table, CHUNK_WALL_NS, chunk->wall * S);
        if (!scene->no_splits)
                set_split(table, chunk);
        set(table, CHUNK_RSS_START_BYTES, chunk->rss_start);
        set(table, CHUNK_RSS_END_BYTES, chunk->rss_end);
        set(table, CHUNK_RSS_PEAK_BYTES, chunk->rss_peak);
        set(table, CHUNK_REQUESTED_BYTES, chunk->requested);
        set(table, CHUNK_SELECTED_BYTES, chunk->selected);
        set(table, CHUNK_SELECTED_UNCOMPRESSED_BYTES, chunk->whole);
        set(table, CHUNK_AHEAD_BYTES, chunk->ahead);
        set(table, CHUNK_UNUSED_BYTES, chunk->unused);
        r = sample_set_text(table, CHUNK_DATASET, chunk->dataset);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_FILE, *chunk->file ? chunk->file : NULL);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_WORKER, worker);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_HOST, chunk->host);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_ERROR_TYPE, chunk->error);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_UNUSED_BRANCHES, chunk->unused_names);
        if (r >= 0 && chunk->select > 0)
                r = sample_add_section(table, "select", (int64_t)(chunk->select * chunk->wall * S));
        if (r >= 0 && chunk->fill > 0)
                r = sample_add_section(table, "fill", (int64_t)(chunk->fill * chunk->wall * S));
        return r;
}

static struct scene_chunk good_chunk(int worker, int order)
{
        static const char *const hosts[] = { "node0", "node1", "node2", "node3" };
        struct scene_chunk chunk = {
                .worker = worker,
                .order = order,
                .gap = 0.01,
                .wall = 1 + 0.01 * ((worker * 7 + order * 3) % 5 - 2),
                .other = 0.02,
                .samples = 2,
                .events = 10000,
                .entry_start = 10000LL * (order % 4),
                .dataset = order % 8 < 4 ? "DYJets" : "TTbar",
                .host = hosts[worker % 4],
                .rss_start = 500e6,
                .rss_end = 510e6,
                .rss_peak = 560e6,
                .requested = 10e6,
                .selected = 40e6,
                .whole = 120e6,
                .ahead = -1,
                .unused = -1,
                .select = 0.35,
                .fill = 0.3,
        };

        snprintf(chunk.file, sizeof(chunk.file), "root://site%d.org//store/file-%d-%d.root",
                 worker % 2, worker, order / 4);
        return chunk;
}

/* When a worker was there, in seconds after the run began */
struct stay {
        double came, went;
};

static int add_chunks(struct roast_run *run, const struct scene *scene, struct stay *stays,
                      double *last, struct roast_error *error)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        int workers = scene->workers ? scene->workers : SCENE_WORKERS, r = 0;
        int chunks = scene->chunks ? scene->chunks : SCENE_CHUNKS;

        chunk_table_init(&table);
        *last = 0;
        for (int worker = 0; worker < workers; worker++) {
                double now = scene->first;

                if (scene->in_turns && worker > 0)
                        now = stays[worker].came = stays[worker - 1].went;
                for (int order = 0; order < chunks && r >= 0; order++) {
                        struct scene_chunk chunk = good_chunk(worker, order);

                        if (scene->shape)
                                scene->shape(&chunk);
                        if (chunk.wall <= 0)
                                continue;
                        now += order ? chunk.gap : 0;
                        r = add_chunk(&table, scene, &chunk, now);
                        now += chunk.wall;
                }
                stays[worker].went = now;
                *last = fmax(*last, now);
        }
        if (r >= 0)
                r = chunk_table_encode(&table, &bytes, error);
        return r < 0 ? r : roast_run_add_chunks(run, bytes.data, bytes.len, error);
}

static int add_samples(struct roast_run *run, const struct scene *scene, const char *worker,
                       double last, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;
        int64_t times[100], rss[100], executing[100], spilled[100], lag[100];
        const int64_t *columns[] = { rss, executing, spilled, lag };
        int r;

        for (int i = 0; i < 100; i++) {
                times[i] = SCENE_START_UTC_NS / 1000000 + (int64_t)(last * 10 * i);
                rss[i] = (int64_t)(i == 50 ? scene->rss : 500e6);
                executing[i] = 1;
                spilled[i] = i > 50 ? (int64_t)scene->spilled : 0;
                lag[i] = (int64_t)(scene->lag * 1e6);
        }
        r = block_encode(&block, times, columns, 100, 4, error);
        if (r < 0)
                return r;
        return roast_run_add_series(run, worker,
                                    "rss_bytes,dask_executing,dask_spilled_bytes,dask_loop_lag_us",
                                    block.data, block.len, error);
}

static int64_t utc_ns(double time)
{
        return SCENE_START_UTC_NS + (int64_t)(time * S);
}

static int add_workers(struct roast_run *run, const struct scene *scene, const struct stay *stays,
                       double last, struct roast_error *error)
{
        int n = scene->workers ? scene->workers : SCENE_WORKERS, r = 0;

        for (int i = 0; i < n && r >= 0; i++) {
                char name[32], host[16];
                struct roast_worker worker = { name, host, 100 + i, 1,
                                               scene->limit > 0 ? (int64_t)scene->limit
                                                                : 2000000000 };

                snprintf(name, sizeof(name), "tcp://10.0.0.%d:1000", i);
                snprintf(host, sizeof(host), "node%d", i % 4);
                r = roast_run_add_worker_event(run, utc_ns(stays[i].came),
                                               stays[i].came > 0 ? ROAST_WORKER_CAME
                                                                 : ROAST_WORKER_PRESENT,
                                               &worker, error);
                if (r >= 0 && (scene->goes || scene->in_turns))
                        r = roast_run_add_worker_event(run, utc_ns(stays[i].went),
                                                       ROAST_WORKER_WENT, &worker, error);
                if (r >= 0)
                        r = add_samples(run, scene, name, last, error);
        }
        return r;
}

static int add_spans(struct roast_run *run, const struct scene *scene, struct roast_error *error)
{
        const struct {
                const char *prefix, *activity;
                double value;
        } spans[] = {
                { "MyProcessor", "thread-cpu", 158 },
                { "MyProcessor", "thread-noncpu", 5 },
                { "reduce", "thread-cpu", scene->reduce > 0 ? scene->reduce : 1 },
                { "reduce", "serialize", scene->packing },
                { "reduce", "disk-write", scene->disk },
        };
        int r = 0;

        for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]) && r >= 0; i++)
                r = roast_run_add_span(run, "execute", spans[i].prefix, spans[i].activity,
                                       "seconds", spans[i].value, error);
        return r;
}

static int write_run(struct roast_run *run, const struct scene *scene, struct roast_error *error)
{
        struct stay stays[SCENE_WORKERS_MAX] = { 0 };
        double last, elapsed;
        int r;

        assert_true(scene->workers <= SCENE_WORKERS_MAX);
        r = roast_run_fact_int(run, "run.start_utc_ns", SCENE_START_UTC_NS, error);
        if (r >= 0)
                r = roast_run_fact_text(run, "processor.name", "MyProcessor", error);
        if (r >= 0)
                r = roast_run_fact_int(run, "env.cpus", 8, error);
        if (r >= 0)
                r = add_chunks(run, scene, stays, &last, error);
        if (r >= 0)
                r = add_workers(run, scene, stays, last, error);
        if (r >= 0)
                r = add_spans(run, scene, error);
        if (r < 0)
                return r;
        if (scene->no_end)
                return roast_run_commit(run, error);
        elapsed = last + (scene->after > 0 ? scene->after : 0.1);
        r = roast_run_fact_int(run, "run.elapsed_ns", (int64_t)(elapsed * S), error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.end_utc_ns",
                                       SCENE_START_UTC_NS + (int64_t)(elapsed * S), error);
        return r < 0 ? r : roast_run_commit(run, error);
}

struct roast_run *scene_run(const struct scene *scene)
{
        struct roast_error error = { 0 };
        struct roast_run *run;

        if (roast_run_create(&run, NULL, &error) < 0 || write_run(run, scene, &error) < 0)
                fail_msg("%s", error.message);
        return run;
}
