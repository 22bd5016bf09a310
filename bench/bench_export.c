/*
 * What exporting a run costs: memory and time, and /metrics with 10,000 workers
 *
 *     build/bench/bench-export [CHUNKS]
 *
 * Run files of 10,000 chunks and of CHUNKS (a million) with five sections each,
 * over the same thousand files, are exported by a process of its own each: the
 * most resident memory of that process is told, and its CPU time. Then a run with
 * 10,000 workers and 20 minutes of samples is told to Prometheus, as a server
 * does: the summary is there, the workers are updated, the text is made.
 *
 * Memory must not grow with the run: at most 16 MB and a fifth beyond that of the
 * small one. /metrics must take at most 20 ms.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/chunk.h"
#include "result.h"
#include "roast-export.h"
#include "roast-show.h"
#include "timeline/block.h"
#include "util/cleanup.h"

#define START_UTC_NS INT64_C(1794772988000000000)
#define FILES        1000
#define SECTIONS     5
#define BATCH        10000
#define WORKERS      10000
#define BLOCKS       10 /* of two minutes each */
#define ROWS         120
#define METRICS_MS   20
#define SCRAPES      20

static void check(int r, const struct roast_error *error)
{
        if (r >= 0)
                return;
        fprintf(stderr, "bench-export: %s\n", error->message);
        exit(2);
}

static double now_s(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void add_chunk(struct chunk_table *table, size_t i)
{
        static const char *const names[SECTIONS] = { "muons", "jets", "mass", "weights", "fill" };
        int64_t section[SECTION_N_FIELDS];
        char text[64];
        size_t row;

        chunk_table_add(table);
        row = table->n - 1;
        for (int j = 0; j < SECTION_N_FIELDS; j++)
                section[j] = CHUNK_ABSENT;
        section[SECTION_KIND] = SECTION_TIME;
        section[SECTION_COUNT] = 1;
        chunk_table_set_text(table, row, CHUNK_DATASET, i % 3 ? "DYJets" : "TTbar", i % 3 ? 6 : 5);
        snprintf(text, sizeof(text), "root://host//store/file-%zu.root", i % FILES);
        chunk_table_set_text(table, row, CHUNK_FILE, text, strlen(text));
        snprintf(text, sizeof(text), "tcp://10.0.0.%zu:1001", i % 200);
        chunk_table_set_text(table, row, CHUNK_WORKER, text, strlen(text));
        chunk_table_set(table, row, CHUNK_ENTRY_START, (int64_t)(i / FILES) * 25000);
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, (int64_t)(i / FILES + 1) * 25000);
        chunk_table_set(table, row, CHUNK_NUM_EVENTS, 25000);
        chunk_table_set(table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
        chunk_table_set(table, row, CHUNK_THREAD, (int64_t)(i % 4));
        chunk_table_set(table, row, CHUNK_START_UTC_NS, START_UTC_NS + (int64_t)i * 1000000);
        chunk_table_set(table, row, CHUNK_WALL_NS, 500000000 + (int64_t)(i % 7777));
        chunk_table_set(table, row, CHUNK_CPU_NS, 400000000 + (int64_t)(i % 5555));
        chunk_table_set(table, row, CHUNK_RSS_START_BYTES, 300000000);
        chunk_table_set(table, row, CHUNK_RSS_END_BYTES, 300000000 + (int64_t)(i % 5) * 1048576);
        chunk_table_set(table, row, CHUNK_REQUESTED_BYTES, 1500000 + (int64_t)(i % 999));
        for (int j = 0; j < SECTIONS; j++) {
                section[SECTION_TOTAL_NS] = 1000000 * (j + 1) + (int64_t)(i % 1234);
                chunk_table_add_section(table, names[j], strlen(names[j]), section);
        }
}

static void make_chunks(const char *path, size_t n)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        check(roast_run_create(&run, path, &error), &error);
        for (size_t i = 0; i < n; i += BATCH) {
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

                chunk_table_init(&table);
                for (size_t j = i; j < i + BATCH && j < n; j++)
                        add_chunk(&table, j);
                check(chunk_table_encode(&table, &bytes, &error), &error);
                check(roast_run_add_chunks(run, bytes.data, bytes.len, &error), &error);
        }
        check(roast_run_finish(run, &error), &error);
        roast_run_free(run);
}

static int count_bytes(const void *data, size_t len, void *context, struct roast_error *error)
{
        (void)data;
        (void)error;
        *(size_t *)context += len;
        return 0;
}

struct cost {
        size_t bytes;
        double seconds;
        double rss_mb;
};

/* In a process of its own, whose peak is that of this export alone */
static struct cost export(const char *path, const struct roast_export_options *options)
{
        struct cost cost = { 0 };
        int ends[2], status;
        pid_t child;

        fflush(stdout);
        if (pipe(ends) < 0 || (child = fork()) < 0)
                exit(2);
        if (child == 0) {
                struct roast_error error = { 0 };
                struct roast_run *run = NULL;
                struct rusage usage;

                check(roast_run_open(&run, path, &error), &error);
                check(roast_export(run, options, count_bytes, &cost.bytes, &error), &error);
                roast_run_free(run);
                getrusage(RUSAGE_SELF, &usage);
                cost.seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
                               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
                cost.rss_mb = (double)usage.ru_maxrss / 1000;
                _exit(write(ends[1], &cost, sizeof(cost)) != sizeof(cost));
        }
        if (read(ends[0], &cost, sizeof(cost)) != sizeof(cost) || waitpid(child, &status, 0) < 0 ||
            status)
                exit(2);
        close(ends[0]);
        close(ends[1]);
        return cost;
}

