/* metrics/: the registry, the formulas, and what a run is summed up to */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "roast-run.h"
#include "roast-show.h"
#include "sample.h"
#include "timeline/block.h"
#include "util/cleanup.h"
#include "util/size.h"

#define UTC SAMPLE_START_UTC_NS
#define S   SAMPLE_S

static void assert_near(double value, double expected)
{
        if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
                fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- the registry ---- */

static void test_every_key_and_alias_is_there_once_and_resolves(void **state)
{
        (void)state;
        for (int i = 0; i < ROAST_N_METRICS; i++)
                assert_int_equal(roast_metric_find(roast_metrics[i].key), i);
        for (size_t i = 0; i < roast_n_aliases; i++) {
                assert_int_equal(roast_metric_find(roast_aliases[i].key), roast_aliases[i].metric);
                for (size_t j = 0; j < i; j++)
                        assert_string_not_equal(roast_aliases[i].key, roast_aliases[j].key);
        }
        assert_int_equal(roast_metric_find("no_such_metric"), ROAST_E_NOENT);
        assert_int_equal(roast_metric_find(""), ROAST_E_NOENT);
}

static void test_every_metric_has_title_unit_and_formula(void **state)
{
        (void)state;
        for (size_t i = 0; i < ROAST_N_METRICS; i++) {
                const struct roast_metric_info *info = &roast_metrics[i];

                assert_true(info->title && *info->title && info->formula && *info->formula);
                assert_true(info->unit < ROAST_N_UNITS && roast_unit_names[info->unit]);
                assert_true(info->group < ROAST_N_GROUPS && roast_group_names[info->group]);
                for (const char *c = info->key; *c; c++)
                        assert_non_null(strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *c));
        }
}

/* ---- the formulas ---- */

/* Base facts, and each formula as the metrics reference writes it */
static const enum roast_metric base[] = {
        ROAST_ELAPSED_TIME_SECONDS,
        ROAST_TOTAL_EVENTS,
        ROAST_TOTAL_BYTES_READ,
        ROAST_TOTAL_CPU_TIME,
        ROAST_AVG_WORKERS,
        ROAST_TOTAL_CORES,
        ROAST_PROCESSOR_CPU_TIME_SECONDS,
        ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS,
        ROAST_OVERHEAD_CPU_TIME_SECONDS,
        ROAST_OVERHEAD_IO_WAIT_TIME_SECONDS,
        ROAST_COMPRESSION_TIME_SECONDS,
        ROAST_DECOMPRESSION_TIME_SECONDS,
        ROAST_SERIALIZATION_TIME_SECONDS,
        ROAST_DESERIALIZATION_TIME_SECONDS,
};

enum {
        WALL,
        EVENTS,
        BYTES,
        CPU,
        WORKERS,
        CORES,
        P_CPU,
        P_IO,
        O_CPU,
        O_IO,
        COMPRESS,
        DECOMPRESS,
        SERIALIZE,
        DESERIALIZE,
        N_BASE
};

#define USES(x) (1u << (x))

static const struct {
        enum roast_metric metric;
        unsigned int uses;
} formulas[] = {
        { ROAST_DATA_RATE_GBPS, USES(BYTES) | USES(WALL) },
        { ROAST_DATA_RATE_MB_PER_S, USES(BYTES) | USES(WALL) },
        { ROAST_EVENT_RATE_ELAPSED_KHZ, USES(EVENTS) | USES(WALL) },
        { ROAST_EVENT_RATE_CPU_TOTAL_KHZ, USES(EVENTS) | USES(CPU) },
        { ROAST_CORES_PER_WORKER, USES(CORES) | USES(WORKERS) },
        { ROAST_PROCESSOR_CPU_PERCENT, USES(P_CPU) | USES(P_IO) },
        { ROAST_PROCESSOR_IO_WAIT_PERCENT, USES(P_CPU) | USES(P_IO) },
        { ROAST_TOTAL_COMPRESSION_OVERHEAD_SECONDS, USES(COMPRESS) | USES(DECOMPRESS) },
        { ROAST_TOTAL_SERIALIZATION_OVERHEAD_SECONDS, USES(SERIALIZE) | USES(DESERIALIZE) },
        { ROAST_CORE_EFFICIENCY, USES(O_CPU) | USES(WALL) | USES(CORES) },
        { ROAST_SPEEDUP_FACTOR, USES(O_CPU) | USES(WALL) },
        { ROAST_EVENT_RATE_CORE_KHZ, USES(EVENTS) | USES(WALL) | USES(CORES) },
        { ROAST_EVENT_RATE_CORE_HZ, USES(EVENTS) | USES(WALL) | USES(CORES) },
        { ROAST_EFFICIENCY_RATIO, USES(EVENTS) | USES(WALL) | USES(CPU) | USES(CORES) },
        { ROAST_IO_OVERHEAD, USES(P_IO) | USES(O_IO) | USES(WALL) },
        { ROAST_IO_OVERHEAD_PCT, USES(P_IO) | USES(O_IO) | USES(WALL) },
};

