/* Runs of any size whose times are drawn: see synthetic.h. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/chunk.h"
#include "sample.h"
#include "synthetic.h"
#include "util/cleanup.h"
#include "util/size.h"

#define BATCH        50000
#define FILE_EVENTS  INT64_C(1000000)
#define NS_PER_EVENT 20000.0

static double uniform(uint64_t *seed)
{
        return ((double)(sample_random(seed) >> 11) + 0.5) / 9007199254740992.0;
}

/* G. E. P. Box and M. E. Muller, Ann. Math. Statist. 29 (1958) */
static double normal(uint64_t *seed)
{
        double radius = sqrt(-2 * log(uniform(seed)));

        return radius * cos(2 * 3.14159265358979323846 * uniform(seed));
}

static int set_texts(struct chunk_table *table, const struct synthetic *options, size_t i,
                     int64_t file)
{
        char text[64];
        int r;

        r = sample_set_text(table, CHUNK_DATASET, file % 2 ? "DYJets" : "TTbar");
        snprintf(text, sizeof(text), "root://host//store/file-%lld.root", (long long)file);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_FILE, text);
        if (r >= 0)
                r = sample_set_text(table, CHUNK_TREE, "Events");
        snprintf(text, sizeof(text), "tcp://10.0.0.1:%zu", 1000 + i % options->workers);
        return r < 0 ? r : sample_set_text(table, CHUNK_WORKER, text);
}

static int add_chunk(struct chunk_table *table, const struct synthetic *options, size_t i,
                     uint64_t *seed)
{
        int64_t events = options->chunk_events ? options->chunk_events : 25000;
        int64_t per_file = FILE_EVENTS / events;
        int64_t file = (int64_t)i / per_file, at = (int64_t)i % per_file;
        double wave = options->drift *
                      sin(2 * 3.14159265358979323846 * (double)i / (double)options->chunks);
        double factor = options->scale * (1 + options->spread * normal(seed)) * (1 + wave);
        double cpu = NS_PER_EVENT * (double)events * (factor > 0.05 ? factor : 0.05);
        double wall = cpu / (1 - options->waiting) * 1.02;
        size_t row;
        int r = chunk_table_add(table);

        if (r >= 0)
                r = set_texts(table, options, i, file);
        if (r < 0)
                return r;
        row = table->n - 1;
        chunk_table_set(table, row, CHUNK_ENTRY_START, at * events);
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, (at + 1) * events);
        chunk_table_set(table, row, CHUNK_NUM_EVENTS, events);
        chunk_table_set(table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
        chunk_table_set(table, row, CHUNK_ATTEMPT, 1);
        chunk_table_set(table, row, CHUNK_START_UTC_NS,
                        SAMPLE_START_UTC_NS +
                                (int64_t)(i / options->workers) * events * (int64_t)NS_PER_EVENT);
        chunk_table_set(table, row, CHUNK_WALL_NS, (int64_t)wall);
        chunk_table_set(table, row, CHUNK_CPU_NS, (int64_t)cpu);
        chunk_table_set(table, row, CHUNK_RUNQUEUE_NS, (int64_t)(wall * options->waiting));
        chunk_table_set(table, row, CHUNK_THROTTLED_NS, 0);
        chunk_table_set(table, row, CHUNK_BLOCK_IO_NS, 0);
        chunk_table_set(table, row, CHUNK_GIL_NS, 0);
        chunk_table_set(table, row, CHUNK_OTHER_NS,
                        (int64_t)wall - (int64_t)cpu - (int64_t)(wall * options->waiting));
        chunk_table_set(table, row, CHUNK_RSS_PEAK_BYTES, 300000000 + (int64_t)(i % 7) * 1048576);
        chunk_table_set(table, row, CHUNK_REQUESTED_BYTES, events * 60);
        r = sample_add_section(table, "select", (int64_t)(wall * 0.5));
        return r < 0 ? r : sample_add_section(table, "fill", (int64_t)(wall * 0.25));
}

static int add_batch(struct roast_run *run, const struct synthetic *options, size_t begin,
                     uint64_t *seed, struct roast_error *error)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        int r = 0;

        chunk_table_init(&table);
        for (size_t i = begin; i < options->chunks && i < begin + BATCH && r >= 0; i++)
                r = add_chunk(&table, options, i, seed);
        if (r < 0)
                return roast_fail_nomem(error);
        r = chunk_table_encode(&table, &bytes, error);
        if (r >= 0)
                r = roast_run_add_chunks(run, bytes.data, bytes.len, error);
        return r < 0 ? r : roast_run_commit(run, error);
}

static int add_workers(struct roast_run *run, const struct synthetic *options,
                       struct roast_error *error)
{
        char name[64];
        int r = 0;

        for (size_t i = 0; i < options->workers && r >= 0; i++) {
                struct roast_worker worker = { name, "node1", (int64_t)i, 1, 4000000000 };

                snprintf(name, sizeof(name), "tcp://10.0.0.1:%zu", 1000 + i);
                r = roast_run_add_worker_event(run, SAMPLE_START_UTC_NS + options->late_ns,
                                               ROAST_WORKER_PRESENT, &worker, error);
        }
        return r;
}

static int add_facts(struct roast_run *run, const struct synthetic *options,
                     struct roast_error *error)
{
        int64_t events = options->chunk_events ? options->chunk_events : 25000;
        double work = NS_PER_EVENT * (double)events * (double)options->chunks * options->scale;
        int64_t elapsed = (int64_t)(work / (double)options->workers);
        char name[64];
        int r;

        snprintf(name, sizeof(name), "synthetic-%llu", (unsigned long long)options->seed);
        r = roast_run_fact_text(run, "run.name", name, error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.start_utc_ns", SAMPLE_START_UTC_NS, error);
        if (r >= 0)
                r = roast_run_fact_int(run, "report.entries", events * (int64_t)options->chunks,
                                       error);
        if (r >= 0)
                r = roast_run_fact_int(run, "run.elapsed_ns", elapsed, error);
        if (r >= 0)
                r = roast_run_fact_text(run, "run.outcome", "finished", error);
        return r < 0 ? r
                     : roast_run_fact_int(run, "run.end_utc_ns", SAMPLE_START_UTC_NS + elapsed,
                                          error);
}

int synthetic_fill(struct roast_run *run, const struct synthetic *options,
                   struct roast_error *error)
{
        uint64_t seed = options->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
        int r = add_facts(run, options, error);

        if (r >= 0)
                r = add_workers(run, options, error);
        for (size_t i = 0; i < options->chunks && r >= 0; i += BATCH)
                r = add_batch(run, options, i, &seed, error);
        return r < 0 ? r : roast_run_commit(run, error);
}

size_t synthetic_pairs(void)
{
        const char *text = getenv("ROAST_TEST_PAIRS");

        return text ? strtoul(text, NULL, 10) : 160;
}
