/*
 * The calling thread: its time in the run queue, its page faults
 *
 * The wait for a core is the second number of its schedstat. The first, the time
 * on a core, lags by up to one tick: the thread's CPU clock is taken for that.
 *
 * Each thread that asks keeps a descriptor of its own until it ends.
 */

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/linux/file.h"
#include "probe/platform.h"

static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static bool thread_has_key;
static _Thread_local struct probe_file *thread_schedstat;

static void thread_ended(void *pointer)
{
        struct probe_file *file = pointer;

        probe_file_close(file);
        free(file);
        thread_schedstat = NULL;
}

static void thread_init(void)
{
        thread_has_key = !pthread_key_create(&thread_key, thread_ended);
}

static struct probe_file *thread_file(void)
{
        struct probe_file *file = thread_schedstat;

        if (file)
                return file;
        pthread_once(&thread_once, thread_init);
        if (!thread_has_key)
                return NULL;
        file = calloc(1, sizeof(*file));
        if (!file)
                return NULL;
        file->path = "/proc/thread-self/schedstat";
        if (pthread_setspecific(thread_key, file)) {
                free(file);
                return NULL;
        }
        thread_schedstat = file;
        return file;
}

int64_t probe_runqueue_ns(void)
{
        struct probe_file *file = thread_file();
        char text[96];
        const char *at = text;

        if (!file || !probe_file_read(file, text, sizeof(text)))
                return PROBE_ABSENT;
        probe_scan_skip(&at, 1);
        return probe_scan(&at);
}

int64_t probe_thread_major_faults(void)
{
        struct rusage usage;

        return getrusage(RUSAGE_THREAD, &usage) < 0 ? PROBE_ABSENT : usage.ru_majflt;
}

pid_t probe_thread_id(void)
{
        return (pid_t)syscall(SYS_gettid);
}

void probe_thread_set_name(pthread_t thread, const char *name)
{
        pthread_setname_np(thread, name);
}
