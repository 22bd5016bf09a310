#pragma once
/*
 * What Linux tells a process about itself, without privileges
 *
 * One source is one file that ends in a constant row, `struct probe`: the
 * function that fills its columns of a row of the process sampler. samples.def
 * is the list of the columns, probes.c that of the sources. The functions below
 * read one source directly, for those who need it around a chunk.
 *
 * Absent is not zero: every reading is zero or more, PROBE_ABSENT says that
 * this kernel, container or thread does not tell. A sum or difference with an
 * absent part is absent.
 *
 * All functions may be called from any thread, and after fork().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define PROBE_ABSENT ((int64_t)-1)

/* end - begin of a counter: absent if either is, or if the counter went back. */
static inline int64_t probe_difference(int64_t begin, int64_t end)
{
        return begin < 0 || end < begin ? PROBE_ABSENT : end - begin;
}

/* The columns of a row */
enum probe_sample {
#define SAMPLE(id, ...) SAMPLE_##id,
#include "probe/samples.def"
#undef SAMPLE
        N_SAMPLES
};

enum probe_kind {
        PROBE_COUNTER, /* only grows: its rate is of interest */
        PROBE_GAUGE,
};

struct probe_column {
        const char *name;
        const char *unit; /* ns, bytes, count */
        enum probe_kind kind;
        int64_t resolution; /* values are multiples of it (or absent): finer digits mean nothing */
};

struct probe {
        const char *name;
        void (*read)(int64_t *row); /* sets what it knows; all columns are absent before */
};

/* clock.c */
int64_t probe_clock_ns(clockid_t clock);
int64_t probe_monotonic_ns(void);
/*
 * UTC as it was by the wall clock at one instant, and by the monotonic one since: no clock step
 * changes it. The distance of the two is set when a run begins; until then the wall clock counts.
 */
int64_t probe_utc_ns(void);
int64_t probe_utc_offset_ns(void);
void probe_set_utc_offset(int64_t ns);
int64_t probe_thread_cpu_ns(void);

/* statm.c: resident memory of the process */
int64_t probe_rss_bytes(void);

/*
 * peak.c: the highest resident memory since the process began or since the last
 * successful reset. The reset changes ru_maxrss and VmHWM for everyone in the
 * process, which a program that reports them itself may not want.
 */
bool probe_peak_reset(void);
void probe_peak_allow_reset(bool allow);
/* Cheap, but never below what the process had before it called exec(). */
int64_t probe_peak_floor_bytes(void);
/* Exact, ten times as dear. */
int64_t probe_peak_bytes(void);

/* schedstat.c: time that the calling thread was runnable and waited for a core */
int64_t probe_runqueue_ns(void);

/* io.c: of the process; read_bytes and write_bytes are those that reached a disk */
struct probe_io {
        int64_t rchar;
        int64_t wchar;
        int64_t read_bytes;
        int64_t write_bytes;
};

void probe_io_read(struct probe_io *io);

/* rusage.c: page faults of the calling thread that waited for a disk */
int64_t probe_thread_major_faults(void);

/*
 * cgroup.c: v1, v2 and hybrid. Of the process's own group and those above it
 * that can be seen, the one with the tightest quota or limit counts.
 */
struct probe_cgroup {
        int64_t throttled_ns;       /* 0 where there is no quota */
        int64_t cpu_quota_millis;   /* cores x 1000; absent: no quota */
        int64_t memory_limit_bytes; /* absent: no limit */
        int64_t memory_bytes;
};

void probe_cgroup_read(struct probe_cgroup *cgroup);
/* Only the first of them; costs nothing where there is no quota. */
int64_t probe_throttled_ns(void);

extern const struct probe probe_clock;
extern const struct probe probe_statm;
extern const struct probe probe_io_source;
extern const struct probe probe_rusage;
extern const struct probe probe_cgroup_source;
extern const struct probe probe_pressure;
extern const struct probe probe_netdev;
extern const struct probe probe_diskstats;
extern const struct probe probe_counts;

/* probes.c: the list, ended by NULL */
extern const struct probe *const probes[];

extern const struct probe_column probe_columns[N_SAMPLES];
/* A value in steps of its resolution and back, for those who store it; absent stays PROBE_ABSENT.
 */
int64_t probe_column_pack(const struct probe_column *column, int64_t value);
int64_t probe_column_unpack(const struct probe_column *column, int64_t packed);
/* Fills one row of N_SAMPLES values, each a multiple of its resolution. */
void probe_row_read(int64_t *row);
