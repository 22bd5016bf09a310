/*
 * The readings around one chunk: see chunk.h
 *
 * The peak of the resident memory is the kernel's if it was reached within the
 * chunk. That is certain if the mark was reset at the chunk's beginning, and also
 * if it rose since. Only a chunk that finds no other one active resets it, so a
 * reset never takes the mark away from a chunk that relies on it.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "probe/chunk.h"
#include "probe/platform.h"
#include "util/clock.h"

/* Within 1 % of the RSS at the beginning the cheap reading of the mark is the exact one. */
#define CHUNK_PEAK_SLACK 100

static _Atomic uint32_t chunks_active;
static _Atomic uint32_t chunk_threads;
static _Atomic uint32_t chunk_process; /* counts forks on the way from the first process */
static pthread_once_t chunk_once = PTHREAD_ONCE_INIT;

static void chunk_forked(void)
{
        chunk_process++;
        chunks_active = 0;
}

static void chunk_init(void)
{
        pthread_atfork(NULL, NULL, chunk_forked);
}

/* A number of the calling thread that is never used again, unlike its id. */
static uint32_t chunk_thread(void)
{
        static _Thread_local uint32_t number;

        if (!number)
                number = atomic_fetch_add(&chunk_threads, 1) + 1;
        return number;
}

static void chunk_read_clocks(struct probe_snapshot *snapshot)
{
        snapshot->thread_cpu_ns = clock_thread_cpu_ns();
        snapshot->utc_ns = clock_utc_ns();
        snapshot->monotonic_ns = clock_monotonic_ns();
}

void probe_snapshot_take(struct probe_snapshot *snapshot, enum probe_edge edge)
{
        if (edge == PROBE_CLOSING)
                chunk_read_clocks(snapshot);
        snapshot->runqueue_ns = probe_runqueue_ns();
        snapshot->throttled_ns = probe_throttled_ns();
        snapshot->major_faults = probe_thread_major_faults();
        snapshot->rss_bytes = probe_rss_bytes();
        probe_io_read(&snapshot->io);
        if (edge == PROBE_OPENING)
                chunk_read_clocks(snapshot);
}

void probe_snapshot_difference(struct probe_snapshot *difference,
                               const struct probe_snapshot *opening,
                               const struct probe_snapshot *closing)
{
        *difference = (struct probe_snapshot){
                .monotonic_ns = probe_difference(opening->monotonic_ns, closing->monotonic_ns),
                .utc_ns = probe_difference(opening->utc_ns, closing->utc_ns),
                .thread_cpu_ns = probe_difference(opening->thread_cpu_ns, closing->thread_cpu_ns),
                .runqueue_ns = probe_difference(opening->runqueue_ns, closing->runqueue_ns),
                .throttled_ns = probe_difference(opening->throttled_ns, closing->throttled_ns),
                .major_faults = probe_difference(opening->major_faults, closing->major_faults),
                .rss_bytes = opening->rss_bytes < 0 || closing->rss_bytes < 0
                                     ? 0
                                     : closing->rss_bytes - opening->rss_bytes,
                .io = {
                        .rchar = probe_difference(opening->io.rchar, closing->io.rchar),
                        .wchar = probe_difference(opening->io.wchar, closing->io.wchar),
                        .read_bytes =
                                probe_difference(opening->io.read_bytes, closing->io.read_bytes),
                        .write_bytes =
                                probe_difference(opening->io.write_bytes, closing->io.write_bytes),
                },
        };
}

void probe_chunk_begin(struct probe_chunk *chunk)
{
        int64_t begin_cpu_ns = clock_thread_cpu_ns();

        pthread_once(&chunk_once, chunk_init);
        *chunk = (struct probe_chunk){ .thread = chunk_thread(), .process = chunk_process };
        if (!atomic_fetch_add(&chunks_active, 1))
                chunk->peak_was_reset = probe_peak_reset();
        chunk->peak_before_bytes = probe_peak_floor_bytes();
        watch_begin(&chunk->claim, !chunk->peak_was_reset);
        probe_snapshot_take(&chunk->opening, PROBE_OPENING);
        chunk->probe_ns = probe_difference(begin_cpu_ns, chunk->opening.thread_cpu_ns);
}

