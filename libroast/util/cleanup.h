#pragma once
/*
 * Scope-bound release
 *
 *     ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
 *
 * calls buf_deinit(&out) when the scope is left. Ownership moves out with
 * `*ret = x; x = NULL` (or the release function of the type).
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROAST_CLEANUP(fn) __attribute__((cleanup(fn)))

/* For `char *` and other plain heap pointers: ROAST_CLEANUP(cleanup_free) char *s = NULL; */
static inline void cleanup_free(void *pointer)
{
        free(*(void **)pointer);
}

static inline void cleanup_close(int *fd)
{
        if (*fd >= 0)
                close(*fd);
}