static double expected(enum roast_metric metric, const double *x)
{
        switch ((int)metric) {
        case ROAST_DATA_RATE_GBPS:
                return x[BYTES] * 8 / x[WALL] / 1e9;
        case ROAST_DATA_RATE_MB_PER_S:
                return x[BYTES] / x[WALL] / 1e6;
        case ROAST_EVENT_RATE_ELAPSED_KHZ:
                return x[EVENTS] / x[WALL] / 1000;
        case ROAST_EVENT_RATE_CPU_TOTAL_KHZ:
                return x[EVENTS] / x[CPU] / 1000;
        case ROAST_CORES_PER_WORKER:
                return x[CORES] / x[WORKERS];
        case ROAST_PROCESSOR_CPU_PERCENT:
                return x[P_CPU] / (x[P_CPU] + x[P_IO]) * 100;
        case ROAST_PROCESSOR_IO_WAIT_PERCENT:
                return x[P_IO] / (x[P_CPU] + x[P_IO]) * 100;
        case ROAST_TOTAL_COMPRESSION_OVERHEAD_SECONDS:
                return x[COMPRESS] + x[DECOMPRESS];
        case ROAST_TOTAL_SERIALIZATION_OVERHEAD_SECONDS:
                return x[SERIALIZE] + x[DESERIALIZE];
        case ROAST_CORE_EFFICIENCY: /* with fine metrics: thread-cpu of all tasks */
                return (x[P_CPU] + x[O_CPU]) / (x[WALL] * x[CORES]);
        case ROAST_SPEEDUP_FACTOR:
                return (x[P_CPU] + x[O_CPU]) / x[WALL];
        case ROAST_EVENT_RATE_CORE_KHZ:
                return x[EVENTS] / (x[WALL] * x[CORES]) / 1000;
        case ROAST_EVENT_RATE_CORE_HZ:
                return x[EVENTS] / (x[WALL] * x[CORES]);
        case ROAST_EFFICIENCY_RATIO:
                return (x[EVENTS] / x[WALL]) / (x[EVENTS] / x[CPU]) / x[CORES];
        case ROAST_IO_OVERHEAD:
                return (x[P_IO] + x[O_IO]) / x[WALL];
        case ROAST_IO_OVERHEAD_PCT:
                return (x[P_IO] + x[O_IO]) / x[WALL] * 100;
        }
        fail();
        return 0;
}

static void derive(struct roast_metric_set *set, const double *x)
{
        for (size_t i = 0; i < N_BASE; i++)
                if (set->values[base[i]].state == ROAST_ABSENT && !set->values[base[i]].reason)
                        roast_metric_set_real(set, base[i], x[i]);
        assert_int_equal(roast_metric_set_derive(set, NULL), 0);
}

static const double ordinary[N_BASE] = { 10,  900000, 6e7, 19.25, 2.5,  6,    15.5,
                                         4.5, 0.75,   1.5, 0.1,   0.25, 0.05, 0.2 };

static void test_formulas_are_those_of_the_reference(void **state)
{
        uint64_t seed = 1;

        (void)state;
        for (size_t round = 0; round < 1000; round++) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
                double x[N_BASE];

                for (size_t i = 0; i < N_BASE; i++)
                        x[i] = round ? (double)(1 + sample_below(&seed, 1ull << 50)) / 1048576
                                     : ordinary[i];
                derive(&set, x);
                for (size_t i = 0; i < ROAST_ARRAY_SIZE(formulas); i++) {
                        const struct roast_value *value = &set.values[formulas[i].metric];

                        assert_int_equal(value->state, ROAST_KNOWN);
                        assert_near(value->real, expected(formulas[i].metric, x));
                }
                assert_near(set.values[ROAST_SPEEDUP_FACTOR].real,
                            set.values[ROAST_CORE_EFFICIENCY].real * x[CORES]);
        }
}

static void test_known_figures(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };

        (void)state;
        derive(&set, ordinary);
        assert_near(set.values[ROAST_DATA_RATE_GBPS].real, 0.048);
        assert_near(set.values[ROAST_DATA_RATE_MB_PER_S].real, 6);
        assert_near(set.values[ROAST_EVENT_RATE_ELAPSED_KHZ].real, 90);
        assert_near(set.values[ROAST_EVENT_RATE_CORE_HZ].real, 15000);
        assert_near(set.values[ROAST_PROCESSOR_CPU_PERCENT].real, 77.5);
        assert_near(set.values[ROAST_SPEEDUP_FACTOR].real, 1.625);
        assert_near(set.values[ROAST_IO_OVERHEAD_PCT].real, 60);
}

/* Every formula of the registry is tested above. */
static void test_no_formula_is_left_out(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
        size_t n = 0;

        (void)state;
        derive(&set, ordinary);
        for (size_t i = 0; i < ROAST_N_METRICS; i++)
                n += set.values[i].state != ROAST_ABSENT;
        assert_int_equal(n, N_BASE + ROAST_ARRAY_SIZE(formulas));
}

static void test_a_formula_over_an_absent_input_is_absent_for_its_reason(void **state)
{
        (void)state;
        for (size_t b = 0; b < N_BASE; b++) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
                char reason[300];

                /* longer than any buffer on the way, and not of one piece */
                snprintf(reason, sizeof(reason), "%200s\xc3\xa9 %s", "because",
                         roast_metrics[base[b]].key);
                assert_int_equal(roast_metric_set_absent(&set, base[b], "%s", reason), 0);
                derive(&set, ordinary);
                for (size_t i = 0; i < ROAST_ARRAY_SIZE(formulas); i++) {
                        const struct roast_value *value = &set.values[formulas[i].metric];

                        if (formulas[i].uses & USES(b)) {
                                assert_int_equal(value->state, ROAST_ABSENT);
                                assert_string_equal(roast_metric_reason(&set, formulas[i].metric),
                                                    reason);
                        } else {
                                assert_int_not_equal(value->state, ROAST_ABSENT);
                        }
                }
        }
}

