#pragma once
/*
 * Calls of the system that fail on demand
 *
 * A test that lists faults.c among its sources has calls of a kind, its own, the
 * library's and those of the libraries linked into it, counted: the one after
 * `count` others fails with `error`, and so do the `n` - 1 that follow; a negative
 * n means all of them. A negative count (as at the start) lets all pass.
 */

#include <stdbool.h>

enum fault {
        FAULT_WRITE,  /* write(), pwrite(), fsync(), fdatasync(), ftruncate() */
        FAULT_READ,   /* read(), pread(), readdir(), and what fopen() reads */
        FAULT_THREAD, /* pthread_create() */
        FAULT_CLOCK,  /* clock_gettime() */
        FAULT_N_KINDS,
};

void faults_fail_after(enum fault kind, long count, long n, int error);
void faults_none(void);
/* Whether a call failed since faults_fail_after(). */
bool faults_failed(void);

/*
 * The count to try after this one: each at first, then in steps of a part of it (60: a sixtieth),
 * since SQLite calls often. ROAST_FAULTS_PART in the environment says another part; with a large
 * number no call is left out.
 */
long faults_next(long count, long part);

/* Whether every file is said to be on NFS. */
void faults_network(bool network);
