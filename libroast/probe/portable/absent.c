/*
 * What a platform without a folder of its own does not know: see platform.h
 *
 * Time is measured as everywhere; memory only by its high-water mark; nothing is
 * known of run queues, control groups, bytes, waits of threads, other processes.
 */

#include "probe/platform.h"
#include "roast-error.h"

#define ABSENT_SOURCE(source)                                                                      \
        &(const struct probe)                                                                      \
        {                                                                                          \
                .name = (source), .absent = "roastcoffea does not read it on this platform"        \
        }

const struct probe *const probes[] = {
        &probe_clock,
        &probe_rusage,
        ABSENT_SOURCE("memory"),
        ABSENT_SOURCE("io"),
        ABSENT_SOURCE("counts"),
        ABSENT_SOURCE("cgroup"),
        ABSENT_SOURCE("pressure"),
        ABSENT_SOURCE("diskstats"),
        ABSENT_SOURCE("netdev"),
        NULL,
};

const bool probe_sees_threads = false;

#define ABSENT_READING(name)                                                                       \
        int64_t name(void)                                                                         \
        {                                                                                          \
                return PROBE_ABSENT;                                                               \
        }
ABSENT_READING(probe_rss_bytes)
ABSENT_READING(probe_peak_bytes)
ABSENT_READING(probe_runqueue_ns)
ABSENT_READING(probe_thread_major_faults)
ABSENT_READING(probe_throttled_ns)

bool probe_peak_reset(void)
{
        return false;
}

void probe_peak_allow_reset(bool allow)
{
        (void)allow;
}

void probe_io_read(struct probe_io *io)
{
        *io = (struct probe_io){ PROBE_ABSENT, PROBE_ABSENT, PROBE_ABSENT, PROBE_ABSENT };
}

void probe_cgroup_read(struct probe_cgroup *cgroup)
{
        *cgroup = (struct probe_cgroup){ PROBE_ABSENT, PROBE_ABSENT, PROBE_ABSENT, PROBE_ABSENT };
}

pid_t probe_thread_id(void)
{
        return 0;
}

void probe_thread_set_name(pthread_t thread, const char *name)
{
        (void)thread;
        (void)name;
}

void thread_view_set(struct thread_view *view, pid_t tid)
{
        view->tid = tid;
}

enum thread_state thread_view_look(struct thread_view *view)
{
        (void)view;
        return THREAD_STATE_RUNS;
}

void thread_view_deinit(struct thread_view *view)
{
        *view = (struct thread_view){ .kept = view->kept };
}

int probe_lock_add(const void *address, size_t length)
{
        return address && length ? 0 : ROAST_E_INVALID;
}

int probe_lock_add_symbol(const char *symbol)
{
        (void)symbol;
        return ROAST_E_NOENT;
}

bool process_read(pid_t pid, struct process_reading *reading)
{
        (void)pid;
        (void)reading;
        return false;
}

size_t process_descendants(pid_t pid, pid_t *pids, size_t max)
{
        (void)pid;
        (void)pids;
        (void)max;
        return 0;
}