static void test_a_divisor_that_is_not_positive_makes_a_rate_absent(void **state)
{
        static const double divisors[] = { 0, -0.0, -5 };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(divisors); i++) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
                double x[N_BASE];

                memcpy(x, ordinary, sizeof(x));
                x[WALL] = divisors[i];
                derive(&set, x);
                assert_int_equal(set.values[ROAST_DATA_RATE_GBPS].state, ROAST_ABSENT);
                assert_string_equal(roast_metric_reason(&set, ROAST_DATA_RATE_GBPS),
                                    "elapsed_time_seconds is not positive");
                assert_int_equal(set.values[ROAST_CORE_EFFICIENCY].state, ROAST_ABSENT);
                assert_int_equal(set.values[ROAST_IO_OVERHEAD_PCT].state, ROAST_ABSENT);
                assert_int_equal(set.values[ROAST_EVENT_RATE_CPU_TOTAL_KHZ].state, ROAST_KNOWN);
        }
}

static void test_no_formula_gives_what_is_not_finite(void **state)
{
        static const double values[] = { (double)NAN, (double)INFINITY, -(double)INFINITY, 1e308 };

        (void)state;
        for (size_t b = 0; b < N_BASE; b++)
                for (size_t v = 0; v < ROAST_ARRAY_SIZE(values); v++) {
                        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
                        double x[N_BASE];

                        memcpy(x, ordinary, sizeof(x));
                        x[b] = values[v];
                        derive(&set, x);
                        for (size_t i = 0; i < ROAST_ARRAY_SIZE(formulas); i++) {
                                const struct roast_value *value = &set.values[formulas[i].metric];

                                assert_true(value->state == ROAST_ABSENT || isfinite(value->real));
                                if (isnan(values[v]) && formulas[i].uses & USES(b))
                                        assert_int_equal(value->state, ROAST_ABSENT);
                        }
                }
}

/* Two tasks that took no time at all have no share, and that is 0 by definition (spec of the dict).
 */
static void test_the_shares_of_nothing_are_zero(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
        double x[N_BASE];

        (void)state;
        memcpy(x, ordinary, sizeof(x));
        x[P_CPU] = x[P_IO] = 0;
        derive(&set, x);
        assert_int_equal(set.values[ROAST_PROCESSOR_CPU_PERCENT].state, ROAST_KNOWN);
        assert_true(set.values[ROAST_PROCESSOR_CPU_PERCENT].real == 0);
        assert_true(set.values[ROAST_PROCESSOR_IO_WAIT_PERCENT].real == 0);
}

static void test_an_estimated_input_makes_an_estimated_result(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };

        (void)state;
        assert_int_equal(
                roast_metric_set_estimated(&set, ROAST_TOTAL_EVENTS, 900000, "by %s", "guessing"),
                0);
        derive(&set, ordinary);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(formulas); i++) {
                bool over_events = formulas[i].uses & USES(EVENTS);

                assert_int_equal(set.values[formulas[i].metric].state,
                                 over_events ? ROAST_ESTIMATED : ROAST_KNOWN);
                if (over_events)
                        assert_string_equal(roast_metric_reason(&set, formulas[i].metric),
                                            "by guessing");
        }
}

/* Without spans the report's process time stands in, and says so. */
static void test_efficiency_without_fine_metrics_is_estimated(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };

        (void)state;
        assert_int_equal(
                roast_metric_set_absent(&set, ROAST_PROCESSOR_CPU_TIME_SECONDS, "no spans"), 0);
        assert_int_equal(roast_metric_set_absent(&set, ROAST_OVERHEAD_CPU_TIME_SECONDS, "no spans"),
                         0);
        derive(&set, ordinary);
        assert_int_equal(set.values[ROAST_CORE_EFFICIENCY].state, ROAST_ESTIMATED);
        assert_near(set.values[ROAST_CORE_EFFICIENCY].real, 19.25 / 60);
        assert_int_equal(set.values[ROAST_SPEEDUP_FACTOR].state, ROAST_ESTIMATED);
        assert_near(set.values[ROAST_SPEEDUP_FACTOR].real, 1.925);
        assert_non_null(strstr(roast_metric_reason(&set, ROAST_SPEEDUP_FACTOR), "wall time"));
}

/* One pass computes all: a formula that looked ahead would change with what stands there. */
static void test_a_formula_uses_only_metrics_that_stand_before_it(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set plain = { 0 };

        (void)state;
        derive(&plain, ordinary);
        for (unsigned int ahead = 0; ahead < ROAST_N_METRICS; ahead++) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };

                roast_metric_set_real(&set, ahead, 123.456);
                derive(&set, ordinary);
                for (unsigned int i = 0; i < ahead; i++) {
                        assert_int_equal(set.values[i].state, plain.values[i].state);
                        assert_true(set.values[i].real == plain.values[i].real);
                }
        }
        for (unsigned int ahead = 0; ahead < ROAST_N_METRICS; ahead++) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };

                assert_int_equal(roast_metric_set_absent(&set, ahead, "taken away"), 0);
                derive(&set, ordinary);
                for (unsigned int i = 0; i < ahead; i++)
                        assert_true(set.values[i].real == plain.values[i].real);
        }
}

static void test_what_is_set_is_not_computed(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };

        (void)state;
        roast_metric_set_real(&set, ROAST_DATA_RATE_GBPS, 42);
        derive(&set, ordinary);
        assert_true(set.values[ROAST_DATA_RATE_GBPS].real == 42);
}

static void test_a_reason_may_be_said_again_of_the_same_metric(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };

        (void)state;
        assert_int_equal(roast_metric_set_absent(&set, ROAST_TOTAL_EVENTS, "lost"), 0);
        assert_int_equal(roast_metric_set_absent(&set, ROAST_TOTAL_EVENTS, "%s twice",
                                                 roast_metric_reason(&set, ROAST_TOTAL_EVENTS)),
                         0);
        assert_string_equal(roast_metric_reason(&set, ROAST_TOTAL_EVENTS), "lost twice");
        assert_int_equal(roast_metric_set_estimated(&set, ROAST_TOTAL_EVENTS, 5, "was %s",
                                                    roast_metric_reason(&set, ROAST_TOTAL_EVENTS)),
                         0);
        assert_string_equal(roast_metric_reason(&set, ROAST_TOTAL_EVENTS), "was lost twice");
        assert_int_equal(set.values[ROAST_TOTAL_EVENTS].count, 5);
}

