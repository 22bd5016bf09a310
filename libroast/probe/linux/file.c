/* Files of /proc and control groups: see file.h */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "probe/linux/file.h"
#include "probe/readings.h"

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t files_once = PTHREAD_ONCE_INIT;
static struct probe_file *files;
static _Atomic int64_t files_total_bytes;

static void file_prepare_fork(void)
{
        pthread_mutex_lock(&files_lock);
}

static void file_forked_parent(void)
{
        pthread_mutex_unlock(&files_lock);
}

/*
 * Files that belonged to other threads stay listed and closed: their owners do
 * not exist here. Closing later instead of now could hit a descriptor that the
 * program has put to another use by then.
 */
static void file_forked_child(void)
{
        for (struct probe_file *file = files; file; file = file->next) {
                if (file->handle > 0)
                        close(file->handle - 1);
                file->handle = 0;
        }
        files_total_bytes = 0; /* the kernel's count begins anew, too */
        pthread_mutex_unlock(&files_lock);
}

static void file_init_forks(void)
{
        pthread_atfork(file_prepare_fork, file_forked_parent, file_forked_child);
}

static void file_open(struct probe_file *file)
{
        int fd;

        pthread_once(&files_once, file_init_forks);
        pthread_mutex_lock(&files_lock);
        if (!file->handle) {
                fd = open(file->path, O_RDONLY | O_CLOEXEC);
                if (fd >= 0)
                        file->handle = fd + 1;
                else if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != EINTR)
                        file->handle = -1;
                if (fd >= 0 && !file->listed) {
                        file->listed = true;
                        file->next = files;
                        files = file;
                }
        }
        pthread_mutex_unlock(&files_lock);
}

int probe_file_fd(struct probe_file *file)
{
        int handle = atomic_load_explicit(&file->handle, memory_order_acquire);

        if (!handle) {
                file_open(file);
                handle = file->handle;
        }
        return handle > 0 ? handle - 1 : -1;
}

bool probe_file_absent(const struct probe_file *file)
{
        return atomic_load_explicit(&file->handle, memory_order_relaxed) < 0;
}

void probe_file_close(struct probe_file *file)
{
        pthread_mutex_lock(&files_lock);
        for (struct probe_file **link = &files; file->listed && *link; link = &(*link)->next) {
                if (*link == file) {
                        *link = file->next;
                        file->listed = false;
                        break;
                }
        }
        if (file->handle > 0)
                close(file->handle - 1);
        file->handle = 0;
        pthread_mutex_unlock(&files_lock);
}

ssize_t probe_file_pread(int fd, void *data, size_t size, off_t offset)
{
        ssize_t n = pread(fd, data, size, offset);

        if (n > 0)
                atomic_fetch_add_explicit(&files_total_bytes, n, memory_order_relaxed);
        return n;
}

size_t probe_file_read(struct probe_file *file, char *text, size_t size)
{
        int fd = probe_file_fd(file), handle = fd + 1;
        ssize_t n = 0;

        if (fd >= 0) {
                n = probe_file_pread(fd, text, size - 1, 0);
                /* Somebody closed what is not theirs: let go of the number and open anew. */
                if (n < 0 && (errno == EBADF || errno == ESPIPE))
                        atomic_compare_exchange_strong(&file->handle, &handle, 0);
        }
        text[n > 0 ? n : 0] = 0;
        return n > 0 ? (size_t)n : 0;
}

ssize_t probe_file_read_once(const char *path, char *text, size_t size)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = 0;

        if (fd >= 0) {
                n = probe_file_pread(fd, text, size - 1, 0);
                close(fd);
        }
        text[n > 0 ? n : 0] = 0;
        return n;
}

int64_t probe_file_total_bytes(void)
{
        return atomic_load_explicit(&files_total_bytes, memory_order_relaxed);
}

void probe_lines_init(struct probe_lines *lines, int fd)
{
        lines->fd = fd;
        lines->failed = false;
        lines->offset = 0;
        lines->at = 0;
        lines->len = 0;
}

/* Moves what is left to the front and reads more behind it; false at the end of the file. */
static bool file_lines_fill(struct probe_lines *lines)
{
        size_t left = lines->len - lines->at;
        ssize_t n;

        memmove(lines->text, lines->text + lines->at, left);
        lines->at = 0;
        lines->len = left;
        n = probe_file_pread(lines->fd, lines->text + left, sizeof(lines->text) - 1 - left,
                             lines->offset);
        lines->failed = n < 0;
        if (n <= 0)
                return false;
        lines->offset += n;
        lines->len += (size_t)n;
        return true;
}

char *probe_lines_next(struct probe_lines *lines)
{
        char *line, *end;
        size_t left;

        if (lines->fd < 0)
                return NULL;
        for (;;) {
                line = lines->text + lines->at;
                left = lines->len - lines->at;
                end = left ? memchr(line, '\n', left) : NULL;
                if (end) {
                        *end = 0;
                        lines->at = (size_t)(end + 1 - lines->text);
                        return line;
                }
                if (left == sizeof(lines->text) - 1 || !file_lines_fill(lines))
                        break;
        }
        line = lines->text + lines->at;
        left = lines->len - lines->at;
        if (!left || lines->failed)
                return NULL;
        line[left] = 0;
        lines->at = lines->len;
        return line;
}

int64_t probe_scan(const char **at)
{
        const char *p = *at;
        int64_t value = 0;

        while (*p == ' ' || *p == '\t')
                p++;
        if (*p < '0' || *p > '9')
                return PROBE_ABSENT;
        for (; *p >= '0' && *p <= '9'; p++) {
                if (__builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, *p - '0', &value))
                        return PROBE_ABSENT;
        }
        *at = p;
        return value;
}

void probe_scan_skip(const char **at, unsigned int n)
{
        const char *p = *at;

        while (n--) {
                p += strspn(p, " \t");
                p += strcspn(p, " \t\n");
        }
        *at = p;
}

int64_t probe_scan_key(const char *text, const char *key)
{
        size_t len = strlen(key);
        const char *line = text;

        while (line && strncmp(line, key, len)) {
                line = strchr(line, '\n');
                if (line)
                        line++;
        }
        if (!line)
                return PROBE_ABSENT;
        line += len;
        return probe_scan(&line);
}
