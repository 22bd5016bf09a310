/*
 * Control group: CPU quota and throttling, memory limit and use
 *
 * A quota or limit may stand at any level above the process. Time throttled is
 * counted at the level whose quota ran out, so that level is the one to read:
 * the tightest, or the process's own if none has a limit. It is looked up once,
 * and again after fork(), since a child may be put into another group. If reading
 * failed meanwhile nothing is known, and it is looked up the next time, a few times.
 *
 * Reading cpu.stat of v2 can be dear on large machines (the kernel sums over all
 * cores first). Where there is no quota nothing is throttled, and it is not read.
 */

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/linux/cgroup-dir.h"
#include "probe/linux/file.h"
#include "probe/linux/sources.h"
#include "roast-error.h"
#include "util/cleanup.h"

#define CGROUP_LOOKUPS        8 /* that may fail: each costs more than all other readings */
#define CGROUP_NO_LIMIT_BYTES ((int64_t)1 << 60) /* v1 says "none" by a huge number */

struct cgroup_file {
        struct probe_file file;
        char path[CGROUP_PATH_MAX + 32];
};

struct cgroup {
        bool cpu_known, cpu_v2, memory_known, memory_v2;
        _Atomic bool has_quota;
        struct cgroup_file cpu_stat, cpu_quota, cpu_period, memory_limit, memory_use;
        struct cgroup *before_fork;
};

static _Atomic(struct cgroup *) cgroup_current;
static struct cgroup *cgroup_before_fork;
static _Atomic unsigned int cgroup_failed;
static pthread_once_t cgroup_once = PTHREAD_ONCE_INIT;

static void cgroup_forked(void)
{
        struct cgroup *cgroup = cgroup_current;

        if (cgroup)
                cgroup->before_fork = cgroup_before_fork;
        cgroup_before_fork = cgroup;
        cgroup_current = NULL;
        cgroup_failed = 0;
}

static void cgroup_init(void)
{
        pthread_atfork(NULL, NULL, cgroup_forked);
}

/* cpu.max is "max 100000" or "quota period"; cfs_quota_us is -1 or the quota. */
static int64_t cgroup_quota_millis(const char *quota_text, const char *period_text)
{
        int64_t quota, period;

        quota = probe_scan(&quota_text);
        period = probe_scan(period_text ? &period_text : &quota_text);
        if (quota < 0 || period <= 0 || quota > INT64_MAX / 1000)
                return PROBE_ABSENT;
        return quota * 1000 / period;
}

static int64_t cgroup_limit_bytes(const char *text)
{
        int64_t limit = probe_scan(&text);

        return limit >= CGROUP_NO_LIMIT_BYTES ? PROBE_ABSENT : limit;
}

static void cgroup_file_init(struct cgroup_file *file, const struct cgroup_dir *dir,
                             const char *name)
{
        snprintf(file->path, sizeof(file->path), "%s/%s", dir->path, name);
        file->file.path = file->path;
}

/* What one level says; false if it says something that could not be read. */
static bool cgroup_dir_limit(const struct cgroup_dir *dir, bool cpu, int64_t *limit)
{
        char text[64], period[64] = "";
        struct cgroup_file file = { 0 };
        bool has_period = cpu && !dir->v2;

        cgroup_file_init(&file, dir,
                         cpu ? (dir->v2 ? "cpu.max" : "cpu.cfs_quota_us")
                             : (dir->v2 ? "memory.max" : "memory.limit_in_bytes"));
        if (probe_file_read_once(file.path, text, sizeof(text)) < 0)
                return false;
        cgroup_file_init(&file, dir, "cpu.cfs_period_us");
        if (has_period && probe_file_read_once(file.path, period, sizeof(period)) < 0)
                return false;
        *limit = cpu ? cgroup_quota_millis(text, has_period ? period : NULL)
                     : cgroup_limit_bytes(text);
        return true;
}

/* The level with the tightest limit; the process's own if there is none. False: not known. */
static bool cgroup_tightest(struct cgroup_dir *dir, bool cpu, int64_t *least)
{
        struct cgroup_dir level = *dir;
        int64_t limit;

        *least = PROBE_ABSENT;
        do {
                if (!cgroup_dir_limit(&level, cpu, &limit))
                        return false;
                if (limit >= 0 && (*least < 0 || limit < *least)) {
                        *least = limit;
                        *dir = level;
                }
        } while (cgroup_dir_up(&level));
        return true;
}

static bool cgroup_find_cpu(struct cgroup *cgroup, int mounts, int groups)
{
        struct cgroup_dir dir;
        int64_t quota_millis;
        int r = cgroup_dir_find(&dir, mounts, groups, "cpu");

        if (r < 0)
                return r == ROAST_E_NOENT;
        if (!cgroup_tightest(&dir, true, &quota_millis))
                return false;
        cgroup->cpu_known = true;
        cgroup->cpu_v2 = dir.v2;
        cgroup->has_quota = quota_millis >= 0;
        cgroup_file_init(&cgroup->cpu_stat, &dir, "cpu.stat");
        cgroup_file_init(&cgroup->cpu_quota, &dir, dir.v2 ? "cpu.max" : "cpu.cfs_quota_us");
        cgroup_file_init(&cgroup->cpu_period, &dir, "cpu.cfs_period_us");
        return true;
}

