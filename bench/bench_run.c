/*
 * Size and speed of run files
 *
 *     build/bench/bench-run [DIRECTORY]
 *
 * chunks   1 M chunks with 5 sections each, added in the batches that events
 *          bring and committed as the client commits, then all metrics of the
 *          open file
 * samples  21.6 M samples (2,000 workers x 9 series x 1 Hz x 20 min), then all
 *          metrics of the file, with its opening, and the memory of all that
 *
 * Times are CPU times: the work is one thread's and hardly waits. Beside writing
 * stands SQLite alone: the same numbers, a row for each chunk and for each
 * section, by prepared statements in one transaction.
 *
 * With `make CHUNKS PATH` it only writes a run with that many chunks, for
 * bench_measurement.py.
 */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/chunk.h"
#include "result.h"
#include "roast-metrics.h"
#include "roast-run.h"
#include "timeline/block.h"
#include "util/cleanup.h"

#define ROUNDS        3
#define CHUNKS        1000000
#define BATCH         64 /* records of an event */
#define SECTIONS      5
#define BRANCHES      4 /* in a second round, which has no bound */
#define CHUNKS_PER_S  50000.0
#define METRICS_MAX_S 4.0

/* As many as a chunk and a section have that are set above */
#define SQLITE_PART            5 /* of the chunks only so much: its rows cost the same each */
#define SQLITE_CHUNK_COLUMNS   24
#define SQLITE_SECTION_COLUMNS 8

#define WORKERS        2000
#define SERIES         9
#define ROWS           1200
#define BLOCK_ROWS     120
#define SAVE_MAX_S     2.0
#define LOAD_MAX_S     1.0
#define SAMPLES_MAX_MB 30.0
#define MEMORY_MAX_MB  150.0

#define START_UTC_NS INT64_C(1700000000000000000)
#define S_NS         INT64_C(1000000000)

