/* Files as importers read them: whole, regular, and not larger than they may be */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/import.h"
#include "util/cleanup.h"

static int file_read_all(struct buf *out, int fd, const char *path, size_t max,
                         struct roast_error *error)
{
        for (;;) {
                ssize_t n;

                if (out->len > max)
                        return roast_fail(error, ROAST_E_INVALID,
                                          "%s: has more than %zu MB: it is not read", path,
                                          max / 1000000);
                if (buf_reserve(out, 1 << 16) < 0)
                        return roast_fail_nomem(error);
                n = read(fd, out->data + out->len, out->cap - out->len - 1);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return roast_fail(error, ROAST_E_IO, "%s: cannot be read: %s", path,
                                          strerror(errno));
                out->len += (size_t)n;
                if (n == 0)
                        break;
        }
        out->data[out->len] = '\0';
        return 0;
}

int import_read_file(struct buf *out, const char *directory, const char *name, size_t max,
                     struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *path = NULL;
        ROAST_CLEANUP(cleanup_close) int fd = -1;
        struct stat st;

        if (asprintf(&path, name ? "%s/%s" : "%s", directory, name) < 0) {
                path = NULL;
                return roast_fail_nomem(error);
        }
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return roast_fail(error, errno == ENOENT ? ROAST_E_NOENT : ROAST_E_IO,
                                  "%s: cannot be opened: %s", path, strerror(errno));
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return roast_fail(error, ROAST_E_FORMAT, "%s: is not a regular file", path);
        if (st.st_size > 0 && (size_t)st.st_size <= max &&
            buf_reserve(out, (size_t)st.st_size + (1 << 16)) < 0)
                return roast_fail_nomem(error);
        return file_read_all(out, fd, path, max, error);
}
