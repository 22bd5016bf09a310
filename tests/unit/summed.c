/* Runs in memory that are summed up: see summed.h. */

#include "unit.h"

#include <math.h>

#include "roast-run.h"
#include "summed.h"
#include "util/cleanup.h"

void assert_near(double value, double expected)
{
        if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
                fail_msg("%.17g is not %.17g", value, expected);
}

struct roast_run *new_run(void)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        return run;
}

struct roast_run *new_timed_run(void)
{
        struct roast_run *run = new_run();

        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", UTC, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.end_utc_ns", UTC + 10 * S, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.elapsed_ns", 10 * S, NULL), 0);
        return run;
}

void add_table(struct roast_run *run, const struct chunk_table *table)
{
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

        assert_int_equal(chunk_table_encode(table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), (int)table->n);
}

void summarize(struct roast_summary *summary, struct roast_run *run)
{
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        if (roast_summary_of_run(summary, run, &error) < 0)
                fail_msg("%s", error.message);
        roast_run_free(run);
}

double known(const struct roast_summary *summary, enum roast_metric metric)
{
        if (summary->metrics.values[metric].state != ROAST_KNOWN)
                fail_msg("%s is not known: %s", roast_metrics[metric].key,
                         roast_metric_reason(&summary->metrics, metric));
        return summary->metrics.values[metric].real;
}

void assert_absent(const struct roast_summary *summary, enum roast_metric metric,
                   const char *reason)
{
        assert_int_equal(summary->metrics.values[metric].state, ROAST_ABSENT);
        assert_string_equal(roast_metric_reason(&summary->metrics, metric), reason);
}