/* Time on a core: what others do to the machine does not count, nor does waiting for its disk. */
static double now_s(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(int r, const struct roast_error *error)
{
        if (r >= 0)
                return;
        fprintf(stderr, "bench-run: %s\n", error->message);
        exit(2);
}

static void must_have(int r)
{
        must(r, &(struct roast_error){ .message = "no memory" });
}

static void report(const char *what, struct figure figure, const char *unit, double at_most)
{
        result_print(&(struct result){ what, figure, unit, .at_most = at_most });
}

static struct figure single(double value)
{
        return (struct figure){ value, 0 };
}

/* A reproducible number from 0 to n - 1 */
static int64_t rnd(int64_t n)
{
        static uint64_t state = 88172645463325252u;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (int64_t)(state % (uint64_t)n);
}

static void set_text(struct chunk_table *table, enum chunk_field field, const char *text)
{
        must_have(chunk_table_set_text(table, table->n - 1, field, text, strlen(text)));
}

static void add_section(struct chunk_table *table, int i)
{
        static const char *const names[SECTIONS] = { "read", "select", "correct", "systematics",
                                                     "fill" };
        int64_t values[SECTION_N_FIELDS];

        for (size_t j = 0; j < SECTION_N_FIELDS; j++)
                values[j] = CHUNK_ABSENT;
        values[SECTION_KIND] = SECTION_TIME;
        values[SECTION_COUNT] = 1;
        values[SECTION_TOTAL_NS] = values[SECTION_SELF_NS] = values[SECTION_MIN_NS] =
                values[SECTION_MAX_NS] = 10000000 + rnd(90000000);
        must_have(chunk_table_add_section(table, names[i], strlen(names[i]), values));
}

/* What a decorated processor measures on a worker */
static void add_chunk(struct chunk_table *table, int64_t i, int n_branches)
{
        static const char *const branches[BRANCHES] = { "Muon_pt", "Muon_eta", "Jet_pt", "nJet" };
        int64_t wall = 300000000 + rnd(400000000), cpu = wall * 8 / 10 + rnd(1000000);
        char text[64];
        size_t row;

        must_have(chunk_table_add(table));
        row = table->n - 1;
        snprintf(text, sizeof(text), "root://eos.example//store/file-%lld.root", (long long)i / 20);
        set_text(table, CHUNK_FILE, text);
        set_text(table, CHUNK_DATASET, i / 20 % 3 ? "DYJets" : "TTbar");
        set_text(table, CHUNK_TREE, "Events");
        snprintf(text, sizeof(text), "tcp://10.0.0.%lld:4001", (long long)i % 200);
        set_text(table, CHUNK_WORKER, text);
        set_text(table, CHUNK_HOST, text + 6);
        chunk_table_set(table, row, CHUNK_ENTRY_START, i % 20 * 50000);
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, (i % 20 + 1) * 50000);
        chunk_table_set(table, row, CHUNK_NUM_EVENTS, 50000);
        chunk_table_set(table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
        chunk_table_set(table, row, CHUNK_PID, 1000 + i % 200);
        chunk_table_set(table, row, CHUNK_THREAD, 1000 + i % 200);
        chunk_table_set(table, row, CHUNK_ATTEMPT, 1);
        chunk_table_set(table, row, CHUNK_START_UTC_NS, START_UTC_NS + i * 2500000);
        chunk_table_set(table, row, CHUNK_WALL_NS, wall);
        chunk_table_set(table, row, CHUNK_CPU_NS, cpu);
        chunk_table_set(table, row, CHUNK_OTHER_NS, wall - cpu);
        chunk_table_set(table, row, CHUNK_RSS_START_BYTES, 400000000 + rnd(1000) * 4096);
        chunk_table_set(table, row, CHUNK_RSS_END_BYTES, 400000000 + rnd(2000) * 4096);
        chunk_table_set(table, row, CHUNK_REQUESTED_BYTES, 1000000 + rnd(500000));
        chunk_table_set(table, row, CHUNK_PROBE_NS, 20000 + rnd(5000));
        chunk_table_set(table, row, CHUNK_TREE_BRANCHES, 1600);
        chunk_table_set(table, row, CHUNK_TREE_BYTES, 2000000000);
        chunk_table_set(table, row, CHUNK_SELECTED_BYTES, 30000000);
        chunk_table_set(table, row, CHUNK_SELECTED_UNCOMPRESSED_BYTES, 90000000);
        for (int j = 0; j < SECTIONS; j++)
                add_section(table, j);
        for (int j = 0; j < n_branches; j++)
                must_have(chunk_table_add_branch(table, branches[j], strlen(branches[j]), 250000));
}

static void begin(struct roast_run *run, struct roast_error *error)
{
        must(roast_run_fact_text(run, "run.name", "bench", error), error);
        must(roast_run_fact_int(run, "run.start_utc_ns", START_UTC_NS, error), error);
}

static void end(struct roast_run *run, int64_t seconds, struct roast_error *error)
{
        must(roast_run_fact_int(run, "report.entries", 50000000000, error), error);
        must(roast_run_fact_int(run, "report.bytesread", 1250000000000, error), error);
        must(roast_run_fact_int(run, "run.elapsed_ns", seconds * S_NS, error), error);
        must(roast_run_fact_text(run, "run.outcome", "finished", error), error);
        must(roast_run_fact_int(run, "run.end_utc_ns", START_UTC_NS + seconds * S_NS, error),
             error);
        must(roast_run_finish(run, error), error);
}

/* Writes the chunks; returns the seconds that the run took of them, not their making. */
static double write_chunks(const char *path, int64_t n, int n_branches)
{
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_error error = { 0 };
        double spent = 0, committed;
        struct roast_run *run;

        unlink(path);
        must(roast_run_create(&run, path, &error), &error);
        begin(run, &error);
        committed = now_s();
        for (int64_t i = 0; i < n;) {
                struct chunk_table table;
                double t0;

                chunk_table_init(&table);
                for (int j = 0; j < BATCH && i < n; j++)
                        add_chunk(&table, i++, n_branches);
                bytes.len = 0;
                must(chunk_table_encode(&table, &bytes, &error), &error);
                chunk_table_deinit(&table);
                t0 = now_s();
                must(roast_run_add_chunks(run, bytes.data, bytes.len, &error), &error);
                if (now_s() - committed > 1) {
                        must(roast_run_commit(run, &error), &error);
                        committed = now_s();
                }
                spent += now_s() - t0;
        }
        committed = now_s();
        end(run, 2500, &error);
        spent += now_s() - committed;
        roast_run_free(run);
        return spent;
}

static double size_mb(const char *path)
{
        struct stat st;

        return stat(path, &st) < 0 ? -1 : (double)st.st_size / 1e6;
}

/* Opens a run and computes everything; returns the seconds that both took. */
static double summarize(const char *path, double *open_s)
{
        struct roast_error error = { 0 };
        struct roast_summary summary;
        struct roast_run *run;
        double t0 = now_s();

        must(roast_run_open(&run, path, &error), &error);
        *open_s = now_s() - t0;
        must(roast_summary_of_run(&summary, run, &error), &error);
        t0 = now_s() - t0;
        roast_summary_deinit(&summary);
        roast_run_free(run);
        return t0;
}

/* All metrics of a run again and again; with its opening, or without it */
static struct figure summarize_often(const char *path, bool opening)
{
        double rounds[ROUNDS], open_s;

        for (int i = 0; i < ROUNDS; i++) {
                rounds[i] = summarize(path, &open_s);
                if (!opening)
                        rounds[i] -= open_s;
        }
        return figure_best(rounds, ROUNDS);
}

static void sql(sqlite3 *db, const char *text)
{
        if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
                must(-1, &(struct roast_error){ .message = "SQLite failed" });
}

static void insert(sqlite3_stmt *statement, int64_t i, int n)
{
        for (int j = 1; j <= n; j++)
                sqlite3_bind_int64(statement, j, i * j);
        if (sqlite3_step(statement) != SQLITE_DONE || sqlite3_reset(statement) != SQLITE_OK)
                must(-1, &(struct roast_error){ .message = "SQLite failed" });
}

/* What SQLite takes for rows of so many numbers, without texts, seals and indexes */
static double write_by_sqlite(const char *path, int64_t n)
{
        sqlite3_stmt *chunk, *section;
        double start = now_s();
        sqlite3 *db;

        unlink(path);
        must(sqlite3_open(path, &db) ? -1 : 0, &(struct roast_error){ .message = "SQLite failed" });
        sql(db, "PRAGMA journal_mode=WAL");
        sql(db, "CREATE TABLE chunk(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x)");
        sql(db, "CREATE TABLE section(a,b,c,d,e,f,g,h)");
        sqlite3_prepare_v2(db,
                           "INSERT INTO chunk VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                           "?,?)",
                           -1, &chunk, NULL);
        sqlite3_prepare_v2(db, "INSERT INTO section VALUES(?,?,?,?,?,?,?,?)", -1, &section, NULL);
        sql(db, "BEGIN");
        for (int64_t i = 0; i < n; i++) {
                insert(chunk, i, SQLITE_CHUNK_COLUMNS);
                for (int j = 0; j < SECTIONS; j++)
                        insert(section, i, SQLITE_SECTION_COLUMNS);
        }
        sql(db, "COMMIT");
        sqlite3_finalize(chunk);
        sqlite3_finalize(section);
        sqlite3_close(db);
        return now_s() - start;
}

