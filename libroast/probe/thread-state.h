#pragma once
/* What a thread of this process waits for at this moment. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum thread_state {
        THREAD_STATE_BLOCK_IO,
        THREAD_STATE_LOCK, /* one of the locks that were named */
        THREAD_STATE_OTHER,
        THREAD_STATE_RUNS,  /* or could, had it a core; or it cannot be looked at */
        THREAD_STATE_COUNT, /* of the states above, which are the ones that are counted */
        THREAD_STATE_GONE,  /* there is no such thread */
};

/* An embedded object: zeroes are the initial state. It keeps two descriptors if `kept`. */
struct thread_view {
        pid_t tid;
        bool kept;
        int stat_fd;    /* the descriptor plus 1 */
        int syscall_fd; /* the descriptor plus 1 */
};

/* Turns to another thread; with its own tid it does nothing. */
void thread_view_set(struct thread_view *view, pid_t tid);
enum thread_state thread_view_look(struct thread_view *view);
void thread_view_deinit(struct thread_view *view);

/*
 * Names a lock: a thread that sleeps on a futex in this range waits for it. A
 * range that is known already is no error. Returns 0, ROAST_E_INVALID for an empty
 * range, or ROAST_E_NOMEM when the table is full.
 *
 * CPython: the GIL is inside _PyRuntime (from 3.12 on inside the interpreter's
 * state, which for the main interpreter is part of _PyRuntime too).
 */
int probe_lock_add(const void *address, size_t length);
/* The same for a data symbol of the running program. ROAST_E_NOENT: no such symbol. */
int probe_lock_add_symbol(const char *symbol);
