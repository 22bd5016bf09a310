#pragma once
/*
 * A background thread that does something now and then
 *
 * It takes no signals (they stay with the program's own threads), has a name
 * that tools show, and counts its CPU time. After fork() the thread does not
 * exist in the child: there the ticker is stopped and can be started again.
 *
 * `lock` protects the ticker and whatever its owner puts under it; it must be
 * held for a copy of memory at most. The calls are made without it.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ticker;

struct ticker_calls {
        const char *name; /* of the thread, at most 15 characters */
        /* Returns the nanoseconds until the next call, or a negative number to end the thread. */
        int64_t (*tick)(struct ticker *ticker);
        /* In the thread when it ends, for whatever reason; may be NULL. */
        void (*ended)(struct ticker *ticker);
        /* In a forked child, where there is one thread only; may be NULL. */
        void (*forked)(struct ticker *ticker);
};

struct ticker {
        pthread_mutex_t lock;
        /* private */
        pthread_cond_t wake;
        pthread_t thread;
        bool runs;     /* the thread is in its loop */
        bool joinable; /* there is a thread, perhaps ended, to be joined */
        bool wanted;   /* started anew since the last tick began */
        bool stops;
        const struct ticker_calls *calls;
        _Atomic int64_t cpu_ns; /* of the threads that ended, and of this one so far */
        struct ticker *next;
};

int ticker_init(struct ticker *ticker, const struct ticker_calls *calls);
/* Stops and forgets; the ticker must not be in use elsewhere. */
void ticker_deinit(struct ticker *ticker);

/* Starts the thread unless it runs. 0 or ROAST_E_NOMEM when there can be no more threads. */
int ticker_start(struct ticker *ticker);
/* Ends the thread and waits for it; does nothing if there is none. */
void ticker_stop(struct ticker *ticker);
bool ticker_runs(struct ticker *ticker);
/* CPU time of the thread in all its lives. */
int64_t ticker_cpu_ns(struct ticker *ticker);
