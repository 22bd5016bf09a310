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
#include "util/size.h"

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

static void counts_read(int64_t *values)
{
        struct stat fds, tasks;

        values[0] = values[1] = PROBE_ABSENT;
        if (stat("/proc/self/fd", &fds) == 0)
                values[0] = fds.st_size > 0 ? fds.st_size : counts_list("/proc/self/fd");
        if (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2)
                values[1] = (int64_t)tasks.st_nlink - 2;
}

static const struct probe_column counts_columns[] = {
        { "fds", "count", PROBE_GAUGE, 1 },
        { "threads", "count", PROBE_GAUGE, 1 },
};

const struct probe probe_counts = {
        .name = "counts",
        .columns = counts_columns,
        .n_columns = ROAST_ARRAY_SIZE(counts_columns),
        .read = counts_read,
};
