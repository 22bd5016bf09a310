/*
 * The watcher: see watch.h
 *
 * A slot belongs to nobody (owner 0) or to the chunk with that token, whose low
 * half is the thread's id. Chunks claim and release by compare-and-swap; the
 * watcher alone writes the counters, and takes a slot back whose thread is gone.
 *
 * The intervals are random, so that a program with a rhythm of its own is not
 * met at the same beat again and again.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "probe/platform.h"
#include "probe/ticker.h"
#include "probe/watch.h"
#include "util/clock.h"

#define WATCH_INTERVAL_MIN_NS 20000000 /* 50 Hz */
#define WATCH_INTERVAL_MAX_NS 50000000 /* 20 Hz */
#define WATCH_IDLE_NS         1000000000
#define WATCH_KEPT            32 /* slots with descriptors of their own, so that we stay a small guest */
#define WATCH_PER_TICK        32 /* threads looked at in one go: bounds the cost */
#define WATCH_RSS_UNREAD      (PROBE_ABSENT - 1)

struct watch_slot {
        _Alignas(64) _Atomic uint64_t owner;
        _Atomic uint32_t counts[THREAD_STATE_COUNT];
        _Atomic bool wants_rss;
        _Atomic int64_t rss_max_bytes;
};

static struct watch_slot slots[WATCH_SLOTS];
static _Atomic uint32_t slots_taken;
static _Atomic uint32_t slots_used;   /* no slot from here on was ever taken */
static _Atomic uint32_t watch_serial; /* makes tokens differ, and spreads threads over slots */
static _Atomic bool watch_alive;

/* Of the watcher's thread alone. */
static struct thread_view views[WATCH_SLOTS];
static uint32_t watch_cursor;
static uint64_t watch_random;
static int64_t watch_idle_since_ns;
static bool watch_fresh;

static struct ticker watch_ticker;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static bool watch_usable;

/* xorshift64 of Marsaglia (2003) */
static int64_t watch_interval_ns(void)
{
        watch_random ^= watch_random << 13;
        watch_random ^= watch_random >> 7;
        watch_random ^= watch_random << 17;
        return WATCH_INTERVAL_MIN_NS +
               (int64_t)(watch_random % (WATCH_INTERVAL_MAX_NS - WATCH_INTERVAL_MIN_NS));
}

static void watch_release(struct watch_slot *slot, uint64_t token)
{
        if (atomic_compare_exchange_strong(&slot->owner, &token, 0))
                atomic_fetch_sub(&slots_taken, 1);
}

/* Reads the memory of the process for the first slot that wants it, and for all of them. */
static void watch_slot_rss(struct watch_slot *slot, int64_t *rss_bytes)
{
        if (!atomic_load_explicit(&slot->wants_rss, memory_order_relaxed))
                return;
        if (*rss_bytes == WATCH_RSS_UNREAD)
                *rss_bytes = probe_rss_bytes();
        if (*rss_bytes > atomic_load_explicit(&slot->rss_max_bytes, memory_order_relaxed))
                atomic_store_explicit(&slot->rss_max_bytes, *rss_bytes, memory_order_relaxed);
}

static void watch_slot_look(struct watch_slot *slot, struct thread_view *view, uint64_t owner)
{
        enum thread_state state;

        thread_view_set(view, (pid_t)(uint32_t)owner);
        state = thread_view_look(view);
        if (state == THREAD_STATE_GONE) {
                thread_view_deinit(view);
                watch_release(slot, owner);
        } else if (state < THREAD_STATE_COUNT && atomic_load(&slot->owner) == owner) {
                atomic_fetch_add_explicit(&slot->counts[state], 1, memory_order_relaxed);
        }
}

static void watch_look(void)
{
        int64_t rss_bytes = WATCH_RSS_UNREAD;
        uint32_t used = slots_used, looked = 0, at = 0;
        uint64_t owner;

        for (uint32_t i = 0; i < used && looked < WATCH_PER_TICK; i++) {
                at = (watch_cursor + i) % used;
                owner = atomic_load(&slots[at].owner);
                if (owner) {
                        watch_slot_rss(&slots[at], &rss_bytes);
                        watch_slot_look(&slots[at], &views[at], owner);
                        looked++;
                }
        }
        watch_cursor = at + 1;
}

static void watch_ended(struct ticker *ticker)
{
        (void)ticker;
        for (uint32_t i = 0; i < WATCH_SLOTS; i++)
                thread_view_deinit(&views[i]);
        watch_fresh = true;
}

/*
 * Before it ends the watcher first says so and then looks for chunks once more; a
 * chunk first takes its slot and then looks whether the watcher lives. One of
 * the two sees the other.
 */
static bool watch_may_end(int64_t now_ns)
{
        if (slots_taken) {
                watch_idle_since_ns = now_ns;
                return false;
        }
        if (now_ns - watch_idle_since_ns < WATCH_IDLE_NS)
                return false;
        atomic_store(&watch_alive, false);
        if (!atomic_load(&slots_taken))
                return true;
        atomic_store(&watch_alive, true);
        return false;
}

