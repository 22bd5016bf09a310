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
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/file.h"
#include "probe/thread-state.h"
#include "roast-error.h"
#include "util/size.h"

#define LOCK_MAX 16

/* Entries below the count never change, so that readers need no lock. */
static struct {
        uintptr_t start;
        size_t length;
} locks[LOCK_MAX];
static _Atomic size_t locks_count;
static pthread_mutex_t locks_lock = PTHREAD_MUTEX_INITIALIZER;

int probe_lock_add(const void *address, size_t length)
{
        uintptr_t start = (uintptr_t)address;
        size_t i, n;
        int r = 0;

        if (!length)
                return ROAST_E_INVALID;
        pthread_mutex_lock(&locks_lock);
        n = locks_count;
        for (i = 0; i < n; i++) {
                if (locks[i].start == start && locks[i].length == length)
                        break;
        }
        if (i == LOCK_MAX) {
                r = ROAST_E_NOMEM;
        } else if (i == n) {
                locks[i].start = start;
                locks[i].length = length;
                atomic_store_explicit(&locks_count, n + 1, memory_order_release);
        }
        pthread_mutex_unlock(&locks_lock);
        return r;
}

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

static bool thread_state_is_lock(uintptr_t futex)
{
        size_t n = atomic_load_explicit(&locks_count, memory_order_acquire);

        for (size_t i = 0; i < n; i++) {
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
