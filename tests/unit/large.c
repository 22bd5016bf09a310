/* A run of any size: see large.h. */

#include "large.h"

#include <stdio.h>
#include <string.h>

#include "record/chunk.h"
#include "sample.h"
#include "timeline/block.h"
#include "util/cleanup.h"
#include "util/size.h"

#define LARGE_THREADS 2
#define LARGE_BATCH   10000
#define LARGE_ROWS    120
#define LARGE_LIMIT   INT64_C(4000000000)
#define LARGE_PAGE    4096 /* what the kernel counts memory in */

static const struct {
        const char *name;
        uint64_t ns_per_event;
} datasets[] = {
        { "DYJetsToLL_M-50", 9000 },  { "TTTo2L2Nu", 14000 }, { "WJetsToLNu", 8000 },
        { "SingleMuon_2018A", 6000 }, { "ZZTo4L", 11000 },    { "QCD_Pt-15to7000", 5000 },
};

static const char *const sections[] = { "objects", "selection", "weights", "histograms",
                                        "systematics" };
static const char *const branches[] = { "Muon_pt", "Muon_eta", "Jet_pt", "MET_pt" };

static void worker_name(char *text, size_t size, size_t worker)
{
        snprintf(text, size, "tcp://10.0.%zu.%zu:40001", worker / 250, worker % 250 + 1);
}

/* Workers come one by one during the first twentieth of the run. */
static int64_t worker_start(const struct large_size *size, size_t worker)
{
        return SAMPLE_START_UTC_NS +
               (int64_t)(size->seconds * worker / size->n_workers) * SAMPLE_S / 20;
}

static int add_workers(struct roast_run *run, const struct large_size *size,
                       struct roast_error *error)
{
        int r = 0;

        for (size_t i = 0; i < size->n_workers && r >= 0; i++) {
                char name[64], host[32];
                struct roast_worker worker = { name, host, (int64_t)i + 100, LARGE_THREADS,
                                               LARGE_LIMIT };

                worker_name(name, sizeof(name), i);
                snprintf(host, sizeof(host), "node%03zu", i / 4);
                r = roast_run_add_worker_event(run, worker_start(size, i), ROAST_WORKER_CAME,
                                               &worker, error);
        }
        return r;
}

static int add_block(struct roast_run *run, const char *worker, int64_t start_ms, size_t first,
                     size_t n, uint64_t *seed, int64_t counters[4], struct roast_error *error)
{
        static const char columns[] = "rss_bytes/4096,cpu_user_ns/1000000,cpu_system_ns/1000000,"
                                      "read_bytes/512,host_net_recv_bytes";
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int64_t times[LARGE_ROWS], values[5][LARGE_ROWS];
        const int64_t *series[5];
        int r;

        for (size_t i = 0; i < n; i++) {
                times[i] = start_ms + (int64_t)(first + i) * 1000;
                counters[0] += 1100 + (int64_t)sample_below(seed, 700);
                counters[1] += (int64_t)sample_below(seed, 90);
                counters[2] += (int64_t)sample_below(seed, 4000);
                counters[3] += 2000000 + (int64_t)sample_below(seed, 30000000);
                values[0][i] = 150000 + (int64_t)(((first + i) * 997) % 40000) +
                               (int64_t)(first * 150) + (int64_t)sample_below(seed, 20000);
                for (size_t k = 0; k < 4; k++)
                        values[k + 1][i] = counters[k];
        }
        for (size_t k = 0; k < ROAST_ARRAY_SIZE(series); k++)
                series[k] = values[k];
        r = block_encode(&out, times, series, n, ROAST_ARRAY_SIZE(series), error);
        return r < 0 ? r : roast_run_add_series(run, worker, columns, out.data, out.len, error);
}

static int add_series(struct roast_run *run, const struct large_size *size,
                      struct roast_error *error)
{
        uint64_t seed = 7;
        int r = 0;

        for (size_t i = 0; i < size->n_workers && r >= 0; i++) {
                int64_t start_ms = worker_start(size, i) / 1000000, counters[4] = { 0 };
                size_t late = (size_t)(start_ms - SAMPLE_START_UTC_NS / 1000000) / 1000;
                char name[64];

                worker_name(name, sizeof(name), i);
                for (size_t at = 0; at + late < size->seconds && r >= 0; at += LARGE_ROWS) {
                        size_t left = size->seconds - late - at;

                        r = add_block(run, name, start_ms, at,
                                      left < LARGE_ROWS ? left : LARGE_ROWS, &seed, counters,
                                      error);
                }
        }
        return r;
}

static int add_parts(struct chunk_table *table, int64_t wall_ns)
{
        int r = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(sections) && r >= 0; i++)
                r = sample_add_section(table, sections[i], wall_ns * (int64_t)(7 - i) / 32);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(branches) && r >= 0; i++)
                r = chunk_table_add_branch(table, branches[i], strlen(branches[i]),
                                           wall_ns / 10000);
        return r;
}

struct clocks {
        int64_t *free_ns; /* by thread: when it can begin its next chunk */
        uint64_t seed;
};

