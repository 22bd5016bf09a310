/*
 * Run-queue wait: the second number of a thread's schedstat
 *
 * Its first number, the time on a core, lags by up to one tick: the thread's CPU
 * clock is taken for that.
 *
 * Each thread that asks keeps a descriptor of its own until it ends.
 */

#include <pthread.h>
#include <stdlib.h>

#include "probe/file.h"
#include "probe/readings.h"
#include "probe/scan.h"

static pthread_once_t schedstat_once = PTHREAD_ONCE_INIT;
static pthread_key_t schedstat_key;
static bool schedstat_has_key;
static _Thread_local struct probe_file *schedstat_file;

static void schedstat_end_thread(void *pointer)
{
        struct probe_file *file = pointer;

        probe_file_close(file);
        free(file);
        schedstat_file = NULL;
}

static void schedstat_init(void)
{
        schedstat_has_key = !pthread_key_create(&schedstat_key, schedstat_end_thread);
}

static struct probe_file *schedstat_of_thread(void)
{
        struct probe_file *file = schedstat_file;

        if (file)
                return file;
        pthread_once(&schedstat_once, schedstat_init);
        if (!schedstat_has_key)
                return NULL;
        file = calloc(1, sizeof(*file));
        if (!file)
                return NULL;
        file->path = "/proc/thread-self/schedstat";
        if (pthread_setspecific(schedstat_key, file)) {
                free(file);
                return NULL;
        }
        schedstat_file = file;
        return file;
}

int64_t probe_runqueue_ns(void)
{
        struct probe_file *file = schedstat_of_thread();
        char text[96];
        const char *at = text;

        if (!file || !probe_file_read(file, text, sizeof(text)))
                return PROBE_ABSENT;
        probe_scan_skip(&at, 1);
        return probe_scan(&at);
}
