/* metrics/: the registry and the formulas */

#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "alloc.h"
#include "roast-metrics.h"
#include "sample.h"
#include "summed.h"
#include "util/cleanup.h"
#include "util/size.h"

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
        assert_has(roast_metric_reason(&set, ROAST_SPEEDUP_FACTOR), "wall time");
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
        };

        return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
