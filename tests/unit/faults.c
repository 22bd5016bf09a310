/* Calls of the system that fail on demand: see faults.h. The linker's --wrap leads here. */

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __real_pwrite(int fd, const void *data, size_t len, off_t at);
ssize_t __real_pwrite64(int fd, const void *data, size_t len, off_t at);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_ftruncate(int fd, off_t len);
int __real_ftruncate64(int fd, off_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t len, off_t at);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_ftruncate(int fd, off_t len);
int __wrap_ftruncate64(int fd, off_t len);

/* Ours are called by these names where offsets have 64 bits, which Meson asks for. */
ssize_t __real_read(int fd, void *data, size_t len);
ssize_t __real_pread(int fd, void *data, size_t len, off_t at);
ssize_t __real_pread64(int fd, void *data, size_t len, off_t at);
struct dirent *__real_readdir64(DIR *dir);
FILE *__real_fopen64(const char *path, const char *mode);
ssize_t __wrap_read(int fd, void *data, size_t len);
ssize_t __wrap_pread(int fd, void *data, size_t len, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t len, off_t at);
struct dirent *__wrap_readdir64(DIR *dir);
FILE *__wrap_fopen64(const char *path, const char *mode);

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *context);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *context);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __real_statfs(const char *path, struct statfs *fs);
int __real_statfs64(const char *path, struct statfs64 *fs);
int __wrap_statfs(const char *path, struct statfs *fs);
int __wrap_statfs64(const char *path, struct statfs64 *fs);

static bool on_network;

/* Threads of the code that is tried call at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum fault failing;
static long before = -1, left;
static int reason;
static bool failed;

void faults_fail_after(enum fault kind, long count, long n, int error)
{
        pthread_mutex_lock(&lock);
        failing = kind;
        before = count;
        left = n;
        reason = error;
        failed = false;
        pthread_mutex_unlock(&lock);
}

void faults_none(void)
{
        pthread_mutex_lock(&lock);
        before = -1;
        pthread_mutex_unlock(&lock);
}

bool faults_failed(void)
{
        bool did;

        pthread_mutex_lock(&lock);
        did = failed;
        pthread_mutex_unlock(&lock);
        return did;
}

long faults_next(long count, long part)
{
        const char *wanted = getenv("ROAST_FAULTS_PART");

        if (wanted && atol(wanted) > 0)
                part = atol(wanted);
        return count + 1 + count / part;
}

static bool refuse(enum fault kind)
{
        bool refused = false;

        pthread_mutex_lock(&lock);
        if (kind != failing || before < 0 || left == 0) {
                ;
        } else if (before > 0) {
                before--;
        } else {
                left--;
                failed = refused = true;
        }
        pthread_mutex_unlock(&lock);
        if (refused)
                errno = reason;
        return refused;
}

/* ---- writes ---- */

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
        return fd > 2 && refuse(FAULT_WRITE) ? -1 : __real_write(fd, data, len);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t at)
{
        return refuse(FAULT_WRITE) ? -1 : __real_pwrite(fd, data, len, at);
}

ssize_t __wrap_pwrite64(int fd, const void *data, size_t len, off_t at)
{
        return refuse(FAULT_WRITE) ? -1 : __real_pwrite64(fd, data, len, at);
}

int __wrap_fsync(int fd)
{
        return refuse(FAULT_WRITE) ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
        return refuse(FAULT_WRITE) ? -1 : __real_fdatasync(fd);
}

int __wrap_ftruncate(int fd, off_t len)
{
        return refuse(FAULT_WRITE) ? -1 : __real_ftruncate(fd, len);
}

int __wrap_ftruncate64(int fd, off_t len)
{
        return refuse(FAULT_WRITE) ? -1 : __real_ftruncate64(fd, len);
}

/* ---- reads ---- */

ssize_t __wrap_read(int fd, void *data, size_t len)
{
        return refuse(FAULT_READ) ? -1 : __real_read(fd, data, len);
}

ssize_t __wrap_pread(int fd, void *data, size_t len, off_t at)
{
        return refuse(FAULT_READ) ? -1 : __real_pread(fd, data, len, at);
}

ssize_t __wrap_pread64(int fd, void *data, size_t len, off_t at)
{
        return refuse(FAULT_READ) ? -1 : __real_pread64(fd, data, len, at);
}

struct dirent *__wrap_readdir64(DIR *dir)
{
        return refuse(FAULT_READ) ? NULL : __real_readdir64(dir);
}

static ssize_t stream_read(void *context, char *data, size_t len)
{
        return __wrap_read(fileno(context), data, len);
}

static int stream_close(void *context)
{
        return fclose(context);
}

/* The C library's own reads do not pass here: a stream for reading gets those that do. */
FILE *__wrap_fopen64(const char *path, const char *mode)
{
        FILE *file = __real_fopen64(path, mode), *stream;

        if (!file || mode[0] != 'r')
                return file;
        stream = fopencookie(file, "r",
                             (cookie_io_functions_t){
                                     .read = stream_read,
                                     .close = stream_close,
                             });
        if (!stream)
                (void)fclose(file);
        return stream;
}

/* ---- threads and clocks ---- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *context)
{
        return refuse(FAULT_THREAD) ? EAGAIN : __real_pthread_create(thread, attr, start, context);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
        if (!refuse(FAULT_CLOCK))
                return __real_clock_gettime(clock, now);
        *now = (struct timespec){ .tv_sec = 7 }; /* nobody must use it */
        return -1;
}

/* ---- file systems ---- */

void faults_network(bool network)
{
        on_network = network;
}

int __wrap_statfs(const char *path, struct statfs *fs)
{
        int r = __real_statfs(path, fs);

        if (r == 0 && on_network)
                fs->f_type = NFS_SUPER_MAGIC;
        return r;
}

int __wrap_statfs64(const char *path, struct statfs64 *fs)
{
        int r = __real_statfs64(path, fs);

        if (r == 0 && on_network)
                fs->f_type = NFS_SUPER_MAGIC;
        return r;
}
