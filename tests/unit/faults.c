/* Writes and syncs that fail on demand: see faults.h. The linker's --wrap leads here. */

#include <errno.h>
#include <linux/magic.h>
#include <sys/types.h>
#include <sys/vfs.h>

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

int __real_statfs(const char *path, struct statfs *fs);
int __real_statfs64(const char *path, struct statfs64 *fs);
int __wrap_statfs(const char *path, struct statfs *fs);
int __wrap_statfs64(const char *path, struct statfs64 *fs);

static bool on_network;
static long before = -1, left;
static int reason;
static bool failed;

void faults_fail_after(long count, long n, int error)
{
        before = count;
        left = n;
        reason = error;
        failed = false;
}

bool faults_failed(void)
{
        return failed;
}

static bool refuse(void)
{
        if (before < 0 || left == 0)
                return false;
        if (before > 0) {
                before--;
                return false;
        }
        left--;
        failed = true;
        errno = reason;
        return true;
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
        return fd > 2 && refuse() ? -1 : __real_write(fd, data, len);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t at)
{
        return refuse() ? -1 : __real_pwrite(fd, data, len, at);
}

ssize_t __wrap_pwrite64(int fd, const void *data, size_t len, off_t at)
{
        return refuse() ? -1 : __real_pwrite64(fd, data, len, at);
}

int __wrap_fsync(int fd)
{
        return refuse() ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
        return refuse() ? -1 : __real_fdatasync(fd);
}

int __wrap_ftruncate(int fd, off_t len)
{
        return refuse() ? -1 : __real_ftruncate(fd, len);
}

int __wrap_ftruncate64(int fd, off_t len)
{
        return refuse() ? -1 : __real_ftruncate64(fd, len);
}

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