static void test_deriving_without_memory_is_an_error(void **state)
{
        bool failed = true;

        (void)state;
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
                struct roast_error error = { 0 };
                int r;

                alloc_fail_after(count);
                r = roast_metric_set_derive(&set, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                assert_int_equal(error.code, failed ? ROAST_E_NOMEM : 0);
        }
}

/* ---- from a run ---- */

static struct roast_run *new_run(void)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        return run;
}

/* Ten seconds from UTC on */
static struct roast_run *new_timed_run(void)
{
        struct roast_run *run = new_run();

        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", UTC, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.end_utc_ns", UTC + 10 * S, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.elapsed_ns", 10 * S, NULL), 0);
        return run;
}

static void summarize(struct roast_summary *summary, struct roast_run *run)
{
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        if (roast_summary_of_run(summary, run, &error) < 0)
                fail_msg("%s", error.message);
        roast_run_free(run);
}

static double known(const struct roast_summary *summary, enum roast_metric metric)
{
        if (summary->metrics.values[metric].state != ROAST_KNOWN)
                fail_msg("%s is not known: %s", roast_metrics[metric].key,
                         roast_metric_reason(&summary->metrics, metric));
        return summary->metrics.values[metric].real;
}

static void assert_absent(const struct roast_summary *summary, enum roast_metric metric,
                          const char *reason)
{
        assert_int_equal(summary->metrics.values[metric].state, ROAST_ABSENT);
        assert_string_equal(roast_metric_reason(&summary->metrics, metric), reason);
}

static void add_lost(struct roast_run *run, int64_t start)
{
        struct roast_task task = ROAST_TASK_INIT;
        char key[32];

        snprintf(key, sizeof(key), "MyProcessor-%lld", (long long)start);
        task.key = key;
        task.worker = "tcp://a:1";
        task.outcome = CHUNK_LOST;
        task.stop_utc_ns = UTC;
        task.file = "a.root";
        task.tree = "Events";
        task.entry_start = start;
        task.entry_stop = start + 100;
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
}

static void test_chunks_that_were_all_lost_are_counted(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };
        struct roast_run *run = new_run();

        (void)state;
        add_lost(run, 0);
        add_lost(run, 100);
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_NUM_LOST_CHUNKS) == 2);
        assert_absent(&summary, ROAST_NUM_CHUNKS, "no report was given");
        assert_int_equal(roast_table_make(&table, "chunks", &summary, NULL), 0);
        assert_int_equal(table.n_rows, 1);
        assert_int_equal(table.cells[1].count, 2);
}

static void test_an_empty_run_knows_nothing_and_says_why(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;

        (void)state;
        summarize(&summary, new_run());
        for (unsigned int i = 0; i < ROAST_N_METRICS; i++) {
                assert_int_equal(summary.metrics.values[i].state, ROAST_ABSENT);
                assert_true(*roast_metric_reason(&summary.metrics, i));
        }
        assert_absent(&summary, ROAST_TOTAL_EVENTS, "no report was given");
        assert_absent(&summary, ROAST_DATA_RATE_GBPS, "no report was given");
        assert_absent(&summary, ROAST_ELAPSED_TIME_SECONDS, "the run has not finished");
        assert_absent(&summary, ROAST_TOTAL_CORES, "no worker tracking");
}

static void test_a_report_is_taken_exactly(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.bytesread", INT64_MAX, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "report.entries", 9007199254740993, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "report.processtime", 0.1, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "report.chunks", 7, NULL), 0);
        summarize(&summary, run);
        assert_true(summary.metrics.values[ROAST_TOTAL_BYTES_READ].count == INT64_MAX);
        assert_true(summary.metrics.values[ROAST_TOTAL_EVENTS].count == 9007199254740993);
        assert_near(known(&summary, ROAST_AVG_CPU_TIME_PER_CHUNK), 0.1 / 7);
        assert_near(known(&summary, ROAST_ELAPSED_TIME_SECONDS), 10);
}

static void test_a_report_with_unusable_fields_says_which(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.bytesread", -1, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "report.entries", "many", NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "report.processtime", (double)INFINITY, NULL), 0);
        assert_int_equal(roast_run_fact_absent(run, "report.chunks", "not in the report", NULL), 0);
        summarize(&summary, run);
        assert_absent(&summary, ROAST_TOTAL_BYTES_READ, "the report's bytesread is negative");
        assert_absent(&summary, ROAST_DATA_RATE_MB_PER_S, "the report's bytesread is negative");
        assert_absent(&summary, ROAST_TOTAL_EVENTS, "the report's entries is not a number");
        assert_absent(&summary, ROAST_TOTAL_CPU_TIME, "the report's processtime is not finite");
        assert_absent(&summary, ROAST_NUM_CHUNKS, "not in the report");
}

static void test_a_report_of_zero_chunks_has_no_time_per_chunk(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.processtime", 5, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "report.chunks", 0, NULL), 0);
        summarize(&summary, run);
        assert_absent(&summary, ROAST_AVG_CPU_TIME_PER_CHUNK, "the report counts no chunks");
        assert_near(known(&summary, ROAST_TOTAL_CPU_TIME), 5);
        assert_true(known(&summary, ROAST_NUM_CHUNKS) == 0);
}

/* ---- workers ---- */

static void event(struct roast_run *run, double at_s, enum roast_worker_event kind,
                  const char *name, int64_t threads)
{
        const struct roast_worker worker = { name, NULL, -1, threads, -1 };

        assert_int_equal(
                roast_run_add_worker_event(run, UTC + (int64_t)(at_s * 1e9), kind, &worker, NULL),
                0);
}

