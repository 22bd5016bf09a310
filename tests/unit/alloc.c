/* Allocations that fail on demand: see alloc.h. The linker's --wrap leads here. */

#include <stddef.h>

#include "alloc.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static long left = -1;
static bool failed;

void alloc_fail_after(long count)
{
        left = count;
        failed = false;
}

bool alloc_failed(void)
{
        return failed;
}

static bool refuse(void)
{
        if (left < 0)
                return false;
        if (left > 0) {
                left--;
                return false;
        }
        failed = true;
        return true;
}

void *__wrap_malloc(size_t size)
{
        return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
        return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
        return refuse() ? NULL : __real_realloc(memory, size);
}
