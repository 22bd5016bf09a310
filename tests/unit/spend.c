/* Known ways to spend time and memory: see spend.h */

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/platform.h"
#include "probe/readings.h"
#include "probe/watch.h"
#include "spend.h"
#include "util/clock.h"

/* Threads are started in forked children here, which is what is tested. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
        return "die_after_fork=0";
}

void needs_platform(void)
{
        if (probe_sees_threads)
                return;
        print_message("this platform does not know it\n");
        skip();
}

void sleep_ns(int64_t ns)
{
        struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

        while (nanosleep(&time, &time) < 0 && errno == EINTR)
                ;
}

void spin_cpu_ns(int64_t ns)
{
        int64_t until = clock_thread_cpu_ns() + ns;

        while (clock_thread_cpu_ns() < until)
                ;
}

/* A lock that is waited for as CPython waits for its GIL: five milliseconds at a time. */
static struct {
        pthread_mutex_t mutex;
        pthread_cond_t cond;
        bool held;
} gil = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
static _Atomic bool hog_stops;
static pthread_t hog;

void gil_take(void)
{
        struct timespec until;

        pthread_mutex_lock(&gil.mutex);
        while (gil.held) {
                clock_gettime(CLOCK_REALTIME, &until);
                until.tv_nsec += 5 * MS;
                until.tv_sec += until.tv_nsec / 1000000000;
                until.tv_nsec %= 1000000000;
                pthread_cond_timedwait(&gil.cond, &gil.mutex, &until);
        }
        gil.held = true;
        pthread_mutex_unlock(&gil.mutex);
}

void gil_drop(void)
{
        pthread_mutex_lock(&gil.mutex);
        gil.held = false;
        pthread_cond_signal(&gil.cond);
        pthread_mutex_unlock(&gil.mutex);
}

static void *gil_hog(void *unused)
{
        (void)unused;
        while (!hog_stops) {
                gil_take();
                sleep_ns(37 * MS);
                gil_drop();
                sleep_ns(MS);
        }
        return NULL;
}

void hog_start(void)
{
        assert_int_equal(probe_lock_add(&gil, sizeof(gil)), 0);
        hog_stops = false;
        assert_int_equal(pthread_create(&hog, NULL, gil_hog, NULL), 0);
}

void hog_stop(void)
{
        hog_stops = true;
        pthread_join(hog, NULL);
}

int open_direct(void)
{
        char name[] = "roast-test-XXXXXX";
        static char block[1 << 20];
        int fd = mkstemp(name);

        assert_true(fd >= 0);
        for (int i = 0; i < 16; i++)
                assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
        fsync(fd);
        close(fd);
        fd = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
        unlink(name);
        return fd;
}

void read_direct_ns(int fd, int64_t ns)
{
        static _Thread_local _Alignas(4096) char block[1 << 18];
        int64_t until = clock_monotonic_ns() + ns;
        off_t at = 0;

        while (clock_monotonic_ns() < until) {
                if (pread(fd, block, sizeof(block), at) != sizeof(block))
                        return;
                at = (at + (off_t)sizeof(block)) % (1 << 24);
        }
}

int count_entries(const char *path)
{
        DIR *dir = opendir(path);
        int n = 0;

        assert_non_null(dir);
        while (readdir(dir))
                n++;
        closedir(dir);
        return n;
}

int64_t stolen_ns(void)
{
        FILE *file = fopen("/proc/stat", "re");
        long long ticks = 0;

        assert_non_null(file);
        if (fscanf(file, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &ticks) != 1)
                ticks = 0;
        fclose(file);
        return ticks * (1000 * MS / sysconf(_SC_CLK_TCK));
}

/* pid (name) state ppid pgrp session tty_nr tpgid flags ... */
static bool is_ending(const char *tid)
{
        char path[64], text[512] = { 0 };
        unsigned int flags = 0;
        const char *after;
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", tid);
        file = fopen(path, "re");
        if (!file)
                return true;
        if (!fread(text, 1, sizeof(text) - 1, file))
                text[0] = 0;
        fclose(file);
        after = strrchr(text, ')');
        return !after || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
               flags & 0x4; /* PF_EXITING */
}

int count_threads(void)
{
        DIR *dir = opendir("/proc/self/task");
        struct dirent *entry;
        int n = 0;

        assert_non_null(dir);
        while ((entry = readdir(dir)))
                n += entry->d_name[0] != '.' && !is_ending(entry->d_name);
        closedir(dir);
        return n;
}

void *map_bytes(size_t size)
{
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

        assert_true(memory != MAP_FAILED);
        return memory;
}

int stop_watch(void **state)
{
        (void)state;
        probe_watch_stop();
        return 0;
}

bool is_near(int64_t value, int64_t truth, int64_t tolerance)
{
        int64_t distance = value > truth ? value - truth : truth - value;

        return distance <= tolerance;
}

void assert_sums(const struct probe_split *split)
{
        int64_t queue_ns = 0;

        assert_true(split->cpu_ns >= 0 && split->block_io_ns >= 0 && split->lock_ns >= 0 &&
                    split->other_ns >= 0);
        if (split->runqueue_ns == PROBE_ABSENT) {
                assert_true(split->throttled_ns == PROBE_ABSENT);
        } else {
                assert_true(split->runqueue_ns >= 0 && split->throttled_ns >= 0);
                queue_ns = split->runqueue_ns + split->throttled_ns;
        }
        assert_true(split->wall_ns == split->cpu_ns + queue_ns + split->block_io_ns +
                                              split->lock_ns + split->other_ns);
}