static void bench_chunks(const char *path)
{
        double spent = write_chunks(path, CHUNKS, 0), plain;
        struct figure all = summarize_often(path, false);

        report("1 M chunks with 5 sections, size", single(size_mb(path)), "MB", 0);
        result_print(&(struct result){ "1 M chunks, written live", single(CHUNKS / spent),
                                       "chunks/s", .at_least = CHUNKS_PER_S });
        report("1 M chunks, all metrics of the open file", all, "s", METRICS_MAX_S);
        plain = write_by_sqlite(path, CHUNKS / SQLITE_PART) * SQLITE_PART;
        result_print(&(struct result){ "1 M chunks, written live", single(spent / plain),
                                       .of = "SQLite alone" });
        unlink(path);
}

static void bench_branches(const char *path)
{
        double spent = write_chunks(path, CHUNKS, BRANCHES);

        report("1 M chunks with 4 branches too, size", single(size_mb(path)), "MB", 0);
        report("1 M chunks with 4 branches too, written live", single(CHUNKS / spent), "chunks/s",
               0);
        report("1 M chunks with 4 branches too, all metrics", summarize_often(path, false), "s", 0);
        unlink(path);
}

/* Samples of one worker: levels, counts that go up, and what hardly changes */
static void make_series(int64_t *times, int64_t (*series)[ROWS])
{
        int64_t rss = 100000 + rnd(50000), user = 0, system = 0, read = 0, managed = 0;

        for (int i = 0; i < ROWS; i++) {
                times[i] = START_UTC_NS / 1000000 + i * 1000 + rnd(3);
                rss += rnd(8) ? rnd(64) - 31 : rnd(4000) - 2000;
                user += 850 + rnd(120);
                system += rnd(60);
                read += rnd(4) ? 0 : rnd(8192);
                managed += rnd(10) ? 0 : rnd(100000) - 50000;
                series[0][i] = rss;
                series[1][i] = user;
                series[2][i] = system;
                series[3][i] = read;
                series[4][i] = managed < 0 ? 0 : managed;
                series[5][i] = rnd(20) ? 1 : 0;
                series[6][i] = 1 + rnd(2);
                series[7][i] = 0;
                series[8][i] = 90000 + rnd(100) * 100;
        }
}

