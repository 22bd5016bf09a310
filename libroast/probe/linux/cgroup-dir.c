/*
 * Where the process's control group is
 *
 * /proc/self/cgroup has the path inside a hierarchy, as seen from the process's
 * cgroup namespace:
 *
 *     4:cpu,cpuacct:/user.slice      v1: number, controllers, path
 *     0::/user.slice                 v2
 *
 * /proc/self/mountinfo tells where a hierarchy, or a part of it, is mounted:
 *
 *     32 31 0:29 /root /mount/point rw - cgroup cgroup rw,cpu,cpuacct
 *                ^ the group that is seen at the mount point
 *
 * In a container without a cgroup namespace the path begins with that root; with
 * one, both are "/". A path that is not below the root cannot be seen: then the
 * mount point is the best that is known.
 */

#include <stdio.h>
#include <string.h>

#include "probe/linux/cgroup-dir.h"
#include "probe/linux/file.h"
#include "roast-error.h"

/* Is `word` an element of a comma-separated list? */
static bool cgroup_list_has(const char *list, const char *word)
{
        size_t len = strlen(word), n;

        for (; *list; list += n + (list[n] == ',')) {
                n = strcspn(list, ",");
                if (n == len && !memcmp(list, word, len))
                        return true;
        }
        return false;
}

/* mountinfo writes blanks, tabs, newlines and backslashes as three octal digits. */
static void cgroup_unescape(char *text)
{
        char *out = text;

        for (; *text; text++) {
                if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
                    text[2] <= '7' && text[3] >= '0' && text[3] <= '7') {
                        *out++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0');
                        text += 3;
                } else {
                        *out++ = *text;
                }
        }
        *out = 0;
}

/* 1, 0 if there is none, or ROAST_E_IO, as is cgroup_find_in() below. */
static int cgroup_find_path(int fd, const char *controller, char path[static CGROUP_PATH_MAX])
{
        struct probe_lines lines;
        char *line, *list, *at;

        probe_lines_init(&lines, fd);
        while ((line = probe_lines_next(&lines))) {
                list = strchr(line, ':');
                at = list ? strchr(list + 1, ':') : NULL;
                if (!at)
                        continue;
                *at++ = 0;
                if (controller ? !cgroup_list_has(list + 1, controller) : list[1] != 0)
                        continue;
                return snprintf(path, CGROUP_PATH_MAX, "%s", at) < CGROUP_PATH_MAX;
        }
        return lines.failed ? ROAST_E_IO : 0;
}

/* Splits a line of mountinfo; false if it is no mount of this hierarchy. */
static bool cgroup_parse_mount(char *line, const char *controller, char **root, char **mount)
{
        char *tail = strstr(line, " - "), *save = NULL, *type, *options = NULL;

        if (!tail)
                return false;
        *tail = 0;
        type = strtok_r(tail + 3, " ", &save);
        if (!type || strcmp(type, controller ? "cgroup" : "cgroup2"))
                return false;
        if (strtok_r(NULL, " ", &save))
                options = strtok_r(NULL, " ", &save);
        if (controller && (!options || !cgroup_list_has(options, controller)))
                return false;
        save = NULL;
        *root = strtok_r(line, " ", &save);
        for (int i = 0; i < 3 && *root; i++)
                *root = strtok_r(NULL, " ", &save);
        *mount = *root ? strtok_r(NULL, " ", &save) : NULL;
        if (!*mount)
                return false;
        cgroup_unescape(*root);
        cgroup_unescape(*mount);
        return true;
}

/* The part of `path` below `root`, or "" if it is not below it. */
static const char *cgroup_below(const char *path, const char *root)
{
        size_t len = strlen(root);

        if (len == 1)
                len = 0; /* "/" */
        if (strncmp(path, root, len) || (path[len] != '/' && path[len] != 0))
                return "";
        path += len;
        if (!strcmp(path, "/") || strstr(path, "/.."))
                return "";
        return path;
}

static int cgroup_find_in(struct cgroup_dir *dir, int mountinfo_fd, int cgroup_fd,
                          const char *controller)
{
        char path[CGROUP_PATH_MAX], *line, *root, *mount;
        struct probe_lines lines;
        int n = cgroup_find_path(cgroup_fd, controller, path);

        if (n <= 0)
                return n;
        probe_lines_init(&lines, mountinfo_fd);
        while ((line = probe_lines_next(&lines))) {
                if (!cgroup_parse_mount(line, controller, &root, &mount))
                        continue;
                n = snprintf(dir->path, sizeof(dir->path), "%s%s", mount, cgroup_below(path, root));
                dir->mount_len = strlen(mount);
                dir->v2 = !controller;
                return n < CGROUP_PATH_MAX;
        }
        return lines.failed ? ROAST_E_IO : 0;
}

int cgroup_dir_find(struct cgroup_dir *dir, int mountinfo_fd, int cgroup_fd, const char *controller)
{
        int r = cgroup_find_in(dir, mountinfo_fd, cgroup_fd, controller);

        if (r == 0)
                r = cgroup_find_in(dir, mountinfo_fd, cgroup_fd, NULL);
        return r < 0 ? r : r > 0 ? 0 : ROAST_E_NOENT;
}

bool cgroup_dir_up(struct cgroup_dir *dir)
{
        char *slash = strrchr(dir->path, '/');

        if (!slash || (size_t)(slash - dir->path) < dir->mount_len)
                return false;
        *slash = 0;
        return true;
}
