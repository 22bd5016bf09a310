#pragma once
/*
 * Allocations that fail on demand
 *
 * A test that lists alloc.c among its sources has its malloc(), calloc() and
 * realloc() calls, and those of the library, counted: the one after `count`
 * others returns NULL, and so do all that follow, among them aligned_alloc() and
 * what strdup() and asprintf() and their kin allocate. A negative count (as at the
 * start) lets all of them pass.
 */

#include <stdbool.h>
#include <stddef.h>

void alloc_fail_after(long count);
/* The same, but those that follow pass. */
void alloc_fail_one(long count);
/* Whether an allocation was refused since alloc_fail_after(). */
bool alloc_failed(void);
/* The most bytes that one of them asked for since then. */
size_t alloc_largest(void);
