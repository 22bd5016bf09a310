#pragma once
/* Where the process's control group of a controller is in the file system. */

#include <stdbool.h>
#include <stddef.h>

#define CGROUP_PATH_MAX 1024

struct cgroup_dir {
        bool v2;
        size_t mount_len; /* the part of `path` that is the mount point */
        char path[CGROUP_PATH_MAX];
};

/*
 * The descriptors are those of /proc/self/mountinfo and /proc/self/cgroup. A
 * controller that is mounted as v1 is taken from there, else from v2. Returns 0,
 * ROAST_E_NOENT, or ROAST_E_IO if one of them could not be read.
 */
int cgroup_dir_find(struct cgroup_dir *dir, int mountinfo_fd, int cgroup_fd,
                    const char *controller);
/* Moves to the group above; false at the mount point. */
bool cgroup_dir_up(struct cgroup_dir *dir);
