#pragma once
/*
 * Readings: one row of numbers from all sources
 *
 * One source is one file that ends in a constant row, `struct probe`: the
 * function that fills its columns of a row of the process sampler. samples.def is
 * the list of the columns; which sources there are depends on the platform
 * (platform.h).
 *
 * Absent is not zero: every reading is zero or more, PROBE_ABSENT says that
 * this kernel, container or thread does not know it. A sum or difference with
 * an absent part is absent.
 *
 * All functions may be called from any thread, and after fork().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_ABSENT ((int64_t)-1)

/* end - begin of a counter: absent if either is, or if the counter went back. */
static inline int64_t probe_difference(int64_t begin, int64_t end)
{
        return begin < 0 || end < begin ? PROBE_ABSENT : end - begin;
}

/* The columns of a row */
enum probe_sample {
#define SAMPLE(id, ...) SAMPLE_##id,
#include "timeline/samples.def"
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
        const char *absent;         /* why this platform has no such source; NULL: it has */
};

extern const struct probe_column probe_columns[N_SAMPLES];
/* A value in steps of its resolution and back, for those who store it; absent stays PROBE_ABSENT.
 */
int64_t probe_column_pack(const struct probe_column *column, int64_t value);
int64_t probe_column_unpack(const struct probe_column *column, int64_t packed);
/* Fills one row of N_SAMPLES values, each a multiple of its resolution. */
void probe_row_read(int64_t *row);
