#pragma once
/*
 * The seam between probe/ and the platform
 *
 * What a platform knows about a process beyond POSIX, without privileges. linux/
 * reads /proc and control groups; portable/absent.c is for a platform that has
 * none of it: there each reading is PROBE_ABSENT, and `probes` says why.
 * libroast/meson.build takes one of the two; portable/posix.c belongs to both.
 * Nothing else of probe/ includes a header or opens a file of a platform.
 *
 * All functions may be called from any thread, and after fork().
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/readings.h"

/* The sources of a row, ended by NULL; the first is the clock. */
extern const struct probe *const probes[];
extern const struct probe probe_clock;
extern const struct probe probe_rusage;

/* Resident memory of the process */
int64_t probe_rss_bytes(void);

/*
 * The highest resident memory since the process began or since the last
 * successful reset. The reset changes ru_maxrss and VmHWM for everyone in the
 * process, which a program that reports them itself may not want.
 */
bool probe_peak_reset(void);
void probe_peak_allow_reset(bool allow);
/* Cheap, but never below what the process had before it called exec(). */
int64_t probe_peak_floor_bytes(void);
/* Exact, ten times as dear. */
int64_t probe_peak_bytes(void);

/* Time that the calling thread was runnable and waited for a core */
int64_t probe_runqueue_ns(void);

/* Bytes of the process; read_bytes and write_bytes are those that reached a disk */
struct probe_io {
        int64_t rchar;
        int64_t wchar;
        int64_t read_bytes;
        int64_t write_bytes;
};

void probe_io_read(struct probe_io *io);

/* Page faults of the calling thread that waited for a disk */
int64_t probe_thread_major_faults(void);

/*
 * Control groups: v1, v2 and hybrid. Of the process's own group and those above it
 * that can be seen, the one with the tightest quota or limit counts.
 */
struct probe_cgroup {
        int64_t throttled_ns;       /* 0 where there is no quota */
        int64_t cpu_quota_millis;   /* cores x 1000; absent: no quota */
        int64_t memory_limit_bytes; /* absent: no limit */
        int64_t memory_bytes;
};

void probe_cgroup_read(struct probe_cgroup *cgroup);
/* Only the first of them; costs nothing where there is no quota. */
int64_t probe_throttled_ns(void);

/* ---- threads of this process ---- */

/* The number by which a thread_view finds the calling thread */
pid_t probe_thread_id(void);
/* For tools that list threads; at most 15 characters */
void probe_thread_set_name(pthread_t thread, const char *name);

/* Whether thread_view_look() can know what a thread waits for */
extern const bool probe_sees_threads;

enum thread_state {
        THREAD_STATE_BLOCK_IO,
        THREAD_STATE_LOCK, /* one of the locks that were named */
        THREAD_STATE_OTHER,
        THREAD_STATE_RUNS,  /* or could, had it a core; or its state cannot be read */
        THREAD_STATE_COUNT, /* of the states above, which are the ones that are counted */
        THREAD_STATE_GONE,  /* there is no such thread */
};

/* A thread that is watched, an embedded object: zeroes are the initial state. It keeps two
 * descriptors if `kept`. */
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

/*
 * ---- other processes of this user, seen from outside ----
 *
 * For pools of processes that run none of our code. The columns have the names
 * of the sampler's, where they mean the same.
 */

enum process_column {
        PROCESS_RSS_BYTES,
        PROCESS_CPU_USER_NS,
        PROCESS_CPU_SYSTEM_NS,
        PROCESS_MAJOR_FAULTS,
        PROCESS_RCHAR,
        PROCESS_WCHAR,
        PROCESS_READ_BYTES,
        PROCESS_WRITE_BYTES,
        PROCESS_THREADS,
        PROCESS_N_COLUMNS
};

extern const struct probe_column *const process_columns[PROCESS_N_COLUMNS]; /* in probes.c */

struct process_reading {
        int64_t values[PROCESS_N_COLUMNS]; /* PROBE_ABSENT: not known */
        int64_t start_ticks; /* since boot: distinguishes processes of the same number */
};

/* False: there is no such process any more. */
bool process_read(pid_t pid, struct process_reading *reading);

/* Children, and theirs, of a process; returns how many were found, at most `max`. */
size_t process_descendants(pid_t pid, pid_t *pids, size_t max);