static int add_chunk(struct chunk_table *table, const struct large_size *size,
                     struct clocks *clocks, size_t i)
{
        size_t thread = i % (size->n_workers * LARGE_THREADS), row = table->n;
        size_t dataset = (i / 64) % ROAST_ARRAY_SIZE(datasets);
        uint64_t *seed = &clocks->seed;
        /* as much as fills most of the time of all threads, and not more on any */
        uint64_t mean_ns = size->seconds * UINT64_C(700000000) * size->n_workers * LARGE_THREADS /
                           size->n_chunks;
        uint64_t events = 5000 + sample_below(seed, 95000);
        int64_t wall_ns = (int64_t)(mean_ns / 40 +
                                    (uint64_t)((double)mean_ns * (double)events *
                                               (double)datasets[dataset].ns_per_event / 460e6) +
                                    sample_below(seed, mean_ns / 8 + 1));
        int64_t start = clocks->free_ns[thread];
        bool failed = sample_below(seed, 200) == 0;
        char file[96], worker[64];
        int r = chunk_table_add(table);

        if (r < 0)
                return r;
        if (sample_below(seed, 500) == 0)
                wall_ns *= 5;
        clocks->free_ns[thread] = start + wall_ns + (int64_t)sample_below(seed, mean_ns / 20 + 1);
        snprintf(file, sizeof(file), "root://xrootd.example//store/%s/nano_%zu.root",
                 datasets[dataset].name, i / 64);
        worker_name(worker, sizeof(worker), thread / LARGE_THREADS);
        chunk_table_set(table, row, CHUNK_ENTRY_START, (int64_t)(i % 64) * 100000);
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, (int64_t)((i % 64) * 100000 + events));
        chunk_table_set(table, row, CHUNK_NUM_EVENTS, (int64_t)events);
        chunk_table_set(table, row, CHUNK_OUTCOME, failed ? CHUNK_FAILED : CHUNK_FINISHED);
        chunk_table_set(table, row, CHUNK_ATTEMPT, 1);
        chunk_table_set(table, row, CHUNK_THREAD, (int64_t)thread);
        chunk_table_set(table, row, CHUNK_START_UTC_NS, start);
        chunk_table_set(table, row, CHUNK_WALL_NS, wall_ns);
        chunk_table_set(table, row, CHUNK_CPU_NS,
                        wall_ns / 10 * (6 + (int64_t)sample_below(seed, 4)));
        chunk_table_set(table, row, CHUNK_RSS_START_BYTES, 600000000);
        chunk_table_set(table, row, CHUNK_RSS_END_BYTES,
                        600000000 + (int64_t)sample_below(seed, 50) * 1048576);
        chunk_table_set(table, row, CHUNK_RSS_PEAK_BYTES,
                        (158691 + (int64_t)events * 9000 / LARGE_PAGE +
                         (int64_t)sample_below(seed, 100000)) *
                                LARGE_PAGE);
        chunk_table_set(table, row, CHUNK_REQUESTED_BYTES, (int64_t)events * 160);
        r = sample_set_text(table, CHUNK_DATASET, datasets[dataset].name);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_FILE, file);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_TREE, "Events");
        if (r >= 0)
                r = sample_set_text(table, CHUNK_WORKER, worker);
        if (r >= 0 && failed)
                r = sample_set_text(table, CHUNK_ERROR_TYPE, i % 3 ? "OSError" : "ValueError");
        if (r >= 0 && failed)
                r = sample_set_text(
                        table, CHUNK_ERROR_MESSAGE,
                        i % 3 ? "XRootD: [3011] No servers are available to read the file"
                              : "cannot broadcast nested list");
        return r < 0 ? r : add_parts(table, wall_ns);
}

static int add_chunks(struct roast_run *run, const struct large_size *size, struct clocks *clocks,
                      struct roast_error *error)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        int r = 0;

        chunk_table_init(&table);
        for (size_t at = 0; at < size->n_chunks && r >= 0; at += LARGE_BATCH) {
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

                chunk_table_clear(&table);
                for (size_t i = at; i < size->n_chunks && i < at + LARGE_BATCH && r >= 0; i++)
                        r = add_chunk(&table, size, clocks, i);
                if (r < 0)
                        return roast_fail_nomem(error);
                r = chunk_table_encode(&table, &bytes, error);
                if (r >= 0)
                        r = roast_run_add_chunks(run, bytes.data, bytes.len, error);
                if (r >= 0)
                        r = roast_run_commit(run, error);
        }
        return r;
}

int large_fill(struct roast_run *run, const struct large_size *size, struct roast_error *error)
{
        size_t n_threads = size->n_workers * LARGE_THREADS;
        ROAST_CLEANUP(cleanup_free) int64_t *free_ns = calloc(n_threads, sizeof(*free_ns));
        struct clocks clocks = { free_ns, 42 };
        int64_t elapsed = (int64_t)size->seconds * SAMPLE_S;
        int r;

        if (!free_ns)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < n_threads; i++)
                free_ns[i] = worker_start(size, i / LARGE_THREADS) + SAMPLE_S / 2;
        r = roast_run_fact_text(run, "run.id", "ffeeddccbbaa99887766554433221100", error);
        if (r >= 0)
                r = roast_run_fact_text(run, "run.name", "large", error);
        if (r >= 0)
                r = roast_run_fact_text(run, "processor.name", "MuonProcessor", error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.start_utc_ns", SAMPLE_START_UTC_NS, error);
        if (r >= 0)
                r = add_workers(run, size, error);
        if (r >= 0)
                r = add_series(run, size, error);
        if (r >= 0)
                r = add_chunks(run, size, &clocks, error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.elapsed_ns", elapsed, error);
        if (r >= 0)
                r = roast_run_fact_text(run, "run.outcome", "finished", error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.end_utc_ns", SAMPLE_START_UTC_NS + elapsed, error);
        return r;
}