static void add_worker(struct roast_run *run, int w, struct roast_error *error)
{
        static int64_t times[ROWS], series[SERIES][ROWS];
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        struct roast_worker worker = { .pid = 1, .threads = 1, .memory_limit_bytes = 4000000000 };
        char name[32];

        snprintf(name, sizeof(name), "tcp://10.0.%d.%d:4001", w / 250, w % 250);
        worker.name = name;
        make_series(times, series);
        must(roast_run_add_worker_event(run, START_UTC_NS, ROAST_WORKER_PRESENT, &worker, error),
             error);
        for (size_t i = 0; i < ROWS; i += BLOCK_ROWS) {
                const int64_t *columns[SERIES];

                for (int j = 0; j < SERIES; j++)
                        columns[j] = series[j] + i;
                bytes.len = 0;
                must(block_encode(&bytes, times + i, columns, BLOCK_ROWS, SERIES, error), error);
                must(roast_run_add_series(
                             run, name,
                             "rss_bytes/4096,cpu_user_ns/1000000,cpu_system_ns/1000000,read_bytes/"
                             "512,dask_managed_bytes,dask_executing,dask_active_tasks,"
                             "dask_spilled_bytes,dask_cpu_millipercent",
                             bytes.data, bytes.len, error),
                     error);
        }
}

/* The loading in a process of its own, whose memory is its own */
static double peak_memory_mb(const char *path)
{
        struct rusage usage;
        pid_t pid = fork();
        double open_s;

        if (pid == 0) {
                summarize(path, &open_s);
                _exit(0);
        }
        waitpid(pid, NULL, 0);
        getrusage(RUSAGE_CHILDREN, &usage);
        return (double)usage.ru_maxrss / 1024;
}

static void bench_samples(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run;
        double saved;

        unlink(path);
        must(roast_run_create(&run, path, &error), &error);
        begin(run, &error);
        saved = now_s();
        for (int w = 0; w < WORKERS; w++)
                add_worker(run, w, &error);
        end(run, ROWS, &error);
        saved = now_s() - saved;
        roast_run_free(run);
        report("21.6 M samples, saved, with making and coding", single(saved), "s", SAVE_MAX_S);
        report("21.6 M samples, loaded, with all metrics", summarize_often(path, true), "s",
               LOAD_MAX_S);
        report("21.6 M samples, size", single(size_mb(path)), "MB", SAMPLES_MAX_MB);
        report("21.6 M samples, memory", single(peak_memory_mb(path)), "MB", MEMORY_MAX_MB);
        unlink(path);
}

int main(int argc, char **argv)
{
        const char *directory = argc == 2 ? argv[1] : "/tmp";
        ROAST_CLEANUP(cleanup_free) char *path = NULL;

        if (argc == 4 && !strcmp(argv[1], "make")) {
                printf("%.3f\n", write_chunks(argv[3], atoll(argv[2]), 0));
                return 0;
        }
        if (asprintf(&path, "%s/bench-run-%d.roast", directory, (int)getpid()) < 0)
                return 2;
        bench_samples(path); /* first: a child's memory begins with its parent's */
        bench_chunks(path);
        bench_branches(path);
        return 0;
}
