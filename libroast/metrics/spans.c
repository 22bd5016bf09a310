/* Base facts from Dask's fine metrics: processor and overhead, spilling, compression */

#include <string.h>

#include "metrics/collect.h"

/* Dask cuts the prefix of a task's name at this length. */
#define PREFIX_MAX 50

static bool is_processor(const char *processor, const char *prefix, size_t len)
{
        size_t n = strlen(processor);

        if (n > PREFIX_MAX)
                n = PREFIX_MAX;
        return n == 0 || (len == n && !memcmp(processor, prefix, n));
}

static bool equal(const struct run_value *value, const char *string)
{
        return value->type == RUN_STRING && value->len == strlen(string) &&
               !memcmp(value->data, string, value->len);
}

static const struct {
        const char *activity;
        const char *unit;
        enum roast_metric processor;
        enum roast_metric overhead; /* the same as processor: all prefixes in one */
} activities[] = {
        { "thread-cpu", "seconds", ROAST_PROCESSOR_CPU_TIME_SECONDS,
          ROAST_OVERHEAD_CPU_TIME_SECONDS },
        { "thread-noncpu", "seconds", ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS,
          ROAST_OVERHEAD_IO_WAIT_TIME_SECONDS },
        { "memory-read", "bytes", ROAST_TOTAL_BYTES_MEMORY_READ, ROAST_TOTAL_BYTES_MEMORY_READ },
        { "disk-read", "bytes", ROAST_DISK_READ_BYTES, ROAST_DISK_READ_BYTES },
        { "disk-write", "bytes", ROAST_DISK_WRITE_BYTES, ROAST_DISK_WRITE_BYTES },
        { "compress", "seconds", ROAST_COMPRESSION_TIME_SECONDS, ROAST_COMPRESSION_TIME_SECONDS },
        { "decompress", "seconds", ROAST_DECOMPRESSION_TIME_SECONDS,
          ROAST_DECOMPRESSION_TIME_SECONDS },
        { "serialize", "seconds", ROAST_SERIALIZATION_TIME_SECONDS,
          ROAST_SERIALIZATION_TIME_SECONDS },
        { "deserialize", "seconds", ROAST_DESERIALIZATION_TIME_SECONDS,
          ROAST_DESERIALIZATION_TIME_SECONDS },
};

#define N_ACTIVITIES (sizeof(activities) / sizeof(activities[0]))

/* values: kind, prefix, activity, unit, value; a missing unit counts as the expected one */
static bool add_span(double sums[ROAST_N_METRICS], const char *processor,
                     const struct run_value *values)
{
        if (!equal(&values[0], "execute") || values[4].type != RUN_REAL)
                return false;
        for (size_t i = 0; i < N_ACTIVITIES; i++) {
                bool own;

                if (!equal(&values[2], activities[i].activity) ||
                    (values[3].type == RUN_STRING && !equal(&values[3], activities[i].unit)))
                        continue;
                own = values[1].type == RUN_STRING &&
                      is_processor(processor, values[1].data, values[1].len);
                sums[own ? activities[i].processor : activities[i].overhead] += values[4].real;
                return true;
        }
        return false;
}

int collect_spans(struct collect *collect, struct roast_error *error)
{
        struct roast_metric_set *set = &collect->summary->metrics;
        double sums[ROAST_N_METRICS] = { 0 };
        struct run_scan scan;
        bool any = false;
        int r;

        r = run_scan_begin(&scan, collect->run, RUN_SPAN, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                if (add_span(sums, collect->processor, scan.values))
                        any = true;
        }
        run_scan_end(&scan);
        if (r < 0 || !any)
                return r;
        for (size_t i = 0; i < N_ACTIVITIES; i++) {
                roast_metric_set_real(set, activities[i].processor, sums[activities[i].processor]);
                roast_metric_set_real(set, activities[i].overhead, sums[activities[i].overhead]);
        }
        return 0;
}