static void test_workers_of_different_size_that_come_and_go_are_integrated(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, 0, ROAST_WORKER_PRESENT, "a", 2); /* 10 s */
        event(run, 2.5, ROAST_WORKER_CAME, "b", 4);  /* 5 s */
        event(run, 5, ROAST_WORKER_CAME, "c", 1);    /* 5 s */
        event(run, 7.5, ROAST_WORKER_WENT, "b", -1);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_AVG_WORKERS), (10 + 5 + 5) / 10.0);
        assert_near(known(&summary, ROAST_TOTAL_CORES), (20 + 20 + 5) / 10.0);
        assert_near(known(&summary, ROAST_CORES_PER_WORKER), 4.5 / 2);
        assert_true(known(&summary, ROAST_PEAK_WORKERS) == 3);
}

static void test_a_worker_that_comes_again_under_its_name_counts_once(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, 0, ROAST_WORKER_PRESENT, "a", 2);
        event(run, 4, ROAST_WORKER_CAME, "a", 4); /* restarted, its going was not seen */
        event(run, 6, ROAST_WORKER_WENT, "a", -1);
        event(run, 6, ROAST_WORKER_WENT, "a", -1); /* told twice */
        event(run, 8, ROAST_WORKER_CAME, "a", 1);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_AVG_WORKERS), 0.8);
        assert_near(known(&summary, ROAST_TOTAL_CORES), (4 * 2 + 2 * 4 + 2 * 1) / 10.0);
        assert_true(known(&summary, ROAST_PEAK_WORKERS) == 1);
}

static void test_what_happens_outside_of_the_run_does_not_count(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        event(run, -100, ROAST_WORKER_PRESENT, "a", 2);
        event(run, 50, ROAST_WORKER_WENT, "a", -1);
        event(run, 60, ROAST_WORKER_WENT, "never here", -1);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_AVG_WORKERS), 1);
        assert_near(known(&summary, ROAST_TOTAL_CORES), 2);
}

static void test_an_unfinished_run_is_integrated_up_to_the_last_event(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_run();

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", UTC, NULL), 0);
        event(run, 0, ROAST_WORKER_PRESENT, "a", 2);
        event(run, 3, ROAST_WORKER_CAME, "b", 2);
        event(run, 4, ROAST_WORKER_WENT, "b", 2);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_AVG_WORKERS), 1.25);
        assert_absent(&summary, ROAST_CORE_EFFICIENCY, "no report was given");
}

static void test_random_comings_and_goings_against_a_plain_sum(void **state)
{
        uint64_t seed = 5;

        (void)state;
        for (size_t round = 0; round < 50; round++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
                struct roast_run *run = new_timed_run();
                int64_t threads[6] = { 0 };
                double workers_s = 0, threads_s = 0, at = 0;

                for (;;) {
                        double next = at + (double)sample_below(&seed, 1000) / 1000;
                        size_t which = sample_below(&seed, 6);
                        const char name[2] = { (char)('a' + which), '\0' };

                        if (next > 10)
                                next = 10;
                        for (size_t i = 0; i < 6; i++) {
                                workers_s += (next - at) * (threads[i] > 0);
                                threads_s += (next - at) * (double)threads[i];
                        }
                        at = next;
                        if (at >= 10)
                                break;
                        threads[which] = threads[which] ? 0 : 1 + (int64_t)sample_below(&seed, 8);
                        event(run, at, threads[which] ? ROAST_WORKER_CAME : ROAST_WORKER_WENT, name,
                              threads[which]);
                }
                summarize(&summary, run);
                /* the events are at whole nanoseconds */
                assert_true(fabs(known(&summary, ROAST_AVG_WORKERS) - workers_s / 10) < 1e-7);
                assert_true(fabs(known(&summary, ROAST_TOTAL_CORES) - threads_s / 10) < 1e-6);
        }
}

/* ---- spans ---- */

static void span(struct roast_run *run, const char *prefix, const char *activity, const char *unit,
                 double value)
{
        assert_int_equal(roast_run_add_span(run, "execute", prefix, activity, unit, value, NULL),
                         0);
}

static void test_spans_are_split_by_the_name_of_the_processor(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "processor.name", "Mine", NULL), 0);
        span(run, "Mine", "thread-cpu", "seconds", 3);
        span(run, "Mine", "thread-cpu", "seconds", 0.5);
        span(run, "Mine", "thread-noncpu", NULL, 1.5); /* no unit: the expected one */
        span(run, "Mine2", "thread-cpu", "seconds", 7);
        span(run, NULL, "thread-noncpu", "seconds", 2);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS), 3.5);
        assert_near(known(&summary, ROAST_PROCESSOR_IO_WAIT_TIME_SECONDS), 1.5);
        assert_near(known(&summary, ROAST_OVERHEAD_CPU_TIME_SECONDS), 7);
        assert_near(known(&summary, ROAST_OVERHEAD_IO_WAIT_TIME_SECONDS), 2);
        assert_near(known(&summary, ROAST_PROCESSOR_CPU_PERCENT), 70);
        assert_near(known(&summary, ROAST_SPEEDUP_FACTOR), 1.05);
        assert_near(known(&summary, ROAST_IO_OVERHEAD_PCT), 35);
}

static void test_without_a_name_all_tasks_are_the_processors(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        span(run, "a", "thread-cpu", "seconds", 3);
        span(run, "b", "thread-cpu", "seconds", 4);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS), 7);
        assert_true(known(&summary, ROAST_OVERHEAD_CPU_TIME_SECONDS) == 0);
}

