/* Positional reads of a local file: see source.h. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootfile/source.h"

int source_open(struct source *source, const char *path, struct roast_error *error)
{
        struct stat st;

        *source = (struct source){ .fd = -1 };
        /* Non-blocking, so that a FIFO is refused instead of waited for. */
        source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (source->fd < 0)
                return roast_fail(error, errno == ENOENT ? ROAST_E_NOENT : ROAST_E_IO,
                                  "cannot open it: %s", strerror(errno));
        if (fstat(source->fd, &st) < 0)
                return roast_fail(error, ROAST_E_IO, "cannot stat it: %s", strerror(errno));
        if (!S_ISREG(st.st_mode))
                return roast_fail(error, ROAST_E_FORMAT, "not a regular file");
        source->size = (uint64_t)st.st_size;
        return 0;
}

void source_deinit(struct source *source)
{
        if (source->fd >= 0)
                close(source->fd);
        free(source->window);
        *source = (struct source){ .fd = -1 };
}

static int source_check_inside(const struct source *source, uint64_t at, size_t len,
                               struct roast_error *error)
{
        if (at > source->size || len > source->size - at)
                return roast_fail(error, ROAST_E_CORRUPT,
                                  "%zu bytes at %llu lie behind the end of the file", len,
                                  (unsigned long long)at);
        return 0;
}

int source_read(struct source *source, uint64_t at, void *to, size_t len, struct roast_error *error)
{
        uint8_t *next = to;
        int r;

        r = source_check_inside(source, at, len, error);
        if (r < 0)
                return r;
        while (len) {
                ssize_t n = pread(source->fd, next, len, (off_t)at);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return roast_fail(error, ROAST_E_IO, "cannot read: %s", strerror(errno));
                if (n == 0)
                        return roast_fail(error, ROAST_E_IO, "the file became shorter");
                source->reads++;
                source->bytes_read += (uint64_t)n;
                next += n;
                at += (uint64_t)n;
                len -= (size_t)n;
        }
        return 0;
}

static int source_window_fill(struct source *source, uint64_t at, size_t len,
                              struct roast_error *error)
{
        int r;

        if (len > source->window_cap) {
                free(source->window);
                source->window_cap = source->window_len = 0;
                source->window = malloc(len);
                if (!source->window)
                        return roast_fail_nomem(error);
                source->window_cap = len;
        }
        source->window_len = 0;
        r = source_read(source, at, source->window, len, error);
        if (r < 0)
                return r;
        source->window_at = at;
        source->window_len = len;
        return 0;
}

bool source_has(const struct source *source, uint64_t at, size_t len)
{
        return at >= source->window_at && at - source->window_at <= source->window_len &&
               len <= source->window_len - (size_t)(at - source->window_at);
}

int source_view(struct source *source, uint64_t at, size_t len, size_t ahead, const uint8_t **view,
                struct roast_error *error)
{
        int r;

        if (!source_has(source, at, len)) {
                r = source_check_inside(source, at, len, error);
                if (r < 0)
                        return r;
                if (ahead > source->size - at)
                        ahead = (size_t)(source->size - at);
                r = source_window_fill(source, at, ahead > len ? ahead : len, error);
                if (r < 0)
                        return r;
        }
        *view = source->window + (at - source->window_at);
        return 0;
}
