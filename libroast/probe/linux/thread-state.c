/*
 * What a thread waits for
 *
 * /proc/self/task/TID/syscall says "running", or the number and the arguments
 * of the system call that the thread sleeps in (-1: it sleeps in none, as in a
 * page fault). The third word of /proc/self/task/TID/stat is the state: D is a
 * wait for a block device. A thread may always look at its own process in this
 * way; where there is no `syscall` file, the state alone is used.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/linux/file.h"
#include "probe/platform.h"
#include "roast-error.h"
#include "util/size.h"

#define LOCK_MAX 16

const bool probe_sees_threads = true;

/* Filled from the front and never changed: an entry is taken by its start, complete with a length.
 */
static struct {
        _Atomic uintptr_t start;
        _Atomic size_t length;
} locks[LOCK_MAX];

int probe_lock_add(const void *address, size_t length)
{
        uintptr_t start = (uintptr_t)address, other;

        if (!start || !length)
                return ROAST_E_INVALID;
        for (size_t i = 0; i < LOCK_MAX; i++) {
                other = 0;
                if (atomic_compare_exchange_strong(&locks[i].start, &other, start)) {
                        locks[i].length = length;
                        return 0;
                }
                if (other == start && locks[i].length == length)
                        return 0;
        }
        return ROAST_E_NOMEM;
}

#ifdef __GLIBC__ /* RTLD_DL_SYMENT is an enumerator there: #ifdef does not see it */
int probe_lock_add_symbol(const char *symbol)
{
        void *address = dlsym(RTLD_DEFAULT, symbol);
        const ElfW(Sym) *entry = NULL;
        Dl_info info;

        if (!address)
                return ROAST_E_NOENT;
        if (!dladdr1(address, &info, (void **)&entry, RTLD_DL_SYMENT) || !entry || !entry->st_size)
                return ROAST_E_NOENT;
        return probe_lock_add(address, entry->st_size);
}
#else
/* Only glibc tells how long a symbol is. */
int probe_lock_add_symbol(const char *symbol)
{
        (void)symbol;
        return ROAST_E_NOENT;
}
#endif

static bool thread_state_is_lock(uintptr_t futex)
{
        for (size_t i = 0; i < LOCK_MAX && locks[i].start; i++) {
                if (futex >= locks[i].start && futex - locks[i].start < locks[i].length)
                        return true;
        }
        return false;
}

static int thread_view_open(pid_t tid, const char *name)
{
        char path[64];

        snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
        return open(path, O_RDONLY | O_CLOEXEC);
}

static size_t thread_view_read(struct thread_view *view, int *kept, const char *name, char *text,
                               size_t size)
{
        int fd = *kept ? *kept - 1 : thread_view_open(view->tid, name);
        ssize_t n = 0;

        if (fd >= 0) {
                n = probe_file_pread(fd, text, size - 1, 0);
                if (view->kept)
                        *kept = fd + 1;
                else
                        close(fd);
        }
        text[n > 0 ? n : 0] = 0;
        return n > 0 ? (size_t)n : 0;
}

void thread_view_deinit(struct thread_view *view)
{
        int stat_fd = view->stat_fd, syscall_fd = view->syscall_fd;

        /* First forget, then close: a child forked in between must not close a number of others. */
        *view = (struct thread_view){ .kept = view->kept };
        if (stat_fd)
                close(stat_fd - 1);
        if (syscall_fd)
                close(syscall_fd - 1);
}

void thread_view_set(struct thread_view *view, pid_t tid)
{
        if (view->tid == tid)
                return;
        thread_view_deinit(view);
        view->tid = tid;
}

/* pid (name) state ...: the name may contain anything */
static char thread_view_letter(const char *text)
{
        const char *end = strrchr(text, ')');

        return end && end[1] == ' ' ? end[2] : 0;
}

enum thread_state thread_view_look(struct thread_view *view)
{
        char call[192], stat[512], *at;

        errno = 0;
        thread_view_read(view, &view->syscall_fd, "syscall", call, sizeof(call));
        if (call[0] == 'r')
                return THREAD_STATE_RUNS;
        if (!thread_view_read(view, &view->stat_fd, "stat", stat, sizeof(stat)))
                return errno == ENOENT || errno == ESRCH ? THREAD_STATE_GONE : THREAD_STATE_RUNS;
        switch (thread_view_letter(stat)) {
        case 'D':
                return THREAD_STATE_BLOCK_IO;
        case 'R':
                /* It woke between the two reads: the first one still holds, if there was one. */
                if (!call[0])
                        return THREAD_STATE_RUNS;
                break;
        case 'Z':
        case 'X':
                return THREAD_STATE_GONE;
        }
        if (strtol(call, &at, 10) == SYS_futex &&
            thread_state_is_lock((uintptr_t)strtoull(at, NULL, 16)))
                return THREAD_STATE_LOCK;
        return THREAD_STATE_OTHER;
}