/* Dask cuts prefixes at 50 characters. */
static void test_a_processor_with_a_long_name_is_found(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();
        char name[61], prefix[51];

        (void)state;
        memset(name, 'P', 60);
        memset(prefix, 'P', 50);
        name[60] = prefix[50] = '\0';
        assert_int_equal(roast_run_fact_text(run, "processor.name", name, NULL), 0);
        span(run, prefix, "thread-cpu", "seconds", 3);
        prefix[49] = '\0';
        span(run, prefix, "thread-cpu", "seconds", 4);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS), 3);
        assert_near(known(&summary, ROAST_OVERHEAD_CPU_TIME_SECONDS), 4);
}

static void test_units_of_one_activity_do_not_mix(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(roast_run_fact_text(run, "processor.name", "Mine", NULL), 0);
        span(run, "Mine", "disk-read", "bytes", 5e9);
        span(run, "reduce", "disk-read", "bytes", 1e9);
        span(run, "Mine", "disk-read", "seconds", 2);
        span(run, "Mine", "disk-read", "count", 3);
        span(run, "Mine", "disk-write", "bytes", 7);
        span(run, "Mine", "memory-read", "bytes", 11);
        span(run, "Mine", "memory-read", "seconds", 100);
        span(run, "x", "compress", "seconds", 1);
        span(run, "x", "compress", "bytes", 500);
        span(run, "x", "decompress", "seconds", 2);
        span(run, "x", "serialize", "seconds", 4);
        span(run, "x", "deserialize", "seconds", 8);
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_DISK_READ_BYTES) == 6e9);
        assert_true(known(&summary, ROAST_DISK_WRITE_BYTES) == 7);
        assert_true(known(&summary, ROAST_TOTAL_BYTES_MEMORY_READ) == 11);
        assert_true(known(&summary, ROAST_TOTAL_COMPRESSION_OVERHEAD_SECONDS) == 3);
        assert_true(known(&summary, ROAST_TOTAL_SERIALIZATION_OVERHEAD_SECONDS) == 12);
}

/* They tell that the spans work, not that the tasks took no time. */
static void test_spans_that_tell_nothing_of_tasks_leave_the_figures_absent(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(
                roast_run_add_span(run, "gather-dep", NULL, "thread-cpu", "seconds", 5, NULL), 0);
        span(run, "N/A", "idle or other spans", "seconds", 100);
        summarize(&summary, run);
        assert_absent(&summary, ROAST_PROCESSOR_CPU_TIME_SECONDS, "no fine metrics");
        assert_absent(&summary, ROAST_IO_OVERHEAD, "no fine metrics");
}

/* ---- samples ---- */

static void add_block(struct roast_run *run, const char *worker, const int64_t *times,
                      const int64_t *rss, size_t n)
{
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

        assert_int_equal(block_encode(&bytes, times, &rss, n, 1, NULL), 0);
        assert_int_equal(
                roast_run_add_series(run, worker, "rss_bytes/4096", bytes.data, bytes.len, NULL),
                0);
}

static void test_memory_is_averaged_over_time_and_workers(void **state)
{
        static const int64_t times[] = { 1000, 2000, 4000 }, rss[] = { 10, 20, 10 };
        static const int64_t once[] = { 1000 }, small[] = { 5 };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        add_block(run, "a", times, rss, 3);
        add_block(run, "b", once, small, 1);
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_PEAK_MEMORY_BYTES) == 20 * 4096);
        assert_near(known(&summary, ROAST_AVG_MEMORY_PER_WORKER_BYTES), (15 + 5) / 2.0 * 4096);
}

static void test_samples_of_any_time_are_summed_without_overflow(void **state)
{
        static const int64_t times[] = { INT64_MIN, 0, INT64_MAX, -1 };
        static const int64_t rss[] = { INT64_MAX, INT64_MIN, INT64_MAX, 1 };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        add_block(run, "a", times, rss, 4);
        summarize(&summary, run);
        assert_true(isfinite(known(&summary, ROAST_AVG_MEMORY_PER_WORKER_BYTES)));
}

/* ---- chunks ---- */

static void add_table(struct roast_run *run, const struct chunk_table *table)
{
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;

        assert_int_equal(chunk_table_encode(table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), (int)table->n);
}

struct plain {
        double mean, std, min, max;
};

/* Two passes, as in a book */
static struct plain plain_of(const double *x, size_t n)
{
        struct plain plain = { .min = x[0], .max = x[0] };
        double sum = 0;

        for (size_t i = 0; i < n; i++) {
                sum += x[i];
                plain.min = fmin(plain.min, x[i]);
                plain.max = fmax(plain.max, x[i]);
        }
        plain.mean = sum / (double)n;
        sum = 0;
        for (size_t i = 0; i < n; i++)
                sum += (x[i] - plain.mean) * (x[i] - plain.mean);
        plain.std = n > 1 ? sqrt(sum / (double)(n - 1)) : 0;
        return plain;
}

