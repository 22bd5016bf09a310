/*
 * How many descriptors and threads the process has
 *
 * The directories tell without being listed: the size of /proc/self/fd is the
 * number of descriptors (Linux 6.2; before that it is 0 and they are counted),
 * and each thread is a link of /proc/self/task.
 */

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "probe/linux/sources.h"

static int64_t counts_list(const char *path)
{
        DIR *dir = opendir(path);
        int64_t n = 0;

        if (!dir)
                return PROBE_ABSENT;
        errno = 0;
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
                n += entry->d_name[0] != '.';
        if (errno)
                n = 0; /* the rest is not known */
        closedir(dir);
        return n - 1; /* the one that reads the directory */
}

static void counts_read(int64_t *row)
{
        struct stat fds, tasks;

        if (stat("/proc/self/fd", &fds) == 0)
                row[SAMPLE_FDS] = fds.st_size > 0 ? fds.st_size : counts_list("/proc/self/fd");
        if (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2)
                row[SAMPLE_THREADS] = (int64_t)tasks.st_nlink - 2;
}

const struct probe probe_counts = {
        .name = "counts",
        .read = counts_read,
};
