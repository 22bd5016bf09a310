/* Tracking data as samples of a run: see plain.h. */

#include <math.h>

#include "run/run.h"
#include "util/size.h"
#include "v1/plain.h"

/* Series that metrics are made of (metrics/sampled.c) */
static const struct {
        const char *key;
        bool of_all; /* {time: value}, and not {worker: [(time, value)]} */
} samples_series[] = {
        { "worker_counts", true },  { "total_cores", true }, { "worker_cores", false },
        { "worker_memory", false }, { "worker_cpu", false }, { "worker_memory_limit", false },
};

static bool samples_add_row(struct roast_run *run, struct source *in, const struct run_value row[2],
                            const struct json_number *time, const struct json_number *value,
                            struct roast_error *error)
{
        const struct run_value values[] = {
                time->whole ? run_int(time->integer) : run_real(time->real), row[0], row[1],
                value->whole ? run_int(value->integer) : run_real(value->real)
        };

        if (!isfinite(time->real) || !isfinite(value->real))
                return true;
        return run_insert(run, RUN_SAMPLE, values, ROAST_ARRAY_SIZE(values), error) >= 0 ||
               source_fail(in, "the run does not take it");
}

static bool samples_read_pair(struct roast_run *run, struct source *in,
                              const struct run_value row[2], struct roast_error *error)
{
        struct json_number time = { .real = (double)NAN }, value = { .real = (double)NAN };

        if (!source_enter_if(in, JSON_ARRAY))
                return !in->bad;
        for (size_t i = 0; source_element(in); i++)
                if (i == 0   ? !source_instant(in, &time)
                    : i == 1 ? !source_number_or_nan(in, &value)
                             : !source_skip(in))
                        return false;
        return !in->bad && samples_add_row(run, in, row, &time, &value, error);
}

static bool samples_read_all(struct roast_run *run, struct source *in,
                             const struct run_value row[2], struct roast_error *error)
{
        struct json_number time, value;

        while (source_key(in))
                if (!source_key_instant(in, &time) || !source_number_or_nan(in, &value) ||
                    !samples_add_row(run, in, row, &time, &value, error))
                        return false;
        return !in->bad;
}

static bool samples_read_workers(struct roast_run *run, struct source *in, struct run_value row[2],
                                 struct roast_error *error)
{
        struct json_text worker;

        while (source_key(in)) {
                if (!source_key_text(in, &worker))
                        return false;
                if (run_text_value(run, worker.data ? worker.data : "", worker.len, &row[0],
                                   error) < 0)
                        return source_fail(in, "the run does not take it");
                if (!source_enter_if(in, JSON_ARRAY))
                        continue;
                while (source_element(in))
                        if (!samples_read_pair(run, in, row, error))
                                return false;
        }
        return !in->bad;
}

bool v1_samples_read(struct roast_run *run, struct source *in, struct roast_error *error)
{
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                struct run_value row[2] = { 0 };
                size_t i = 0;

                while (i < ROAST_ARRAY_SIZE(samples_series) &&
                       !source_key_is(in, samples_series[i].key))
                        i++;
                if (i == ROAST_ARRAY_SIZE(samples_series)) {
                        source_skip(in);
                        continue;
                }
                if (run_text_value(run, samples_series[i].key, strlen(samples_series[i].key),
                                   &row[1], error) < 0)
                        return source_fail(in, "the run does not take it");
                if (!source_enter_if(in, JSON_OBJECT))
                        continue;
                if (samples_series[i].of_all ? !samples_read_all(run, in, row, error)
                                             : !samples_read_workers(run, in, row, error))
                        return false;
        }
        return !in->bad;
}