static int64_t watch_tick(struct ticker *ticker)
{
        int64_t now_ns = clock_monotonic_ns();

        (void)ticker;
        if (watch_fresh) {
                /* A look right now would always meet the beginning of a chunk. */
                watch_fresh = false;
                watch_random ^= (uint64_t)now_ns * 0x9e3779b97f4a7c15u | 1;
                watch_idle_since_ns = now_ns;
                return watch_interval_ns();
        }
        if (slots_taken)
                watch_look();
        return watch_may_end(now_ns) ? -1 : watch_interval_ns();
}

/* The chunks of the parent are not ours, nor are its threads. */
static void watch_forked(struct ticker *ticker)
{
        for (uint32_t i = 0; i < WATCH_SLOTS; i++)
                slots[i].owner = 0;
        slots_taken = 0;
        watch_alive = false;
        watch_ended(ticker);
}

static const struct ticker_calls watch_calls = {
        .name = "roast-watch",
        .tick = watch_tick,
        .ended = watch_ended,
        .forked = watch_forked,
};

static void watch_init(void)
{
        for (uint32_t i = 0; i < WATCH_KEPT; i++)
                views[i].kept = true;
        watch_fresh = true;
        watch_usable = ticker_init(&watch_ticker, &watch_calls) == 0;
}

static bool watch_wake(void)
{
        if (atomic_load(&watch_alive))
                return true;
        atomic_store(&watch_alive, true);
        if (watch_usable && ticker_start(&watch_ticker) == 0)
                return true;
        atomic_store(&watch_alive, false);
        return false;
}

static void watch_note_used(uint32_t used)
{
        uint32_t before = slots_used;

        while (before < used && !atomic_compare_exchange_weak(&slots_used, &before, used))
                ;
}

static bool watch_claim_slot(struct watch_claim *claim)
{
        static _Thread_local uint32_t hint = UINT32_MAX;
        uint32_t serial = atomic_fetch_add(&watch_serial, 1);
        uint64_t token = (uint64_t)(serial + 1) << 32 | (uint32_t)probe_thread_id(), nobody;

        if (hint == UINT32_MAX)
                hint = serial % WATCH_KEPT;
        for (uint32_t i = 0; i < WATCH_SLOTS; i++) {
                uint32_t at = (hint + i) % WATCH_SLOTS;

                nobody = 0;
                if (atomic_load_explicit(&slots[at].owner, memory_order_relaxed) ||
                    !atomic_compare_exchange_strong(&slots[at].owner, &nobody, token))
                        continue;
                watch_note_used(at + 1);
                atomic_fetch_add(&slots_taken, 1);
                claim->token = token;
                claim->slot = hint = at;
                return true;
        }
        return false;
}

static void watch_counts(const struct watch_slot *slot, struct watch_seen *seen)
{
        for (int i = 0; i < THREAD_STATE_COUNT; i++)
                seen->counts[i] = atomic_load_explicit(&slot->counts[i], memory_order_relaxed);
        seen->rss_max_bytes = atomic_load_explicit(&slot->rss_max_bytes, memory_order_relaxed);
}

bool watch_begin(struct watch_claim *claim, bool wants_rss)
{
        struct watch_slot *slot;

        *claim = (struct watch_claim){ 0 };
        pthread_once(&watch_once, watch_init);
        if (!probe_sees_threads || !watch_claim_slot(claim))
                return false;
        slot = &slots[claim->slot];
        atomic_store_explicit(&slot->rss_max_bytes, PROBE_ABSENT, memory_order_relaxed);
        atomic_store_explicit(&slot->wants_rss, wants_rss, memory_order_relaxed);
        watch_counts(slot, &claim->before);
        if (watch_wake())
                return true;
        watch_release(slot, claim->token);
        claim->token = 0;
        return false;
}

bool watch_end(struct watch_claim *claim, struct watch_seen *seen)
{
        struct watch_slot *slot = &slots[claim->slot];
        bool ours = claim->token && atomic_load(&slot->owner) == claim->token;

        *seen = (struct watch_seen){ .rss_max_bytes = PROBE_ABSENT };
        if (ours) {
                watch_counts(slot, seen);
                for (int i = 0; i < THREAD_STATE_COUNT; i++)
                        seen->counts[i] -= claim->before.counts[i];
                watch_release(slot, claim->token);
        }
        claim->token = 0;
        return ours;
}

void probe_watch_stop(void)
{
        pthread_once(&watch_once, watch_init);
        if (!watch_usable)
                return;
        atomic_store(&watch_alive, false);
        ticker_stop(&watch_ticker);
}

int64_t probe_watch_cpu_ns(void)
{
        pthread_once(&watch_once, watch_init);
        return watch_usable ? ticker_cpu_ns(&watch_ticker) : 0;
}
