#pragma once
/*
 * Writes and syncs that fail on demand
 *
 * A test that lists faults.c among its sources has its write(), pwrite(),
 * fsync(), fdatasync() and ftruncate() calls, and those of the libraries linked
 * into it, counted: the one after `count` others fails with `error`, and so do
 * the `n` - 1 that follow. A negative count (as at the start) lets all pass.
 */

#include <stdbool.h>

void faults_fail_after(long count, long n, int error);
/* Whether a call failed since then. */
bool faults_failed(void);

/* Whether every file is said to be on NFS. */
void faults_network(bool network);