static void bench_memory(const char *few, const char *many)
{
        static const struct {
                const char *name;
                struct roast_export_options options;
        } wanted[] = {
                { "chunks jsonl", { ROAST_EXPORT_JSONL, ROAST_EXPORT_CHUNKS, false } },
                { "sections csv", { ROAST_EXPORT_CSV, ROAST_EXPORT_SECTIONS, false } },
                { "chrome-trace", { ROAST_EXPORT_CHROME_TRACE, ROAST_EXPORT_DEFAULT, false } },
        };

        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
                struct cost a = export(few, &wanted[i].options);
                struct cost b = export(many, &wanted[i].options);
                char name[64];

                snprintf(name, sizeof(name), "%s, CPU", wanted[i].name);
                result_print(&(struct result){ name, { b.seconds, 0 }, "s" });
                snprintf(name, sizeof(name), "%s, written", wanted[i].name);
                result_print(&(struct result){ name, { (double)b.bytes / 1e6, 0 }, "MB" });
                snprintf(name, sizeof(name), "%s, memory", wanted[i].name);
                result_print(&(struct result){
                        name, { b.rss_mb, 0 }, "MB", .at_most = 1.2 * a.rss_mb + 16 });
        }
}

static void add_samples(struct roast_run *run, const char *worker, int64_t block)
{
        int64_t times[ROWS], rss[ROWS], cpu[ROWS];
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_error error = { 0 };

        for (int64_t i = 0; i < ROWS; i++) {
                times[i] = START_UTC_NS / 1000000 + (block * ROWS + i) * 1000;
                rss[i] = 70000 + block * 100 + i % 17;
                cpu[i] = block * ROWS + i;
        }
        check(block_encode(&bytes, times, (const int64_t *const[]){ rss, cpu }, ROWS, 2, &error),
              &error);
        check(roast_run_add_series(run, worker, "rss_bytes/4096,cpu_user_ns/1000000", bytes.data,
                                   bytes.len, &error),
              &error);
}

static struct roast_run *make_workers(void)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        char name[64];

        check(roast_run_create(&run, NULL, &error), &error);
        check(roast_run_fact_int(run, "run.start_utc_ns", START_UTC_NS, &error), &error);
        for (int64_t block = 0; block < BLOCKS; block++)
                for (int i = 0; i < WORKERS; i++) {
                        snprintf(name, sizeof(name), "tcp://10.%d.%d.%d:40001", i / 65536,
                                 i / 256 % 256, i % 256);
                        if (block == 0)
                                check(roast_run_add_worker_event(
                                              run, START_UTC_NS, ROAST_WORKER_PRESENT,
                                              &(struct roast_worker){ .name = name,
                                                                      .pid = -1,
                                                                      .threads = 4,
                                                                      .memory_limit_bytes =
                                                                              4000000000 },
                                              &error),
                                      &error);
                        add_samples(run, name, block);
                }
        check(roast_run_commit(run, &error), &error);
        return run;
}

/* As a server: another worker has sent a block since the last time */
static double scrape_ms(struct roast_run *run, struct roast_workers *workers,
                        const struct roast_openmetrics *source, size_t *len)
{
        struct roast_error error = { 0 };
        double start, seconds;
        char *text = NULL;

        for (int i = 0; i < 500; i++) {
                char name[64];

                snprintf(name, sizeof(name), "tcp://10.0.0.%d:40001", i % 256);
                add_samples(run, name, BLOCKS);
        }
        check(roast_run_commit(run, &error), &error);
        start = now_s();
        check(roast_workers_update(workers, run, &error), &error);
        check(roast_openmetrics(&text, len, source, &error), &error);
        seconds = now_s() - start;
        free(text);
        return seconds * 1000;
}

static void bench_metrics(void)
{
        struct roast_run *run = make_workers();
        struct roast_workers *workers = roast_workers_new();
        struct roast_summary summary = { 0 };
        struct roast_error error = { 0 };
        struct roast_run_about about;
        double start = now_s(), first;
        struct figure took = { 0 };

        check(workers ? roast_workers_update(workers, run, &error) : roast_fail_nomem(&error),
              &error);
        first = (now_s() - start) * 1000;
        check(roast_summary_of_run(&summary, run, &error), &error);
        check(roast_run_about(run, &about, &error), &error);
        took.value = first;
        result_print(&(struct result){ "the first look at 10,000 workers", took, "ms" });
        for (int per_worker = 0; per_worker < 2; per_worker++) {
                struct roast_openmetrics source = { .about = &about,
                                                    .summary = &summary,
                                                    .workers = workers,
                                                    .per_worker = per_worker };
                double rounds[SCRAPES];
                size_t len = 0;

                for (int i = 0; i < SCRAPES; i++)
                        rounds[i] = scrape_ms(run, workers, &source, &len);
                result_print(&(struct result){
                        per_worker ? "/metrics, a label for each of 10,000 workers"
                                   : "/metrics of 10,000 workers",
                        figure_best(rounds, SCRAPES), "ms", .at_most = METRICS_MS });
        }
        roast_summary_deinit(&summary);
        roast_workers_free(workers);
        roast_run_free(run);
}

int main(int argc, char **argv)
{
        size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
        char directory[] = "/tmp/roast-bench-XXXXXX", few[64], many[64];

        if (!mkdtemp(directory))
                return 2;
        snprintf(few, sizeof(few), "%s/few.roast", directory);
        snprintf(many, sizeof(many), "%s/many.roast", directory);
        make_chunks(few, 10000);
        make_chunks(many, n);
        bench_memory(few, many);
        unlink(few);
        unlink(many);
        rmdir(directory);
        bench_metrics();
        return 0;
}
