/* Dask's fine metrics: processor and overhead, spilling, compression; see fine.h. */

#include <math.h>
#include <string.h>

#include "metrics/fine.h"
#include "util/size.h"

/* Dask cuts the prefix of a task's name at this length. */
#define PREFIX_MAX 50

static const struct activity {
        const char *name;
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

bool fine_equal(struct fine_name name, const char *string)
{
        size_t len = strlen(string);

        return name.data && name.len == len && !memcmp(name.data, string, len);
}

static enum fine_owner fine_owner_of(const struct fine_sums *sums, struct fine_name prefix)
{
        size_t len = sums->processor ? strnlen(sums->processor, PREFIX_MAX) : 0;

        if (len == 0)
                return FINE_PROCESSOR;
        if (prefix.data && prefix.len == len && !memcmp(prefix.data, sums->processor, len))
                return FINE_PROCESSOR;
        return fine_equal(prefix, "automatic_retries") ? FINE_RETRIES : FINE_OTHER;
}

/* Where the figure is summed, or NULL */
static const struct activity *fine_find(struct fine_name activity, struct fine_name unit,
                                        double value)
{
        if (!isfinite(value))
                return NULL;
        if (!unit.data)
                unit = (struct fine_name){ "seconds", 7 };
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(activities); i++)
                if (fine_equal(activity, activities[i].name) &&
                    fine_equal(unit, activities[i].unit))
                        return &activities[i];
        return NULL;
}

static void fine_sum_up(struct fine_sums *sums, enum fine_owner owner,
                        const struct activity *activity, double value)
{
        sums->sums[owner][activity->processor] += value;
        sums->seen[owner] = true;
}

bool fine_add(struct fine_sums *sums, struct fine_name prefix, struct fine_name activity,
              struct fine_name unit, double value)
{
        const struct activity *found = fine_find(activity, unit, value);

        if (found)
                fine_sum_up(sums, fine_owner_of(sums, prefix), found, value);
        return found;
}

bool fine_add_share(struct fine_sums *sums, double share, struct fine_name activity,
                    struct fine_name unit, double value)
{
        const struct activity *found = fine_find(activity, unit, value);

        if (found && share > 0)
                fine_sum_up(sums, FINE_PROCESSOR, found, value * share);
        if (found && share < 1)
                fine_sum_up(sums, FINE_OTHER, found, value * (1 - share));
        sums->shared |= found && share > 0 && share < 1;
        return found;
}

/* Time of an owner's tasks, on a core or not */
static double fine_time_of(const struct fine_sums *sums, enum fine_owner owner)
{
        return sums->sums[owner][ROAST_PROCESSOR_CPU_TIME_SECONDS] +
               sums->sums[owner][ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS];
}

double fine_processor_s(const struct fine_sums *sums)
{
        return fine_time_of(sums, FINE_PROCESSOR);
}

static int fine_set_value(struct roast_metric_set *set, enum roast_metric metric, double value,
                          const char *reason)
{
        if (reason)
                return roast_metric_set_estimated(set, metric, value, "%s", reason);
        roast_metric_set_real(set, metric, value);
        return 0;
}

int fine_set_absent(struct roast_metric_set *set, const char *reason)
{
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(activities); i++)
                if (roast_metric_set_absent(set, activities[i].processor, "%s", reason) < 0 ||
                    roast_metric_set_absent(set, activities[i].overhead, "%s", reason) < 0)
                        return ROAST_E_NOMEM;
        return 0;
}

int fine_set(struct roast_metric_set *set, const struct fine_sums *sums)
{
        bool guess = !sums->seen[FINE_PROCESSOR] && sums->seen[FINE_RETRIES] &&
                     fine_time_of(sums, FINE_RETRIES) > fine_time_of(sums, FINE_OTHER);
        const char *split = sums->estimated;
        int r = 0;

        if (!split && sums->shared)
                split = "tasks about chunks and others bear the same name: split by their time";
        if (!split && guess)
                split = "no task bears the processor's name: those named automatic_retries are "
                        "taken for it";
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(activities) && r >= 0; i++) {
                enum roast_metric metric = activities[i].processor;
                double own = sums->sums[FINE_PROCESSOR][metric];
                double retries = sums->sums[FINE_RETRIES][metric];
                double other = sums->sums[FINE_OTHER][metric];

                if (activities[i].overhead == metric) {
                        r = fine_set_value(set, metric, own + retries + other, sums->estimated);
                        continue;
                }
                r = fine_set_value(set, metric, guess ? retries : own, split);
                if (r >= 0)
                        r = fine_set_value(set, activities[i].overhead,
                                           guess ? other : retries + other, split);
        }
        return r;
}
