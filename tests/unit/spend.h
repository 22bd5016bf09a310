#pragma once
/* Known ways to spend time and memory, for tests that compare readings with the truth. */

#include <stdbool.h>
#include <stdint.h>

#include "probe/split.h"

#define MS ((int64_t)1000000)

/* ThreadSanitizer cannot follow threads that are started in a forked child. */
#ifdef __SANITIZE_THREAD__
#define SPEND_NO_THREADS_AFTER_FORK true
#else
#define SPEND_NO_THREADS_AFTER_FORK false
#endif

/* Skips a test of what is not read where only POSIX is known. */
void needs_platform(void);

void sleep_ns(int64_t ns);
void spin_cpu_ns(int64_t ns);
/* What the host of a virtual machine kept of its cores so far: neither on a core nor queued */
int64_t stolen_ns(void);

/* A named lock, and a thread that holds it nearly all the time. */
void gil_take(void);
void gil_drop(void);
void hog_start(void);
void hog_stop(void);

/* 16 MB that are read past the page cache; -1 where the file system does not do that. */
int open_direct(void);
void read_direct_ns(int fd, int64_t ns);

/* Touched by the kernel: sanitizers add nothing to it. */
void *map_bytes(size_t size);
int count_entries(const char *path);
/* Without those that are ending: one that was joined may still be listed. */
int count_threads(void);
bool is_near(int64_t value, int64_t truth, int64_t tolerance);
/* As cmocka's teardown of a group: no watcher is left running. */
int stop_watch(void **state);
/* No part that is known is negative, and together they are the wall time. */
void assert_sums(const struct probe_split *split);
