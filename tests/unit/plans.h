#pragma once
/*
 * Plans of what fails
 *
 * Something is asked again and again, and each time the next call of the system
 * fails, by every plan: one read or all from there on, writes, threads, clocks,
 * memory. The answer is the one without faults, or an error with a message.
 */

#include "roast-error.h"
#include "util/buf.h"

/* Puts its answer into `out`; returns 0 or a negative error. */
typedef int (*plan_asking)(struct buf *out, const char *path, struct roast_error *error);

void plans_play(plan_asking ask, const char *path);
