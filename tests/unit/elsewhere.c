/* Paths that lead elsewhere: see elsewhere.h. The linker's --wrap leads here. */

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "elsewhere.h"

#define PATHS_MAX 2

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

static struct {
        const char *path, *instead;
} paths[PATHS_MAX];
static size_t n_paths;

void elsewhere_put(const char *path, const char *instead)
{
        if (n_paths == PATHS_MAX)
                return;
        paths[n_paths].path = path;
        paths[n_paths++].instead = instead;
}

void elsewhere_none(void)
{
        n_paths = 0;
}

/* As open() is called where offsets have 64 bits, which Meson asks for */
int __wrap_open64(const char *path, int flags, ...)
{
        unsigned int mode = 0;
        va_list args;

        va_start(args, flags);
        if (flags & O_CREAT)
                mode = va_arg(args, unsigned int);
        va_end(args);
        for (size_t i = 0; i < n_paths; i++)
                if (!strcmp(path, paths[i].path))
                        path = paths[i].instead;
        return __real_open64(path, flags, mode);
}
