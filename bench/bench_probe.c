/*
 * What the probes cost: each figure beside a bare clock read of the same run
 *
 *     bench-probe [seconds per share]
 *
 * The shares are CPU time of the background threads over wall time.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/chunk.h"
#include "probe/sampler.h"
#include "result.h"
#include "util/clock.h"

#define ROUNDS          9
#define SAMPLER_PERCENT 0.2

/* Median over rounds of the CPU time per call: wall time would include others' turns. */
static struct figure bench_ns(void (*call)(void), int n)
{
        double rounds[ROUNDS];

        for (int i = 0; i < n / 10; i++)
                call();
        for (int k = 0; k < ROUNDS; k++) {
                int64_t begin = clock_thread_cpu_ns();

                for (int i = 0; i < n; i++)
                        call();
                rounds[k] = (double)(clock_thread_cpu_ns() - begin) / n;
        }
        return figure_median(rounds, ROUNDS);
}

static void call_clock(void)
{
        clock_monotonic_ns();
}

static void call_thread_cpu(void)
{
        clock_thread_cpu_ns();
}

static void call_runqueue(void)
{
        probe_runqueue_ns();
}

static void call_faults(void)
{
        probe_thread_major_faults();
}

static void call_rss(void)
{
        probe_rss_bytes();
}

static void call_io(void)
{
        struct probe_io io;

        probe_io_read(&io);
}

static void call_throttled(void)
{
        probe_throttled_ns();
}

static void call_peak_reset(void)
{
        probe_peak_reset();
}

static void call_peak_floor(void)
{
        probe_peak_floor_bytes();
}

static void call_peak(void)
{
        probe_peak_bytes();
}

static void call_snapshot(void)
{
        struct probe_snapshot snapshot;

        probe_snapshot_take(&snapshot, PROBE_CLOSING);
}

static void call_chunk(void)
{
        struct probe_chunk chunk;
        struct probe_result result;

        probe_chunk_begin(&chunk);
        probe_chunk_end(&chunk, &result);
}

static void call_row(void)
{
        int64_t row[64];

        probe_row_read(row);
}

static const struct {
        const char *name;
        void (*call)(void);
        int n;
} costs[] = {
        { "clock_gettime", call_clock, 100000 },
        { "thread cpu", call_thread_cpu, 20000 },
        { "run queue", call_runqueue, 10000 },
        { "major faults", call_faults, 20000 },
        { "rss", call_rss, 10000 },
        { "io", call_io, 10000 },
        { "throttled", call_throttled, 10000 },
        { "peak reset", call_peak_reset, 2000 },
        { "peak, cheap", call_peak_floor, 10000 },
        { "peak, exact", call_peak, 2000 },
        { "snapshot", call_snapshot, 4000 },
        { "chunk begin + end", call_chunk, 2000 },
        { "sampler row", call_row, 500 },
};

static _Atomic bool spin_stops;

/* Half of the time asleep, so that every way of looking is taken. */
static void *spin(void *unused)
{
        struct probe_chunk chunk;
        struct probe_result result;
        int64_t end;

        (void)unused;
        probe_chunk_begin(&chunk);
        while (!spin_stops) {
                end = clock_monotonic_ns() + 5000000;
                while (clock_monotonic_ns() < end)
                        ;
                usleep(5000);
        }
        probe_chunk_end(&chunk, &result);
        return NULL;
}

static double watch_share(int n_threads, unsigned int seconds)
{
        pthread_t threads[64];
        int64_t wall, cpu;

        spin_stops = false;
        for (int i = 0; i < n_threads; i++) {
                if (pthread_create(&threads[i], NULL, spin, NULL))
                        exit(1);
        }
        usleep(100000);
        wall = clock_monotonic_ns();
        cpu = probe_watch_cpu_ns();
        sleep(seconds);
        cpu = probe_watch_cpu_ns() - cpu;
        wall = clock_monotonic_ns() - wall;
        spin_stops = true;
        for (int i = 0; i < n_threads; i++)
                pthread_join(threads[i], NULL);
        return (double)cpu / (double)wall;
}

static double sampler_share(double interval_s, unsigned int seconds)
{
        struct sampler_options options = { .interval_s = interval_s };
        struct sampler_state before, after;
        struct sampler *sampler = NULL;

        if (sampler_new(&sampler, &options) < 0 || sampler_start(sampler) < 0)
                exit(1);
        usleep(300000);
        sampler_state(sampler, &before);
        sleep(seconds);
        sampler_state(sampler, &after);
        sampler_free(sampler);
        return (double)(after.cpu_ns - before.cpu_ns) / 1e9 / seconds;
}

static void share(const char *name, double cores, double at_most)
{
        result_print(
                &(struct result){ name, { 100 * cores, 0 }, "% of a core", .at_most = at_most });
}

int main(int argc, char **argv)
{
        unsigned int seconds = argc > 1 ? (unsigned int)atoi(argv[1]) : 5;
        struct figure clock_ns = { 0 };

        /* As a worker is larger than what started it: else the dear reading of the peak is taken.
         */
        if (mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                 -1, 0) == MAP_FAILED)
                return 1;
        for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
                struct figure ns = bench_ns(costs[i].call, costs[i].n);

                if (i == 0) {
                        clock_ns = ns;
                        result_print(&(struct result){ costs[i].name, ns, "ns" });
                        continue;
                }
                result_print(&(struct result){ costs[i].name, figure_ratio(ns, clock_ns),
                                               .of = "a clock read" });
        }
        share("watcher, 1 thread", watch_share(1, seconds), 0);
        share("watcher, 8 threads", watch_share(8, seconds), 0);
        share("sampler at 1 Hz", sampler_share(1, seconds), SAMPLER_PERCENT);
        share("sampler at 20 Hz", sampler_share(0.05, seconds), 0);
        probe_watch_stop();
        return 0;
}
