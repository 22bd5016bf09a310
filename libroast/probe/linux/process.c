/* Other processes by /proc/PID: see platform.h */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/linux/file.h"
#include "probe/platform.h"

static bool process_read_file(pid_t pid, const char *name, char *text, size_t size)
{
        char path[64];

        (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
        return probe_file_read_once(path, text, size) > 0;
}

static int64_t process_ticks_ns(int64_t ticks)
{
        return ticks < 0 ? PROBE_ABSENT : ticks * (1000000000 / sysconf(_SC_CLK_TCK));
}

/* The fields of /proc/PID/stat are counted from the bracket that ends the name; see proc(5). */
static bool process_read_stat(pid_t pid, struct process_reading *reading)
{
        char text[1024];
        const char *at;
        int64_t pages;

        if (!process_read_file(pid, "stat", text, sizeof(text)))
                return false;
        at = strrchr(text, ')');
        if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
                return false;
        at++;
        probe_scan_skip(&at, 9); /* state ... cminflt */
        reading->values[PROCESS_MAJOR_FAULTS] = probe_scan(&at);
        probe_scan_skip(&at, 1);
        reading->values[PROCESS_CPU_USER_NS] = process_ticks_ns(probe_scan(&at));
        reading->values[PROCESS_CPU_SYSTEM_NS] = process_ticks_ns(probe_scan(&at));
        probe_scan_skip(&at, 4); /* cutime cstime priority nice */
        reading->values[PROCESS_THREADS] = probe_scan(&at);
        probe_scan_skip(&at, 1);
        reading->start_ticks = probe_scan(&at);
        probe_scan_skip(&at, 1); /* vsize */
        pages = probe_scan(&at);
        reading->values[PROCESS_RSS_BYTES] =
                pages < 0 ? PROBE_ABSENT : pages * sysconf(_SC_PAGESIZE);
        return true;
}

bool process_read(pid_t pid, struct process_reading *reading)
{
        static const struct {
                enum process_column column;
                const char *key;
        } io[] = {
                { PROCESS_RCHAR, "rchar: " },
                { PROCESS_WCHAR, "wchar: " },
                { PROCESS_READ_BYTES, "read_bytes: " },
                { PROCESS_WRITE_BYTES, "write_bytes: " },
        };
        char text[512] = "";

        if (!process_read_stat(pid, reading))
                return false;
        if (!process_read_file(pid, "io", text, sizeof(text)))
                text[0] = '\0';
        for (size_t i = 0; i < sizeof(io) / sizeof(io[0]); i++)
                reading->values[io[i].column] = probe_scan_key(text, io[i].key);
        return true;
}

/* The children that one thread made: numbers with a blank behind each. */
static size_t process_add_listed(const char *path, pid_t *pids, size_t n, size_t max)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        char text[4096], *end;
        off_t offset = 0;
        size_t left = 0; /* of a number that goes on in what is read next */

        while (fd >= 0 && n < max) {
                ssize_t got = probe_file_pread(fd, text + left, sizeof(text) - 1 - left, offset);
                const char *at = text;

                if (got <= 0)
                        break;
                text[left + (size_t)got] = '\0';
                end = strrchr(text, ' ');
                if (!end)
                        break;
                *end++ = '\0';
                for (int64_t child = probe_scan(&at); child > 0 && n < max; child = probe_scan(&at))
                        pids[n++] = (pid_t)child;
                offset += got;
                left = strlen(end);
                memmove(text, end, left);
        }
        if (fd >= 0)
                close(fd);
        return n;
}

static size_t process_add_children(pid_t pid, pid_t *pids, size_t n, size_t max)
{
        char path[336];
        DIR *tasks;

        (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
        tasks = opendir(path);
        for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
                if (entry->d_name[0] == '.')
                        continue;
                (void)snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid,
                               entry->d_name);
                n = process_add_listed(path, pids, n, max);
        }
        if (tasks)
                closedir(tasks);
        return n;
}

size_t process_descendants(pid_t pid, pid_t *pids, size_t max)
{
        size_t n = process_add_children(pid, pids, 0, max);

        for (size_t i = 0; i < n; i++)
                n = process_add_children(pids[i], pids, n, max);
        return n;
}