/* The mark if it is known to have been reached within the chunk, else PROBE_ABSENT. */
static int64_t chunk_mark(const struct probe_chunk *chunk)
{
        int64_t before = chunk->peak_before_bytes, now = probe_peak_floor_bytes();
        int64_t rss = chunk->opening.rss_bytes;

        if (now > before)
                return now;
        if (!chunk->peak_was_reset)
                return PROBE_ABSENT;
        if (before >= 0 && rss >= 0 && before <= rss + rss / CHUNK_PEAK_SLACK)
                return before;
        return probe_peak_bytes();
}

static void chunk_peak(const struct probe_chunk *chunk, const struct watch_seen *seen,
                       struct probe_result *result)
{
        int64_t mark = result->flags & PROBE_FORKED ? PROBE_ABSENT : chunk_mark(chunk);
        int64_t peak = result->opening.rss_bytes;

        if (result->closing.rss_bytes > peak)
                peak = result->closing.rss_bytes;
        if (seen->rss_max_bytes > peak)
                peak = seen->rss_max_bytes;
        if (mark > peak)
                peak = mark;
        result->peak_rss_bytes = peak;
        result->peak = mark >= 0   ? PROBE_PEAK_EXACT
                       : peak >= 0 ? PROBE_PEAK_SAMPLED
                                   : PROBE_PEAK_NONE;
}

/* Takes out of the closing readings what is not about the chunk's own thread or process. */
static void chunk_forget(struct probe_snapshot *closing, unsigned int flags)
{
        if (flags & (PROBE_MOVED | PROBE_FORKED)) {
                closing->thread_cpu_ns = PROBE_ABSENT;
                closing->runqueue_ns = PROBE_ABSENT;
                closing->major_faults = PROBE_ABSENT;
        }
        if (flags & PROBE_FORKED)
                closing->io =
                        (struct probe_io){ PROBE_ABSENT, PROBE_ABSENT, PROBE_ABSENT, PROBE_ABSENT };
}

void probe_chunk_end(struct probe_chunk *chunk, struct probe_result *result)
{
        struct probe_snapshot *difference = &result->difference;
        struct watch_seen seen;
        uint32_t process = chunk_process;
        int64_t closing_cpu_ns, own_ns;

        *result = (struct probe_result){ .opening = chunk->opening };
        probe_snapshot_take(&result->closing, PROBE_CLOSING);
        closing_cpu_ns = result->closing.thread_cpu_ns;
        if (chunk->process != process)
                result->flags |= PROBE_FORKED;
        else
                atomic_fetch_sub(&chunks_active, 1);
        if (chunk->thread != chunk_thread())
                result->flags |= PROBE_MOVED;
        if (!watch_end(&chunk->claim, &seen))
                result->flags |= PROBE_UNWATCHED;
        chunk_forget(&result->closing, result->flags);
        chunk_peak(chunk, &seen, result);
        probe_snapshot_difference(difference, &result->opening, &result->closing);
        probe_split_compute(&result->split,
                            &(struct probe_split_input){
                                    .wall_ns = difference->monotonic_ns,
                                    .cpu_ns = difference->thread_cpu_ns,
                                    .runqueue_ns = difference->runqueue_ns,
                                    .throttled_ns = difference->throttled_ns,
                                    .block_io_samples = seen.counts[THREAD_STATE_BLOCK_IO],
                                    .lock_samples = seen.counts[THREAD_STATE_LOCK],
                                    .other_samples = seen.counts[THREAD_STATE_OTHER],
                                    .awake_samples = seen.counts[THREAD_STATE_RUNS],
                            });
        result->end_cpu_ns = clock_thread_cpu_ns();
        own_ns = probe_difference(closing_cpu_ns, result->end_cpu_ns);
        result->probe_ns =
                own_ns < 0 || chunk->probe_ns < 0 ? PROBE_ABSENT : chunk->probe_ns + own_ns;
}

uint32_t probe_chunks_active(void)
{
        return chunks_active;
}
