/* Allocations that fail on demand: see alloc.h. The linker's --wrap leads here. */

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *string);
char *__real_strndup(const char *string, size_t len);
int __real_vasprintf(char **text, const char *format, va_list args);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *string);
char *__wrap_strndup(const char *string, size_t len);
int __wrap_vasprintf(char **text, const char *format, va_list args);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long left = -1;
static bool only_one;
static bool failed;
static size_t largest;

void alloc_fail_after(long count)
{
        left = count;
        only_one = false;
        failed = false;
        largest = 0;
}

void alloc_fail_one(long count)
{
        alloc_fail_after(count);
        only_one = true;
}

bool alloc_failed(void)
{
        return failed;
}

size_t alloc_largest(void)
{
        return largest;
}

/* Threads of the code that is tried allocate at the same time. */
static bool refuse(size_t size)
{
        bool refused;

        pthread_mutex_lock(&lock);
        if (size > largest)
                largest = size;
        if (left > 0)
                left--, refused = false;
        else
                refused = left == 0 && !(only_one && failed);
        failed |= refused;
        pthread_mutex_unlock(&lock);
        return refused;
}

void *__wrap_malloc(size_t size)
{
        return refuse(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
        return refuse(n * size) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
        return refuse(size) ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
        return refuse(size) ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *string)
{
        return refuse(strlen(string) + 1) ? NULL : __real_strdup(string);
}

char *__wrap_strndup(const char *string, size_t len)
{
        return refuse(len + 1) ? NULL : __real_strndup(string, len);
}

int __wrap_vasprintf(char **text, const char *format, va_list args)
{
        return refuse(0) ? -1 : __real_vasprintf(text, format, args);
}

int __wrap_asprintf(char **text, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = __wrap_vasprintf(text, format, args);
        va_end(args);
        return n;
}