static void test_statistics_of_chunks_against_two_passes(void **state)
{
        uint64_t seed = 7;

        (void)state;
        for (size_t n = 1; n < 60; n += 7) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                struct roast_run *run = new_timed_run();
                double wall[60], memory[60], events[60], total = 0;
                struct plain plain;

                chunk_table_init(&table);
                for (size_t i = 0; i < n; i++) {
                        int64_t ns = 1000000000 + (int64_t)sample_below(&seed, 1000);
                        int64_t rss = (int64_t)sample_below(&seed, 1u << 30);

                        assert_int_equal(chunk_table_add(&table), 0);
                        wall[i] = (double)ns / 1e9;
                        memory[i] = ((double)rss - 500000000) / 1048576;
                        events[i] = (double)sample_below(&seed, 100000);
                        total += events[i];
                        chunk_table_set(&table, i, CHUNK_OUTCOME, CHUNK_FINISHED);
                        chunk_table_set(&table, i, CHUNK_WALL_NS, ns);
                        chunk_table_set(&table, i, CHUNK_RSS_START_BYTES, 500000000);
                        chunk_table_set(&table, i, CHUNK_RSS_END_BYTES, rss);
                        chunk_table_set(&table, i, CHUNK_NUM_EVENTS, (int64_t)events[i]);
                }
                add_table(run, &table);
                summarize(&summary, run);
                plain = plain_of(wall, n);
                assert_near(known(&summary, ROAST_CHUNK_DURATION_MEAN), plain.mean);
                assert_true(known(&summary, ROAST_CHUNK_DURATION_MIN) == plain.min);
                assert_true(known(&summary, ROAST_CHUNK_DURATION_MAX) == plain.max);
                /* differences of 1e-6 of the mean: the rest of the digits is noise */
                assert_true(fabs(known(&summary, ROAST_CHUNK_DURATION_STD) - plain.std) < 1e-14);
                plain = plain_of(memory, n);
                assert_near(known(&summary, ROAST_CHUNK_MEM_DELTA_MIN_MB), plain.min);
                assert_near(known(&summary, ROAST_CHUNK_MEM_DELTA_MAX_MB), plain.max);
                assert_near(known(&summary, ROAST_CHUNK_MEM_DELTA_STD_MB), plain.std);
                plain = plain_of(events, n);
                assert_near(known(&summary, ROAST_CHUNK_EVENTS_MEAN), plain.mean);
                assert_true(known(&summary, ROAST_CHUNK_EVENTS_MAX) == plain.max);
                assert_true(known(&summary, ROAST_TOTAL_EVENTS_FROM_CHUNKS) == total);
                /* no report: the rates rest on the chunks, and say so */
                assert_int_equal(summary.metrics.values[ROAST_TOTAL_EVENTS].state, ROAST_ESTIMATED);
                assert_int_equal(summary.metrics.values[ROAST_EVENT_RATE_ELAPSED_KHZ].state,
                                 ROAST_ESTIMATED);
        }
}

/* One chunk was looked at while it slept, the other was not: both slept in the same. */
static void test_the_parts_of_wall_time_sum_to_it_and_looks_are_pooled(void **state)
{
        static const struct {
                enum chunk_field field;
                int64_t first, second;
        } figures[] = {
                { CHUNK_WALL_NS, 10 * S, 10 * S },    { CHUNK_CPU_NS, 4 * S, 5 * S },
                { CHUNK_RUNQUEUE_NS, 1 * S, 2 * S },  { CHUNK_THROTTLED_NS, 1 * S, 0 },
                { CHUNK_BLOCK_IO_NS, 1 * S, 0 },      { CHUNK_GIL_NS, 3 * S, 0 },
                { CHUNK_OTHER_NS, 0, 3 * S },         { CHUNK_SPLIT_SAMPLES, 40, 0 },
                { CHUNK_PROBE_NS, S / 100, S / 100 },
        };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = new_timed_run();

        (void)state;
        chunk_table_init(&table);
        for (size_t row = 0; row < 2; row++) {
                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
                for (size_t i = 0; i < ROAST_ARRAY_SIZE(figures); i++)
                        chunk_table_set(&table, row, figures[i].field,
                                        row ? figures[i].second : figures[i].first);
        }
        add_table(run, &table);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_CHUNK_CPU_SECONDS), 9);
        assert_near(known(&summary, ROAST_CHUNK_RUNQUEUE_SECONDS), 3);
        assert_near(known(&summary, ROAST_CHUNK_THROTTLED_SECONDS), 1);
        /* 7 s asleep: a quarter of the looks met a disk, the others the GIL */
        assert_near(summary.metrics.values[ROAST_CHUNK_BLOCK_IO_SECONDS].real, 1.75);
        assert_near(summary.metrics.values[ROAST_CHUNK_GIL_SECONDS].real, 5.25);
        assert_near(summary.metrics.values[ROAST_CHUNK_OTHER_WAIT_SECONDS].real, 0);
        assert_int_equal(summary.metrics.values[ROAST_CHUNK_GIL_SECONDS].state, ROAST_ESTIMATED);
        assert_near(known(&summary, ROAST_MONITORING_PERCENT), 0.02 / 9 * 100);
}

static void test_failed_chunks_are_counted_and_not_averaged(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = new_timed_run();
        static const enum chunk_outcome outcomes[] = { CHUNK_FINISHED, CHUNK_FAILED, CHUNK_LOST,
                                                       CHUNK_SKIPPED, CHUNK_GRAPH };

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.entries", 77, NULL), 0);
        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(outcomes); i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, i, CHUNK_OUTCOME, outcomes[i]);
                chunk_table_set(&table, i, CHUNK_WALL_NS, (int64_t)(i + 1) * S);
                chunk_table_set(&table, i, CHUNK_NUM_EVENTS, 100);
        }
        add_table(run, &table);
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_NUM_CHUNKS) == 3);
        assert_true(known(&summary, ROAST_NUM_SUCCESSFUL_CHUNKS) == 1);
        assert_true(known(&summary, ROAST_NUM_FAILED_CHUNKS) == 2);
        assert_true(known(&summary, ROAST_NUM_LOST_CHUNKS) == 1);
        assert_near(known(&summary, ROAST_CHUNK_DURATION_MAX), 1);
        assert_absent(&summary, ROAST_CHUNK_MEM_DELTA_MEAN_MB, "no chunk records");
        assert_true(known(&summary, ROAST_TOTAL_EVENTS) == 77);
        assert_int_equal(summary.n_datasets, 1);
        assert_null(summary.datasets[0].name);
        assert_int_equal(summary.datasets[0].failed, 2);
}