static bool cgroup_find_memory(struct cgroup *cgroup, int mounts, int groups)
{
        struct cgroup_dir dir;
        int64_t limit_bytes;
        int r = cgroup_dir_find(&dir, mounts, groups, "memory");

        if (r < 0)
                return r == ROAST_E_NOENT;
        if (!cgroup_tightest(&dir, false, &limit_bytes))
                return false;
        cgroup->memory_known = true;
        cgroup->memory_v2 = dir.v2;
        cgroup_file_init(&cgroup->memory_limit, &dir,
                         dir.v2 ? "memory.max" : "memory.limit_in_bytes");
        cgroup_file_init(&cgroup->memory_use, &dir,
                         dir.v2 ? "memory.current" : "memory.usage_in_bytes");
        return true;
}

/* False: something could not be read, and might be another time. */
static bool cgroup_find(struct cgroup *cgroup)
{
        ROAST_CLEANUP(cleanup_close)
        int mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
        ROAST_CLEANUP(cleanup_close) int groups = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);

        return cgroup_find_cpu(cgroup, mounts, groups) &&
               cgroup_find_memory(cgroup, mounts, groups);
}

static struct cgroup *cgroup_get(void)
{
        struct cgroup *cgroup = cgroup_current, *other = NULL;

        if (cgroup)
                return cgroup;
        pthread_once(&cgroup_once, cgroup_init);
        cgroup = calloc(1, sizeof(*cgroup));
        if (!cgroup)
                return NULL;
        if (!cgroup_find(cgroup)) {
                *cgroup = (struct cgroup){ 0 };
                if (atomic_fetch_add(&cgroup_failed, 1) + 1 < CGROUP_LOOKUPS) {
                        free(cgroup);
                        return NULL;
                }
        }
        if (!atomic_compare_exchange_strong(&cgroup_current, &other, cgroup)) {
                free(cgroup);
                return other;
        }
        return cgroup;
}

static int64_t cgroup_throttled_ns(struct cgroup *cgroup)
{
        char text[1024];
        int64_t value;

        if (!cgroup->has_quota)
                return 0;
        if (!probe_file_read(&cgroup->cpu_stat.file, text, sizeof(text)))
                return PROBE_ABSENT;
        value = probe_scan_key(text, cgroup->cpu_v2 ? "throttled_usec " : "throttled_time ");
        return cgroup->cpu_v2 && value > 0 ? value * 1000 : value;
}

int64_t probe_throttled_ns(void)
{
        struct cgroup *cgroup = cgroup_get();

        return cgroup && cgroup->cpu_known ? cgroup_throttled_ns(cgroup) : PROBE_ABSENT;
}

/* The quota as it is now; false if it could not be read. The root of v2 has no such file. */
static bool cgroup_read_quota(struct cgroup *cgroup, int64_t *quota_millis)
{
        struct probe_file *quota = &cgroup->cpu_quota.file, *period = &cgroup->cpu_period.file;
        char text[64], period_text[64];
        bool read = probe_file_read(quota, text, sizeof(text)) &&
                    (cgroup->cpu_v2 || probe_file_read(period, period_text, sizeof(period_text)));

        if (read)
                *quota_millis = cgroup_quota_millis(text, cgroup->cpu_v2 ? NULL : period_text);
        return read || probe_file_absent(quota);
}

void probe_cgroup_read(struct probe_cgroup *out)
{
        struct cgroup *cgroup = cgroup_get();
        char text[64];
        const char *at = text;

        *out = (struct probe_cgroup){ PROBE_ABSENT, PROBE_ABSENT, PROBE_ABSENT, PROBE_ABSENT };
        if (cgroup && cgroup->cpu_known && cgroup_read_quota(cgroup, &out->cpu_quota_millis)) {
                cgroup->has_quota = out->cpu_quota_millis >= 0;
                out->throttled_ns = cgroup_throttled_ns(cgroup);
        }
        if (cgroup && cgroup->memory_known) {
                if (probe_file_read(&cgroup->memory_limit.file, text, sizeof(text)))
                        out->memory_limit_bytes = cgroup_limit_bytes(text);
                if (probe_file_read(&cgroup->memory_use.file, text, sizeof(text)))
                        out->memory_bytes = probe_scan(&at);
        }
}

static void cgroup_read(int64_t *row)
{
        struct probe_cgroup cgroup;

        probe_cgroup_read(&cgroup);
        row[SAMPLE_CGROUP_THROTTLED_NS] = cgroup.throttled_ns;
        row[SAMPLE_CGROUP_CPU_QUOTA_MILLIS] = cgroup.cpu_quota_millis;
        row[SAMPLE_CGROUP_MEMORY_LIMIT_BYTES] = cgroup.memory_limit_bytes;
        row[SAMPLE_CGROUP_MEMORY_BYTES] = cgroup.memory_bytes;
}

const struct probe probe_cgroup_source = {
        .name = "cgroup",
        .read = cgroup_read,
};