static void test_sections_of_what_is_no_chunk_do_not_count(void **state)
{
        static const int64_t figures[SECTION_N_FIELDS] = { SECTION_TIME, 1, S, S, S, S };
        static const enum chunk_outcome outcomes[] = { CHUNK_FINISHED, CHUNK_FAILED, CHUNK_GRAPH,
                                                       CHUNK_FINISHED };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = new_timed_run();

        (void)state;
        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(outcomes); i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, i, CHUNK_OUTCOME, outcomes[i]);
                chunk_table_set(&table, i, CHUNK_ENTRY_START, (int64_t)i * 100);
                chunk_table_set(&table, i, CHUNK_ENTRY_STOP, (int64_t)i * 100 + 100);
                chunk_table_set_text(&table, i, CHUNK_WORKER, "tcp://a:1", 9);
                chunk_table_set_text(&table, i, CHUNK_FILE, "a.root", 6);
                chunk_table_set_text(&table, i, CHUNK_TREE, "Events", 6);
                assert_int_equal(chunk_table_add_section(&table, "fill", 4, figures), 0);
        }
        add_table(run, &table);
        add_lost(run, 300); /* finished, but its result went with the worker */
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_NUM_CHUNKS) == 2);
        assert_int_equal(summary.n_sections, 1);
        assert_int_equal(summary.sections[0].chunks, 2);
        assert_near(summary.sections[0].total_s, 2);
}

static void test_datasets_and_sections_are_summed(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(sample_add_chunks(run, 40, NULL), 40);
        summarize(&summary, run);
        assert_int_equal(summary.n_datasets, 2);
        assert_string_equal(summary.datasets[0].name, "TTbar");
        assert_int_equal(summary.datasets[0].finished + summary.datasets[0].failed, 14);
        assert_int_equal(summary.datasets[0].finished + summary.datasets[1].finished, 36);
        assert_int_equal(summary.datasets[0].events, 25000 * summary.datasets[0].finished);
        assert_int_equal(summary.n_sections, 2);
        assert_string_equal(summary.sections[0].name, "select");
        assert_near(summary.sections[0].total_s, 8);
        assert_string_equal(summary.sections[1].name, "fill");
        assert_int_equal(summary.sections[1].kind, SECTION_TIME | SECTION_MEMORY);
        assert_int_equal(summary.sections[1].chunks, 40);
        assert_near(summary.sections[1].max_s, 0.1);
        assert_true(summary.sections[1].rss_delta_bytes == 80 * 1048576);
        assert_true(summary.sections[1].rss_delta_max_bytes == 4 * 1048576);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_every_key_and_alias_is_there_once_and_resolves),
                cmocka_unit_test(test_every_metric_has_title_unit_and_formula),
                cmocka_unit_test(test_formulas_are_those_of_the_reference),
                cmocka_unit_test(test_known_figures),
                cmocka_unit_test(test_no_formula_is_left_out),
                cmocka_unit_test(test_a_formula_over_an_absent_input_is_absent_for_its_reason),
                cmocka_unit_test(test_a_divisor_that_is_not_positive_makes_a_rate_absent),
                cmocka_unit_test(test_no_formula_gives_what_is_not_finite),
                cmocka_unit_test(test_the_shares_of_nothing_are_zero),
                cmocka_unit_test(test_an_estimated_input_makes_an_estimated_result),
                cmocka_unit_test(test_efficiency_without_fine_metrics_is_estimated),
                cmocka_unit_test(test_a_formula_uses_only_metrics_that_stand_before_it),
                cmocka_unit_test(test_what_is_set_is_not_computed),
                cmocka_unit_test(test_a_reason_may_be_said_again_of_the_same_metric),
                cmocka_unit_test(test_deriving_without_memory_is_an_error),
                cmocka_unit_test(test_chunks_that_were_all_lost_are_counted),
                cmocka_unit_test(test_an_empty_run_knows_nothing_and_says_why),
                cmocka_unit_test(test_a_report_is_taken_exactly),
                cmocka_unit_test(test_a_report_with_unusable_fields_says_which),
                cmocka_unit_test(test_a_report_of_zero_chunks_has_no_time_per_chunk),
                cmocka_unit_test(test_workers_of_different_size_that_come_and_go_are_integrated),
                cmocka_unit_test(test_a_worker_that_comes_again_under_its_name_counts_once),
                cmocka_unit_test(test_what_happens_outside_of_the_run_does_not_count),
                cmocka_unit_test(test_an_unfinished_run_is_integrated_up_to_the_last_event),
                cmocka_unit_test(test_random_comings_and_goings_against_a_plain_sum),
                cmocka_unit_test(test_spans_are_split_by_the_name_of_the_processor),
                cmocka_unit_test(test_without_a_name_all_tasks_are_the_processors),
                cmocka_unit_test(test_a_processor_with_a_long_name_is_found),
                cmocka_unit_test(test_units_of_one_activity_do_not_mix),
                cmocka_unit_test(test_spans_that_tell_nothing_of_tasks_leave_the_figures_absent),
                cmocka_unit_test(test_memory_is_averaged_over_time_and_workers),
                cmocka_unit_test(test_samples_of_any_time_are_summed_without_overflow),
                cmocka_unit_test(test_statistics_of_chunks_against_two_passes),
                cmocka_unit_test(test_the_parts_of_wall_time_sum_to_it_and_looks_are_pooled),
                cmocka_unit_test(test_failed_chunks_are_counted_and_not_averaged),
                cmocka_unit_test(test_sections_of_what_is_no_chunk_do_not_count),
                cmocka_unit_test(test_datasets_and_sections_are_summed),
        };

        return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
